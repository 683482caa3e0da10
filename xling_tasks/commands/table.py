"""What a terminal shows: a text with an exit status, and rows as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xling_tasks.output import plain


class Screen(str):
    """What a command prints, with its exit status."""

    status: int = 0

    def __new__(cls, text: str, status: int = 0) -> Screen:
        """Make a text with a status."""
        screen = super().__new__(cls, text)
        screen.status = status
        return screen


def table(
    rows: Sequence[Mapping[str, Any]], *, marked: bool = False, digits: int = 3, missing: str = "-"
) -> str:
    """Rows as a Markdown table, numbers with thousands separated.

    Args:
        rows: Name of a column -> its cell; a column that a row lacks is empty there.
        marked: Whether the cells are Markdown already, and nothing in them is to be escaped.
        digits: Of a fraction.
        missing: What stands for None.
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [
        [_cell(row.get(column, ""), marked, digits, missing) for column in columns] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [columns, ["-" * width for width in widths], *cells]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def _cell(value: Any, marked: bool, digits: int, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value) if marked else plain(str(value))
