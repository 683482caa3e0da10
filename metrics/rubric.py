"""Scores of answers by rubrics: criteria with points, met or not.

The form is HealthBench's (arXiv:2505.08775).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import NamedTuple


def rubric_score(met: Sequence[bool | None], points: Sequence[float]) -> float | None:
    """The points of the criteria that an answer meets, over all positive points.

    Args:
        met: Per criterion whether it is met; None where that is not known.
        points: Per criterion its points; negative for what an answer should not do.

    Returns:
        At most 1; below 0 where faults weigh more than what is right. None if one criterion is not
        known (a score over the others would look like one over all), or no points are positive.

    Raises:
        ValueError: If the lengths differ.
    """
    ends = rubric_bounds(met, points)
    return ends.low if ends is not None and None not in met else None


class Bounds(NamedTuple):
    """Between what a score must lie."""

    low: float
    high: float


def rubric_bounds(met: Sequence[bool | None], points: Sequence[float]) -> Bounds | None:
    """The lowest and the highest score that what is not known allows; None without positive points.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(met) != len(points):
        raise ValueError(f"{len(met)} verdicts on {len(points)} criteria")
    possible = math.fsum(each for each in points if each > 0)
    if possible <= 0:
        return None
    earned = [each for known, each in zip(met, points, strict=True) if known]
    open_ = [each for known, each in zip(met, points, strict=True) if known is None]
    low = math.fsum([*earned, *(each for each in open_ if each < 0)])
    high = math.fsum([*earned, *(each for each in open_ if each > 0)])
    return Bounds(low / possible, high / possible)


_PER_CHARACTER = 2.94e-5
_CENTRE = 2000


def length_adjusted(score: float | None, characters: int) -> float | None:
    """A score as if the answer had 2,000 characters: `score - 2.94e-5 * (characters - 2000)`.

    HealthBench Professional's (arXiv:2604.27470, section 4.1), about 0.0147 per 500 characters; a
    shorter answer gains. The slope was fitted to answers in English, so that it compares within a
    language only: the same text has other lengths in other scripts.

    Args:
        score: Of an answer; None if it has none.
        characters: Of the answer, in Unicode code points.
    """
    return None if score is None else score - _PER_CHARACTER * (characters - _CENTRE)


def worst_at(scores: Sequence[float | None], k: int) -> float | None:
    """The worst of k answers, as expected from n: the mean of the minima of all subsets of size k.

    HealthBench's worst-at-k (arXiv:2505.08775, section 6.4): unbiased; at k = 1 it is the mean.

    Args:
        scores: Of n independent answers to one conversation.
        k: From 1 to n.

    Returns:
        None if an answer has no score: the worst one may be it.

    Raises:
        ValueError: If k is not from 1 to n.
    """
    if not 1 <= k <= len(scores):
        raise ValueError(f"worst of {k} from {len(scores)} answers")
    known = sorted(score for score in scores if score is not None)
    if len(known) < len(scores):
        return None
    # The i-th lowest is the lowest of every subset with k - 1 of those above it.
    ways = [math.comb(len(known) - 1 - at, k - 1) for at in range(len(known))]
    return math.fsum(map(operator.mul, known, ways)) / math.comb(len(known), k)


class RaterScores(NamedTuple):
    """How well one rater agrees with others about criteria.

    Attributes:
        n: Pairs of one of the rater's labels with one label of another rater.
        agreement: Share of pairs with equal labels.
        balanced_f1: Mean of the F1 of 'met' and of 'not met' (macro F1), with the others' labels
            as the truth; None where one of the two never occurs on either side.
        kappa: Cohen's kappa over the pairs; None where both sides have one label alone.
    """

    n: int
    agreement: float | None
    balanced_f1: float | None
    kappa: float | None


def rater_scores(own: Sequence[bool], others: Sequence[Sequence[bool]]) -> RaterScores:
    """A rater against every label that others gave to the same units.

    Each label of another rater makes a pair, so that a unit with three labels counts three times,
    as in HealthBench's meta evaluation.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(own) != len(others):
        raise ValueError(f"{len(own)} labels beside {len(others)} units")
    pairs = [(a, b) for a, several in zip(own, others, strict=True) for b in several]
    n = len(pairs)
    if not n:
        return RaterScores(0, None, None, None)
    equal = sum(a == b for a, b in pairs) / n
    classes = []
    for label in (True, False):
        hits = sum(a == b == label for a, b in pairs)
        size = sum(a == label for a, _ in pairs) + sum(b == label for _, b in pairs)
        classes.append(2 * hits / size if size else None)
    yes_own, yes_others = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    chance = yes_own * yes_others + (1 - yes_own) * (1 - yes_others)
    return RaterScores(
        n,
        equal,
        None if None in classes else math.fsum(c for c in classes if c is not None) / 2,
        None if chance == 1 else (equal - chance) / (1 - chance),
    )
