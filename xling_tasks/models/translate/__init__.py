"""Translation: whole texts by chat models, sentence by sentence by encoder-decoders."""
