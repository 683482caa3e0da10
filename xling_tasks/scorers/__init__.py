"""Scores over all answers of a task."""
