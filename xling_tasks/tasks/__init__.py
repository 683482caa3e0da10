"""The tasks, as the harness runs them."""
