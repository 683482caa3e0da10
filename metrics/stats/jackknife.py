"""Student's intervals of means, and the jackknife over questions of any score of sums.

Leaving out each question in turn gives a standard error of a smooth score, whatever the rows of a
question have in common. A score in [0, 1] has the interval of a proportion with the same variance.
The p of a difference is that of its interval: simulated, false alarms of balanced accuracy, F1 and
AUC are 0.01 to 0.06 from 12 questions on.
"""

from __future__ import annotations

import numpy as np
from xling_metrics.stats.estimate import (
    LEVEL,
    Estimate,
    Floats,
    Score,
    degrees_of_freedom,
    score_of,
    scored,
    student_estimate,
)
from xling_metrics.stats.proportions import bonett_price, effective_n_factor, wilson


def mean_estimate(values: Floats, level: float = LEVEL) -> Estimate:
    """Return the mean with Student's interval (1908); `scipy.stats.ttest_1samp`.

    Args:
        values: One per question, finite.
        level: Coverage.

    Returns:
        Mean, ends, standard error and the t test's p; no ends for fewer than two values.
    """
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else None, n=n, method="t")
    se = float(values.std(ddof=1) / np.sqrt(n))
    return student_estimate(float(values.mean()), se, n - 1, n, level, "t")


def score_estimate(
    sums: Floats,
    score: Score,
    level: float = LEVEL,
    *,
    added: Floats | None = None,
    bounded: bool = True,
) -> Estimate:
    """Return a score of sums over questions with the jackknife's interval.

    With s_(i) the score without question i, `se^2 = (n - 1) / n sum (s_(i) - mean s_(.))^2` (Efron
    & Tibshirani 1993, equation 11.5; over clusters Rust & Rao 1996). A score v in [0, 1] counts
    like a proportion of as many draws as its variance is worth, `v (1 - v) / se^2`, fewer by
    `effective_n_factor`, and has Wilson's interval of these; another has Student's.

    Args:
        sums: A row of sums per question.
        score: From sums to values.
        level: Coverage.
        added: Rows that count as more questions for the variance alone, such as half a row in each
            cell of a table of counts: with few questions an empty cell is no proof of 0.
        bounded: Whether the score lies in [0, 1].

    Returns:
        The score; no ends for fewer than two questions or where it is undefined without one. Where
        nothing varies each question is one draw at most.
    """
    n, value = len(sums), score_of(score, sums)
    if value is None or n < 2:
        return Estimate(value, n=n, method="jackknife")
    without = _deviations(scored(score, sums.sum(axis=0, keepdims=True) - sums))
    if np.isnan(without).any():
        return Estimate(value, n=n, method="jackknife")
    if not bounded:
        return student(value, without, n - 1, level)
    rows = sums if added is None else np.concatenate([sums, added])
    total = rows.sum(axis=0, keepdims=True)
    parts = without if added is None else _deviations(scored(score, total - rows))
    shape = value if 0 < value < 1 else float(scored(score, total)[0])
    variance, draws = float((parts**2).sum()), float(n)
    if variance > 1e-24 and 0 < shape < 1:
        worth = shape * (1 - shape) / variance * effective_n_factor(parts, level)
        draws = worth if (without**2).sum() > 1e-24 else min(draws, worth)
    low, high = wilson(value * draws, draws, level)
    return Estimate(value, low, high, None, float(np.sqrt(variance)), n, "jackknife")


def jackknife_contrast(
    groups: list[tuple[int, Floats]], score: Score, level: float = LEVEL
) -> Estimate:
    """Return a signed sum of a score over groups with the same questions, by Student.

    Args:
        groups: Sign (1 or -1) and a row of sums per question, in one order.
        score: From sums to values.
        level: Coverage.
    """
    n = len(groups[0][1])
    values = [score_of(score, sums) for _, sums in groups]
    if any(value is None for value in values):
        return Estimate(None, n=n, method="jackknife")
    value = sum(sign * (x or 0.0) for (sign, _), x in zip(groups, values, strict=True))
    without = sum(
        sign * scored(score, sums.sum(axis=0, keepdims=True) - sums) for sign, sums in groups
    )
    return student(value, _deviations(np.asarray(without)), n - 1, level)


def minimum_width(estimate: Estimate, level: float = LEVEL, *, difference: bool) -> Estimate:
    """Return an estimate whose interval is no point where all questions agree.

    Equal questions have no spread, however few they are; that is no proof. If all n agree, a score
    is Wilson's of n out of n (or 0), and a difference the one of `bonett_price` without any
    disagreement, which is what n questions can exclude. For values in [0, 1].
    """
    value, low, high = estimate[:3]
    if value is None or low is None or high is None or high - low > 1e-12:
        return estimate
    if difference:
        low, high, se = bonett_price(0, 0, estimate.n, level)
        return estimate._replace(ci_low=value + low, ci_high=value + high, se=se)
    if value in (0.0, 1.0):
        low, high = wilson(value * estimate.n, estimate.n, level)
        return estimate._replace(ci_low=low, ci_high=high, method="wilson")
    return estimate


def student(value: float, parts: Floats, df: float, level: float = LEVEL) -> Estimate:
    """Return Student's interval of an estimate whose variance is the sum of squares of its parts.

    Args:
        value: The estimate.
        parts: What each question adds to its deviation from the truth.
        df: Most degrees of freedom, fewer by `degrees_of_freedom`; no ends below 1.
        level: Coverage.
    """
    if df < 1 or np.isnan(parts).any():
        return Estimate(value, n=len(parts), method="jackknife")
    df = min(df, degrees_of_freedom(parts))
    se = float(np.sqrt((parts**2).sum()))
    return student_estimate(value, se, df, len(parts), level, "jackknife")


def _deviations(without: Floats) -> Floats:
    """Return deviations whose sum of squares is the jackknife's variance."""
    n = len(without)
    parts: Floats = (without - without.mean()) * np.sqrt((n - 1) / max(n, 1))
    return parts
