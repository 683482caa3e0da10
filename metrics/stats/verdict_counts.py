"""Confusion counts per question, and `classification_scores` as functions of their sums."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import Floats, Score

K = TypeVar("K", bound=Hashable)

_CELLS = {(1, 1): 0, (0, 1): 1, (1, 0): 2, (0, 0): 3}


class VerdictCounts(NamedTuple):
    """Rows of one question by label and verdict; the positive class is 1."""

    tp: int
    fp: int
    fn: int
    tn: int


def verdict_counts(
    questions: Sequence[K], labels: Sequence[int], verdicts: Sequence[int | None]
) -> dict[K, VerdictCounts | None]:
    """Count labels and verdicts per question, in the order in which questions occur first.

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
        counts = cells.setdefault(question, [0, 0, 0, 0])
        if verdict is not None:
            counts[_CELLS[label, verdict]] += 1
    return {key: VerdictCounts(*counts) if any(counts) else None for key, counts in cells.items()}


def _ratio(hits: Floats, total: Floats) -> Floats:
    """Return hits over total, 0 where there is nothing (scikit-learn's `zero_division=0`)."""
    return np.divide(hits, total, out=np.zeros_like(hits), where=total > 0)


def _macro(class_score: Callable[[Floats, Floats, Floats], Floats]) -> Score:
    """Return the mean over both classes of a score of one: of its hits, false alarms and misses."""

    def score(totals: Floats) -> Floats:
        tp, fp, fn, tn = totals.T
        return 0.5 * class_score(tp, fp, fn) + 0.5 * class_score(tn, fn, fp)

    return score


def _accuracy(totals: Floats) -> Floats:
    accuracy: Floats = (totals[:, 0] + totals[:, 3]) / totals.sum(axis=1)
    return accuracy


VERDICT_SCORES: dict[str, Score] = {
    "macro_precision": _macro(lambda hits, false, missed: _ratio(hits, hits + false)),
    "macro_recall": _macro(lambda hits, false, missed: _ratio(hits, hits + missed)),
    "macro_f1": _macro(lambda hits, false, missed: _ratio(2 * hits, 2 * hits + (false + missed))),
    "acc": _accuracy,
}
"""The scores, as functions of the summed `VerdictCounts`."""
