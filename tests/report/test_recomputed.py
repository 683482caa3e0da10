"""A report over real questions, recomputed with scipy, statsmodels, scikit-learn and plain loops."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import scripted
from builders import evaluated
from conftest import Served
from xling_metrics.stats.multiple import holm

from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options

pytestmark = pytest.mark.realdata
N = 120
Z = 1.959963984540054


def served_and_helped(row):
    """Whether a question got a usable answer, and help, from what was logged of it.

    Who is not served was not helped; an answer without a label is missing.
    """

    def yes(*names):
        return any(row.get(name) == 1 for name in names)

    if yes("failed_rate"):
        return None, None
    if yes("content_filter_rate", "empty_rate", "refusal_rate") or row["langid_match"] == 0:
        return 0.0, 0.0
    silent = yes("judge_failed_rate", "no_response", "no_majority")
    served = None if row["langid_match"] is None else 1.0
    return served, None if silent else row["more_comprehensive"]


@pytest.fixture(scope="module")
def made(realdata, tmp_path_factory, run):
    """(The report, samples by task and key) of 120 LiveQA questions in English and Hindi."""
    served, out = Served(scripted.judged), tmp_path_factory.mktemp("liveqa") / "m"
    kinds = ("correctness", "consistency", "verifiability", "verifiability_ll")
    metadata = {
        "data_dir": str(realdata / "xlinghealth"), "temperatures": [0.0, 1.0], "k": 3,
        "judge": served.spec(), "translator": served.spec(), "encoder": False,
        "source_encoder": False, "topic_seeds": 0, "xling_cache": str(out.parent / "cache"),
    }  # fmt: skip
    tasks = [f"xlinghealth_{kind}_liveqa_{code}" for kind in kinds for code in ("en", "hi")]
    evaluated(run, out, tasks, metadata=metadata, limit=N)
    served.server.shutdown()
    served.server.server_close()
    (model,) = read_models([out])
    report = make_report([model], Options(n_resamples=2000))
    paths = {task.results.task: task.results.samples.path for task in model.tasks}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    samples = {name: [json.loads(x) for x in text.splitlines()] for name, text in texts.items()}
    for name, rows in samples.items():
        if "_correctness_" in name:
            for row in rows:
                row["usable"], row["helpful"] = served_and_helped(row)

    def both(kind, key):
        """Hindi's and English's values over the questions that both have."""
        sides = [
            {row["doc"]["question_id"]: row[key] for row in samples[f"xlinghealth_{kind}_liveqa_{c}"]
             if row[key] is not None}
            for c in ("hi", "en")
        ]  # fmt: skip
        shared = [q for q in sides[1] if q in sides[0]]
        return [[side[q] for q in shared] for side in sides]

    return report, both


def conclusion(report, metric):
    return next(c for c in report.conclusions if c.metric == metric)


def comparison(report, metric, tau=None):
    return next(
        c for c in report.comparisons if (c.panel.metric, c.panel.temperature) == (metric, tau)
    )


def in_family(report, harm):
    """The conclusions with a test that are corrected together: of harm, or all others."""
    tested = [c for c in report.conclusions if c.p is not None]
    return [c for c in tested if (c.metric == "contradictory") == harm]


@pytest.mark.parametrize("label", ["contradictory", "usable", "helpful", "more_comprehensive"])
def test_shares_and_their_gap(made, label):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    report, both = made
    hindi, english = (np.array(side) for side in both("correctness", label))
    n, more, less = len(hindi), int((hindi > english).sum()), int((hindi < english).sum())
    item = comparison(report, label)
    assert item.n == n and item.difference == pytest.approx(hindi.mean() - english.mean())
    told = [c for c in report.conclusions if c.metric == label]
    assert len(told) == (label != "more_comprehensive")  # `helpful` is concluded on
    for said in told:
        ours = (said.n, said.estimate, said.low, said.high, said.p)
        assert ours == (n, item.difference, item.low, item.high, item.p)
    # McNemar: exact, less half of the probability of what was observed.
    exact = tables.mcnemar([[0, more], [less, 0]], exact=True).pvalue
    mid = exact - scipy.stats.binom.pmf(min(more, less), more + less, 0.5)
    assert more != less and item.p == pytest.approx(mid)
    p, q = (more + 1) / (n + 2), (less + 1) / (n + 2)
    half = Z * ((p + q - (p - q) ** 2) / (n + 2)) ** 0.5
    assert (item.low, item.high) == pytest.approx((p - q - half, p - q + half))
    cell = next(c for c in report.cells if (c.panel.metric, c.language) == (label, "hi"))
    ends = proportion.proportion_confint(sum(hindi), n, method="wilson")
    if cell.interval.n == n:
        assert (cell.interval.low, cell.interval.high) == pytest.approx(ends)


def test_means_with_wilcoxon(made):
    """Student's interval and the permutations are recomputed where two models are compared."""
    report, both = made
    hindi, english = (np.array(side) for side in both("consistency", "sim_1gram_t1.0"))
    item, gaps = comparison(report, "sim_1gram", 1.0), hindi - english
    ends = scipy.stats.ttest_rel(hindi, english).confidence_interval(0.95)
    told = (item.n, item.difference, item.low, item.high)
    assert told == pytest.approx((len(gaps), gaps.mean(), ends.low, ends.high))
    untied = gaps[np.abs(gaps) > 1e-12]
    assert item.detail.p_wilcoxon == pytest.approx(scipy.stats.wilcoxon(untied).pvalue)
    assert item.detail.d_z == pytest.approx(gaps.mean() / gaps.std(ddof=1))


def test_macro_recall_by_leaving_out_questions(made):
    sklearn = pytest.importorskip("sklearn.metrics")
    report, both = made

    def score(side):
        known = [row for own in side for row in own if row[1] is not None]
        return sklearn.recall_score(*zip(*known), average="macro")

    hindi, english = both("verifiability", "macro_recall_t0.0")
    n, item = len(hindi), conclusion(report, "macro_recall")
    gaps = np.array([score(hindi[:i] + hindi[i + 1:]) - score(english[:i] + english[i + 1:])
                     for i in range(n)])  # fmt: skip
    parts = (gaps - gaps.mean()) * ((n - 1) / n) ** 0.5
    se = (parts**2).sum() ** 0.5
    # Valliant & Rust: 2 V^2 / var(V).
    df = 2 * se**4 / ((parts**4).sum() - se**4 / n)
    half = scipy.stats.t.ppf(0.975, min(df, n - 1)) * se
    assert item.estimate == pytest.approx(score(hindi) - score(english))
    assert (item.low, item.high) == pytest.approx((item.estimate - half, item.estimate + half))
    tested = len(in_family(report, harm=False))
    assert tested == 4


def placements(side):
    """Each question's part of AUC's deviation, by loops over pairs (Obuchowski 1997)."""
    rows = [(at, y, p) for at, own in enumerate(side) for y, p in own]
    positive, negative = ([(at, p) for at, y, p in rows if y == label] for label in (1, 0))

    def share(mine, others, up):
        """How often a row's chance is on the right side of the others'."""
        return np.mean([0.5 if mine == p else float((mine > p) == up) for _, p in others])

    won = [(at, share(p, negative, True), len(positive)) for at, p in positive]
    auc = np.mean([v for _, v, _ in won])
    parts = np.zeros(len(side))
    for at, v, m in won + [(at, share(p, positive, False), len(negative)) for at, p in negative]:
        parts[at] += (v - auc) / m
    return auc, parts


def test_auc_and_its_delong_variance_by_loops(made):
    sklearn = pytest.importorskip("sklearn.metrics")
    report, both = made
    sides = both("verifiability_ll", "auc")
    (hindi, own), (english, other) = map(placements, sides)
    for side, value in zip(sides, (hindi, english), strict=True):
        rows = [row for own in side for row in own]
        assert value == pytest.approx(sklearn.roc_auc_score(*zip(*rows)))
    # The written form was run on the same questions, so that nothing is concluded on this one.
    assert not [c for c in report.conclusions if c.metric == "auc"]
    (model,) = report.models
    alone = [task for task in model.tasks if task.place.criterion == "verifiability_ll"]
    report_alone = make_report([replace(model, tasks=alone)], Options(n_resamples=2000))
    n, item = len(sides[0]), conclusion(report_alone, "auc")
    beside = comparison(report, "auc")
    assert (beside.difference, beside.low, beside.high, beside.p, beside.n) == (
        item.estimate, item.low, item.high, item.p, item.n
    )  # fmt: skip
    se = (n / (n - 1) * ((own - other) ** 2).sum()) ** 0.5
    half = scipy.stats.t.ppf(0.975, n - 1) * se
    assert item.n == n and item.estimate == pytest.approx(hindi - english)
    assert (item.low, item.high) == pytest.approx((item.estimate - half, item.estimate + half))
    assert len(alone) == 2


def test_two_families_are_corrected_each_by_itself(made):
    """Harm by itself, and the rest: served, helped, macro recall and similarity."""
    harm, rest = (in_family(made[0], harm) for harm in (True, False))
    assert {c.metric for c in harm} == {"contradictory"}
    assert {c.metric for c in rest} == {"usable", "helpful", "macro_recall", "sim_1gram"}
    for tested in (harm, rest):
        assert {c.family for c in tested} == {len(tested)}
        assert [c.p_holm for c in tested] == holm([c.p for c in tested])
