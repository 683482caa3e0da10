"""The three classifiers of EPITOME: training, reading, predicting."""
