"""Ranks with their uncertainty: literals by hand, and coverage of what was simulated."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from xling_metrics.stats.rank_intervals import rank_intervals


def places(n, tests, **more):
    return [(found.low, found.high) for found in rank_intervals(n, tests, **more)]


def test_literals():
    # Six one-sided hypotheses. 0 is better than 2: 0.004 / 2 * 6 = 0.012. Then 1 than 2:
    # 0.018 / 2 * 5 = 0.045. 0 than 1 is 0.5 / 2 * 4 = 1: these two are not told apart.
    tests = {(0, 1): (0.02, 0.5), (0, 2): (0.3, 0.004), (1, 2): (0.2, 0.018)}
    assert places(3, tests) == [(1, 2), (1, 2), (3, 3)]
    found = rank_intervals(3, tests)
    assert found[2].better == (0, 1) and found[2].worse == () and found[0].worse == (2,)
    # At 0.021 the second is 0.021 / 2 * 5 = 0.0525: only the ends are parted.
    assert places(3, {**tests, (1, 2): (0.2, 0.021)}) == [(1, 2), (1, 3), (2, 3)]
    # The other direction turns it round.
    turned = {pair: (-difference, p) for pair, (difference, p) in tests.items()}
    assert places(3, turned) == [(2, 3), (2, 3), (1, 1)]


def test_nothing_is_told_without_a_test_or_with_equal_models():
    assert places(1, {}) == [(1, 1)]
    assert places(3, {}) == [(1, 3)] * 3
    assert places(2, {(0, 1): (0.4, None)}) == [(1, 2)] * 2
    assert places(2, {(0, 1): (0.0, 1.0)}) == [(1, 2)] * 2
    # A pair without a test is no hypothesis: 0.04 / 2 * 2 = 0.04.
    assert places(3, {(0, 1): (0.1, 0.04), (0, 2): (0.1, None)}) == [(1, 2), (2, 3), (1, 3)]


def test_what_cannot_be():
    for n, tests in ((0, {}), (2, {(1, 0): (0.1, 0.5)}), (2, {(0, 2): (0.1, 0.5)})):
        with pytest.raises(ValueError):
            rank_intervals(n, tests)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        rank_intervals(2, {(0, 1): (0.1, 1.5)})


@pytest.mark.parametrize("truth", [(0,) * 6, (0, 0, 0, 2, 2, 6), (0, 1, 2, 3, 4, 5)])
def test_all_ranks_are_covered_together(truth):
    """Means of 60 questions that share their difficulty; the table is in docs/report.md."""
    rng, times, missed, told = np.random.default_rng(1), 300, 0, 0
    truth = np.array(truth) / 10
    for _ in range(times):
        values = truth[:, None] + rng.normal(size=60) + rng.normal(size=(len(truth), 60)) * 0.5
        tests = {}
        for i, j in combinations(range(len(truth)), 2):
            apart = values[i] - values[j]
            z = apart.mean() / (apart.std(ddof=1) / np.sqrt(60))
            tests[i, j] = float(apart.mean()), float(2 * norm.sf(abs(z)))
        found = rank_intervals(len(truth), tests)
        for own, at in zip(found, truth):
            best, worst = 1 + (truth > at).sum(), len(truth) - (truth < at).sum()
            told += own.high - own.low + 1 < len(truth)
            if not (own.low <= best and worst <= own.high):
                missed += 1
                break
    # 95% of 300 is 285, standard deviation 3.8; four of them below.
    assert missed <= 30
    assert (told > 0) and (told < times if not truth.any() else told > 2 * times)
