"""Intervals, tests and agreement: literals by hand, and parity with scipy, statsmodels, krippendorff."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.multitest import multipletests
from xling_metrics.classification import classification_scores
from xling_metrics.stats.agreement import (
    agreement,
    krippendorff_alpha,
    krippendorff_alpha_ordinal,
    majority_label,
)
from xling_metrics.stats.anova import Anova, compare_groups
from xling_metrics.stats.estimate import scored
from xling_metrics.stats.multiple_testing import holm
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, VerdictCounts, verdict_counts

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
        (), ([],), ([1.0, 2.0],), ([1.0], [2.0]), ([None, None], [1.0, 2.0]),
        ([0.1] * 3, [0.1] * 7), ([0.1] * 3, [0.7] * 3, [0.2] * 5), ([0.0] * 3, [0.0] * 3),
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
        (lambda: holm([0.1, 1.5]), "1.5"),
        (lambda: holm([float("nan")]), "nan"),
        (lambda: agreement([["a", "b"], ["a"]]), "unit 1 has 1 places .*, the first has 2"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- Rows of questions


def test_verdict_counts_by_hand():
    questions = ["a", "a", "b", "a", "b", "c", "a"]
    labels = [1, 0, 0, 1, 0, 1, 0]
    verdicts = [1, 1, 0, 0, None, None, 0]
    assert verdict_counts(questions, labels, verdicts) == {
        "a": VerdictCounts(tp=1, fp=1, fn=1, tn=1),
        "b": VerdictCounts(tp=0, fp=0, fn=0, tn=1),
        "c": None,
    }
    assert verdict_counts([], [], []) == {}


@pytest.mark.parametrize("name", list(VERDICT_SCORES))
def test_scores_of_counts_equal_those_of_rows(name):
    rng = np.random.default_rng(3)
    questions = np.repeat(np.arange(40), 3).tolist()
    labels = np.tile([1, 0, 0], 40)
    answers = [int(x) if rng.random() > 0.05 else None for x in labels ^ (rng.random(120) < 0.2)]
    counts = verdict_counts(questions, labels.tolist(), answers)
    totals = np.array([row for row in counts.values() if row], dtype=float).sum(axis=0)
    again = scored(VERDICT_SCORES[name], totals[None])[0]
    assert again == pytest.approx(
        getattr(classification_scores(labels.tolist(), answers), name), abs=1e-12
    )


def test_constant_answers_have_scores():
    # All answers 1: class 1 has precision 1/2, recall 1; class 0 has 0 and 0. F1 = (2/3 + 0) / 2.
    totals = np.array([[2.0, 2, 0, 0]])
    values = {name: scored(score, totals)[0] for name, score in VERDICT_SCORES.items()}
    assert values["macro_precision"] == 0.25 and values["macro_recall"] == 0.5
    assert values["macro_f1"] == pytest.approx(1 / 3) and values["acc"] == 0.5


# ---- Several tests


def test_holm_by_hand_and_statsmodels():
    # Sorted 0.01, 0.02, 0.04: 3 x 0.01, 2 x 0.02, 1 x 0.04; None is not counted.
    assert holm([0.04, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    # Never falling: 0.03 x 2 = 0.06 holds back 0.04 x 1.
    assert holm([0.03, 0.04]) == pytest.approx([0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([0.5]) == [0.5]
    assert holm([]) == [] and holm([None]) == [None]
    rng = np.random.default_rng(0)
    for m in (1, 2, 7, 100):
        p = np.round(rng.random(m) ** 4, 2).tolist()  # rounded: with ties, and zeros
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-15)


# ---- Agreement

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", C: four observers, twelve units.
_KRIPPENDORFF_C = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def units_of(lines):
    rows = zip(*(line.split() for line in lines))
    return [[None if rating == "." else int(rating) for rating in unit] for unit in rows]


def test_alpha_of_the_paper_and_by_hand():
    agreed = agreement(units_of(_KRIPPENDORFF_C))
    assert agreed.alpha == pytest.approx(0.743, abs=5e-4)
    assert (agreed.n_ratings, agreed.n_missing) == (41, 7)
    # Alike in 8 of 11 units; unit 2 has one of four apart, unit 6 all apart, unit 8 one apart.
    assert agreed.unanimous == pytest.approx(8 / 11)
    # Pairs: 3 (unit 1), 6 x 8 (units 2 to 9), 3 (unit 10), 1 (unit 11); apart: 3, 6 and 3.
    assert agreed.percent == pytest.approx(1 - 12 / 55)
    # Paper, A: ten units, two observers, binary: 4 of 10 apart; n0 = 14, n1 = 6.
    # alpha = 1 - 19 x 8 / (2 x 14 x 6) = 0.095.
    a, b = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    agreed = agreement(list(zip(a, b)))
    assert agreed.alpha == pytest.approx(1 - 19 * 8 / 168)
    assert agreed.percent == agreed.unanimous == 0.6
    # One unit, both apart: 1 - 1 x 2 / 2 = 0. All alike with two labels: 1.
    assert krippendorff_alpha([["yes", "no"]]) == 0.0
    assert krippendorff_alpha([["yes", "yes"], ["no", "no"]]) == 1.0


@pytest.mark.parametrize(
    ("raters", "labels", "missing"), [(2, 2, 0.0), (3, 5, 0.2), (6, 3, 0.5), (5, 5, 0.5)]
)
def test_alpha_equals_the_krippendorff_package(raters, labels, missing):
    rng = np.random.default_rng(0)
    others = rng.integers(0, labels, (raters, 80))
    ratings = np.where(rng.random((raters, 80)) < 0.7, rng.integers(0, labels, 80), others) + 0.0
    ratings[rng.random((raters, 80)) < missing] = np.nan
    units = [[None if np.isnan(value) else int(value) for value in unit] for unit in ratings.T]
    for level, ours in (("nominal", krippendorff_alpha), ("ordinal", krippendorff_alpha_ordinal)):
        theirs = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
        assert ours(units) == pytest.approx(theirs, abs=1e-12)


def test_ordinal_alpha_by_hand():
    # Krippendorff 2011, section D, gives 0.815 for the data of section C.
    assert krippendorff_alpha_ordinal(units_of(_KRIPPENDORFF_C)) == pytest.approx(0.815, abs=5e-4)
    # Units (1, 2), (1, 1), (3, 3): n1 = 3, n2 = 1, n3 = 2; middles 1.5, 3.5, 5.
    # d(1,2) = 4, d(1,3) = 12.25, d(2,3) = 2.25; expected 2 (3 x 4 + 6 x 12.25 + 2 x 2.25) = 180,
    # observed 2 x 4 = 8: 1 - 5 x 8 / 180.
    assert krippendorff_alpha_ordinal([[1, 2], [1, 1], [3, 3]]) == pytest.approx(1 - 40 / 180)
    assert krippendorff_alpha_ordinal([[4, 4], [4, 4]]) is None
    assert krippendorff_alpha_ordinal([[4, None], [None, 2]]) is None


def test_nothing_to_agree_on_and_no_majority():
    nothing = agreement([])
    assert (nothing.alpha, nothing.percent, nothing.unanimous) == (None,) * 3
    lonely = agreement([["a", None], [None, "b"]])
    assert (lonely.alpha, lonely.percent, lonely.n_missing) == (None, None, 2)
    # Chance agreement is certain with one label.
    one_label = agreement([["a", "a"], ["a", "a"]])
    assert (one_label.alpha, one_label.percent, one_label.unanimous) == (None, 1.0, 1.0)
    for labels in (["a", "b"], ["a", "a", "b", "b", "c"], [None], []):
        assert majority_label(labels) is None
    assert majority_label(["a", "b", "a", None]) == "a" and majority_label([0, 0, 1]) == 0
