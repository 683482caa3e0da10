"""Holm's method and ranks with their uncertainty; their coverage: tests/benchmarks/ranks.py."""

from __future__ import annotations

import numpy as np
import pytest
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
