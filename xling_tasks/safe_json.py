"""JSON from files that anybody may have written: whatever is in them, a ValueError at most."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """As `json.loads`.

    Raises:
        ValueError: If it is not valid JSON, not UTF-8, or nested deeper than can be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
