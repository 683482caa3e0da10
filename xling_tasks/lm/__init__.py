"""Models of ours under test: a baseline, and replay of earlier answers."""
