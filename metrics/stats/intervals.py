"""Bootstrap intervals over questions: means, shares, and any score of sums over questions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from xling_metrics.stats.resampling import (
    Floats,
    Resampler,
    ResamplerPool,
    check_level,
    percentile_bounds,
    quietly,
)

K = TypeVar("K", bound=Hashable)

Score: TypeAlias = Callable[[Floats], Floats]
"""From sums (a row per resample) to one value per row, NaN where it is undefined."""


class Interval(NamedTuple):
    """A value over questions with its interval.

    Attributes:
        value: The value over all questions; None without any.
        low: Lower end; None with fewer than two questions.
        high: Upper end; None with fewer than two questions.
        n: Questions used.
        left_out: Questions without a value.
        level: Coverage asked for, for example 0.95.
        method: `percentile` (Efron & Tibshirani 1993, chapter 13), `wilson`, `t`, `jackknife` or
            `delong`.
        seed: Seed of the draws.
        n_resamples: How many times the questions were drawn.
        n_undefined: Resamples in which the value is undefined; the interval is over the others.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int
    level: float
    method: str
    seed: int
    n_resamples: int
    n_undefined: int = 0


def interval_of_sums(
    columns: Floats,
    scores: Mapping[str, Score],
    left_out: int,
    *,
    seed: int,
    n_resamples: int,
    level: float,
    pool: ResamplerPool | None,
) -> dict[str, Interval]:
    """Bootstrap intervals of scores that depend on the rows only through sums of columns.

    Ratios, confusion counts, corpus BLEU: each question is reduced to its own sums, and the sums
    of all resamples are one matrix product.

    Args:
        columns: A row of finite sums per question.
        scores: Name to score; each maps sums (a row per resample) to one value per row.
        left_out: Questions without sums, to be counted.
        seed: Seed of the draws.
        n_resamples: How many times the questions are drawn.
        level: Coverage.
        pool: Draws to share with other calls.

    Returns:
        Name to interval; no value without a question, and no ends with one question.

    Raises:
        ValueError: If `level`, `seed` or `n_resamples` is impossible.
    """
    check_level(level)
    n = len(columns)
    draws = (pool or ResamplerPool()).get(max(n, 1), seed, n_resamples)
    totals = draws.totals(columns) if n > 1 else None
    made = {}
    for name, score in scores.items():
        value = scored(score, columns.sum(axis=0, keepdims=True))[0] if n else np.nan
        low = high = None
        undefined = 0
        if totals is not None:
            low, high, undefined = percentile_bounds(scored(score, totals), level)
        made[name] = Interval(
            None if np.isnan(value) else float(value),
            *(low, high, n, left_out, level, "percentile", seed, n_resamples, undefined),
        )
    return made


def percentile_difference(
    a: Floats, b: Floats, score: Score, draws: Resampler, level: float
) -> tuple[float | None, float | None]:
    """The percentile interval of a score's difference between two sides of the same questions.

    Args:
        a: A row of sums per question, at least one.
        b: The baseline's, over the same questions, which are drawn together.
        score: From sums to values.
        draws: Of as many questions.
        level: Coverage.

    Returns:
        Both ends, over the resamples in which both scores are defined; None with one question.
    """
    if len(a) < 2:
        return None, None
    # Each side by itself: sums of equal sides are then equal to the last digit on any processor.
    resampled = scored(score, draws.totals(a)) - scored(score, draws.totals(b))
    return percentile_bounds(resampled, level)[:2]


def scored(score: Score, totals: Floats) -> Floats:
    """The score of every row of sums, without numpy's warnings of a division by zero."""
    values: Floats = np.asarray(quietly(score, totals), dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def ratio(totals: Floats) -> Floats:
    """First column over second: a mean from sum and count, a share from hits and rows."""
    return totals[:, 0] / totals[:, 1]
