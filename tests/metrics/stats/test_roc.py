"""AUC over questions, and the studentised swap test, against plain loops."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.resampling import Resampler
from xling_metrics.stats.roc import (
    auc_difference,
    auc_interval,
    auc_swap_p,
    influences,
    rows_of,
    shared_questions,
)
from xling_metrics.stats.swaps import studentised_swap_p
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

pytestmark = pytest.mark.core

roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score


def made(n, seed, *, rows=5, shift=0.0, scale=1.0, apart=1.0):
    """n questions with one right and several wrong answers each."""
    rng = np.random.default_rng(seed)
    return {
        f"q{i}": [
            (int(j == 0), float(scipy.special.expit(shift + scale * (rng.normal() + apart * (j == 0)))))
            for j in range(rows)
        ]
        for i in range(n)
    }  # fmt: skip


def auc_of(rows):
    return roc_auc_score(*zip(*(row for own in rows for row in own)))


def obuchowski(rows):
    """The variance as its paper writes it, in loops: S10 / M + S01 / N + 2 S11 / (M N)."""
    own = list(rows.values())
    high = [[x for y, x in q if y] for q in own]
    low = [[x for y, x in q if not y] for q in own]
    m, n = sum(map(len, high)), sum(map(len, low))

    def kernel(x, y):
        return 1.0 if x > y else 0.5 if x == y else 0.0

    auc = sum(kernel(x, y) for a in high for x in a for b in low for y in b) / (m * n)
    v10 = [sum(sum(kernel(x, y) for b in low for y in b) / n for x in a) for a in high]
    v01 = [sum(sum(kernel(x, y) for a in high for x in a) / m for y in b) for b in low]
    first = [v - len(a) * auc for v, a in zip(v10, high)]
    second = [v - len(b) * auc for v, b in zip(v01, low)]
    i = len(own)
    s10 = i / ((i - 1) * m) * sum(x * x for x in first)
    s01 = i / ((i - 1) * n) * sum(x * x for x in second)
    s11 = i / (i - 1) * sum(x * y for x, y in zip(first, second))
    return auc, s10 / m + s01 / n + 2 * s11 / (m * n)


def test_interval_is_obuchowskis_on_the_logit():
    rows = {key: [(y, round(x, 1)) for y, x in own] for key, own in made(20, 1).items()}
    auc, variance = obuchowski(rows)
    interval = auc_interval(rows_of(rows))
    assert interval.value == pytest.approx(auc) == pytest.approx(auc_of(rows.values()))
    assert interval.se == pytest.approx(variance**0.5)
    half = scipy.stats.t.ppf(0.975, 19) * variance**0.5 / (auc * (1 - auc))
    ends = scipy.special.expit(scipy.special.logit(auc) + np.array([-half, half]))
    assert (interval.low, interval.high) == pytest.approx(tuple(ends))


def test_auc_by_hand():
    # Label 1: 0.9, 0.4; label 0: 0.4, 0.1. Pairs: 1, 1, 0.5, 1 of 4 = 0.875.
    rows = {"a": [(1, 0.9), (0, 0.4)], "b": [(1, 0.4), (0, 0.1)], "c": [(1, None)]}
    assert auc_interval(rows_of(rows)).value == 0.875
    assert auc_interval(rows_of({"a": [(1, 0.9)], "b": [(1, 0.4)], "c": []})).value is None
    assert auc_interval(rows_of({})).value is None
    assert auc_interval(rows_of({"a": [(1, 0.5), (1, None)]})).value is None
    sure = auc_interval(rows_of({i: [(1, 0.9), (0, 0.1)] for i in range(24)}))
    assert sure.value == 1 and sure.low < 0.9 and sure.method == "wilson"
    assert auc_interval(rows_of({1: [(1, 0.9), (0, 0.1)]}))[:3] == (1.0, None, None)
    assert shared_questions({1: [(1, 0.5)], 2: [(0, None)]}, {2: [(0, 1.0)], 1: [(1, 0.1)]}) == [1]
    assert auc_swap_p(*[rows_of({1: [(1, 0.5)]})] * 2, Resampler(1, 0)) is None
    assert auc_swap_p(*[rows_of({})] * 2, Resampler(1, 0)) is None


def test_difference_takes_both_sides_of_a_question_together():
    a, b = made(25, 1), made(25, 2, apart=1.6)
    b = {key: [(y, (x + a[key][i][1]) / 2) for i, (y, x) in enumerate(b[key])] for key in b}
    value = auc_of(a.values()) - auc_of(b.values())
    a, b = rows_of(a), rows_of(b)
    difference = auc_difference(a, b)
    own, other = (influences(side)[1] for side in (a, b))
    assert difference.value == pytest.approx(value)
    assert difference.se == pytest.approx((25 / 24 * ((own - other) ** 2).sum()) ** 0.5)
    apart = (auc_interval(a).se ** 2 + auc_interval(b).se ** 2) ** 0.5
    assert difference.se < apart
    assert auc_difference(a, a)[:3] == (0, 0, 0)


def statistic(a, b):
    """Difference of AUCs over its standard error, one mixture of sides."""
    keys = list(range(len(a)))
    (x, own), (y, other) = (influences(rows_of(dict(enumerate(s)), keys)) for s in (a, b))
    n = len(keys)
    return (x - y) / (n / (n - 1) * ((own - other) ** 2).sum()) ** 0.5


def test_swap_test_ranks_and_studentises():
    n, a, b = 7, made(7, 3), made(7, 4, shift=3, scale=2)
    # Ranks over each side's own rows, then every pattern of swapped questions.
    ranked = []
    for side in (a, b):
        ranks = scipy.stats.rankdata([x for own in side.values() for _, x in own]).reshape(n, 5)
        lines = zip(side.values(), ranks)
        ranked.append([[(y, r) for (y, _), r in zip(own, line)] for own, line in lines])
    all_ = []
    for swaps in product((0, 1), repeat=n):
        sides = [[ranked[s ^ k][i] for i, s in enumerate(swaps)] for k in (0, 1)]
        all_.append(abs(statistic(*sides)))
    p = auc_swap_p(rows_of(a), rows_of(b), Resampler(n, 0))
    assert p == pytest.approx(np.mean(np.array(all_) >= all_[0] - 1e-9))


def test_memory_grows_with_the_rows_and_not_with_their_pairs():
    # 4,000 x 4,000 pairs of questions would take 128 MB.
    a, b = rows_of(made(2000, 1)), rows_of(made(2000, 2))
    tracemalloc.start()
    try:
        assert auc_swap_p(a, b, Resampler(2000, 0, 20)) is not None
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_the_scale_of_one_side_changes_nothing():
    a, b = rows_of(made(40, 5)), rows_of(made(40, 6))
    draws = Resampler(40, 0, 2000)
    p = auc_swap_p(a, b, draws)
    moved = a._replace(chances=scipy.special.expit(4 + 3 * scipy.special.logit(a.chances)))
    assert auc_swap_p(moved, b, draws) == p
    assert auc_difference(moved, b)[:5] == pytest.approx(auc_difference(a, b)[:5])
    assert auc_swap_p(b, a, draws) == p
    sides = made(40, 7, apart=4), made(40, 8, apart=0.2)
    assert auc_swap_p(*map(rows_of, sides), draws) == 1 / 2001
    assert auc_swap_p(a, a, draws) == 1


def f1_statistic(a, b):
    """With the gradient written out: F1 of a class is 2r / (2r + w) with w wrong of either kind."""
    gaps, parts = [], []
    for side in (a, b):
        tp, fp, fn, tn = side.sum(axis=0)
        w = fp + fn
        gaps.append(tp / (2 * tp + w) + tn / (2 * tn + w))
        slope_w = -tp / (2 * tp + w) ** 2 - tn / (2 * tn + w) ** 2
        slopes = np.array([w / (2 * tp + w) ** 2, slope_w, slope_w, w / (2 * tn + w) ** 2])
        parts.append(side @ slopes)
    return (gaps[0] - gaps[1]) / np.sqrt(((parts[0] - parts[1]) ** 2).sum())


def verdicts(n, p):
    rng = np.random.default_rng(2)
    return [rng.multinomial(8, own, n).astype(float) for own in ([0.2, 0.3, 0.1, 0.4], p)]


def test_swap_test_of_macro_f1_goes_through_all_patterns():
    (a, b), score = verdicts(9, [0.3, 0.1, 0.2, 0.4]), VERDICT_SCORES["macro_f1"]
    statistics = []
    for swaps in product((0, 1), repeat=9):
        chosen = np.array(swaps)[:, None]
        statistics.append(abs(f1_statistic(np.where(chosen, b, a), np.where(chosen, a, b))))
    p = studentised_swap_p(a, b, score, Resampler(9, 0))
    assert p == pytest.approx(np.mean(np.array(statistics) >= statistics[0] - 1e-9))
    assert studentised_swap_p(a, a, score, Resampler(9, 0)) == 1
    assert studentised_swap_p(a[:0], b[:0], score, Resampler(1, 0)) is None


def test_sampled_swaps_are_close_to_all_of_them(monkeypatch):
    a, b = verdicts(12, [0.3, 0.2, 0.1, 0.4])
    score = VERDICT_SCORES["macro_precision"]
    exact = studentised_swap_p(a, b, score, Resampler(12, 0))
    monkeypatch.setattr("xling_metrics.stats.resampling.EXACT_UP_TO", 5)
    assert studentised_swap_p(a, b, score, Resampler(12, 0, 8000)) == pytest.approx(exact, abs=0.02)
