"""AUC over questions, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.roc import (
    auc_contrast,
    auc_interval,
    influences,
    rows_of,
    shared_questions,
)

pytestmark = pytest.mark.core

roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score


def draw_rows(n, seed, *, rows=5, shift=0.0, scale=1.0, apart=1.0):
    """n questions with one correct and several wrong answers each."""
    rng = np.random.default_rng(seed)
    return {
        f"q{i}": [
            (int(j == 0), float(scipy.special.expit(shift + scale * (rng.normal() + apart * (j == 0)))))
            for j in range(rows)
        ]
        for i in range(n)
    }  # fmt: skip


def auc_of(rows):
    return roc_auc_score(*zip(*(row for question in rows for row in question)))


def obuchowski(rows):
    """The variance as its paper writes it, in loops: S10 / M + S01 / N + 2 S11 / (M N)."""
    questions = list(rows.values())
    high = [[x for y, x in q if y] for q in questions]
    low = [[x for y, x in q if not y] for q in questions]
    m, n = sum(map(len, high)), sum(map(len, low))

    def kernel(x, y):
        return 1.0 if x > y else 0.5 if x == y else 0.0

    auc = sum(kernel(x, y) for a in high for x in a for b in low for y in b) / (m * n)
    v10 = [sum(sum(kernel(x, y) for b in low for y in b) / n for x in a) for a in high]
    v01 = [sum(sum(kernel(x, y) for a in high for x in a) / m for y in b) for b in low]
    first = [v - len(a) * auc for v, a in zip(v10, high)]
    second = [v - len(b) * auc for v, b in zip(v01, low)]
    i = len(questions)
    s10 = i / ((i - 1) * m) * sum(x * x for x in first)
    s01 = i / ((i - 1) * n) * sum(x * x for x in second)
    s11 = i / (i - 1) * sum(x * y for x, y in zip(first, second))
    return auc, s10 / m + s01 / n + 2 * s11 / (m * n)


def test_interval_is_obuchowskis_on_the_logit():
    rows = {key: [(y, round(x, 1)) for y, x in own] for key, own in draw_rows(20, 1).items()}
    auc, variance = obuchowski(rows)
    interval = auc_interval(rows_of(rows))
    assert interval.value == pytest.approx(auc) == pytest.approx(auc_of(rows.values()))
    assert interval.se == pytest.approx(variance**0.5)
    half = scipy.stats.t.ppf(0.975, 19) * variance**0.5 / (auc * (1 - auc))
    ends = scipy.special.expit(scipy.special.logit(auc) + np.array([-half, half]))
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(ends))


def test_auc_by_hand():
    # Label 1: 0.9, 0.4; label 0: 0.4, 0.1. Pairs: 1, 1, 0.5, 1 of 4 = 0.875.
    rows = {"a": [(1, 0.9), (0, 0.4)], "b": [(1, 0.4), (0, 0.1)], "c": [(1, None)]}
    assert auc_interval(rows_of(rows)).value == 0.875
    assert auc_interval(rows_of({"a": [(1, 0.9)], "b": [(1, 0.4)], "c": []})).value is None
    assert auc_interval(rows_of({})).value is None
    assert auc_interval(rows_of({"a": [(1, 0.5), (1, None)]})).value is None
    sure = auc_interval(rows_of({i: [(1, 0.9), (0, 0.1)] for i in range(24)}))
    assert sure.value == 1 and sure.ci_low < 0.9 and sure.method == "wilson"
    assert auc_interval(rows_of({1: [(1, 0.9), (0, 0.1)]}))[:3] == (1.0, None, None)
    assert shared_questions({1: [(1, 0.5)], 2: [(0, None)]}, {2: [(0, 1.0)], 1: [(1, 0.1)]}) == [1]
    assert auc_contrast([(1, rows_of({1: [(1, 0.5)]}))] * 2)[:3] == (None, None, None)


def test_difference_takes_both_groups_of_a_question_together():
    a, b = draw_rows(25, 1), draw_rows(25, 2, apart=1.6)
    b = {key: [(y, (x + a[key][i][1]) / 2) for i, (y, x) in enumerate(b[key])] for key in b}
    value = auc_of(a.values()) - auc_of(b.values())
    a, b = rows_of(a), rows_of(b)
    difference = auc_contrast([(1, a), (-1, b)])
    own, other = (influences(group)[1] for group in (a, b))
    assert difference.value == pytest.approx(value)
    assert difference.se == pytest.approx(((own - other) ** 2).sum() ** 0.5)
    independent = (auc_interval(a).se ** 2 + auc_interval(b).se ** 2) ** 0.5
    assert difference.se < independent and 0 < difference.p < 1
    assert auc_contrast([(1, a), (-1, a)])[:4] == (0, 0, 0, None)
    # The scale of probabilities on one side changes nothing.
    moved = a._replace(chances=scipy.special.expit(4 + 3 * scipy.special.logit(a.chances)))
    assert auc_contrast([(1, moved), (-1, b)])[:5] == pytest.approx(difference[:5])
