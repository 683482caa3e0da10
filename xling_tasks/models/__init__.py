"""Models in a second role: judge, translator, encoder, classifier."""
