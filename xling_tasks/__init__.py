"""Cross-lingual health tasks for lm-evaluation-harness.

Importing this package costs next to nothing: it is imported at interpreter start-up (see
`xling_tasks.discovery`), so nothing may be imported here. `xling_tasks.read` is fetched when asked
for.
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Return `read`, which is imported when asked for."""
    if name == "read":
        from importlib import import_module  # by name: they import this package's version

        return import_module("xling_tasks.report.dataframes").read
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
