"""Statistics: intervals, tests, agreement, ranking."""
