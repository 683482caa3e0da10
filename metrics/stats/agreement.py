"""Agreement of raters: on labels of units, on rankings of systems.

A unit is the sequence of its ratings, one per rater in the same order, None where a rater gave
none. A ranking is a row of ranks, one per system, 1 for the best, without ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import finite_array

L = TypeVar("L", bound=Hashable)


def krippendorff_alpha(units: Sequence[Sequence[Any]], *, ordinal: bool = False) -> float | None:
    """Return Krippendorff's alpha, with missing ratings.

    `alpha = 1 - (n - 1) sum_u [sum_{c, k} n_uc n_uk d(c, k) / (m_u - 1)] / sum_{c, k} n_c n_k
    d(c, k)`, over units with m_u >= 2 ratings, n_uc of them label c, n_c and n the totals over such
    units. `d` is 1 for unlike labels; of ordered ratings such as 1 to 5 it is `(sum_{g=c}^{k} n_g -
    (n_c + n_k) / 2)^2`: how many ratings lie between two, squared (Krippendorff 2011, "Computing
    Krippendorff's Alpha-Reliability", sections C and D). At most 1, which is perfect agreement; 0
    is chance, below 0 is systematic disagreement.

    Args:
        units: The ratings of each unit.
        ordinal: Whether the ratings are ordered numbers.

    Returns:
        Alpha; None without a unit of two ratings, and where only one label occurs (agreement by
        chance is then certain, so that nothing is left to correct).
    """
    counts = [Counter(rating for rating in unit if rating is not None) for unit in units]
    by_unit = [unit for unit in counts if unit.total() > 1]
    totals: Counter[Any] = sum(by_unit, Counter())
    middle, below = {}, 0.0
    for rating in sorted(totals) if ordinal else ():
        middle[rating] = below + totals[rating] / 2
        below += totals[rating]

    def spread(counts: Counter[Any]) -> float:
        return sum(
            counts[a] * counts[b] * ((middle[a] - middle[b]) ** 2 if ordinal else a != b)
            for a in counts
            for b in counts
        )

    expected = spread(totals)
    if not expected:
        return None
    observed = sum(spread(unit) / (unit.total() - 1) for unit in by_unit)
    return 1 - (totals.total() - 1) * observed / expected


def majority_label(ratings: Sequence[L | None]) -> L | None:
    """Return the label given most often; None where several are, or without a rating."""
    ranked = Counter(rating for rating in ratings if rating is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


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


class PooledAgreement(NamedTuple):
    """How two ratings of the same systems go together.

    Attributes:
        tau: Kendall's tau-b over all pairs of means; None where one rating does not vary.
        slope: Of the least-squares line from the second rating (x) to the first (y).
        n: How many pairs of means.
    """

    tau: float | None
    slope: float | None
    n: int


def pooled_agreement(first: Sequence[float], second: Sequence[float]) -> PooledAgreement:
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
    from scipy.stats import kendalltau  # type: ignore[import-untyped]

    same_length(first=first, second=second)
    y, x = finite_array(first, "first"), finite_array(second, "second")
    if len(set(first)) < 2 or len(set(second)) < 2:
        return PooledAgreement(None, None, len(first))
    slope = float(np.cov(x, y, bias=True)[0, 1] / x.var())
    return PooledAgreement(float(kendalltau(y, x).statistic), slope, len(first))
