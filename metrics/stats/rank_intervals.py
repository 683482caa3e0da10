"""Ranks with their uncertainty: which places several models can have, given all comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xling_metrics.stats.multiple_testing import holm


class RankInterval(NamedTuple):
    """The places that one of several models can have; 1 is the best.

    Attributes:
        low: 1 and how many are significantly better.
        high: How many there are, without those that are significantly worse.
        better: The numbers of the significantly better ones.
        worse: The numbers of the significantly worse ones.
    """

    low: int
    high: int
    better: tuple[int, ...]
    worse: tuple[int, ...]


def rank_intervals(
    n: int, tests: Mapping[tuple[int, int], tuple[float, float | None]], level: float = 0.95
) -> list[RankInterval]:
    """Return simultaneous confidence intervals for the ranks of n models.

    With probability `level` or more all intervals hold their model's true rank together. A rank
    is 1 and the number of models that are truly better, so that models which are truly equal
    share the best of their places; the interval holds the worst of them too.

    Every pair is two one-sided hypotheses ('i is not better than j', 'j is not better than i'),
    n (n - 1) in all, corrected together by Holm's method, which asks nothing of how the tests
    depend on each other. From the hypotheses rejected follow the bounds: nobody can come before
    the models that are shown to be better, or behind those that are shown to be worse.

    Sources: Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks with Applications to
    Mobility across Neighbourhoods and Academic Achievement across Countries, Review of Economic
    Studies 91(1), section 3; Al Mohamad, Goeman and van Zwet (2022), Simultaneous confidence
    intervals for ranks with application to ranking institutions, Biometrics 78(1). They bootstrap
    a maximum or take Tukey's range; Holm (1979) loses little power and needs only the p-values.

    Args:
        n: How many models, at least 1.
        tests: (i, j) with i < j -> how much better i is than j, and the two-sided p of that
            difference. A pair without a test (None, or missing) parts nobody.
        level: Simultaneous coverage, above 0 and below 1.

    Returns:
        One interval per model, in order.

    Raises:
        ValueError: If n is below 1, a pair is none of i < j < n, or p lies outside [0, 1].
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    wrong = [pair for pair in tests if not 0 <= pair[0] < pair[1] < n]
    if wrong:
        raise ValueError(f"pairs must be i < j < {n}, got {wrong[0]}")
    one_sided: dict[tuple[int, int], float] = {}
    for (i, j), (difference, p) in tests.items():
        if p is not None:
            one_sided[i, j] = _one_sided(difference, p)
            one_sided[j, i] = _one_sided(-difference, p)
    adjusted = zip(one_sided, holm([*one_sided.values()]), strict=True)
    better_pairs = {pair for pair, p in adjusted if p is not None and p <= 1 - level}
    intervals = []
    for i in range(n):
        better = tuple(j for j in range(n) if (j, i) in better_pairs)
        worse = tuple(j for j in range(n) if (i, j) in better_pairs)
        intervals.append(RankInterval(1 + len(better), n - len(worse), better, worse))
    return intervals


def _one_sided(difference: float, p: float) -> float:
    """Return the p of 'no better' from the two-sided one."""
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    if not difference:
        return 0.5
    return p / 2 if difference > 0 else 1 - p / 2
