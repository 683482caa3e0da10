"""Scores of probabilities from sums over questions equal those over rows, resampled or mixed."""

from __future__ import annotations

import numpy as np
import pytest
from by_rows import difference_by_rows, difference_by_sums
from xling_metrics.classification import probability_scores
from xling_metrics.stats.intervals import ratio
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums


def rows_of(seed, questions=30):
    """Rows with ties, missing probabilities and exact halves."""
    rng = np.random.default_rng(seed)
    rows = {}
    for q in range(questions):
        chances = np.round(rng.random(5), 1 + q % 2).tolist()  # at ends of bins and between them
        rows[f"q{q}"] = [
            (int(i == 0), None if rng.random() < 0.05 else 0.5 if rng.random() < 0.05 else p)
            for i, p in enumerate(chances)
        ]
    return rows


@pytest.mark.parametrize("name", ["brier", "ece"])
def test_differences_and_permutations_equal_those_of_rows(name):
    one, other = rows_of(1), rows_of(2)
    other.pop("q3")

    def statistic(rows):
        return getattr(probability_scores([a for a, _ in rows], [b for _, b in rows]), name)

    slow = difference_by_rows(one, other, statistic, seed=5, n_resamples=40)
    sums, score = {"brier": (brier_sums, ratio), "ece": (ece_sums, ece_of_sums)}[name]
    fast = difference_by_sums(sums(one), sums(other), score, seed=5, n_resamples=40)
    assert fast == pytest.approx(slow, abs=1e-12)
