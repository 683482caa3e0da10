"""The tests; a package, so that `python -m tests.faults` finds them before others of that name."""
