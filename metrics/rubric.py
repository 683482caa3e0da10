"""Scores of answers by rubrics: items with points, met or not (HealthBench, arXiv:2505.08775)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Bounds(NamedTuple):
    """The lowest and the highest score that unknown items allow."""

    low: float
    high: float


def rubric_score(met: Sequence[bool | None], points: Sequence[float]) -> float | None:
    """Return the points of the items that an answer meets, over all positive points.

    Args:
        met: Whether each item is met; None where it is unknown.
        points: The points of each item; negative for what an answer should not do.

    Returns:
        At most 1; below 0 if faults outweigh the rest. None if an item is unknown (a score over the
        others would look like one over all) or no points are positive.

    Raises:
        ValueError: If the lengths differ.
    """
    bounds = rubric_bounds(met, points)
    return bounds.low if bounds is not None and None not in met else None


def rubric_bounds(met: Sequence[bool | None], points: Sequence[float]) -> Bounds | None:
    """Return the bounds of the score, given unknown items; None without positive points.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(met) != len(points):
        raise ValueError(f"{len(met)} labels of {len(points)} rubric items")
    possible = math.fsum(value for value in points if value > 0)
    if possible <= 0:
        return None
    earned = [value for label, value in zip(met, points, strict=True) if label]
    unknown = [value for label, value in zip(met, points, strict=True) if label is None]
    low = math.fsum([*earned, *(value for value in unknown if value < 0)])
    high = math.fsum([*earned, *(value for value in unknown if value > 0)])
    return Bounds(low / possible, high / possible)
