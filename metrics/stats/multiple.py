"""P-values adjusted for how many tests were made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values that control the family-wise error (Holm 1979, step-down Bonferroni).

    With p_(1) <= ... <= p_(m): `adjusted_(i) = min(1, max_{j <= i} (m - j + 1) p_(j))`. In [0, 1],
    never below the p-value; equal p-values get equal adjusted ones.

    Args:
        p_values: In any order; None where a test was impossible. It stays None and is not
            counted in m.

    Returns:
        The adjusted values in the same order; an empty list for none.

    Raises:
        ValueError: If a p-value lies outside [0, 1].
    """
    present = [(p, index) for index, p in enumerate(p_values) if p is not None]
    wrong = [p for p, _ in present if not 0 <= p <= 1]
    if wrong:
        raise ValueError(f"p-values must lie in [0, 1], got {wrong[0]}")
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, index) in enumerate(sorted(present)):
        highest = max(highest, min(1.0, (len(present) - rank) * p))
        adjusted[index] = highest
    return adjusted


@lru_cache(maxsize=512)
def detectable_errors(m: int, level: float = 0.95, power: float = 0.8) -> float:
    """Standard errors that are found with some power by one of m tests corrected together.

    `z(1 - (1 - level) / (2 m)) + z(power)`, the first step of `holm`: 2.80, 3.24, 3.61, 3.71 and
    3.92 for 1, 3, 9, 12 and 24 tests.

    Raises:
        ValueError: If m is below 1.
    """
    from scipy.stats import norm  # type: ignore[import-untyped]

    if m < 1:
        raise ValueError(f"a family has at least one test, got {m}")
    return float(norm.isf((1 - level) / (2 * m)) + norm.ppf(power))
