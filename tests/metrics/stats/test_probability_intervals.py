"""Scores of probabilities from sums over questions equal those over rows."""

from __future__ import annotations

import numpy as np
import pytest
from xling_metrics.classification import probability_scores
from xling_metrics.stats.estimate import ratio, scored
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
def test_scores_of_sums_equal_those_of_rows(name):
    rows = rows_of(1)
    make, score = {"brier": (brier_sums, ratio), "ece": (ece_sums, ece_of_sums)}[name]
    sums = make(rows)
    for left_out in (None, "q3", "q7"):
        kept = {key: own for key, own in rows.items() if key != left_out}
        labels, chances = zip(*(row for own in kept.values() for row in own))
        total = np.array([sums[key] for key in kept if sums[key]]).sum(axis=0)
        expected = getattr(probability_scores(labels, chances), name)
        assert scored(score, total[None])[0] == pytest.approx(expected, abs=1e-12)
