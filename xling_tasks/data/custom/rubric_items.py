"""The criteria that one answer is graded by, as files have them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.data.tables import Unreadable
from xling_tasks.errors import DataError

_MAX_POINTS = 1_000_000  # more is an error of the file
# A dash is a minus, never a bullet: what costs points must not earn them.
_LINE = re.compile(r"\s*(?:[*•]\s+)?([+\-−]?\d+(?:\.\d+)?)\s*(?:points?)?\s*[:|]\s*(\S.*?)\s*")


class RubricItem(NamedTuple):
    """What an answer can meet or not.

    Attributes:
        text: In words.
        points: What meeting it earns; negative for what an answer should not do.
        tags: Such as `axis:completeness`.
    """

    text: str
    points: float
    tags: tuple[str, ...] = ()


def tag_values(kind: str, tags: Sequence[str]) -> tuple[str, ...]:
    """Return what tags of a kind say, each once: `theme:hedging` says `hedging` of `theme`."""
    parts = (tag.partition(":") for tag in tags)
    values = (value.strip() for name, _, value in parts if name.strip().lower() == kind)
    return tuple(dict.fromkeys(filter(None, values)))


def read_rubric(location: str, cell: Any) -> tuple[RubricItem, ...]:
    """Return the criteria of a cell: a line each, points first, or HealthBench's list of objects.

    Raises:
        DataError: Naming the location, and the line or number of the criterion.
    """
    if cell is None:
        return ()
    if isinstance(cell, Unreadable):
        raise DataError(f"{location}: {cell.reason}")
    if isinstance(cell, str):
        return tuple(_read_line(location, line) for line in cell.splitlines() if line.strip())
    if not isinstance(cell, list):
        raise DataError(f"{location}: a list of criteria is expected, not {cell!r:.40}")
    return tuple(_read_object(f"{location}, criterion {n}", row) for n, row in enumerate(cell, 1))


def _read_line(location: str, line: str) -> RubricItem:
    match = _LINE.fullmatch(line)
    if match is None:
        raise DataError(
            f"{location}: points, a colon and the criterion are expected, as in '5: Advises rest', "
            f"not {line.strip()!r:.60}"
        )
    return RubricItem(match[2], float(match[1].replace("−", "-")))


def _read_object(location: str, row: Any) -> RubricItem:
    fields = row if isinstance(row, Mapping) else {}
    text, points, tags = fields.get("criterion"), fields.get("points"), fields.get("tags") or []
    if isinstance(points, bool) or not isinstance(points, (int, float)):
        points = None
    if not isinstance(text, str) or not text.strip() or points is None:
        raise DataError(
            f"{location}: a text 'criterion' and a number 'points' are expected, not {row!r:.60}"
        )
    if not math.isfinite(points) or abs(points) > _MAX_POINTS:
        raise DataError(f"{location}: points from -{_MAX_POINTS} to {_MAX_POINTS}, not {points!r}")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(f"{location}: 'tags' is a list of texts, not {tags!r:.40}")
    return RubricItem(text.strip(), float(points), tuple(tags))
