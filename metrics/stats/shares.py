"""Shares and their differences where normal theory fails: few questions, rare or common events.

A share of questions has Wilson's interval; a share of rows has Wilson's over as many rows as its
questions are worth. Paired shares have the interval of Bonett & Price and McNemar's test, unpaired
ones the interval of Agresti & Caffo.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.resampling import LEVEL, Floats, check_level, finite_array


class Range(NamedTuple):
    """An estimate with its interval, test and standard error; what is undefined is None.

    Attributes:
        value: The estimate.
        low: Lower end of its interval.
        high: Upper end.
        p: Two-sided p of the hypothesis that it is 0; None where nothing is tested.
        se: The standard error that the interval is made with.
        n: Questions that it is over.
        method: A word for how it was made.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    se: float | None
    n: int
    method: str


def cut(interval: Range, most: float, least: float | None = None) -> Range:
    """An interval without what cannot be; it covers what it covered.

    Args:
        interval: Of a share, a difference of shares, or a change of such a difference.
        most: The most that it can be: 1 for a difference, 2 for its change.
        least: The least; as far below 0 if it is not given.
    """
    if interval.low is None or interval.high is None:
        return interval
    least = -most if least is None else least
    return interval._replace(low=max(interval.low, least), high=min(interval.high, most))


def student_range(value: float, se: float, df: float, n: int, level: float, method: str) -> Range:
    """Student's interval and t test of an estimate with its standard error."""
    from scipy.stats import t  # type: ignore[import-untyped]

    half = t_quantile(level, df) * se
    p = float(2 * t.sf(abs(value) / se, df)) if se else None
    return Range(value, value - half, value + half, p, se, n, method)


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """Half-width of a normal interval in standard errors: 1.96 for 0.95."""
    from scipy.stats import norm  # type: ignore[import-untyped]

    check_level(level)
    return float(norm.ppf((1 + level) / 2))


def two_sided(estimate: float, se: float) -> float:
    """Two-sided p of an estimate whose standard error is known, by the normal distribution."""
    from scipy.special import ndtr  # type: ignore[import-untyped]

    return float(2 * ndtr(-abs(estimate) / se))


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: float) -> float:
    """Half-width of Student's interval in standard errors."""
    from scipy.special import stdtrit

    check_level(level)
    return float(stdtrit(df, (1 + level) / 2))


def degrees_of_freedom(parts: Floats) -> float:
    """What a variance that is a sum of squares over questions is worth, in degrees of freedom.

    Satterthwaite's `2 V^2 / var(V)` with var(V) from the fourth powers (Valliant & Rust 2010,
    Journal of Official Statistics 26, 585-602): `2 (sum d^2)^2 / (sum d^4 - (sum d^2)^2 / n)`.
    Where two questions of a hundred make nearly all of the variance, it is known as badly as from
    a few questions.

    Args:
        parts: What each of n questions adds to an estimate's deviation from the truth.

    Returns:
        Between 1 and n - 1.
    """
    n = len(parts)
    squares = np.square(parts)
    total = float(squares.sum())
    spread = float(np.square(squares).sum()) - total**2 / max(n, 1)
    most = float(max(n - 1, 1))
    return most if spread <= 2 * total**2 / most else max(1.0, 2 * total**2 / spread)


def wilson(hits: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share, equation 4 of Brown, Cai & DasGupta (2001).

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
    # Rounding must not leave a share of 0 or 1 outside.
    return max(0.0, min(share, float(centre - half))), min(1.0, max(share, float(centre + half)))


def clustered_share(
    hits: Sequence[float], totals: Sequence[float], level: float = LEVEL
) -> tuple[float, float]:
    """Wilson's interval of a share of rows, with the number of rows that they are worth.

    Rows of a question are alike, so that they say less than as many rows of different questions.
    With the linearised variance v of the share p over K questions (Cochran 1977, equation 6.13) the
    effective number of rows is `p (1 - p) / v`, at most the number of rows, times `(z / t)^2`
    because v itself is estimated (Korn & Graubard 1998, who use it with Clopper's interval; with
    Wilson's: Dean & Pagano 2015), t with `degrees_of_freedom`: where hits are rare, v rests on the
    few questions that have any. Without variation (share 0 or 1) each question counts once.

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
    own, rows = finite_array(hits, "hits"), finite_array(totals, "totals")
    if np.any(rows <= 0) or np.any(own < 0) or np.any(own > rows):
        raise ValueError("hits must lie between 0 and their total, and totals above 0")
    k, n = len(own), float(rows.sum())
    if k < 2:
        return 0.0, 1.0
    share = float(own.sum() / n)
    parts = own - share * rows
    variance = k / (k - 1) * float((parts**2).sum()) / n**2
    if share in (0.0, 1.0) or variance == 0:
        return wilson(share * k, k, level)
    effective = min(n, share * (1 - share) / variance) * shrink(parts, level)
    return wilson(share * effective, effective, level)


def shrink(parts: Floats, level: float = LEVEL) -> float:
    """By how much an effective number shrinks because its variance is estimated, at most 1."""
    return (normal_quantile(level) / t_quantile(level, degrees_of_freedom(parts))) ** 2


def paired_shares(
    values: Sequence[float] | Floats, baseline: Sequence[float] | Floats, level: float = LEVEL
) -> Range:
    """How a share differs from a baseline's over the same questions (each 0 or 1).

    Interval: Bonett & Price (2012), a Wald interval after adding one pair of either kind of
    disagreement, which keeps its coverage for rare events and few questions. Test: McNemar's
    exact test with the mid-p (Fagerland, Lydersen & Laake 2013): the binomial probability of the
    disagreements, half of what was observed.

    Args:
        values: 0 or 1 per question.
        baseline: 0 or 1 for the same questions.
        level: Coverage.

    Returns:
        The observed difference of shares; without questions nothing.

    Raises:
        ValueError: If the lengths differ or a value is neither 0 nor 1.
    """
    same_length(values=values, baseline=baseline)
    a, b = (_zero_or_one(side) for side in (values, baseline))
    n = len(a)
    if not n:
        return Range(None, None, None, None, None, 0, "bonett-price")
    only_a, only_b = int(np.sum(a > b)), int(np.sum(a < b))
    low, high, se = bonett_price(only_a, only_b, n, level)
    return Range(
        (only_a - only_b) / n, low, high, mcnemar_mid_p(only_a, only_b), se, n, "bonett-price"
    )


def bonett_price(
    only_a: int, only_b: int, n: int, level: float = LEVEL
) -> tuple[float, float, float]:
    """Ends and standard error of a difference of paired shares (Bonett & Price 2012).

    With `p1 = (only_a + 1) / (n + 2)`, `p2 = (only_b + 1) / (n + 2)`: `p1 - p2` plus or minus z
    times `sqrt((p1 + p2 - (p1 - p2)^2) / (n + 2))`, cut at -1 and 1.
    """
    p1, p2 = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    se = float(np.sqrt((p1 + p2 - (p1 - p2) ** 2) / (n + 2)))
    half = normal_quantile(level) * se
    return max(-1.0, p1 - p2 - half), min(1.0, p1 - p2 + half), se


@lru_cache(maxsize=1 << 16)
def mcnemar_mid_p(only_a: int, only_b: int) -> float:
    """Two-sided mid-p of McNemar's test (Fagerland et al. 2013); 1 without a disagreement."""
    from scipy.stats import binom

    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    if only_a == only_b:
        return float(1 - binom.pmf(fewer, n, 0.5))
    return float(2 * binom.cdf(fewer, n, 0.5) - binom.pmf(fewer, n, 0.5))


def unpaired_shares(
    values: Sequence[float],
    baseline: Sequence[float],
    *,
    chance: tuple[float, float] = (0.0, 0.0),
    level: float = LEVEL,
) -> Range:
    """How a share differs from that of other questions (each value 0 or 1).

    Agresti & Caffo (2000): a Wald interval after adding one hit and one miss to each side. With a
    chance c of each side the difference is of `(share - c) / (1 - c)`, a linear function of both
    shares, whose interval is made alike (Price & Bonett 2004). p is that of its z.

    Args:
        values: 0 or 1 per question.
        baseline: 0 or 1 per other question.
        chance: What guessing gives on either side, in [0, 1).
        level: Coverage.

    Returns:
        The difference; None for fewer than two questions on a side.

    Raises:
        ValueError: If a value is neither 0 nor 1 or a chance is impossible.
    """
    sides = [_zero_or_one(side) for side in (values, baseline)]
    if any(not 0 <= c < 1 for c in chance):
        raise ValueError(f"chance must lie in [0, 1), got {chance}")
    n = len(sides[0])
    if any(len(side) < 2 for side in sides):
        return Range(None, None, None, None, None, n, "agresti-caffo")
    slopes = [1 / (1 - c) for c in chance]
    raw = [slope * (side.mean() - c) for slope, side, c in zip(slopes, sides, chance, strict=True)]
    added = [(side.sum() + 1) / (len(side) + 2) for side in sides]
    moved = [slope * (p - c) for slope, p, c in zip(slopes, added, chance, strict=True)]
    variance = sum(
        slope**2 * p * (1 - p) / (len(side) + 2)
        for slope, p, side in zip(slopes, added, sides, strict=True)
    )
    se, centre = float(np.sqrt(variance)), float(moved[0] - moved[1])
    half = normal_quantile(level) * se
    p = two_sided(centre, se)
    least, most = -slopes[0] * chance[0] - 1, 1 + slopes[1] * chance[1]  # none right, and all
    low, high = max(least, centre - half), min(most, centre + half)
    return Range(float(raw[0] - raw[1]), low, high, p, se, n, "agresti-caffo")


def _zero_or_one(values: Sequence[float] | Floats) -> np.ndarray:
    array = finite_array(values, "values")
    wrong = array[(array != 0) & (array != 1)]
    if len(wrong):
        raise ValueError(f"values must be 0 or 1, got {wrong[0]:g}")
    return array
