"""Standard errors over questions: of means, of ratios, and of any other score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import stdev
from typing import Any

import numpy as np
from xling_metrics.stats.estimate import Floats, Score

GROUPS = 50
"""Groups of questions, at most: so that large sets stay cheap."""


def mean_error(values: Sequence[float | None]) -> float | None:
    """Return the standard error of the mean of the values that are defined.

    The sample standard deviation (n - 1) over the root of n, at least 0.

    Returns:
        None with fewer than two defined values.
    """
    defined = [value for value in values if value is not None]
    return stdev(defined) / math.sqrt(len(defined)) if len(defined) > 1 else None


def ratio_error(pairs: Sequence[Sequence[float] | None]) -> float | None:
    """Return the standard error of sum(hits) / sum(rows) when whole questions are drawn.

    By linearization (Cochran 1977, Sampling Techniques, section 6.4): with R the ratio and n
    questions, sqrt(n / (n - 1) * sum((hits_i - R * rows_i) ** 2)) / sum(rows). Where every question
    has the same number of rows this is the error of the mean of the questions' shares.

    Args:
        pairs: (hits, rows) per question; None, and no rows, count for nothing.

    Returns:
        None with fewer than two questions that have rows.
    """
    counts = [(pair[0], pair[1]) for pair in pairs if pair and pair[1]]
    n, total = len(counts), sum(rows for _, rows in counts)
    if n < 2:
        return None
    share = sum(hits for hits, _ in counts) / total
    squares = math.fsum((hits - share * rows) ** 2 for hits, rows in counts)
    return math.sqrt(n / (n - 1) * squares) / total


def jackknife_error(
    score: Callable[[list[Any]], float | None], values: Sequence[Any]
) -> float | None:
    """Return the standard error of any score of questions: the jackknife by groups of questions.

    The questions are dealt into g groups in turn, and the score is taken without each of them:
    sqrt((g - 1) / g * sum((score_j - mean) ** 2)) (Efron & Tibshirani 1993, chapter 11). With as
    many questions as groups each is left out once, and a mean's error is that of `mean_error`.

    Args:
        score: From questions' values to a score; it should be smooth (a mean, F1, AUC; no median).
        values: One per question.

    Returns:
        None with fewer than two questions, or where the score is undefined without some group.
    """
    count = min(GROUPS, len(values))
    if count < 2:
        return None
    scores = [
        score([value for i, value in enumerate(values) if i % count != group])
        for group in range(count)
    ]
    defined = [item for item in scores if item is not None and math.isfinite(item)]
    if len(defined) < count:
        return None
    mean = math.fsum(defined) / count
    return math.sqrt((count - 1) / count * math.fsum((item - mean) ** 2 for item in defined))


def sums_error(score: Score, sums: Sequence[Sequence[float] | None]) -> float | None:
    """Return the jackknife standard error of a score of sums over questions, each left out once.

    Args:
        score: From sums (a row per case) to values, such as macro F1 of confusion counts.
        sums: A row per question; None for one that counts for nothing.

    Returns:
        None with fewer than two questions, or where the score is undefined without some question.
    """
    rows: Floats = np.array([row for row in sums if row is not None], dtype=float)
    if len(rows) < 2:
        return None
    without = score(rows.sum(axis=0) - rows)
    if not np.isfinite(without).all():
        return None
    return float(np.sqrt((len(rows) - 1) / len(rows) * ((without - without.mean()) ** 2).sum()))
