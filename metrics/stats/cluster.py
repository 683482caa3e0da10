"""Difference of two scores of rows, where a question has several rows.

Rows of one question (verifiability asks about one right and several wrong answers to it) are not
independent, so whole questions are drawn, and in a comparison whole questions change sides. A
question is reduced to sums over its rows, so that all resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from xling_metrics.stats.intervals import Score, scored, sums_array
from xling_metrics.stats.resampling import (
    LEVEL,
    RESAMPLES,
    Floats,
    Resampler,
    ResamplerPool,
    check_level,
    number,
    percentile_bounds,
    permutation_p,
    resampler_of,
)

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class ClusterDifference:
    """A score's difference from a baseline over the same questions; the test is two-sided.

    Attributes:
        difference: Score of the values minus score of the baseline; None where one is undefined.
        low: Lower end of its percentile bootstrap interval, both sides over the same resampled
            questions; None with fewer than two questions.
        high: Its upper end; None with fewer than two questions.
        value: The score of the values over these questions.
        baseline: The score of the baseline over these questions.
        p: Permutation test in which the rows of a question change sides together; None where the
            difference is.
        exact: Whether it went through all 2^n of them (up to 14 questions).
        n: Questions with rows on both sides.
        left_out: Questions of either side that are not among them.
        level: Coverage of the interval.
        seed: Seed of the bootstrap and of permutations that are not exact.
        n_resamples: Bootstrap resamples, and permutations unless exact.
        n_undefined: Resamples in which the difference is undefined, left out of the interval.
    """

    difference: float | None
    low: float | None
    high: float | None
    value: float | None
    baseline: float | None
    p: float | None
    exact: bool
    n: int
    left_out: int
    level: float
    seed: int
    n_resamples: int
    n_undefined: int = 0


def sums_difference(
    values: Mapping[K, Sequence[float] | None],
    baseline: Mapping[K, Sequence[float] | None],
    scores: Mapping[str, Score],
    *,
    seed: int,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
    pool: ResamplerPool | None = None,
) -> dict[str, ClusterDifference]:
    """How scores of sums of columns differ from a baseline's over the same questions.

    Args:
        values: Question to its sums (as in `intervals.interval_of_sums`), for example in one
            language; None where it has no rows.
        baseline: The same of what it is compared with, for example English.
        scores: Name to score.
        seed: Seed of bootstrap and permutations.
        n_resamples: How many of each.
        level: Coverage of the interval.
        pool: Draws to share with other calls.

    Returns:
        Name to comparison, over the questions with sums on both sides.

    Raises:
        ValueError: If questions differ in their number of sums, a sum is not finite, or `level`,
            `seed` or `n_resamples` is impossible.
    """
    check_level(level)
    a, b = _shared_sums(values, baseline)
    n = len(a)
    draws = resampler_of(pool, max(n, 1), seed, n_resamples)
    observed = np.hstack([a, b]).sum(axis=0, keepdims=True)[: min(n, 1)]
    # Each side by itself: sums of equal sides are then equal to the last digit on any processor.
    resampled = np.hstack([draws.totals(a), draws.totals(b)]) if n > 1 else observed[:0]
    moved = draws.swapped_totals(b - a) if n else a
    permuted = (observed + np.hstack([moved, -moved])) if n else observed
    left_out = len(values.keys() | baseline.keys()) - n
    return {
        name: _difference(
            _two_scores(score, observed),
            _two_scores(score, resampled),
            _two_scores(score, permuted),
            draws,
            left_out,
            level,
        )
        for name, score in scores.items()
    }


def _shared_sums(
    values: Mapping[K, Sequence[float] | None], baseline: Mapping[K, Sequence[float] | None]
) -> tuple[Floats, Floats]:
    """The sums of both sides, a row per question that both have."""
    pairs = [(values.get(key), own) for key, own in baseline.items()]
    present = [(x, y) for x, y in pairs if x is not None and y is not None]
    columns = sums_array([x for x, _ in present] + [y for _, y in present])
    return columns[: len(present)], columns[len(present) :]


def _difference(
    observed: Floats,
    resampled: Floats,
    permuted: Floats,
    draws: Resampler,
    left_out: int,
    level: float,
) -> ClusterDifference:
    """The comparison from pairs of scores: at most one observed, one per resample, one per swap."""
    n = draws.n if len(observed) else 0
    value, baseline = observed[0] if n else (np.nan, np.nan)
    low, high, undefined = percentile_bounds(resampled[:, 0] - resampled[:, 1], level)
    difference = number(value - baseline)
    p = None
    if difference is not None:
        moved = permuted[:, 0] - permuted[:, 1]
        scale = max(abs(float(value)), abs(float(baseline)))
        p = permutation_p(difference, moved, exact=draws.exact, scale=scale)
    return ClusterDifference(
        difference=difference,
        low=low,
        high=high,
        value=number(value),
        baseline=number(baseline),
        p=p,
        exact=draws.exact,
        n=n,
        left_out=left_out,
        level=level,
        seed=draws.seed,
        n_resamples=draws.n_resamples,
        n_undefined=undefined,
    )


def _two_scores(score: Score, sides: Floats) -> Floats:
    if not len(sides):
        return np.empty((0, 2))
    half = sides.shape[1] // 2
    return np.column_stack([scored(score, sides[:, :half]), scored(score, sides[:, half:])])
