"""Several tests at once: adjusted p-values, and the ranks that models can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted to control the family-wise error (Holm 1979, step-down Bonferroni).

    With p_(1) <= ... <= p_(m): `adjusted_(i) = min(1, max_{j <= i} (m - j + 1) p_(j))`. In [0, 1],
    never below the p-value; equal p-values get equal adjusted ones.

    Args:
        p_values: In any order; None where a test was impossible. It stays None and is not
            counted in m.

    Raises:
        ValueError: If a p-value lies outside [0, 1].
    """
    present = [(p, index) for index, p in enumerate(p_values) if p is not None]
    invalid = [p for p, _ in present if not 0 <= p <= 1]
    if invalid:
        raise ValueError(f"p-values must lie in [0, 1], got {invalid[0]}")
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, index) in enumerate(sorted(present)):
        highest = max(highest, min(1.0, (len(present) - rank) * p))
        adjusted[index] = highest
    return adjusted


class RankInterval(NamedTuple):
    """The ranks that one of several models can have; 1 is the best.

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

    With probability `level` or more all intervals hold their model's true rank together: 1 and the
    number of models that are truly better, so that models which are truly equal share the best of
    their ranks; the interval holds the worst of them too.

    Every pair is two one-sided hypotheses ('i is not better than j', 'j is not better than i'),
    n (n - 1) in all, corrected together by Holm's method, which asks nothing of how the tests
    depend on each other; its p-values replace the bootstrapped maximum of Mogstad, Romano, Shaikh
    and Wilhelm (2024, Review of Economic Studies 91(1), section 3) and Tukey's range of Al Mohamad,
    Goeman and van Zwet (2022, Biometrics 78(1)).

    Args:
        n: How many models.
        tests: (i, j) with i < j -> how much better i is than j, and the two-sided p of that
            difference. A pair without a test (None, or missing) parts nobody.
        level: Simultaneous coverage, above 0 and below 1.

    Returns:
        One interval per model, in order.
    """
    one_sided: dict[tuple[int, int], float] = {}
    for (i, j), (difference, p) in tests.items():
        if p is not None:
            lower, upper = (p / 2, 1 - p / 2) if difference > 0 else (1 - p / 2, p / 2)
            one_sided[i, j], one_sided[j, i] = (lower, upper) if difference else (0.5, 0.5)
    adjusted = zip(one_sided, holm([*one_sided.values()]), strict=True)
    better_pairs = {pair for pair, p in adjusted if p is not None and p <= 1 - level}
    intervals = []
    for i in range(n):
        better = tuple(j for j in range(n) if (j, i) in better_pairs)
        worse = tuple(j for j in range(n) if (i, j) in better_pairs)
        intervals.append(RankInterval(1 + len(better), n - len(worse), better, worse))
    return intervals
