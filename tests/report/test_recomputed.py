"""A report over real questions, recomputed with scipy, statsmodels, scikit-learn and plain loops."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats
import scripted
from builders import evaluated
from conftest import Served

from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.verdicts import Options

pytestmark = pytest.mark.realdata
N = 120
Z = 1.959963984540054


def usable_and_helpful(row):
    """Whether a question got a usable answer, and help, from what was logged of it."""

    def yes(*names):
        return any(row.get(name) == 1 for name in names)

    if yes("failed_rate"):
        return None, None
    if yes("content_filter_rate", "empty_rate", "refusal_rate") or row["langid_match"] == 0:
        return 0.0, 0.0
    silent = yes("judge_failed_rate", "no_response", "no_majority")
    usable = None if row["langid_match"] is None else 1.0
    return usable, None if silent else row["more_comprehensive"]


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
    record = make_record([model], Options())
    paths = {task.results.task: task.results.samples.path for task in model.tasks}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    samples = {name: [json.loads(x) for x in text.splitlines()] for name, text in texts.items()}
    for name, rows in samples.items():
        if "_correctness_" in name:
            for row in rows:
                row["usable"], row["helpful"] = usable_and_helpful(row)

    def both(kind, key):
        """Hindi's and English's values over the questions that both have."""
        values = [
            {row["doc"]["question_id"]: row[key] for row in samples[f"xlinghealth_{kind}_liveqa_{c}"]
             if row[key] is not None}
            for c in ("hi", "en")
        ]  # fmt: skip
        shared = [q for q in values[1] if q in values[0]]
        return [[side[q] for q in shared] for side in values]

    return record, both


def check_interval(item, low, high):
    """A difference that is shown is drawn with its interval, others with that of breakdowns, too."""
    if item.verdict in ("worse", "better"):
        assert [item.ci_low, item.ci_high] == pytest.approx([low, high])
    else:
        assert item.ci_low <= low + 1e-9 and item.ci_high >= high - 1e-9


@pytest.mark.parametrize("label", ["contradictory", "usable", "helpful"])
def test_proportions_and_their_difference(made, label):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    record, both = made
    hindi, english = (np.array(side) for side in both("correctness", label))
    n, more, less = len(hindi), int((hindi > english).sum()), int((hindi < english).sum())
    (item,) = [v for v in record.verdicts if v.metric == label]
    assert (item.n, item.estimate) == (n, pytest.approx(hindi.mean() - english.mean()))
    # McNemar: exact, less half of the probability of what was observed.
    exact = tables.mcnemar([[0, more], [less, 0]], exact=True).pvalue
    mid = exact - scipy.stats.binom.pmf(min(more, less), more + less, 0.5)
    assert item.p == pytest.approx(1.0 if more == less else mid)
    p, q = (more + 1) / (n + 2), (less + 1) / (n + 2)
    half = Z * ((p + q - (p - q) ** 2) / (n + 2)) ** 0.5
    check_interval(item, p - q - half, p - q + half)
    score = next(s for s in record.scores if (s.metric, s.language) == (label, "hi"))
    ends = proportion.proportion_confint(sum(hindi), n, method="wilson")
    if score.n == n:
        assert (score.ci_low, score.ci_high) == pytest.approx(ends)


def test_balanced_accuracy_by_leaving_out_questions(made):
    sklearn = pytest.importorskip("sklearn.metrics")
    record, both = made

    def score(side):
        known = [row for own in side for row in own if row[1] is not None]
        return sklearn.recall_score(*zip(*known), average="macro")

    hindi, english = both("verifiability", "macro_recall_t0.0")
    (item,) = [v for v in record.verdicts if v.metric == "macro_recall"]
    n = len(hindi)
    gaps = np.array([score(hindi[:i] + hindi[i + 1:]) - score(english[:i] + english[i + 1:])
                     for i in range(n)])  # fmt: skip
    parts = (gaps - gaps.mean()) * ((n - 1) / n) ** 0.5
    se = (parts**2).sum() ** 0.5
    # Valliant & Rust: 2 V^2 / var(V).
    df = min(2 * se**4 / ((parts**4).sum() - se**4 / n), n - 1)
    half = scipy.stats.t.ppf(0.975, df) * se
    assert item.estimate == pytest.approx(score(hindi) - score(english))
    check_interval(item, item.estimate - half, item.estimate + half)
    assert item.p == pytest.approx(2 * scipy.stats.t.sf(abs(item.estimate) / se, df))
