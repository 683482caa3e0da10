"""What stands in the cells of a table: ids and texts."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from xling_tasks.data.files import Table
from xling_tasks.errors import DataError


def id_in(table: Table, index: int, column: str) -> str:
    """A cell's id, which must be there."""
    cell = _plain_cell(table, index, column, "an id")
    key = "" if cell is None else plain_id(cell)
    if not key:
        raise DataError(f"{table.place(index, column)}: the id is missing")
    return key


def _plain_cell(table: Table, index: int, column: str, expected: str) -> Any:
    """A cell that holds a text or a number; None for an empty one.

    A spreadsheet makes dates of what was none, such as '1-2' (tablets).
    """
    cell = table.rows[index].get(column)
    if cell is None or cell != cell:
        return None
    if isinstance(cell, (bool, bytes, dict, list, tuple)) or cell in (math.inf, -math.inf):
        is_word = isinstance(cell, bool) and expected == "a text"
        hint = "; format the column as text and write the word" * is_word
        raise DataError(
            f"{table.place(index, column)}: {expected} is expected, not {cell!r:.40}{hint}"
        )
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        raise DataError(
            f"{table.place(index, column)}: the cell holds a date or time ({cell}), not a text; "
            "format the column as text and write again what was meant"
        )
    return cell


# What stands around a text without being seen: marks of byte order and direction, joiners.
_UNSEEN = re.compile(r"^[\s\u200b-\u200f\u2060\ufeff]+|[\s\u200b-\u200f\u2060\ufeff]+$")


def plain_id(cell: object) -> str:
    """An id as text, without unseen characters around it; readers may turn 3 into 3.0."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return _UNSEEN.sub("", str(cell))


def number_text(number: float) -> str:
    """A number as spreadsheets show it: 5 and not 5.0, 0.3 and not 0.30000000000000004."""
    return str(number) if isinstance(number, int) else f"{number:.15g}"


def text_in(table: Table, index: int, column: str) -> str | None:
    """A cell's text without outer white space; None where there is none."""
    cell = _plain_cell(table, index, column, "a text")
    if cell is None:
        return None
    text = number_text(cell) if isinstance(cell, float) else str(cell)
    return text.strip() or None


def natural(key: str) -> tuple[int, str]:
    """What ids are sorted by: numbers as numbers, then the others."""
    return (int(key), "") if key.isdecimal() and len(key) < 19 else (2**62, key)
