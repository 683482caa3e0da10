"""Scores of probabilities from sums over questions equal those over rows, resampled or mixed."""

from __future__ import annotations

import numpy as np
import pytest
from by_rows import difference_by_rows, difference_by_sums, sums_intervals
from sklearn.metrics import brier_score_loss
from xling_metrics.classification import probability_scores
from xling_metrics.stats.intervals import ratio
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums


def rows_of(seed, questions=30):
    """Rows with ties, missing probabilities and exact halves."""
    rng = np.random.default_rng(seed)
    rows = {}
    for q in range(questions):
        chances = np.round(rng.random(5), 1).tolist()
        rows[f"q{q}"] = [
            (int(i == 0), None if rng.random() < 0.05 else 0.5 if rng.random() < 0.05 else p)
            for i, p in enumerate(chances)
        ]
    return rows


def flat(rows):
    pairs = [row for own in rows.values() for row in own]
    return [label for label, _ in pairs], [chance for _, chance in pairs]


def value(sums, score):
    return sums_intervals(sums, {"": score}, seed=0, n_resamples=10)[""].value


@pytest.mark.parametrize("seed", range(5))
def test_values_equal_the_scores_over_rows(seed):
    rows = rows_of(seed)
    labels, chances = flat(rows)
    scores = probability_scores(labels, chances)
    assert value(brier_sums(rows), ratio) == pytest.approx(scores.brier, abs=1e-12)
    assert value(ece_sums(rows), ece_of_sums) == pytest.approx(scores.ece, abs=1e-12)
    known = [(label, chance) for label, chance in zip(labels, chances) if chance is not None]
    truth, said = zip(*known)
    assert value(brier_sums(rows), ratio) == pytest.approx(brier_score_loss(truth, said))


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
