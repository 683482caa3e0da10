"""AUC, Brier score and calibration error over questions, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from xling_metrics.classification import probability_scores
from xling_metrics.stats.estimate import ratio, scored
from xling_metrics.stats.probabilities import (
    auc_contrast,
    auc_interval,
    brier_sums,
    ece_of_sums,
    ece_sums,
    influences,
    rows_of,
)

pytestmark = pytest.mark.core

roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score


def draw_rows(n, seed, *, shift=0.0):
    """n questions with one correct and four wrong answers each."""
    rng = np.random.default_rng(seed)
    return [
        [(int(j == 0), float(scipy.special.expit(rng.normal() + (1 + shift) * (j == 0)))) for j in range(5)]
        for _ in range(n)
    ]  # fmt: skip


def auc_of(rows):
    return roc_auc_score(*zip(*(row for question in rows for row in question)))


def obuchowski(questions):
    """The variance as its paper writes it, in loops: S10 / M + S01 / N + 2 S11 / (M N)."""
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
    rows = [[(y, round(x, 1)) for y, x in question] for question in draw_rows(20, 1)]
    auc, variance = obuchowski(rows)
    interval = auc_interval(rows_of(rows))
    assert interval.value == pytest.approx(auc) == pytest.approx(auc_of(rows))
    assert interval.se == pytest.approx(variance**0.5)
    half = scipy.stats.t.ppf(0.975, 19) * variance**0.5 / (auc * (1 - auc))
    ends = scipy.special.expit(scipy.special.logit(auc) + np.array([-half, half]))
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(ends))


def test_auc_by_hand():
    # Label 1: 0.9, 0.4; label 0: 0.4, 0.1. Pairs: 1, 1, 0.5, 1 of 4 = 0.875.
    rows = [[(1, 0.9), (0, 0.4)], [(1, 0.4), (0, 0.1)], [(1, None)]]
    assert auc_interval(rows_of(rows)).value == 0.875
    assert auc_interval(rows_of([[(1, 0.9)], [(1, 0.4)], []])).value is None
    assert auc_interval(rows_of([])).value is None
    sure = auc_interval(rows_of([[(1, 0.9), (0, 0.1)]] * 24))
    assert sure.value == 1 and sure.ci_low < 0.9 and sure.method == "wilson"
    assert auc_interval(rows_of([[(1, 0.9), (0, 0.1)]]))[:3] == (1.0, None, None)
    assert auc_contrast([(1, rows_of([[(1, 0.5)]]))] * 2)[:3] == (None, None, None)


def test_difference_takes_both_groups_of_a_question_together():
    a, b = draw_rows(25, 1), draw_rows(25, 2, shift=0.6)
    b = [[(y, (x + a[i][j][1]) / 2) for j, (y, x) in enumerate(q)] for i, q in enumerate(b)]
    value = auc_of(a) - auc_of(b)
    a, b = rows_of(a), rows_of(b)
    difference = auc_contrast([(1, a), (-1, b)])
    parts_a, parts_b = (influences(group)[1] for group in (a, b))
    assert difference.value == pytest.approx(value)
    assert difference.se == pytest.approx(((parts_a - parts_b) ** 2).sum() ** 0.5)
    independent = (auc_interval(a).se ** 2 + auc_interval(b).se ** 2) ** 0.5
    assert difference.se < independent and 0 < difference.p < 1
    assert auc_contrast([(1, a), (-1, a)])[:4] == (0, 0, 0, None)


def test_brier_and_calibration_of_sums_equal_those_of_rows():
    """Rows with ties, missing probabilities and exact halves, at ends of bins and between them."""
    rng = np.random.default_rng(1)
    questions = [
        [(int(i == 0), [p, 0.5, None][rng.choice(3, p=[0.9, 0.05, 0.05])]) for i, p in enumerate(row)]
        for q in range(30)
        for row in [np.round(rng.random(5), 1 + q % 2).tolist()]
    ]  # fmt: skip
    expected = probability_scores(*zip(*(row for rows in questions for row in rows)))
    for name, make, score in (("brier", brier_sums, ratio), ("ece", ece_sums, ece_of_sums)):
        total = np.array([sums for sums in make(questions) if sums]).sum(axis=0)
        assert scored(score, total[None])[0] == pytest.approx(getattr(expected, name), abs=1e-12)
