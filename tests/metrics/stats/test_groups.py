"""Tests of groups and scores of counts: literals by hand, and parity with scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from xling_metrics.stats.anova import Anova, compare_groups
from xling_metrics.stats.verdict_counts import VerdictCounts, verdict_counts

pytestmark = pytest.mark.filterwarnings("error")

NAMES = ["en", "es", "hi", "zh"]


def four_languages(sizes=(40, 40, 40, 40), seed=0):
    rng = np.random.default_rng(seed)
    drawn = zip(NAMES, sizes, (0.0, -0.1, -0.3, -0.8), strict=True)
    return {name: (rng.normal(size=n) + shift).tolist() for name, n, shift in drawn}


# ---- ANOVA, Tukey, t


def test_anova_and_t_by_hand():
    # Means 2, 3, 4 about 3; between: 3 (1 + 0 + 1) = 6 over 2; within: 2 each = 6 over 6. F = 3 / 1.
    # For df (2, 6): P(F > x) = (1 + x / 3)^-3, so p = 1 / 8.
    anova = compare_groups({"en": [1, 2, 3], "es": [2, 3, 4], "zh": [3, 4, 5]}).anova
    assert anova[2:] == (2, 6)
    assert anova.f == pytest.approx(3) and anova.p == pytest.approx(0.125)
    # Pooled variance 1, standard error sqrt(2 / 3): t = -2 / 0.8165 = -sqrt(6). For 4 degrees of
    # freedom 1 - p = sin(x) (1 + cos(x)^2 / 2) with tan(x) = |t| / 2: sin^2 = 0.6, cos^2 = 0.4.
    [test] = compare_groups({"en": [3, 4, 5], "hi": [1, 2, 3]}).pairs
    assert (test.first, test.second, test.difference, test.df) == ("en", "hi", -2.0, 4.0)
    assert test.t == pytest.approx(-(6**0.5)) and test.t_p == pytest.approx(1 - 0.6**0.5 * 1.2)


@pytest.mark.parametrize("sizes", [(40, 40, 40, 40), (12, 40, 33, 7)])
def test_group_tests_equal_scipy_and_statsmodels(sizes):
    groups = four_languages(sizes)
    tests, arrays = compare_groups(groups), list(groups.values())
    reference = stats.f_oneway(*arrays)
    assert tests.anova[:2] == pytest.approx((reference.statistic, reference.pvalue), rel=1e-12)
    assert tests.anova[2:4] == (3, sum(sizes) - 4)
    table = pairwise_tukeyhsd(np.concatenate(arrays), np.repeat(NAMES, sizes))
    theirs = np.column_stack([table.meandiffs, table.confint, table.pvalues])
    exact = stats.tukey_hsd(*arrays)
    for pair, row in zip(tests.pairs, theirs, strict=True):
        i, j = NAMES.index(pair.first), NAMES.index(pair.second)
        assert i < j and pair[2:6] == pytest.approx(row, abs=1e-6)
        assert (pair.difference, pair.tukey_p) == pytest.approx(
            (exact.statistic[j, i], exact.pvalue[j, i])
        )
        t = stats.ttest_ind(arrays[j], arrays[i])
        assert pair[6:] == pytest.approx((t.statistic, t.df, t.pvalue), rel=1e-12)


def test_missing_values_are_left_out():
    gaps = {"en": [1, None, 2, 3], "hi": [None, None, 4, 6]}
    tests = compare_groups(gaps)
    assert tests == compare_groups({"en": [1, 2, 3], "hi": [4, 6]})
    assert tests.n == {"en": 3, "hi": 2} and tests.means == {"en": 2.0, "hi": 5.0}


@pytest.mark.parametrize(
    "groups",
    [
        (), ([1.0, 2.0],), ([1.0], [2.0]), ([None, None], [1.0, 2.0]),
        ([0.1] * 3, [0.7] * 3, [0.2] * 5), ([0.0] * 3, [0.0] * 3),
        ([0.3, 0.1 + 0.2], [0.7, 0.7]),  # differ by rounding only
    ],
)  # fmt: skip
def test_degenerate_groups_have_no_tests(groups):
    tests = compare_groups(dict(zip(NAMES, groups)))
    assert tests.anova.f is None and tests.anova.p is None
    assert all(pair[3:] == (None,) * 6 for pair in tests.pairs)
    assert len(tests.pairs) == len(groups) * (len(groups) - 1) // 2


def test_a_group_of_one_or_a_constant_group_does_not_stop_the_others():
    whole = four_languages()
    tests = compare_groups({**whole, "ja": [5.0]})
    assert tests.anova == compare_groups(whole).anova
    assert [pair for pair in tests.pairs if pair.second != "ja"] == list(
        compare_groups(whole).pairs
    )
    lonely = [pair for pair in tests.pairs if pair.second == "ja"]
    assert all(pair.tukey_p is None and pair.difference is not None for pair in lonely)
    one_constant = compare_groups({"en": [1.0] * 4, "hi": [1, 2, 3, 4]})
    # Pooled variance (0 + 5) / 6, standard error sqrt(5 / 12), so t = 1.5 / 0.6455 with df 6.
    p = pytest.approx(2 * stats.t.sf(1.5 / (5 / 12) ** 0.5, 6))
    assert one_constant.pairs[0].t_p == one_constant.anova.p == p
    assert compare_groups({}).anova == Anova()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_groups({"en": [1, 2], "hi": [1, float("nan")]}), "hi must be finite"),
        (lambda: compare_groups({"en": [1, 2], "hi": [1, 3]}, level=95), "level"),
        (lambda: verdict_counts(["a"], [1, 0], [1]), "labels has 2"),
        (lambda: verdict_counts(["a"], [1], [2]), "0 or 1"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- Rows of questions


def test_verdict_counts_by_hand():
    questions, labels, verdicts = "aabbbca", [1, 0, 0, 1, 0, 1, 0], [1, 1, 0, 0, None, None, 0]
    assert verdict_counts(questions, labels, verdicts) == {
        "a": VerdictCounts(tp=1, fp=1, fn=0, tn=1),
        "b": VerdictCounts(tp=0, fp=0, fn=1, tn=1),
        "c": None,
    }
    assert verdict_counts([], [], []) == {}
