"""Gaffke's interval and odds of unread replies: against scipy, literals and what is known."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.bounded import gaffke, least_for_same
from xling_metrics.stats.odds import share_at_odds, shifts, tilted, turns_at


@pytest.mark.parametrize(("hits", "n"), [(0, 24), (3, 24), (30, 60), (1, 246), (246, 246)])
def test_shares_have_the_interval_of_clopper_and_pearson(hits, n):
    theirs = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="exact")
    se = max(0.2 / n, (hits / n * (1 - hits / n) / n) ** 0.5)
    own = gaffke([1.0] * hits + [0.0] * (n - hits), 0, 1)
    # 20,000 draws: an end within a fiftieth of a standard error or two.
    assert own == pytest.approx((theirs.low, theirs.high), abs=0.06 * se)


def test_equal_scores_have_the_rule_of_three():
    """Of n equal differences the ends are 1 - 0.025^(1 / n): 0.0499 of 72."""
    assert gaffke([0.0] * 72, -1, 1) == pytest.approx((-0.0499, 0.0499), abs=2e-4)
    assert [least_for_same(m) for m in (0.05, 0.02, 0.01)] == [72, 183, 368]
    assert gaffke([], -1, 1) == (-1, 1) and gaffke([1.0], 0, 1)[1] == 1


def test_a_rare_collapse_that_was_not_seen_is_not_excluded():
    rng = np.random.default_rng(1)
    for n in (24, 60):
        assert gaffke(-rng.random(n) * 0.001, -1, 1)[0] < -0.05
    assert -0.05 < gaffke(-rng.random(246) * 0.001, -1, 1)[0] < -0.01


def test_it_is_the_same_every_time_and_needs_little_memory():
    values = np.random.default_rng(3).random(11_340)
    tracemalloc.start()
    first = gaffke(values, 0, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first == gaffke(values, 0, 1) and peak < 60e6
    t = scipy.stats.t.interval(0.95, 11_339, values.mean(), values.std(ddof=1) / 11_340**0.5)
    assert first == pytest.approx(t, abs=1e-3)


def test_clusters_count_once():
    """40 texts that stand twice say as much as 40 texts."""
    rng = np.random.default_rng(4)
    values = rng.random(40)
    twice = gaffke(2 * values, 0, 1, sizes=[2.0] * 40)
    assert twice == pytest.approx(gaffke(values, 0, 1), abs=1e-9)
    every = gaffke(np.repeat(values, 2), 0, 1)
    assert every[1] - every[0] < 0.8 * (twice[1] - twice[0])


def test_bad_values_are_refused():
    for message, call in (
        ("within 0 and 1", lambda: gaffke([1.2], 0, 1)),
        ("sizes", lambda: gaffke([0.2], 0, 1, sizes=[0.0])),
        ("margin", lambda: least_for_same(0)),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_odds_of_unread_replies():
    # Odds 0.25 / 0.75 = 1/3, doubled 2/3: a share of 0.4.
    assert tilted(0.25, 2) == pytest.approx(0.4) and tilted(0.25, 1) == 0.25
    assert tilted(0, 10) == 0 and tilted(1, 0.1) == 1
    # 24.5 of 100 would be 0.25 with the half: 10 of 109 unread at twice the odds add 0.15 each.
    side, english = share_at_odds(24.25, 98, 10), share_at_odds(5, 100, 0)
    assert side(2) == pytest.approx(10 / 108 * 0.15) and english(2) == 0
    # At half the odds (1/6 : 1) the share is 1/7.
    low, high = shifts([(1, side), (-1, english)], 2)
    assert (low, high) == pytest.approx((10 / 108 * (1 / 7 - 0.25), 10 / 108 * 0.15))
    # Both sides alike: what is equal on both cancels, what is not adds to no opposite moves.
    assert shifts([(1, side), (-1, side)], 2) == pytest.approx((low - high, high - low), abs=0.02)
    # A gap of 0.05 with 10% unread in one language, half right: gone when tilted(0.5, 1/k) = 0.
    own = share_at_odds(50, 100, 100 / 9)
    none = share_at_odds(50, 100, 0)

    def holds(k):
        return 0.02 + shifts([(1, own), (-1, none)], k)[0] > 0

    # 0.1 (0.5 - 1 / (1 + k)) = 0.02: 1 / (1 + k) = 0.3, k = 7/3.
    assert turns_at(holds) == pytest.approx(7 / 3, rel=1e-6)
    assert turns_at(lambda k: True) is None and turns_at(lambda k: False) == pytest.approx(1)
