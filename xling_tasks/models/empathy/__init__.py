"""The three classifiers of EPITOME, made and read."""
