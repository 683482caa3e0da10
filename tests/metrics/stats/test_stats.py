"""Intervals, tests and agreement: literals by hand, and parity with scipy, statsmodels, krippendorff."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from by_rows import difference_by_rows, difference_by_sums, interval_by_rows, sums_intervals
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
from xling_metrics.stats.anova import Anova, compare_groups, complete_cases
from xling_metrics.stats.intervals import percentile_difference, ratio
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.paired import paired_difference, sign_flip_p, wins_ties_losses
from xling_metrics.stats.resampling import Resampler, ResamplerPool
from xling_metrics.stats.swaps import swap_p
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, VerdictCounts, verdict_counts

pytestmark = pytest.mark.filterwarnings("error")

NAMES = ["en", "es", "hi", "zh"]


def mean_interval(values, *, seed, n_resamples=1000, pool=None):
    """The bootstrap of a mean, by what all bootstraps are made with."""
    sums = {i: None if value is None else (value, 1) for i, value in enumerate(values)}
    return sums_intervals(sums, {"": ratio}, seed=seed, n_resamples=n_resamples, pool=pool)[""]


def four_languages(sizes=(40, 40, 40, 40), seed=0):
    rng = np.random.default_rng(seed)
    drawn = zip(NAMES, sizes, (0.0, -0.1, -0.3, -0.8), strict=True)
    return {name: (rng.normal(size=n) + shift).tolist() for name, n, shift in drawn}


# ---- ANOVA, Tukey, t


def test_anova_and_t_by_hand():
    # Means 2, 3, 4 about 3; between: 3 (1 + 0 + 1) = 6 over 2; within: 2 each = 6 over 6. F = 3 / 1.
    # For df (2, 6): P(F > x) = (1 + x / 3)^-3, so p = 1 / 8.
    anova = compare_groups({"en": [1, 2, 3], "es": [2, 3, 4], "zh": [3, 4, 5]}).anova
    assert anova[2:] == (2, 6, ("en", "es", "zh"))
    assert anova.f == pytest.approx(3) and anova.p == pytest.approx(0.125)
    # Pooled variance 1, standard error sqrt(2 / 3): t = -2 / 0.8165 = -sqrt(6). For 4 degrees of
    # freedom 1 - p = sin(x) (1 + cos(x)^2 / 2) with tan(x) = |t| / 2: sin^2 = 0.6, cos^2 = 0.4.
    [test] = compare_groups({"en": [3, 4, 5], "hi": [1, 2, 3]}).t_tests
    assert (test.first, test.second, test.difference, test.df) == ("en", "hi", -2.0, 4.0)
    assert test.t == pytest.approx(-(6**0.5)) and test.p == pytest.approx(1 - 0.6**0.5 * 1.2)


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
    for pair, test, row in zip(tests.tukey, tests.t_tests, theirs, strict=True):
        i, j = NAMES.index(pair.first), NAMES.index(pair.second)
        assert i < j and pair[2:] == pytest.approx(row, abs=1e-6)
        assert (pair.difference, pair.p) == pytest.approx(
            (exact.statistic[j, i], exact.pvalue[j, i])
        )
        t = stats.ttest_ind(arrays[j], arrays[i])
        assert (test.t, test.p, test.df) == pytest.approx((t.statistic, t.pvalue, t.df), rel=1e-12)


def test_missing_values_are_left_out():
    gaps = {"en": [1, None, 2, 3], "hi": [None, None, 4, 6]}
    tests = compare_groups(gaps)
    assert tests == compare_groups({"en": [1, 2, 3], "hi": [4, 6]})
    assert tests.n == {"en": 3, "hi": 2} and tests.means == {"en": 2.0, "hi": 5.0}
    assert complete_cases(gaps) == {"en": [2, 3], "hi": [4, 6]}
    with pytest.raises(ValueError, match="en has 1, hi has 2"):
        complete_cases({"en": [1], "hi": [1, 2]})


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
    assert all(pair[3:] == (None, None, None) for pair in tests.tukey)
    assert all(test[3:] == (None, None, None) for test in tests.t_tests)
    assert len(tests.tukey) == len(tests.t_tests) == len(groups) * (len(groups) - 1) // 2


def test_a_group_of_one_or_a_constant_group_does_not_stop_the_others():
    whole = four_languages()
    tests = compare_groups({**whole, "ja": [5.0]})
    assert tests.anova == compare_groups(whole).anova and "ja" not in tests.anova.groups
    assert [pair for pair in tests.tukey if pair.second != "ja"] == list(
        compare_groups(whole).tukey
    )
    lonely = [pair for pair in tests.tukey if pair.second == "ja"]
    assert all(pair.p is None and pair.difference is not None for pair in lonely)
    one_constant = compare_groups({"en": [1.0] * 4, "hi": [1, 2, 3, 4]})
    # Pooled variance (0 + 5) / 6, standard error sqrt(5 / 12), so t = 1.5 / 0.6455 with df 6.
    p = pytest.approx(2 * stats.t.sf(1.5 / (5 / 12) ** 0.5, 6))
    assert one_constant.t_tests[0].p == one_constant.anova.p == p
    assert compare_groups({}).anova == Anova(None, None, None, None, ())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_groups({"en": [1, 2], "hi": [1, float("nan")]}), "hi must be finite"),
        (lambda: compare_groups({"en": [1, 2], "hi": [1, 3]}, level=95), "level"),
        (lambda: paired([1], [np.inf]), "baseline must be finite"),
        (lambda: mean_interval([1, 2], seed=-1), "seed=-1"),
        (lambda: mean_interval([], seed=0, n_resamples=0), "n_resamples=0"),
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


# ---- Paired


def signs(differences, seed=0, n_resamples=10_000):
    differences = np.asarray(differences, dtype=float)
    return sign_flip_p(differences, Resampler(max(len(differences), 1), seed, n_resamples))


def paired(values, baseline, seed=0, n_resamples=10_000):
    draws = Resampler(len(values), seed, n_resamples)
    return paired_difference(np.array(values, float), np.array(baseline, float), draws)


def test_paired_by_hand():
    # Differences 1, 2, 3, -1 (and one tie): mean 1; all signs at least as far as a sum of 5 of
    # {1, 2, 3, 1, 0}: sums of +-1 +-2 +-3 +-1 with |sum| >= 5: 7 (1), 5 (the two 1s: 2), each with
    # its mirror: 6 of 16, and the tie doubles both: p = 0.375.
    # Ranks of |d| 1, 2, 3, 1: 1.5, 3, 4, 1.5; R+ = 8.5, R- = 1.5: (8.5 - 1.5) / 10 = 0.7.
    # Variance of 1, 2, 3, -1, 0 about 1: (0 + 1 + 4 + 4 + 1) / 4 = 2.5.
    found = paired([2, 4, 6, 0, 1], [1, 2, 3, 1, 1])
    assert (found.difference, found.mean_values, found.mean_baseline) == (1.0, 2.6, 1.6)
    assert (found.n, found.exact, found.p_permutation) == (5, True, 0.375)
    assert found.rank_biserial == pytest.approx(0.7)
    assert found.d_z == pytest.approx(1 / 2.5**0.5)
    assert (found.wins, found.ties, found.losses) == (0.6, 0.2, 0.2)
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon([1, 2, 3, -1]).pvalue)
    assert (found.seed, found.n_resamples, found.level) == (0, 10_000, 0.95)
    own = {"a": 2.0, "b": 4.0, "c": 6.0, "d": 0.0, "e": 1.0, "only": 1.0, "none": None}
    other = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0, "e": 1.0, "none": 3.0, "gone": None}
    assert wins_ties_losses(own, other) == (3, 1, 1)
    assert wins_ties_losses({1: None, 2: 3.0}, {3: 1.0}) is None


@pytest.mark.parametrize("n", [2, 9, 14, 15, 60, 246])
def test_paired_equals_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n))
    d = a - b - 0.2
    found = paired(a, b + 0.2, 5, 4000)
    assert found.difference == pytest.approx(d.mean())
    assert found.d_z == pytest.approx(d.mean() / d.std(ddof=1))
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(d).pvalue)
    reference = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(reference), abs=1e-12)
    exact = n <= 14
    permuted = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf if exact else 4000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    # Two seeded samples of 4000 differ by a few standard errors of at most 0.008.
    assert found.p_permutation == pytest.approx(permuted.pvalue, abs=1e-12 if exact else 0.04)


def test_rounding_noise_is_a_tie():
    # 0.1 + 0.2 is not 0.3 in binary, and 0.3 - 0.1 not 0.2.
    found = paired([0.1 + 0.2, 0.3, 0.2], [0.3, 0.1, 0.0])
    assert found.ties == pytest.approx(1 / 3) and found.wins == pytest.approx(2 / 3)
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon([2, 2]).pvalue)
    shifted = paired([0.3, 0.2, 0.7], [0.1, 0.0, 0.5])
    assert shifted.d_z is None and shifted.p_permutation == 0.25  # both all-alike patterns of 8


def test_degenerate_pairs():
    assert signs([]) is None and signs([1.0] * 40, n_resamples=999) == 1 / 1000  # never 0
    one = paired([2], [1])
    assert (one.difference, one.low, one.p_permutation, one.d_z, one.wins) == (1, None, 1, None, 1)
    alike = paired([0.5] * 30, [0.5] * 30)
    assert (alike.difference, alike.low, alike.high, alike.p_permutation) == (0, 0, 0, 1)
    assert alike.p_wilcoxon is None and alike.rank_biserial is None and alike.d_z is None
    assert (alike.wins, alike.ties, alike.losses) == (0, 1, 0)


# ---- Means, shares, draws


@pytest.mark.parametrize("n", [2, 7, 300])
def test_mean_interval_equals_scipy(n):
    values = np.random.default_rng(n).random(n).tolist()
    interval = mean_interval([*values, None], seed=9, n_resamples=2000)
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(9)
    ).confidence_interval
    assert (interval.low, interval.high) == pytest.approx(tuple(reference), abs=1e-12)
    assert interval.value == pytest.approx(np.mean(values))
    assert interval[3:] == (n, 1, 0.95, "percentile", 9, 2000, 0)


def test_means_shares_and_undefined_resamples_by_hand():
    assert mean_interval([None, None], seed=0)[:5] == (None, None, None, 0, 2)
    assert mean_interval([0.5], seed=0)[:5] == (0.5, None, None, 1, 0)
    assert mean_interval([0.5] * 3, seed=0)[:3] == (0.5, 0.5, 0.5)
    # 3 of 4 rows; the question without rows is left out. Shares 1/2 and 1: resamples have 0.5,
    # 0.75 or 1.
    sums = {"a": (1, 2), "b": (2, 2), "c": None}
    assert sums_intervals(sums, {"": ratio}, seed=0)[""][:5] == (0.75, 0.5, 1.0, 2, 1)

    def with_spread(totals):  # undefined where all drawn are the same
        return np.where((totals[:, 0] > 0) & (totals[:, 1] > 0), 1.0, np.nan)

    # Two questions: half of the resamples draw one of them twice.
    sums = {1: (1, 0), 2: (0, 1)}
    interval = sums_intervals(sums, {"": with_spread}, seed=0, n_resamples=400)[""]
    assert interval[:3] == (1.0, 1.0, 1.0) and 160 < interval.n_undefined < 240
    never = sums_intervals({1: (1, 0), 2: (1, 0)}, {"": with_spread}, seed=0, n_resamples=20)[""]
    assert never[:3] == (None, None, None) and never.n_undefined == 20
    zero = sums_intervals({1: (0, 0), 2: (1, 1)}, {"r": ratio}, seed=0, n_resamples=400)["r"]
    assert zero[:3] == (1.0, 1.0, 1.0) and 60 < zero.n_undefined < 140
    one, other = np.array([[1, 0.0]]), np.array([[0, 1.0]])
    assert swap_p(one, other, with_spread, Resampler(1, 0)) is None


def test_pools_change_nothing_and_drop_the_oldest(monkeypatch):
    values = np.random.default_rng(0).random(50)
    pool = ResamplerPool()
    alone = mean_interval(values, seed=1, n_resamples=500)
    assert all(mean_interval(values, seed=1, n_resamples=500, pool=pool) == alone for _ in "ab")
    assert mean_interval(values, seed=2, n_resamples=500)[:3] != alone[:3]
    values -= values[::-1] * 0.9
    assert signs(values, 2, 500) != signs(values, 1, 500)
    assert pool.get(50, 1, 500) is pool.get(50, 1, 500)
    monkeypatch.setattr("xling_metrics.stats.resampling._POOL_BYTES", 10_000)
    pool = ResamplerPool()
    first, second = pool.get(20, 0, 400), pool.get(21, 0, 400)
    for draws in (first, second):
        draws.totals(np.ones((draws.n, 1)))
    assert pool.get(21, 0, 400) is second and pool.get(20, 0, 400) is not first


# ---- Rows of questions


def verdict_rows(n=40, seed=0, slip=0.25):
    """Questions with one right and two wrong answers; some questions are hard as a whole."""
    rng, rows = np.random.default_rng(seed), []
    for question in range(n):
        right = 0.2 if rng.random() < slip else 0.95
        for label in (1, 0, 0):
            verdict = label if rng.random() < right else 1 - label
            rows.append((f"q{question}", label, None if rng.random() < 0.05 else verdict))
    return tuple(map(list, zip(*rows)))


def by_question(questions, labels, verdicts):
    rows = {question: [] for question in questions}
    for question, *row in zip(questions, labels, verdicts, strict=True):
        rows[question] += [] if row[1] is None else [row]
    return rows


def score_of(name):
    return lambda rows: getattr(classification_scores(*zip(*rows, strict=True)), name)


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
def test_fast_and_general_cluster_bootstrap_agree(name):
    rows = verdict_rows(25)
    counts, score = verdict_counts(*rows), {name: VERDICT_SCORES[name]}
    options = {"seed": 3, "n_resamples": 20}
    fast = sums_intervals(counts, score, **options, pool=ResamplerPool())[name]
    assert fast.value == pytest.approx(getattr(classification_scores(*rows[1:]), name), abs=1e-12)
    slow = interval_by_rows(by_question(*rows), score_of(name), **options)
    assert fast[:3] == pytest.approx(slow, abs=1e-12)
    other = verdict_rows(25, seed=1)
    quick = difference_by_sums(counts, verdict_counts(*other), VERDICT_SCORES[name], **options)
    slow = difference_by_rows(by_question(*rows), by_question(*other), score_of(name), **options)
    assert quick == pytest.approx(slow, abs=1e-12)


def test_constant_verdicts_and_single_class_resamples_have_scores():
    counts = {"a": (1, 0, 0, 0), "b": (0, 1, 0, 0), "c": (1, 1, 0, 0)}
    intervals = sums_intervals(counts, VERDICT_SCORES, seed=0)
    # All verdicts 1: class 1 has precision 1/2, recall 1; class 0 has 0 and 0. F1 = (2/3 + 0) / 2.
    assert intervals["macro_precision"].value == 0.25 and intervals["macro_recall"].value == 0.5
    assert intervals["macro_f1"].value == pytest.approx(1 / 3) and intervals["acc"].value == 0.5
    assert all(own.n_undefined == 0 and own.low is not None for own in intervals.values())


def test_cluster_intervals_cover():
    rng = np.random.default_rng(5)
    pool = ResamplerPool()
    covered = 0
    for _ in range(300):
        # Each of 100 questions has its own rate (mean 0.6) and five rows.
        hits = rng.binomial(5, rng.beta(1.2, 0.8, 100)).tolist()
        sums = {i: (k, 5) for i, k in enumerate(hits)}
        interval = sums_intervals(sums, {"": ratio}, seed=0, n_resamples=1000, pool=pool)[""]
        covered += interval.low <= 0.6 <= interval.high
    assert 0.92 * 300 <= covered <= 0.98 * 300


def test_swapping_whole_questions_keeps_its_level():
    rng, draws = np.random.default_rng(6), Resampler(60, 0, 1000)
    significant = 0
    for _ in range(300):
        # Rates of a question vary on each side by itself, so that its rows go together.
        a, b = (
            np.column_stack([rng.binomial(5, rng.beta(1, 1, 60)), np.full(60, 5)]).astype(float)
            for _ in "ab"
        )
        significant += swap_p(a, b, ratio, draws) <= 0.05
    assert 5 <= significant <= 27  # 15 expected, standard deviation 3.8


def test_swaps_by_hand_and_clusters_without_rows():
    acc = {"acc": VERDICT_SCORES["acc"]}
    counts = {"a": (3, 1, 0, 2), "b": None, "c": (1, 0, 1, 1), "d": (1, 1, 1, 1)}
    interval = sums_intervals(counts, acc, seed=0)["acc"]
    assert (interval.n, interval.left_out) == (3, 1)
    assert sums_intervals({}, acc, seed=0)["acc"][:4] == (None, None, None, 0)
    nothing, one, other = np.zeros((0, 4)), np.array([[1, 0, 0, 1.0]]), np.array([[0, 1, 1, 0.0]])
    # Hits of one row per question: 1, 1, 1 against 0, 0, 0. Swaps give differences of
    # +-1 (1 each) and +-1/3 (3 each): 2 of 8 are as far as 1.
    a, b = np.ones((3, 2)), np.column_stack([np.zeros(3), np.ones(3)])
    assert swap_p(a, b, ratio, Resampler(3, 0)) == 0.25
    assert swap_p(nothing, nothing, acc["acc"], Resampler(1, 0)) is None
    assert swap_p(one, other, acc["acc"], Resampler(1, 0)) == 1
    assert percentile_difference(one, other, acc["acc"], Resampler(1, 0), 0.95) == (None, None)


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


@pytest.mark.parametrize("columns", [2, 3, 5, 7])
def test_equal_sides_differ_by_nothing_at_all(columns):
    """A product of matrices may round its last columns otherwise: noise that a report would print."""
    rng = np.random.default_rng(columns)
    sums = {i: tuple(row) for i, row in enumerate(rng.random((24, columns)) / 3)}
    score = lambda totals: totals[:, 0] / totals[:, 1:].sum(axis=1)  # noqa: E731
    gap, low, high, *_, p = difference_by_sums(sums, sums, score, seed=1, n_resamples=500)
    assert (gap, low, high, p) == (0, 0, 0, 1)
