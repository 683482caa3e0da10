"""Cells of CSV files that people open: a spreadsheet must not run what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    """A cell as it may be written: an apostrophe before a text that would be a formula.

    Numbers, also as text, stay as they are. Files that programs read get their texts exactly and
    do not use this.
    """
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_BEGINS):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def harmless_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """All cells of a row."""
    return {name: harmless(value) for name, value in row.items()}
