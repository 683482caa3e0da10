"""Bootstrap intervals of `classification.verdict_scores` over questions, and their differences."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.cluster import ClusterDifference, sums_difference
from xling_metrics.stats.intervals import Interval, Score, sums_intervals
from xling_metrics.stats.resampling import LEVEL, RESAMPLES, Floats, ResamplerPool

K = TypeVar("K", bound=Hashable)

_CELLS = {(1, 1): 0, (0, 1): 1, (1, 0): 2, (0, 0): 3}


class VerdictCounts(NamedTuple):
    """Rows of one question by label and verdict; the positive class is 1.

    Attributes:
        tp: Label 1, verdict 1.
        fp: Label 0, verdict 1.
        fn: Label 1, verdict 0.
        tn: Label 0, verdict 0.
    """

    tp: int
    fp: int
    fn: int
    tn: int


def verdict_counts(
    questions: Sequence[K], labels: Sequence[int], verdicts: Sequence[int | None]
) -> dict[K, VerdictCounts | None]:
    """Confusion counts per question, in the order in which questions occur first.

    Args:
        questions: The question of each row.
        labels: 0 or 1 per row.
        verdicts: 0 or 1 per row; None where there is no usable verdict. Such rows are left out.

    Returns:
        Question to counts; None for a question without a usable verdict; empty without rows.

    Raises:
        ValueError: If the lengths differ or a value is neither 0, 1 nor (verdicts) None.
    """
    same_length(questions=questions, labels=labels, verdicts=verdicts)
    cells: dict[K, list[int]] = {}
    for question, label, verdict in zip(questions, labels, verdicts, strict=True):
        if label not in (0, 1) or verdict not in (0, 1, None):
            raise ValueError(f"labels and verdicts must be 0 or 1, got {label!r} and {verdict!r}")
        own = cells.setdefault(question, [0, 0, 0, 0])
        if verdict is not None:
            own[_CELLS[label, verdict]] += 1
    return {key: VerdictCounts(*own) if any(own) else None for key, own in cells.items()}


def verdict_intervals(
    counts: Mapping[K, Sequence[float] | None],
    *,
    seed: int,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
    pool: ResamplerPool | None = None,
) -> dict[str, Interval]:
    """Macro precision, recall and F1 and accuracy with intervals over questions. In [0, 1].

    Values are those of `classification.verdict_scores` over the same rows.

    Args:
        counts: What `verdict_counts` returns.
        seed: Seed of the draws.
        n_resamples: How many times the questions are drawn.
        level: Coverage.
        pool: Draws to share with other calls.

    Returns:
        Interval under `macro_precision`, `macro_recall`, `macro_f1` and `acc`; without a value
        where there is no question, and without ends with one question.

    Raises:
        ValueError: If a question has not four counts, or `level`, `seed` or `n_resamples` is
            impossible.
    """
    _check_counts(counts)
    return sums_intervals(
        counts, VERDICT_SCORES, seed=seed, n_resamples=n_resamples, level=level, pool=pool
    )


def verdict_differences(
    values: Mapping[K, Sequence[float] | None],
    baseline: Mapping[K, Sequence[float] | None],
    *,
    seed: int,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
    pool: ResamplerPool | None = None,
) -> dict[str, ClusterDifference]:
    """How the scores of `verdict_intervals` differ from a baseline's over the same questions.

    Args:
        values: What `verdict_counts` returns, for example for one language.
        baseline: The same of what it is compared with, for example English.
        seed: Seed of bootstrap and permutations.
        n_resamples: How many of each.
        level: Coverage of the interval.
        pool: Draws to share with other calls.

    Returns:
        Comparison under each score's name, values minus baseline.

    Raises:
        ValueError: If a question has not four counts, or `level`, `seed` or `n_resamples` is
            impossible.
    """
    _check_counts(values)
    _check_counts(baseline)
    return sums_difference(
        values,
        baseline,
        VERDICT_SCORES,
        seed=seed,
        n_resamples=n_resamples,
        level=level,
        pool=pool,
    )


def _check_counts(counts: Mapping[K, Sequence[float] | None]) -> None:
    for question, own in counts.items():
        if own is not None and len(own) != 4:
            raise ValueError(f"question {question!r} has {len(own)} counts, not 4")


def _ratio(hits: Floats, total: Floats) -> Floats:
    """Hits over total, 0 where there is nothing (scikit-learn's `zero_division=0`)."""
    return np.divide(hits, total, out=np.zeros_like(hits), where=total > 0)


def _macro_precision(totals: Floats) -> Floats:
    tp, fp, fn, tn = totals.T
    return 0.5 * _ratio(tp, tp + fp) + 0.5 * _ratio(tn, tn + fn)


def _macro_recall(totals: Floats) -> Floats:
    tp, fp, fn, tn = totals.T
    return 0.5 * _ratio(tp, tp + fn) + 0.5 * _ratio(tn, tn + fp)


def _macro_f1(totals: Floats) -> Floats:
    tp, fp, fn, tn = totals.T
    wrong = fp + fn
    return 0.5 * _ratio(2 * tp, 2 * tp + wrong) + 0.5 * _ratio(2 * tn, 2 * tn + wrong)


def _accuracy(totals: Floats) -> Floats:
    right: Floats = totals[:, 0] + totals[:, 3]
    share: Floats = right / totals.sum(axis=1)
    return share


VERDICT_SCORES: dict[str, Score] = {
    "macro_precision": _macro_precision,
    "macro_recall": _macro_recall,
    "macro_f1": _macro_f1,
    "acc": _accuracy,
}
"""The scores, as functions of the summed `VerdictCounts`."""
