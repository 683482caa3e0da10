"""Gaffke's interval of a mean of bounded scores, which allows for breakdowns that were not seen.

Student's interval of 60 equal scores has no width, although 4 in 100 questions may collapse without
one of them being among the 60. Gaffke's bound adds one question at the worst score that there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import LEVEL, Floats, check_level, finite_array

_EDGE = 1e-9


def gaffke(
    values: Sequence[float] | Floats,
    low: float,
    high: float,
    *,
    sizes: Sequence[float] | Floats | None = None,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Return Gaffke's interval of a mean of scores within bounds (Gaffke 2005).

    A Bayesian bootstrap of the scores and of one question more: at `low` for the lower end, at
    `high` for the upper one. With scores of 0 and 1 it is the interval of Clopper & Pearson, with
    equal scores the rule of three. That it holds its level for all bounded scores is proved in
    special cases and a conjecture in general (Learned-Miller & Thomas 2020, arXiv 1905.06208).

    Args:
        values: A score per question; of a cluster of questions their sum.
        low: The lowest score that a question can have.
        high: The highest.
        sizes: Questions per cluster; None for one each.
        level: Coverage of both ends together.

    Returns:
        Both ends, within `low` and `high`; these where there is no question.

    Raises:
        ValueError: If a score lies outside the bounds, lengths differ, or the level is impossible.
    """
    check_level(level)
    sums, counts = _validate(values, low, high, sizes)
    if not len(sums):
        return float(low), float(high)
    tail, mean = (1 - level) / 2, float(sums.sum() / counts.sum())
    return _end(sums, counts, low, mean, tail), _end(sums, counts, high, mean, tail)


def gaffke_p(
    values: Sequence[float] | Floats,
    low: float,
    high: float,
    *,
    sizes: Sequence[float] | Floats | None = None,
) -> float:
    """Return the two-sided p that the mean is 0: the level at which `gaffke`'s interval ends there.

    Raises:
        ValueError: As of `gaffke`.
    """
    sums, counts = _validate(values, low, high, sizes)
    if not len(sums):
        return 1.0
    p_greater = _tail_probability(sums, counts, low, 0.0, upper=False)
    p_less = _tail_probability(sums, counts, high, 0.0, upper=True)
    return min(1.0, 2 * min(p_greater, p_less))


def _validate(
    values: Sequence[float] | Floats, low: float, high: float,
    sizes: Sequence[float] | Floats | None,
) -> tuple[Floats, Floats]:  # fmt: skip
    sums = finite_array(values, "values")
    if sizes is not None:
        same_length(values=values, sizes=sizes)
    counts = np.ones(len(sums)) if sizes is None else finite_array(sizes, "sizes")
    if np.any(counts <= 0):
        raise ValueError("sizes must be above 0")
    means = sums / counts
    if len(means) and not (low - 1e-9 <= means.min() and means.max() <= high + 1e-9):
        raise ValueError(f"values must lie within {low:g} and {high:g}")
    return sums, counts


def _end(sums: Floats, counts: Floats, bound: float, mean: float, tail: float) -> float:
    """Find where the bootstrap with a question at a bound has its tail: between bound and mean."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    if abs(mean - bound) < 1e-12:
        return float(bound)

    def excess(end: float) -> float:
        return _tail_probability(sums, counts, bound, end, upper=bound > mean) - tail

    return float(brentq(excess, bound, mean, xtol=1e-6))


def _tail_probability(
    sums: Floats, counts: Floats, bound: float, mean: float, *, upper: bool
) -> float:
    """Return how often the bootstrap's mean lies beyond another, towards the bound.

    The weights are exponential, so that it is the tail of their sum with the deviations: by its
    saddlepoint (Lugannani & Rice 1980), within 2% of itself where simulated.
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]
    from scipy.special import ndtr  # type: ignore[import-untyped]

    parts, times = np.unique(sums - mean * counts, return_counts=True)
    parts = np.append(parts, (bound - mean) * counts.mean())
    times = np.append(times, 1)
    if upper:
        parts = -parts  # the tail is always below 0
    minimum, maximum = float(parts.min()), float(parts.max())
    if minimum >= 0:
        return 0.0
    if maximum <= 0:
        return 1.0
    if len(parts) == 2 and parts[0] > 0:  # equal scores: exactly, else one question more is needed
        return float((minimum / (minimum - maximum)) ** times[0])
    s = brentq(
        lambda x: float((times * parts / (1 - x * parts)).sum()),
        (1 - _EDGE) / minimum, (1 - _EDGE) / maximum, xtol=1e-12,
    )  # fmt: skip
    shrunk = 1 - s * parts
    w = math.copysign(math.sqrt(max(0.0, 2 * float((times * np.log(shrunk)).sum()))), s)
    u = s * math.sqrt(float((times * np.square(parts / shrunk)).sum()))
    if abs(w) < 1e-4:
        return 0.5
    return float(ndtr(w) + math.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (1 / w - 1 / u))


def unseen(n: int, level: float = LEVEL) -> float:
    """Return the end of `gaffke` for a difference from -1 to 1 where none of n questions differs.

    It is `1 - ((1 - level) / 2)^(1 / n)`: a breakdown of so many questions could stay hidden.
    """
    return float(1 - ((1 - level) / 2) ** (1 / n)) if n else 1.0


def least_n_for_equivalence(margin: float) -> int:
    """Return the fewest questions with which `unseen` lies within a margin.

    72 questions for 0.05, 183 for 0.02, 368 for 0.01.

    Raises:
        ValueError: If the margin does not lie between 0 and 1.
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin must lie between 0 and 1, got {margin}")
    return math.ceil(math.log((1 - LEVEL) / 2) / math.log1p(-margin))
