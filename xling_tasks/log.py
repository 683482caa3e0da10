"""The package's logger, and lines that are said once."""

from __future__ import annotations

import functools
import logging

# A child of the harness's logger: the same format, the same level, the same place.
log = logging.getLogger("lm_eval.xling_tasks")


@functools.lru_cache(maxsize=256)
def warn_once(message: str) -> None:
    """Warn, but not again with the same words in this process."""
    log.warning(message)
