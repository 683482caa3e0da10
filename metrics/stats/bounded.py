"""Means of bounded scores whose interval knows of what was not seen: a rare collapse to the worst.

Student's interval of 60 equal scores has no width, although 4 in 100 questions may collapse without
one of them being among the 60. Gaffke's bound adds one question at the worst score that there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.resampling import LEVEL, Floats, check_level, finite_array

DRAWS = 4000
"""Draws of weights where questions differ."""

_FEW, _MANY_DRAWS = 8, 20_000
"""Up to so many different questions cost little, however often they are drawn."""

_CHUNK_CELLS = 1 << 21


def gaffke(
    values: Sequence[float] | Floats,
    low: float,
    high: float,
    *,
    sizes: Sequence[float] | Floats | None = None,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Gaffke's interval of a mean of scores within bounds (Gaffke 2005).

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
    sums = finite_array(values, "values")
    if sizes is not None:
        same_length(values=values, sizes=sizes)
    counts = np.ones(len(sums)) if sizes is None else finite_array(sizes, "sizes")
    if np.any(counts <= 0):
        raise ValueError("sizes must be above 0")
    means = sums / counts
    if len(means) and not (low - 1e-9 <= means.min() and means.max() <= high + 1e-9):
        raise ValueError(f"values must lie within {low:g} and {high:g}")
    if not len(sums):
        return low, high
    kinds, times = np.unique(np.column_stack([sums, counts]), axis=0, return_counts=True)
    return _ends(tuple(map(tuple, kinds.tolist())), tuple(times.tolist()), (low, high), level)


@lru_cache(maxsize=4096)  # comparisons of shares have few tables of wins and losses
def _ends(
    kinds: tuple[tuple[float, float], ...], times: tuple[int, ...], bounds: tuple[float, float],
    level: float,
) -> tuple[float, float]:  # fmt: skip
    """Both ends, by how often each kind of question was seen."""
    seen, unseen = _drawn(np.array(kinds), np.array(times), np.random.default_rng(0))
    (low, high), tail = bounds, (1 - level) / 2
    ends = (
        np.quantile(seen * (1 - unseen) + unseen * low, tail),
        np.quantile(seen * (1 - unseen) + unseen * high, 1 - tail),
    )
    return max(low, float(ends[0])), min(high, float(ends[1]))


def _drawn(
    kinds: Floats, times: np.ndarray, rng: np.random.Generator
) -> tuple[Floats, Floats]:  # fmt: skip
    """Draws of the weighted mean of what was seen, and of the weight of what was not."""
    draws = _MANY_DRAWS if len(kinds) <= _FEW else DRAWS
    n = int(times.sum())
    # Beta(1, n) in strata, shuffled: little noise in the part that decides where scores are equal.
    unseen = 1 - (1 - (rng.permutation(draws) + 0.5) / draws) ** (1 / n)
    seen = np.empty(draws)
    step = max(1, _CHUNK_CELLS // len(kinds))
    for start in range(0, draws, step):
        size = (min(step, draws - start), len(kinds))
        # Equal questions share one weight, the sum of theirs.
        weights = rng.standard_gamma(times, size) if draws > DRAWS else _weights(times, size, rng)
        totals = weights @ kinds
        seen[start : start + step] = totals[:, 0] / totals[:, 1]
    return seen, unseen


def _weights(times: np.ndarray, size: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Gamma weights; most of many different questions stand once, where these are exponential."""
    weights = rng.standard_exponential(size)
    several = np.flatnonzero(times > 1)
    if len(several):
        weights[:, several] = rng.standard_gamma(times[several], (size[0], len(several)))
    return weights


def least_for_same(margin: float) -> int:
    """The fewest questions with which a difference of bounded scores can be shown to be small.

    Where no question differs, the end of `gaffke` for a difference from -1 to 1 is `1 -
    ((1 - LEVEL) / 2)^(1 / n)`: 72 questions for 0.05, 183 for 0.02, 368 for 0.01.

    Raises:
        ValueError: If the margin does not lie between 0 and 1.
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin must lie between 0 and 1, got {margin}")
    return math.ceil(math.log((1 - LEVEL) / 2) / math.log1p(-margin))
