"""Translation into English, sentence by sentence."""
