"""The harness task files: one template per family, leaves of a few lines, groups."""
