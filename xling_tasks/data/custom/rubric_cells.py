"""The criteria of one conversation, as files have them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xling_tasks.errors import DataError

_MOST_POINTS = 1_000_000
"""More would be an error of the file, or overflow in sums."""

_MOST_CRITERIA = 500
# A dash is a minus, never a bullet: what costs points must not earn them.
_LINE = re.compile(r"\s*(?:[*•]\s+)?([+\-−]?\d+(?:\.\d+)?)\s*(?:points?)?\s*[:|]\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Criterion:
    """What an answer can meet or not.

    Attributes:
        text: In words.
        points: What meeting it earns; negative for what an answer should not do.
        tags: Such as `axis:completeness`.
    """

    text: str
    points: float
    tags: tuple[str, ...] = ()


def after(kind: str, tags: Sequence[str]) -> tuple[str, ...]:
    """What tags of a kind say, each once: `theme:hedging` is the theme `hedging`."""
    parts = (tag.partition(":") for tag in tags)
    own = (word.strip() for before, _, word in parts if before.strip().lower() == kind)
    return tuple(dict.fromkeys(filter(None, own)))


def criteria_in(where: str, cell: Any) -> tuple[Criterion, ...]:
    """The criteria in a field or cell; none of an empty one.

    A cell is a list of objects with `criterion`, `points` and perhaps `tags`; or a text with a
    criterion per line, its points first (`5: Advises ...`).
    """
    if cell is None or cell == "" or cell != cell:
        return ()
    if isinstance(cell, str):
        lines = [line for line in cell.splitlines() if line.strip()]
        return tuple(_of_line(f"{where}, line {n}", line) for n, line in enumerate(lines, start=1))
    if not isinstance(cell, (list, tuple)):
        raise DataError(f"{where}: a list of criteria is expected, not {cell!r:.40}")
    if len(cell) > _MOST_CRITERIA:
        raise DataError(f"{where}: {len(cell)} criteria; at most {_MOST_CRITERIA}")
    return tuple(_of_object(f"{where}, criterion {n}", each) for n, each in enumerate(cell, 1))


def _of_line(where: str, line: str) -> Criterion:
    match = _LINE.fullmatch(line)
    if match is None:
        raise DataError(
            f"{where}: points, a colon and the criterion are expected, as in '5: Advises to call "
            f"an ambulance', not {line.strip()!r:.60}"
        )
    return Criterion(match[2], _points(where, float(match[1].replace("−", "-"))))


def _of_object(where: str, given: Any) -> Criterion:
    if not isinstance(given, Mapping):
        raise DataError(f"{where}: 'criterion' with 'points' is expected, not {given!r:.40}")
    text, tags = text_of(where, given, "criterion"), texts_of(where, given, "tags")
    return Criterion(text.strip(), _points(where, given.get("points")), tuple(tags))


def text_of(where: str, row: Mapping[str, Any], name: str) -> str:
    """The text of a field that must have one."""
    text = row.get(name)
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{where}: the text {name!r} is missing")
    return text


def texts_of(where: str, row: Mapping[str, Any], name: str) -> list[str]:
    """The list of texts of a field; an empty one where it is missing."""
    given = row.get(name)
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise DataError(f"{where}, {name!r}: expected a list of texts, got {given!r:.40}")
    return given


def _points(where: str, points: Any) -> float:
    number = isinstance(points, (int, float)) and not isinstance(points, bool)
    if not number or not math.isfinite(points) or abs(points) > _MOST_POINTS:
        raise DataError(
            f"{where}, 'points': expected a number from -{_MOST_POINTS} to {_MOST_POINTS}, "
            f"got {points!r:.40}"
        )
    return float(points)
