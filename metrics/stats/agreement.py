"""Agreement of raters who label the same units: people with people, or a judge with people.

A unit is the sequence of its ratings, one per rater in the same order, None where a rater gave
none. Labels are nominal: two are alike or not; `krippendorff_alpha_ordinal` takes ranks, such as
steps of a scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

L = TypeVar("L", bound=Hashable)


@dataclass(frozen=True)
class Agreement:
    """How far raters agree; higher is better.

    Attributes:
        alpha: Krippendorff's alpha; see `krippendorff_alpha`.
        percent: Share of pairs of ratings of one unit that are alike, all pairs pooled (a
            fraction); None without a pair.
        unanimous: Share of units with two ratings or more whose ratings are all alike; None
            without such a unit.
        n_ratings: Ratings in all.
        n_missing: Places without a rating.
    """

    alpha: float | None
    percent: float | None
    unanimous: float | None
    n_ratings: int
    n_missing: int


def agreement(units: Sequence[Sequence[L | None]]) -> Agreement:
    """Return alpha, percent agreement and unanimity over units, with what they are over.

    Args:
        units: The ratings of each unit, one place per rater.

    Returns:
        The figures; None where there is nothing to compute one from.

    Raises:
        ValueError: If a unit has another number of places than the first.
    """
    by_unit = _pairable(units)
    alike = sum(count * (count - 1) for counts in by_unit for count in counts.values())
    pairs = sum(counts.total() * (counts.total() - 1) for counts in by_unit)
    n_slots = sum(len(unit) for unit in units)
    n_ratings = sum(rating is not None for unit in units for rating in unit)
    return Agreement(
        alpha=krippendorff_alpha(units),
        percent=alike / pairs if pairs else None,
        unanimous=sum(len(counts) == 1 for counts in by_unit) / len(by_unit) if by_unit else None,
        n_ratings=n_ratings,
        n_missing=n_slots - n_ratings,
    )


def krippendorff_alpha(units: Sequence[Sequence[L | None]]) -> float | None:
    """Return Krippendorff's alpha for nominal labels, with missing ratings.

    `alpha = 1 - (n - 1) sum_u [sum_{c != k} n_uc n_uk / (m_u - 1)] / sum_{c != k} n_c n_k`, over
    units with m_u >= 2 ratings, n_uc of them label c, n_c and n the totals over such units
    (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C). At most 1, which
    is perfect agreement; 0 is chance, below 0 is systematic disagreement.

    Args:
        units: The ratings of each unit, one place per rater.

    Returns:
        Alpha; None without a unit of two ratings, and where only one label occurs (agreement by
        chance is then certain, so that nothing is left to correct).

    Raises:
        ValueError: If a unit has another number of places than the first.
    """
    by_unit = _pairable(units)
    return _alpha(by_unit, sum(by_unit, Counter()), lambda a, b: a != b)


def krippendorff_alpha_ordinal(units: Sequence[Sequence[int | None]]) -> float | None:
    """Return Krippendorff's alpha for ordered ratings such as 1 to 5, with missing ratings.

    `alpha = 1 - (n - 1) sum_u [sum_{c, k} n_uc n_uk d(c, k) / (m_u - 1)] / sum_{c, k} n_c n_k
    d(c, k)` with the ordinal metric `d(c, k) = (sum_{g=c}^{k} n_g - (n_c + n_k) / 2)^2`: how many
    ratings lie between two, squared; the rest as in `krippendorff_alpha` (Krippendorff 2011,
    "Computing Krippendorff's Alpha-Reliability", sections C and D). At most 1, which is perfect
    agreement; 0 is chance.

    Args:
        units: The ratings of each unit, one place per rater.

    Returns:
        Alpha; None without a unit of two ratings, and where only one rating occurs.

    Raises:
        ValueError: If a unit has another number of places than the first.
    """
    by_unit = _pairable(units)
    totals: Counter[int] = sum(by_unit, Counter())
    order = sorted(totals)
    below = [sum(totals[other] for other in order[:position]) for position in range(len(order))]
    middle = {c: below[position] + totals[c] / 2 for position, c in enumerate(order)}
    return _alpha(by_unit, totals, lambda a, b: (middle[a] - middle[b]) ** 2)


def _alpha(
    by_unit: Sequence[Counter[L]], totals: Counter[L], distance: Callable[[L, L], float]
) -> float | None:
    def spread(counts: Counter[L]) -> float:
        pairs = ((a, b) for a in counts for b in counts)
        return sum(counts[a] * counts[b] * distance(a, b) for a, b in pairs)

    expected = spread(totals)
    if not expected:
        return None
    observed = sum(spread(counts) / (counts.total() - 1) for counts in by_unit)
    return 1 - (totals.total() - 1) * observed / expected


def majority_label(ratings: Sequence[L | None]) -> L | None:
    """Return the label given most often; None where several are, or without a rating."""
    ranked = Counter(rating for rating in ratings if rating is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _pairable(units: Sequence[Sequence[L | None]]) -> list[Counter[L]]:
    """Count how often each label was given, for the units with two ratings or more."""
    for index, unit in enumerate(units):
        if len(unit) != len(units[0]):
            raise ValueError(
                f"unit {index} has {len(unit)} places for ratings, the first has {len(units[0])}"
            )
    by_unit = [Counter(rating for rating in unit if rating is not None) for unit in units]
    return [counts for counts in by_unit if counts.total() > 1]
