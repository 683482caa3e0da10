"""Student's intervals of means, and the jackknife over questions of any score of sums.

Leaving out each question in turn gives a standard error of a smooth score, whatever the rows of a
question have in common; Student's quantile makes up for its own error. A score in [0, 1] has the
interval of a share with the same variance, which stays inside and leans as it must near an end.
"""

from __future__ import annotations

import numpy as np
from xling_metrics.stats.intervals import Score, scored
from xling_metrics.stats.resampling import LEVEL, Floats
from xling_metrics.stats.shares import (
    Range,
    bonett_price,
    degrees_of_freedom,
    shrink,
    student_range,
    wilson,
)


def t_interval(values: Floats, level: float = LEVEL) -> Range:
    """The mean with Student's interval (1908); `scipy.stats.ttest_1samp`.

    Args:
        values: One per question, finite.
        level: Coverage.

    Returns:
        Mean, ends, standard error and the t test's p; no ends for fewer than two values.
    """
    n = len(values)
    if not n:
        return Range(None, None, None, None, None, 0, "t")
    mean = float(values.mean())
    if n < 2:
        return Range(mean, None, None, None, None, n, "t")
    se = float(values.std(ddof=1) / np.sqrt(n))
    return student_range(mean, se, n - 1, n, level, "t")


def score_interval(
    sums: Floats, score: Score, level: float = LEVEL, *, added: Floats | None = None
) -> Range:
    """A score of sums over questions that lies in [0, 1]: Wilson's interval, by the jackknife.

    The score v counts like a share of as many draws as its variance is worth, `v (1 - v) / se^2`,
    fewer by `shares.shrink` (the rule of `shares.clustered_share`, for any score). With s_(i) the
    score without question i, `se^2 = (n - 1) / n sum (s_(i) - mean s_(.))^2` (Efron & Tibshirani
    1993, equation 11.5; over clusters Rust & Rao 1996).

    Args:
        sums: A row of sums per question.
        score: From sums to values in [0, 1].
        level: Coverage.
        added: Rows that count as more questions for the variance alone, such as half a row in each
            cell of a table of counts: with few questions an empty cell is no proof of 0.

    Returns:
        The score; no ends for fewer than two questions or where it is undefined without one. Where
        nothing varies each question is one draw at most.
    """
    n = len(sums)
    value = float(scored(score, sums.sum(axis=0, keepdims=True))[0]) if n else np.nan
    if np.isnan(value):
        return Range(None, None, None, None, None, n, "jackknife")
    without = _parts(scored(score, sums.sum(axis=0, keepdims=True) - sums))
    if n < 2 or np.isnan(without).any():
        return Range(value, None, None, None, None, n, "jackknife")
    rows = sums if added is None else np.concatenate([sums, added])
    total = rows.sum(axis=0, keepdims=True)
    parts = without if added is None else _parts(scored(score, total - rows))
    shape = value if 0 < value < 1 else float(scored(score, total)[0])
    square, draws = float((parts**2).sum()), float(n)
    if square > 1e-24 and 0 < shape < 1:
        worth = shape * (1 - shape) / square * shrink(parts, level)
        draws = worth if (without**2).sum() > 1e-24 else min(draws, worth)
    low, high = wilson(value * draws, draws, level)
    return Range(value, low, high, None, float(np.sqrt(square)), n, "jackknife")


def jackknife_difference(a: Floats, b: Floats, score: Score, level: float = LEVEL) -> Range:
    """A score's difference between two sides of the same questions: the jackknife's, by Student.

    Args:
        a: A row of sums per question.
        b: The baseline's over the same questions.
        score: From sums to values.
        level: Coverage.
    """
    n = len(a)
    sides = [side.sum(axis=0, keepdims=True) for side in (a, b)]
    value = float(scored(score, sides[0])[0] - scored(score, sides[1])[0]) if n else np.nan
    if np.isnan(value):
        return Range(None, None, None, None, None, n, "jackknife")
    without = scored(score, sides[0] - a) - scored(score, sides[1] - b)
    return student(value, _parts(without), n - 1, level)


def never_without_width(interval: Range, level: float = LEVEL, *, difference: bool) -> Range:
    """An interval that is not a point where all questions agree.

    Equal questions have no spread, however few they are; that is no proof. If all n agree, a share
    is Wilson's of n out of n (or 0), and a difference the one of `bonett_price` without any
    disagreement, which is what n questions can exclude. For values in [0, 1].
    """
    value, low, high = interval[:3]
    if value is None or low is None or high is None or high - low > 1e-12:
        return interval
    if difference:
        low, high, se = bonett_price(0, 0, interval.n, level)
        return interval._replace(low=value + low, high=value + high, se=se)
    if value in (0.0, 1.0):
        low, high = wilson(value * interval.n, interval.n, level)
        return interval._replace(low=low, high=high, method="wilson")
    return interval


def student(value: float, parts: Floats, df: float, level: float = LEVEL) -> Range:
    """Student's interval of an estimate whose variance is the sum of squares of its parts.

    Args:
        value: The estimate.
        parts: What each question adds to its deviation from the truth.
        df: Most degrees of freedom, fewer by `shares.degrees_of_freedom`; no ends below 1.
        level: Coverage.
    """
    if df < 1 or np.isnan(parts).any():
        return Range(value, None, None, None, None, len(parts), "jackknife")
    df = min(df, degrees_of_freedom(parts))
    se = float(np.sqrt((parts**2).sum()))
    return student_range(value, se, df, len(parts), level, "jackknife")


def _parts(without: Floats) -> Floats:
    """Deviations whose sum of squares is the jackknife's variance."""
    n = len(without)
    parts: Floats = (without - without.mean()) * np.sqrt((n - 1) / max(n, 1))
    return parts
