"""Cells of CSV files that people open: a spreadsheet must not run what stands in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
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


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Rows as CSV: numbers in full, None as an empty cell, and no cell that would be a formula.

    Args:
        rows: Name of a column -> its cell.
        columns: Those that are written; without them, those of the first row.
    """
    made = [{name: harmless(value) for name, value in row.items()} for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(
        out, columns or list(made[0]), extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue()
