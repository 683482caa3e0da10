"""P-values adjusted for how many tests were made."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted to control the family-wise error (Holm 1979, step-down Bonferroni).

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
