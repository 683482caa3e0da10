"""Proportions and their differences where normal theory fails: few questions, rare events.

A proportion of questions has Wilson's interval; one of rows has Wilson's over as many rows as its
questions are worth. Paired proportions have the interval of Bonett & Price and McNemar's test,
unpaired ones the interval of Agresti & Caffo.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import (
    LEVEL,
    Estimate,
    Floats,
    degrees_of_freedom,
    finite_array,
    normal_p,
    normal_quantile,
    t_quantile,
)


def wilson(hits: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval (1927), equation 4 of Brown, Cai & DasGupta (2001).

    Args:
        hits: How many; need not be whole where `n` is an effective number.
        n: Of how many, above 0.
        level: Coverage.

    Returns:
        Both ends, within [0, 1]; equal to `scipy.stats.binomtest(...).proportion_ci` without
        continuity correction for whole numbers.

    Raises:
        ValueError: If n is not above 0 or hits are not within 0 and n.
    """
    if n <= 0 or not -1e-9 <= hits <= n * (1 + 1e-9):
        raise ValueError(f"hits must lie between 0 and n, and n above 0, got {hits} of {n}")
    z = normal_quantile(level)
    share = min(max(hits / n, 0.0), 1.0)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Rounding must not leave a proportion of 0 or 1 outside.
    return max(0.0, min(share, float(centre - half))), min(1.0, max(share, float(centre + half)))


def clustered_proportion(
    hits: Sequence[float] | Floats, totals: Sequence[float] | Floats, level: float = LEVEL
) -> tuple[float, float]:
    """Return Wilson's interval of a proportion of rows, by the number of rows that they are worth.

    Rows of a question are alike, so that they say less than as many rows of different questions.
    With the linearised variance v of the proportion p over K questions (Cochran 1977, equation
    6.13) the effective number of rows is `p (1 - p) / v`, at most the number of rows, times
    `effective_n_factor` (Korn & Graubard 1998; with Wilson's interval: Dean & Pagano 2015). Without
    variation (0 or 1) each question counts once.

    Args:
        hits: Rows that count, per question.
        totals: Rows per question, above 0.
        level: Coverage.

    Returns:
        Both ends, within [0, 1]; the ends of [0, 1] for fewer than two questions.

    Raises:
        ValueError: If the lengths differ, or hits are not within 0 and their total.
    """
    same_length(hits=hits, totals=totals)
    counts, rows = finite_array(hits, "hits"), finite_array(totals, "totals")
    if np.any(rows <= 0) or np.any(counts < 0) or np.any(counts > rows):
        raise ValueError("hits must lie between 0 and their total, and totals above 0")
    k, n = len(counts), float(rows.sum())
    if k < 2:
        return 0.0, 1.0
    share = float(counts.sum() / n)
    parts = counts - share * rows
    variance = k / (k - 1) * float((parts**2).sum()) / n**2
    if share in (0.0, 1.0) or variance == 0:
        return wilson(share * k, k, level)
    effective = min(n, share * (1 - share) / variance) * effective_n_factor(parts, level)
    return wilson(share * effective, effective, level)


def effective_n_factor(parts: Floats, level: float = LEVEL) -> float:
    """Return by how much an effective n shrinks because its variance is estimated: `(z / t)^2`."""
    return (normal_quantile(level) / t_quantile(level, degrees_of_freedom(parts))) ** 2


def paired_proportions(
    values: Sequence[float] | Floats, baseline: Sequence[float] | Floats, level: float = LEVEL
) -> Estimate:
    """Return how a proportion differs from a baseline's over the same questions (each 0 or 1).

    Interval: `bonett_price`. Test: McNemar's exact test with the mid-p (Fagerland, Lydersen & Laake
    2013): the binomial probability of the disagreements, half of what was observed.

    Args:
        values: 0 or 1 per question.
        baseline: 0 or 1 for the same questions.
        level: Coverage.

    Returns:
        The observed difference; without questions nothing.

    Raises:
        ValueError: If the lengths differ or a value is neither 0 nor 1.
    """
    same_length(values=values, baseline=baseline)
    a, b = (_zero_or_one(group) for group in (values, baseline))
    n = len(a)
    if not n:
        return Estimate(None, method="bonett-price")
    only_a, only_b = int(np.sum(a > b)), int(np.sum(a < b))
    low, high, se = bonett_price(only_a, only_b, n, level)
    p = mcnemar_mid_p(only_a, only_b)
    return Estimate((only_a - only_b) / n, low, high, p, se, n, "bonett-price")


def bonett_price(
    only_a: int, only_b: int, n: int, level: float = LEVEL
) -> tuple[float, float, float]:
    """Return both ends and the standard error of a difference of paired proportions.

    Bonett & Price (2012): a Wald interval after adding one pair of either kind of disagreement,
    which keeps its coverage for rare events and few questions.
    """
    added_a, added_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    centre = added_a - added_b
    se = float(np.sqrt((added_a + added_b - centre**2) / (n + 2)))
    half = normal_quantile(level) * se
    return max(-1.0, centre - half), min(1.0, centre + half), se


def mcnemar_mid_p(only_a: int, only_b: int) -> float:
    """Return McNemar's two-sided mid-p; 1 without a disagreement."""
    from scipy.special import bdtr  # type: ignore[import-untyped]

    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    below = bdtr(fewer - 1, n, 0.5) if fewer else 0.0
    observed = bdtr(fewer, n, 0.5) - below
    return float(1 - observed / 2 if only_a == only_b else 2 * below + observed)


def unpaired_proportions(
    values: Sequence[float] | Floats,
    baseline: Sequence[float] | Floats,
    *,
    chance: tuple[float, float] = (0.0, 0.0),
    level: float = LEVEL,
) -> Estimate:
    """Return how a proportion differs from that of other questions (each value 0 or 1).

    Agresti & Caffo (2000): a Wald interval after adding one hit and one miss to each group. With a
    chance c of each group the difference is of `(share - c) / (1 - c)`, a linear function of both
    proportions, whose interval is made alike (Price & Bonett 2004). p is that of its z.

    Args:
        values: 0 or 1 per question.
        baseline: 0 or 1 per other question.
        chance: What guessing gives in either group, in [0, 1).
        level: Coverage.

    Returns:
        The difference; no interval for fewer than two questions in a group.

    Raises:
        ValueError: If a value is neither 0 nor 1 or a chance is impossible.
    """
    groups = [_zero_or_one(group) for group in (values, baseline)]
    if any(not 0 <= c < 1 for c in chance):
        raise ValueError(f"chance must lie in [0, 1), got {chance}")
    n = len(groups[0])
    if any(len(group) < 2 for group in groups):
        return Estimate(None, n=n, method="agresti-caffo")
    slopes = [1 / (1 - c) for c in chance]
    raw = [
        slope * (group.mean() - c) for slope, group, c in zip(slopes, groups, chance, strict=True)
    ]
    added = [(group.sum() + 1) / (len(group) + 2) for group in groups]
    moved = [slope * (p - c) for slope, p, c in zip(slopes, added, chance, strict=True)]
    variance = sum(
        slope**2 * p * (1 - p) / (len(group) + 2)
        for slope, p, group in zip(slopes, added, groups, strict=True)
    )
    se, centre = float(np.sqrt(variance)), float(moved[0] - moved[1])
    half = normal_quantile(level) * se
    minimum, maximum = (
        -slopes[0] * chance[0] - 1,
        1 + slopes[1] * chance[1],
    )  # none or all
    low, high = max(minimum, centre - half), min(maximum, centre + half)
    p = normal_p(centre, se)
    return Estimate(float(raw[0] - raw[1]), low, high, p, se, n, "agresti-caffo")


def _zero_or_one(values: Sequence[float] | Floats) -> Floats:
    array = finite_array(values, "values")
    invalid = array[(array != 0) & (array != 1)]
    if len(invalid):
        raise ValueError(f"values must be 0 or 1, got {invalid[0]:g}")
    return array
