"""Proportions and the jackknife: against scipy, statsmodels and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.estimate import Estimate, clip, degrees_of_freedom, ratio
from xling_metrics.stats.jackknife import (
    jackknife_contrast,
    mean_estimate,
    minimum_width,
    score_estimate,
)
from xling_metrics.stats.proportions import (
    bonett_price,
    clustered_proportion,
    mcnemar_mid_p,
    paired_proportions,
    unpaired_proportions,
    wilson,
)
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

F1 = VERDICT_SCORES["macro_f1"]


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (5, 5), (1, 24), (37, 246), (1100, 1134)])
def test_wilson_equals_scipy(hits, n):
    for level in (0.9, 0.95):
        theirs = scipy.stats.binomtest(hits, n).proportion_ci(level, method="wilson")
        assert wilson(hits, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(6, 5), "hits must lie"),
        (lambda: clustered_proportion([6, 1], [5, 5]), "hits must lie"),
        (lambda: unpaired_proportions([1, 0], [1], chance=(0, 1)), "chance"),
        (lambda: unpaired_proportions([0.5, 1], [1]), "0 or 1"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_paired_proportions_by_hand():
    # Airway hyper-responsiveness before and after transplantation (Fagerland et al. 2013, table
    # 1): 1 and 7 of 21 pairs disagree; exact p 2 (1 + 8) / 256 = 0.0703, less P(1) = 8 / 256.
    assert mcnemar_mid_p(1, 7) == mcnemar_mid_p(7, 1) == pytest.approx(10 / 256)
    assert mcnemar_mid_p(0, 0) == 1
    # With as many of both the exact p is 1, less half of P(2) (their supplement).
    assert mcnemar_mid_p(2, 2) == pytest.approx(1 - 6 / 32)
    low, high, se = bonett_price(1, 7, 21)
    p1, p2 = 2 / 23, 8 / 23
    assert se == pytest.approx(((p1 + p2 - (p1 - p2) ** 2) / 23) ** 0.5)
    assert (low, high) == pytest.approx((p1 - p2 - 1.959964 * se, p1 - p2 + 1.959964 * se))
    a, b = [1.0] * 1 + [0.0] * 20, [0.0] * 1 + [1.0] * 7 + [0.0] * 13
    difference = paired_proportions(a, b)
    assert difference[:6] == pytest.approx((-6 / 21, low, high, 10 / 256, se, 21))
    # Equal answers to few questions prove little, to many something.
    few, many = (paired_proportions([1.0] * n, [1.0] * n) for n in (24, 1134))
    assert few.value == many.value == 0 and few.p == 1
    assert few.ci_high - few.ci_low > 0.2 and many.ci_high - many.ci_low < 0.01


def test_agresti_caffo_and_chance():
    x, y = [1] * 30 + [0] * 70, [1] * 60 + [0] * 60
    plain = unpaired_proportions(x, y)
    # Equal chance c on both sides divides everything by 1 - c.
    same = unpaired_proportions(x, y, chance=(0.25, 0.25))
    assert (same.value, same.ci_low, same.ci_high, same.se) == pytest.approx(
        tuple(v / 0.75 for v in (plain.value, plain.ci_low, plain.ci_high, plain.se))
    )
    assert same.p == pytest.approx(plain.p)
    # 0.3 at a chance of 0.2 is 1/8 of what is above chance; 0.5 at 0.5 nothing.
    assert unpaired_proportions(x, y, chance=(0.2, 0.5)).value == pytest.approx(0.125)
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for x, n, y, m in ((3, 199, 40, 1273), (0, 24, 5, 30), (120, 246, 100, 240)):
        difference = unpaired_proportions([1] * x + [0] * (n - x), [1] * y + [0] * (m - y))
        how = {"method": "agresti-caffo", "compare": "diff"}
        theirs = proportion.confint_proportions_2indep(x, n, y, m, **how)
        assert (difference.ci_low, difference.ci_high) == pytest.approx(theirs, abs=1e-12)
        assert difference.value == pytest.approx(x / n - y / m)


def test_clustered_proportion_has_the_cluster_robust_variance():
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    totals = rng.integers(1, 9, 60)
    hits = rng.binomial(totals, rng.beta(1, 3, 60))
    rows = np.concatenate([[1] * h + [0] * (t - h) for h, t in zip(hits, totals)])
    fit = api.OLS(rows, np.ones(len(rows))).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(60), totals)}
    )
    share = hits.sum() / totals.sum()
    effective = share * (1 - share) / float(fit.bse[0]) ** 2
    df = degrees_of_freedom(hits - share * totals)
    assert 10 < df <= 59
    effective *= (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, df)) ** 2
    assert effective < totals.sum()
    ends = clustered_proportion(hits.tolist(), totals.tolist())
    assert ends == pytest.approx(wilson(share * effective, effective))
    # Without any hit each question is one draw.
    assert clustered_proportion([0] * 10, [5] * 10) == wilson(0, 10)
    assert clustered_proportion([2], [5]) == (0, 1)


def test_degrees_of_freedom():
    # Equal parts, and one part alone.
    assert degrees_of_freedom(np.ones(10)) == 9 and degrees_of_freedom(np.zeros(10)) == 9
    assert degrees_of_freedom(np.eye(100)[0]) == pytest.approx(2 / 0.99)
    # By hand: squares 1, 1, 4: 2 * 36 / (18 - 36 / 3).
    assert degrees_of_freedom(np.array([1.0, -1, 2])) == 2
    assert degrees_of_freedom(np.array([3.0, 0.0])) == 1


def test_mean_estimate_equals_scipy():
    values = np.random.default_rng(1).normal(0.1, 1, 24)
    interval, test = mean_estimate(values), scipy.stats.ttest_1samp(values, 0)
    ends = test.confidence_interval(0.95)
    expected = (ends.low, ends.high, test.pvalue)
    assert (interval.ci_low, interval.ci_high, interval.p) == pytest.approx(expected)
    assert mean_estimate(values[:1])[:3] == (values[0], None, None)
    assert mean_estimate(values[:0]).value is None


def counts(n, seed, right=0.8):
    rng = np.random.default_rng(seed)
    labels = np.tile([1, 0, 0, 0, 0], (n, 1))
    said = np.where(rng.random((n, 5)) < right, labels, 1 - labels)
    cells = [(labels == y) & (said == x) for y, x in ((1, 1), (0, 1), (1, 0), (0, 0))]
    return labels, said, np.stack([cell.sum(axis=1) for cell in cells], axis=1).astype(float)


def test_jackknife_leaves_out_each_question():
    metrics = pytest.importorskip("sklearn.metrics")

    def score(labels, said):
        return metrics.f1_score(labels.ravel(), said.ravel(), average="macro")

    n, (labels, said, sums), (_, other_said, other) = 30, counts(30, 1), counts(30, 2, 0.7)
    without = [score(np.delete(labels, i, 0), np.delete(said, i, 0)) for i in range(n)]
    se = ((n - 1) / n * np.sum((without - np.mean(without)) ** 2)) ** 0.5
    interval = score_estimate(sums, F1)
    parts = (np.array(without) - np.mean(without)) * ((n - 1) / n) ** 0.5
    t = scipy.stats.t.ppf(0.975, degrees_of_freedom(parts))
    assert interval.value == pytest.approx(score(labels, said)) and interval.se == pytest.approx(se)
    draws = interval.value * (1 - interval.value) / se**2 * (scipy.stats.norm.ppf(0.975) / t) ** 2
    assert (interval.ci_low, interval.ci_high) == pytest.approx(
        wilson(interval.value * draws, draws)
    )
    other_without = [score(np.delete(labels, i, 0), np.delete(other_said, i, 0)) for i in range(n)]
    gaps = np.subtract(without, other_without)
    pair = jackknife_contrast([(1, sums), (-1, other)], F1)
    assert pair.se == pytest.approx(((n - 1) / n * np.sum((gaps - gaps.mean()) ** 2)) ** 0.5)
    half = scipy.stats.t.ppf(0.975, degrees_of_freedom(gaps - gaps.mean())) * pair.se
    assert (pair.ci_low, pair.ci_high) == pytest.approx((pair.value - half, pair.value + half))
    # A change of gap is such a sum of four.
    twice = jackknife_contrast([(1, sums), (-1, other), (-1, other), (1, sums)], F1)
    assert twice.value == pytest.approx(2 * pair.value) and twice.se == pytest.approx(2 * pair.se)
    assert twice.p == pytest.approx(pair.p)
    assert jackknife_contrast([(1, sums), (-1, sums)], F1)[:4] == (0, 0, 0, None)


def test_a_score_has_the_interval_of_a_share_with_its_variance():
    # Rows of questions: the same rule as for a share of rows, but for the two variances.
    rng = np.random.default_rng(5)
    totals = np.full(80, 5)
    hits = rng.binomial(totals, rng.beta(2, 3, 80))
    found = score_estimate(np.column_stack([hits, totals]).astype(float), ratio)
    ends = clustered_proportion(hits.tolist(), totals.tolist())
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, abs=1e-3)
    # All right in all questions: each question is one draw, whatever its rows.
    sure = score_estimate(np.tile([1.0, 0, 0, 4], (24, 1)), F1)
    assert sure.value == 1 and (sure.ci_low, sure.ci_high) == pytest.approx(wilson(24, 24))
    half = np.eye(4) / 2
    assert score_estimate(np.tile([1.0, 0, 0, 4], (24, 1)), F1, added=half)[:3] == sure[:3]
    # Half a row in each cell counts where a label has no error by luck: one row a question.
    few = np.repeat([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], [5, 3, 16], axis=0)
    recall = VERDICT_SCORES["macro_recall"]
    narrow, wide = score_estimate(few, recall), score_estimate(few, recall, added=half)
    assert wide.value == narrow.value and wide.ci_low < narrow.ci_low - 0.05
    assert score_estimate(np.array([[1.0, 0, 0, 4]]), F1)[:3] == (1, None, None)
    assert score_estimate(np.zeros((0, 4)), F1).value is None


def test_intervals_are_no_points_and_end_at_what_can_be():
    sure = Estimate(0.0, 0.0, 0.0, None, 0.0, 24, "t")
    gap = minimum_width(sure, difference=True)
    assert gap.ci_low == -gap.ci_high and gap.ci_high > 0.1 and gap.se > 0.05
    whole = minimum_width(sure._replace(value=1.0, ci_low=1.0, ci_high=1.0), difference=False)
    assert (whole.ci_low, whole.ci_high) == wilson(24, 24)
    wide = Estimate(0.2, 0.1, 0.3, 0.01, 0.05, 24, "t")
    assert minimum_width(wide, difference=True) is wide
    wide = Estimate(0.5, -1.2, 2.2, 0.4, 0.6, 4, "t")
    assert clip(wide, 1) == wide._replace(ci_low=-1, ci_high=1)
    assert clip(wide, 2) == wide._replace(ci_high=2)
    assert clip(wide._replace(ci_low=None, ci_high=None), 1).ci_low is None
    apart = unpaired_proportions([1, 1, 1], [0, 0, 0])
    assert apart.value == 1 and 0 < apart.ci_low < apart.ci_high == 1
    # With two options on the baseline's side none right is -1 of what can be had: 1 + 1.
    chance = unpaired_proportions([1, 1, 1], [0, 0, 0], chance=(0, 0.5))
    assert chance.value == 2 and chance.ci_high == 2
    assert unpaired_proportions([0, 0], [1, 1], chance=(0.5, 0)).ci_low == -2
