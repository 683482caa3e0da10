"""Holm's method and ranks with their uncertainty: by hand, statsmodels, and coverage when simulated."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from xling_metrics.stats.multiple_testing import holm, rank_intervals


def test_holm_by_hand_and_statsmodels():
    # Sorted 0.01, 0.02, 0.04: 3 x 0.01, 2 x 0.02, 1 x 0.04; None is not counted.
    assert holm([0.04, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    # Never falling: 0.03 x 2 = 0.06 holds back 0.04 x 1.
    assert holm([0.03, 0.04]) == pytest.approx([0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == [] and holm([None]) == [None]
    rng = np.random.default_rng(0)
    for m in (1, 2, 7, 100):
        p = np.round(rng.random(m) ** 4, 2).tolist()  # rounded: with ties, and zeros
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-15)
    for invalid in (1.5, float("nan")):
        with pytest.raises(ValueError, match=str(invalid)):
            holm([0.1, invalid])


def places(n, tests):
    return [(rank.low, rank.high) for rank in rank_intervals(n, tests)]


def test_ranks_by_hand():
    # Six one-sided hypotheses. 0 is better than 2: 0.004 / 2 * 6 = 0.012. Then 1 than 2:
    # 0.018 / 2 * 5 = 0.045. 0 than 1 is 0.5 / 2 * 4 = 1: between these two there is no difference.
    tests = {(0, 1): (0.02, 0.5), (0, 2): (0.3, 0.004), (1, 2): (0.2, 0.018)}
    assert places(3, tests) == [(1, 2), (1, 2), (3, 3)]
    ranks = rank_intervals(3, tests)
    assert ranks[2].better == (0, 1) and ranks[2].worse == () and ranks[0].worse == (2,)
    # At 0.021 the second is 0.021 / 2 * 5 = 0.0525: only the ends differ.
    assert places(3, {**tests, (1, 2): (0.2, 0.021)}) == [(1, 2), (1, 3), (2, 3)]
    reverse = {pair: (-difference, p) for pair, (difference, p) in tests.items()}
    assert places(3, reverse) == [(2, 3), (2, 3), (1, 1)]
    assert places(3, {}) == [(1, 3)] * 3
    assert places(2, {(0, 1): (0.0, 1.0)}) == [(1, 2)] * 2
    # A pair without a test is no hypothesis: 0.04 / 2 * 2 = 0.04.
    assert places(3, {(0, 1): (0.1, 0.04), (0, 2): (0.1, None)}) == [(1, 2), (2, 3), (1, 3)]


@pytest.mark.parametrize("truth", [(0,) * 6, (0, 0, 0, 2, 2, 6)])
def test_all_ranks_are_covered_together(truth):
    """Means of 60 questions that share their difficulty; the table is in docs/report.md."""
    rng, times, missed, narrower = np.random.default_rng(1), 200, 0, 0
    truth = np.array(truth) / 10
    for _ in range(times):
        values = truth[:, None] + rng.normal(size=60) + rng.normal(size=(len(truth), 60)) * 0.5
        tests = {}
        for i, j in combinations(range(len(truth)), 2):
            differences = values[i] - values[j]
            z = differences.mean() / (differences.std(ddof=1) / np.sqrt(60))
            tests[i, j] = float(differences.mean()), float(2 * norm.sf(abs(z)))
        ranks = rank_intervals(len(truth), tests)
        best = [1 + (truth > at).sum() for at in truth]
        worst = [len(truth) - (truth < at).sum() for at in truth]
        narrower += sum(rank.high - rank.low + 1 < len(truth) for rank in ranks)
        missed += not all(r.low <= b and w <= r.high for r, b, w in zip(ranks, best, worst))
    # 95% of 200 is 190, standard deviation 3.1; four of them below.
    assert missed <= 22
    assert narrower < times if not truth.any() else narrower > 2 * times
