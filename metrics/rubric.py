"""Scores of answers by rubrics: criteria with points, met or not.

The form is HealthBench's (arXiv:2505.08775).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


def rubric_score(met: Sequence[bool | None], points: Sequence[float]) -> float | None:
    """The points of the criteria that an answer meets, over all positive points.

    Args:
        met: Per criterion whether it is met; None where that is not known.
        points: Per criterion its points; negative for what an answer should not do.

    Returns:
        At most 1; below 0 where faults weigh more than what is right. None if one criterion is not
        known (a score over the others would look like one over all), or no points are positive.

    Raises:
        ValueError: If the lengths differ.
    """
    ends = rubric_bounds(met, points)
    return ends.low if ends is not None and None not in met else None


class Bounds(NamedTuple):
    """Between what a score must lie."""

    low: float
    high: float


def rubric_bounds(met: Sequence[bool | None], points: Sequence[float]) -> Bounds | None:
    """The lowest and the highest score that what is not known allows; None without positive points.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(met) != len(points):
        raise ValueError(f"{len(met)} verdicts on {len(points)} criteria")
    possible = math.fsum(each for each in points if each > 0)
    if possible <= 0:
        return None
    earned = [each for known, each in zip(met, points, strict=True) if known]
    open_ = [each for known, each in zip(met, points, strict=True) if known is None]
    low = math.fsum([*earned, *(each for each in open_ if each < 0)])
    high = math.fsum([*earned, *(each for each in open_ if each > 0)])
    return Bounds(low / possible, high / possible)
