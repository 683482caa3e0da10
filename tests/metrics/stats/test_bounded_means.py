"""Gaffke's interval and p: against scipy, literals and what is known."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.bounded_means import gaffke, gaffke_p, least_n_for_equivalence, unseen


@pytest.mark.parametrize(("hits", "n"), [(0, 24), (3, 24), (30, 60), (1, 246), (246, 246)])
def test_proportions_have_the_interval_of_clopper_and_pearson(hits, n):
    theirs = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="exact")
    se = max(0.2 / n, (hits / n * (1 - hits / n) / n) ** 0.5)
    ends = gaffke([1.0] * hits + [0.0] * (n - hits), 0, 1)
    # By the saddlepoint: an end within a fiftieth of a standard error or two.
    assert ends == pytest.approx((theirs.low, theirs.high), abs=0.06 * se)


def test_equal_scores_have_the_rule_of_three():
    """Of n equal differences the ends are 1 - 0.025^(1 / n): 0.0499 of 72."""
    assert gaffke([0.0] * 72, -1, 1) == pytest.approx((-unseen(72), unseen(72)), abs=2e-6)
    assert [least_n_for_equivalence(m) for m in (0.05, 0.02, 0.01)] == [72, 183, 368]
    assert unseen(72) == pytest.approx(0.0499, abs=1e-4) and unseen(0) == 1
    assert gaffke([], -1, 1) == (-1, 1) and gaffke([1.0], 0, 1)[1] == 1


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
        ("margin", lambda: least_n_for_equivalence(0)),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_p_is_the_level_at_which_the_interval_ends_at_0():
    rng = np.random.default_rng(5)
    for values in (rng.normal(0.15, 0.2, 60), np.full(60, 0.08), np.r_[np.ones(7), np.zeros(50)]):
        p = gaffke_p(values, -1, 1)
        ends = gaffke(values, -1, 1, level=1 - p)
        assert min(map(abs, ends)) < 1e-4 and gaffke_p(-values, -1, 1) == pytest.approx(p)
    # Seven to none, and one that was not seen: 2 * 0.5^7.
    assert gaffke_p(np.ones(7), -1, 1) == pytest.approx(2 * 0.5**7, rel=0.04)
    assert gaffke_p([], -1, 1) == 1
