"""Scores of probabilities as functions of sums over questions, so that questions can be resampled.

Brier score and calibration error, each equal to `classification.probability_scores` over the same
rows. ROC AUC, which is one over pairs of rows, is in `roc`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from xling_metrics.stats.estimate import Floats

K = TypeVar("K", bound=Hashable)
Rows = Mapping[K, Sequence[tuple[int, float | None]]]
"""Question -> its rows (label 0 or 1, probability of 1 or None, which is left out)."""

Sums = dict[K, Sequence[float] | None]

ECE_BINS = 15


def brier_sums(rows: Rows[K]) -> Sums[K]:
    """Return per question the sum of squared errors, and the number of rows; None without a row."""
    sums: Sums[K] = {}
    for key, pairs in rows.items():
        errors = [(label - chance) ** 2 for label, chance in pairs if chance is not None]
        sums[key] = (sum(errors), float(len(errors))) if errors else None
    return sums


def ece_sums(rows: Rows[K]) -> Sums[K]:
    """Return per question and bin the sum of correctness minus confidence, and the number of rows.

    Rows at exactly 0.5 decide nothing and are left out, as in the score. Bins are open on the
    left.
    """
    sums: Sums[K] = {}
    for key, pairs in rows.items():
        columns = [0.0] * (ECE_BINS + 1)
        for label, chance in pairs:
            if chance is None or chance == 0.5:
                continue
            confidence = max(chance, 1 - chance)
            bin_index = int(np.clip(np.ceil(confidence * ECE_BINS) - 1, 0, ECE_BINS - 1))
            columns[bin_index] += float((chance > 0.5) == (label == 1)) - confidence
            columns[-1] += 1
        sums[key] = tuple(columns) if columns[-1] else None
    return sums


def ece_of_sums(totals: Floats) -> Floats:
    """Return the expected calibration error from `ece_sums` (Guo et al. 2017, equation 5)."""
    gaps: Floats = np.abs(totals[:, :-1]).sum(axis=1)
    return gaps / totals[:, -1]
