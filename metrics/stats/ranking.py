"""Rankings of several systems: their points, and agreement with metrics.

A ranking is a row of ranks, one per system, 1 for the best, without ties. Several rankings, one
per question, are rows over the same systems in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau, rankdata  # type: ignore[import-untyped]
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import finite_array


def points(ranks: Sequence[int]) -> list[int]:
    """Return the points of one ranking: n for the best of n systems, 1 for the last.

    `points_i = n + 1 - rank_i`; range 1 to n, higher is better; an empty ranking has no points.

    Raises:
        ValueError: If the ranks are not 1 to n, each once.
    """
    n = len(ranks)
    if sorted(ranks) != list(range(1, n + 1)):
        raise ValueError(f"ranks must be 1 to {n}, each once; got {list(ranks)}")
    return [n + 1 - rank for rank in ranks]


class Agreement(NamedTuple):
    """How two ratings of the same systems go together.

    Attributes:
        tau: Kendall's tau-b over all pairs of means; None where one side does not vary.
        slope: Of the least-squares line from the second rating (x) to the first (y).
        n: How many pairs of means.
    """

    tau: float | None
    slope: float | None
    n: int


def pooled_agreement(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """Return Kendall's tau-b over mean ratings pooled over systems and languages, with the slope.

    The agreement that arXiv 2402.13963 reports (section 2.2.3, Figure 4b): one pair per system and
    language, 36 for six systems in six languages. The mean of the taus of questions, or of those
    of languages, is another and mostly lower number.

    Args:
        first: Mean rating of every (system, language) by a rater; higher is better.
        second: The same by another rater or a metric.

    Raises:
        ValueError: If the numbers differ, or a value is not finite.
    """
    same_length(first=first, second=second)
    y, x = finite_array(first, "first"), finite_array(second, "second")
    if len(set(first)) < 2 or len(set(second)) < 2:
        return Agreement(None, None, len(first))
    slope = float(np.cov(x, y, bias=True)[0, 1] / x.var())
    return Agreement(float(kendalltau(y, x).statistic), slope, len(first))


def score_points(scores: Sequence[float]) -> list[float]:
    """Return the points of a question by a metric: n for the highest of n systems, 1 for the last.

    How arXiv 2402.13963 (Figure 4a) brings metrics to the scale of ratings. Systems that tie share
    the mean of their points, so that a question's points always sum to n (n + 1) / 2.

    Raises:
        ValueError: If a score is not finite.
    """
    return [float(rank) for rank in rankdata(finite_array(scores, "scores"))]
