"""Cross-lingual health tasks for lm-evaluation-harness.

Importing this package costs next to nothing: it is imported at interpreter start-up (see
`xling_tasks.discovery`), so nothing may be imported here.
"""

__version__ = "0.2.0.dev0"
