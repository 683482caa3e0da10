"""Tables of a report: literals worked by hand, on outputs written in the harness's shape."""

from __future__ import annotations

import csv
import io
from statistics import fmean

import pytest
from builders import task_of, write_run
from sklearn.metrics import roc_auc_score

from xling_tasks.data.published import FILE, published
from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.tables.all import tables
from xling_tasks.report.tables.correctness import gap_pairs, published_shares
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.tables.grid import drop, mean_of, multiple
from xling_tasks.report.tables.significance import turned
from xling_tasks.report.tables.table import Table, as_csv, as_markdown

pytestmark = pytest.mark.core

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory", "no_response")
JUDGE = {"model": "dummy", "model_args": {"model": "judge-1"}, "batch_size": None}


def recorded(signatures=(), **more):
    """What our tasks record."""
    metadata = {
        "version": "0.1.0",
        "settings": {"temperatures": [0.0, 1.0], "k": 4, "judge": JUDGE, "prompt_language": "en"},
        "data": {
            "questions": 4,
            "rows": 4,
            "sha256": "abc",
            "unusable_rows": 0,
            "unusable_reasons": {},
            "unusable_questions": [],
        },
        "prompts": {"answer": {"language": "en", "digest": "d1"}},
        "generation_kwargs": {"max_gen_toks": 8},
        "signatures": dict(signatures),
    }
    for key, value in more.items():
        metadata[key] = {**metadata.get(key, {}), **value} if isinstance(value, dict) else value
    return metadata


def task(scores, questions=(), original=None, better=None, shots=0, **record):
    """One task: its scores, and a dict of values per question where samples are logged."""
    n = len(questions) or 4
    rows = [{"doc": {"question_id": q}, **questions[q]} for q in questions]
    count = {"original": original, "effective": n, "num_fewshot": shots}
    return task_of(scores, rows, record=recorded(**record), better=better, **count)


def write(folder, tasks, model="m", args=None, version="0.4.13"):
    config = {"model_args": {"pretrained": model, **(args or {})}}
    write_run(folder / model, tasks, config=config, lm_eval_version=version)
    return folder


def correctness(labels, ids=None, **more):
    """A correctness task from its questions' labels; None is a failed judge call."""
    ids = ids or [f"q{i}" for i in range(len(labels))]
    questions = {
        q: {name: None if label is None else float(label == name) for name in LABELS}
        | {"judge_failed_rate": float(label is None)}
        for q, label in zip(ids, labels)
    }
    known = [label for label in labels if label is not None]
    scores = {name: known.count(name) / len(known) for name in LABELS}
    scores |= {
        "judge_failed_rate": labels.count(None) / len(labels),
        "n_judged": len(known),
        "unusable_rows": 0,
    }
    better = {"more_comprehensive": True, "contradictory": False, "no_response": False}
    return task(scores, questions, better=better, **more)


MORE, LESS, NEITHER, CONTRA, NONE = LABELS


def report_of(*folders):
    return make_report(read_models(folders), Options(n_resamples=200))


def by_key(report, **options):
    return {table.key: table for table in tables(report, **options)}


def cell(table, column, **where):
    """The value of a column in the only row that has these values."""
    rows = [
        row for row in table.rows if all(row[table.columns.index(k)] == v for k, v in where.items())
    ]
    assert len(rows) == 1, (table.key, where, rows)
    return rows[0][table.columns.index(column)]


@pytest.fixture
def liveqa(tmp_path):
    """Correctness over LiveQA: en 3 more, 1 contradictory; es 1 more, 1 less, 2 contradictory."""
    return write(
        tmp_path / "a",
        {
            "xlinghealth_correctness_liveqa_en": correctness([MORE, MORE, MORE, CONTRA]),
            "xlinghealth_correctness_liveqa_es": correctness([MORE, LESS, CONTRA, CONTRA]),
        },
    )


def test_one_model_under_two_names_stays_two(tmp_path):
    """Scored by two judges, say: the labels of one must not stand under the name of the other."""
    name = "xlinghealth_correctness_liveqa_en"
    one, two = (
        write(tmp_path / judge, {name: correctness(labels)})
        for judge, labels in (("a", [MORE, MORE]), ("b", [CONTRA, MORE]))
    )
    models = read_models([f"first={one}", f"second={two}"])
    scores = {model.name: model.tasks[0].scores["more_comprehensive"] for model in models}
    assert scores == {"first": 1.0, "second": 0.5}
    names = [model.name for model in read_models([f"x={one}", f"x (2)={two}", one, two])]
    assert names == ["x", "x (2)", "m"]


def test_the_newest_run_counts_in_any_order_of_folders(tmp_path):
    name = "xlinghealth_correctness_liveqa_en"
    old = write(tmp_path / "old", {name: correctness([CONTRA, CONTRA])})
    new = write(tmp_path / "new", {name: correctness([MORE, MORE])})
    for path in (new / "m").iterdir():
        path.rename(path.with_name(path.name.replace("2026-01", "2026-02")))
    for folders in ((old, new), (new, old)):
        (model,) = read_models(folders)
        assert model.tasks[0].scores["more_comprehensive"] == 1.0


def test_the_order_of_tasks_does_not_depend_on_the_process(liveqa):
    """Names of tasks come from a set, whose order is another in every process."""
    (model,) = read_models([liveqa])
    names = [item.results.task for item in model.tasks]
    assert names == sorted(names)


def test_counts_have_no_interval_of_a_share(tmp_path):
    questions = {
        f"q{i}": {"n_claims_es": {"n": n}, "abstained_es": 0.0, "n_claims_en": {"n": 0}}
        for i, n in enumerate([0, 1, 2])
    }
    scores = {"n_claims_es": 1.0, "abstained_es": 0.0, "n_claims_en": 0.0}
    folder = write(tmp_path, {"xling_information": task(scores, questions)})
    intervals = {(c.panel.metric, c.language): c.interval for c in report_of(folder).cells}
    assert intervals["n_claims", "es"].method == "t" and intervals["n_claims", "es"].low < 1
    assert intervals["n_claims", "en"].high == 0  # A count that is 0 throughout is no share.
    assert (
        intervals["abstained", "es"].method == "wilson" and intervals["abstained", "es"].high > 0.5
    )


def likelihoods(right, n=40, shift=0.0, **more):
    """Verifiability by log-likelihood: of five answers each, P(Yes) tells the right one or not."""
    rows = {
        f"q{i}": [
            [int(k == 0), (0.9 if (k == 0) == (i < right) else 0.1) - k * 0.01] for k in range(5)
        ]
        for i in range(n)
    }
    flat = [row for own in rows.values() for row in own]
    score = roc_auc_score([label for label, _ in flat], [chance for _, chance in flat])
    questions = {q: {"auc": own} for q, own in rows.items()}
    return task({"auc": score + shift}, questions, better={"auc": True}, **more)


def test_auc_has_permutations_enough_for_the_correction(tmp_path):
    tasks = {"en": likelihoods(40), "hi": likelihoods(5), "es": likelihoods(40)}
    folder = write(
        tmp_path, {f"xlinghealth_verifiability_ll_liveqa_{c}": t for c, t in tasks.items()}
    )
    comparisons = {item.side: item for item in report_of(folder).comparisons}
    assert comparisons["hi"].n_permutations == 1000 and comparisons["hi"].p == 1 / 1001
    assert comparisons["hi"].difference < 0 and comparisons["es"].p == 1
    verdicts = {item.language: item.verdict for item in report_of(folder).conclusions}
    assert verdicts == {"hi": "worse", "es": "cannot_tell"}


def test_a_name_in_a_cell_stays_a_name():
    table = Table("k", "summary", "T", ("model", "p"), (("[a](http://b) *c* a_b", "<0.001"),))
    assert as_markdown(table).split("\n")[-2] == r"| [a\](http://b) \*c\* a_b | <0.001 |"


def test_effect_sizes_say_how_many_questions_are_left_out(tmp_path):
    values = {"en": [None, *[1.0] * 9], "hi": [*[0.0] * 8, None, None]}
    tasks = {}
    for code, own in values.items():
        rows = {f"q{i}": {"more_comprehensive": value} for i, value in enumerate(own)}
        mean = fmean(value for value in own if value is not None)
        tasks[f"xlinghealth_correctness_liveqa_{code}"] = task(
            {"more_comprehensive": mean}, rows, better={"more_comprehensive": True}
        )
    made = report_of(write(tmp_path, tasks)).comparisons
    item = next(item for item in made if item.panel.metric == "more_comprehensive")
    assert (item.n, item.left_out) == (7, 3)
    assert (item.detail.n, item.detail.left_out) == (7, 3)


def test_auc_is_over_the_questions_of_both(tmp_path):
    """Either language has several questions that the other has not."""
    found = []
    for n, m in ((40, 43), (43, 40), (40, 40)):
        tasks = {"en": likelihoods(20, n), "hi": likelihoods(10, m)}
        folder = write(
            tmp_path / f"{n}-{m}",
            {f"xlinghealth_verifiability_ll_liveqa_{c}": t for c, t in tasks.items()},
        )
        (item,) = (c for c in report_of(folder).comparisons if c.panel.metric == "auc")
        assert (item.n, item.left_out) == (40, abs(n - m))
        found.append((item.value, item.base, item.low, item.high, item.p))
    assert None not in found[0] and found[0] == found[1] == found[2]


def test_an_auc_of_other_samples_is_refused(tmp_path):
    folder = write(tmp_path, {"xlinghealth_verifiability_ll_liveqa_en": likelihoods(9, shift=0.1)})
    with pytest.raises(DataError, match="auc over its samples"):
        read_models([folder])


def test_scores_in_each_languages_own_words_are_never_compared_across_languages(tmp_path):
    """One model is translated and scored by an encoder, the other in its own words at T=0.7."""

    def runs(metric, values):
        return {
            f"xlinghealth_consistency_liveqa_{code}": task(
                {metric: sum(own) / 4}, {f"q{i}": {metric: v} for i, v in enumerate(own)}, better={metric: True}
            )
            for code, own in values.items()
        }  # fmt: skip

    values = {"en": [0.5, 0.6, 0.7, 0.8], "es": [0.1, 0.2, 0.2, 0.3]}
    one = write(tmp_path / "a", runs("sim_sent_t1.0", values), model="a")
    two = write(tmp_path / "b", runs("sim_1gram_src_t0.7", values), model="b")
    by_name = by_key(report_of(one, two))
    where = {"metric": "sim_sent", "T": "1", "model": "a", "language": "es"}
    assert cell(by_name["summary"], "difference", **where) == pytest.approx(-0.45)
    assert {row[by_name["summary"].columns.index("model")] for row in by_name["summary"].rows} == {
        "a"
    }
    report = report_of(one, two)
    assert {item.panel.metric for item in report.comparisons} == {"sim_sent"}
    assert {item.panel.metric for item in report.classic} == {"sim_sent"}
    values = by_name["consistency_liveqa"]
    own = {"metric": "sim_1gram_src", "T": "0.7", "model": "b"}
    assert cell(values, "es", **own) == pytest.approx(0.2)
    assert cell(values, "es: relative drop vs English, %", **own) is None


# Numbers


@pytest.mark.parametrize(
    ("value", "base", "percent", "times"),
    [(0.25, 0.75, 200 / 3, 1 / 3), (0.5, 0.25, -100.0, 2.0), (0.5, 0.5, 0.0, 1.0), (0.0, 0.5, 100.0, 0.0),
     (-0.2, -0.1, None, None), (0.5, 0.0, None, None), (None, 0.5, None, None), (0.5, None, None, None)],
)  # fmt: skip
def test_drop_and_multiple(value, base, percent, times):
    assert drop(value, base) == (percent if percent is None else pytest.approx(percent))
    assert multiple(value, base) == (times if times is None else pytest.approx(times))


def test_a_mean_with_a_gap_is_undefined():
    assert mean_of([1.0, 2.0, 6.0]) == 3.0
    assert mean_of([1.0, None]) is None
    assert mean_of([]) is None


# Correctness


def test_correctness_by_hand(liveqa):
    table = by_key(report_of(liveqa), published=False)["correctness_liveqa"]
    es = {"model": "m", "language": "es"}
    assert cell(table, "more comprehensive", **es) == 0.25
    assert cell(table, "more comprehensive: decrease vs English, percentage points", **es) == 50.0
    assert cell(table, "more comprehensive: relative drop vs English, %", **es) == pytest.approx(
        66.6667, abs=1e-3
    )
    assert cell(table, "contradictory: multiple of English", **es) == 2.0
    assert cell(table, "contradictory: multiple of English", model="m", language="en") is None
    low, high = (cell(table, f"contradictory {end}", **es) for end in ("low", "high"))
    assert 0 <= low <= 0.5 <= high <= 1
    assert not table.published


def test_counts_leave_out_failed_judge_calls(tmp_path):
    folder = write(
        tmp_path, {"xlinghealth_correctness_liveqa_en": correctness([MORE, None, MORE, NONE])}
    )
    table = by_key(report_of(folder), published=False)["correctness_counts_liveqa"]
    assert cell(table, "en", label="more_comprehensive") == 2
    assert cell(table, "en", label="no_response") == 1
    coverage = by_key(report_of(folder), published=False)["coverage_correctness"]
    assert cell(coverage, "judge failed", language="en") == 0.25
    assert cell(coverage, "judged", language="en") == 3


def test_labels_as_markdown(liveqa):
    table = by_key(report_of(liveqa), published=False)["correctness_counts_liveqa"]
    assert as_markdown(table) == (
        "### Correctness, LiveQA: labels\n\n"
        "| label | model | en | es |\n"
        "| --- | --- | ---: | ---: |\n"
        "| more_comprehensive | m | 3 | 1 |\n"
        "| less_comprehensive | m | 0 | 1 |\n"
        "| neither | m | 0 | 0 |\n"
        "| contradictory | m | 1 | 2 |\n"
        "| no_response | m | 0 | 0 |\n\n"
        "Questions with each label, of those whose judge call did not fail. m has no results in zh, hi.\n"
    )


def test_filtered_answers_stand_beside_table_a5(tmp_path):
    runs = {
        f"xlinghealth_verifiability_liveqa_{code}": task({"refused_rate": share, "acc_t0.0": 0.5})
        for code, share in (("en", 0.002), ("hi", 0.0))
    }
    table = by_key(report_of(write(tmp_path / "a", runs)))["filtered"]
    assert cell(table, "en", model="m") == pytest.approx(0.2)
    assert cell(table, "hi", model="m") == 0.0
    theirs = {"model": "GPT-3.5 (published)"}
    assert cell(table, "es", T="0", **theirs) == 0.2 and cell(table, "es", T="1", **theirs) == 0.5
    assert "Table A5" in table.note
    none = {"xlinghealth_verifiability_liveqa_en": task({"refused_rate": 0.0, "acc_t0.0": 0.5})}
    assert "filtered" not in by_key(report_of(write(tmp_path / "b", none)))


def test_spread_over_the_five_temperatures_stands_beside_table_a11(tmp_path):
    shares = {0.0: 0.5, 0.25: 0.6, 0.5: 0.7, 0.75: 0.6, 1.0: 0.6}
    runs = {
        "xlinghealth_verifiability_liveqa_en": task(
            {f"macro_f1_t{t}": v for t, v in shares.items()}
        ),
        "xlinghealth_verifiability_liveqa_hi": task({"macro_f1_t0.0": 0.5}),
    }
    table = by_key(report_of(write(tmp_path, runs)))["verifiability_liveqa"]
    # Mean 0.6; squares of 0.1, 0, 0.1, 0, 0 over 5: sd 0.0632.
    where = {"T": "mean of 5", "model": "m", "language": "en"}
    assert cell(table, "macro F1: sd over T", **where) == pytest.approx(0.06325, abs=1e-5)
    assert cell(table, "macro F1: sd over T", model="m", T="0", language="hi") is None
    theirs = {"T": "mean of 5", "model": "GPT-3.5 (published)", "language": "hi"}
    for name, metric in (
        ("macro F1", "macro_f1_sd"),
        ("accuracy", "accuracy_sd"),
        ("AUC of hard labels", "auc_sd"),
    ):
        (printed,) = published(table="Table A11", dataset="liveqa", language="hi", metric=metric)
        assert cell(table, f"{name}: sd over T", **theirs) == printed.value


def test_published_labels_are_those_of_the_paper(liveqa):
    by_name = by_key(report_of(liveqa))
    counts, shares = by_name["correctness_counts_liveqa"], by_name["correctness_liveqa"]
    gpt = {"model": "GPT-3.5 (published)"}
    assert [
        cell(counts, code, label="contradictory", **gpt) for code in ("en", "es", "zh", "hi")
    ] == [3, 1, 4, 13]
    assert cell(shares, "more comprehensive", language="hi", **gpt) == pytest.approx(142 / 246)
    # 226 of 246 in English, 142 in Hindi.
    assert cell(
        shares, "more comprehensive: relative drop vs English, %", language="hi", **gpt
    ) == pytest.approx(37.168, abs=1e-3)
    assert cell(
        shares, "contradictory: multiple of English", language="hi", **gpt
    ) == pytest.approx(13 / 3)
    for table in (counts, shares):
        names = [row[table.columns.index("model")] for row in table.rows]
        assert {i for i, name in enumerate(names) if "(published)" in name} == table.published
        assert "arXiv:2310.13132, Table 1" in table.note


def test_a_label_that_the_paper_does_not_print_stays_undefined(tmp_path):
    folder = write(
        tmp_path, {"xlinghealth_correctness_medicationqa_en": correctness([MORE, CONTRA])}
    )
    table = by_key(report_of(folder))["correctness_medicationqa"]
    hindi = {"model": "GPT-3.5 (published)", "language": "hi"}
    # The text's 30.58 points of 690 questions below 618 leave 407; the rest is not printed.
    assert cell(table, "more comprehensive", **hindi) == pytest.approx(407 / 690)
    assert "not printed: correctness_more_comprehensive_count medicationqa hi = 407." in table.note
    assert cell(table, "neither", **hindi) is None
    assert cell(table, "contradictory: multiple of English", **hindi) == pytest.approx(51 / 5)


def test_published_decreases_and_means_come_out_of_the_published_counts():
    datasets = ("healthqa", "liveqa", "medicationqa")
    shares = {
        name: published_shares(published(source="xlingeval", dataset=name), "gpt-3.5-turbo", name)
        for name in datasets
    }
    pairs = gap_pairs(shares, dict.fromkeys(datasets, ("en", "es", "zh", "hi")))
    metric = "correctness_more_comprehensive_decrease_vs_en_points"
    printed = {
        (f.dataset, f.language): f.value for f in published(table="Section 3.1", metric=metric)
    }
    assert len(printed) == 9 and pairs.keys() == printed.keys()
    for pair, (points, _) in pairs.items():
        assert points == pytest.approx(printed[pair], abs=0.0051), pair
    assert printed["healthqa", "hi"] == 38.62
    assert fmean(points for points, _ in pairs.values()) == pytest.approx(18.12, abs=0.005)
    assert fmean(times for _, times in pairs.values()) == pytest.approx(5.82, abs=0.005)


def test_both_means_of_a_run_beside_the_published_ones_over_the_same_pairs(tmp_path):
    """LiveQA: 3, 1, 2 of 4 more comprehensive and 1, 2, 0 contradictory in English, es and hi."""
    labels = {
        "en": [MORE] * 3 + [CONTRA],
        "es": [MORE, LESS, CONTRA, CONTRA],
        "hi": [MORE, MORE, LESS, LESS],
    }
    runs = {
        f"xlinghealth_correctness_liveqa_{code}": correctness(own) for code, own in labels.items()
    }
    runs |= {
        f"xlinghealth_correctness_demo_{code}": correctness(own) for code, own in labels.items()
    }
    table = by_key(report_of(write(tmp_path, runs)))["correctness_means"]
    decrease, times = table.columns[4:6]
    own = {"model": "m", "datasets": "liveqa"}
    assert cell(table, decrease, **own) == pytest.approx((50 + 25) / 2)
    assert cell(table, times, **own) == pytest.approx((2 + 0) / 2)
    assert cell(table, "comparisons", **own) == 2
    theirs = {"model": "GPT-3.5 (published)"}
    assert cell(table, "datasets", **theirs) == "liveqa"
    # Of 246: 226 in English, 213 in Spanish, 142 in Hindi; contradictory 3, 1 and 13.
    assert cell(table, decrease, **theirs) == pytest.approx(100 * ((13 + 84) / 2) / 246)
    assert cell(table, times, **theirs) == pytest.approx((1 / 3 + 13 / 3) / 2)
    assert cell(table, decrease, model="m", datasets="demo") == pytest.approx((50 + 25) / 2)


def test_the_nine_pairs_of_a_whole_run_stand_beside_the_headline_means(tmp_path):
    runs = {
        f"xlinghealth_correctness_{name}_{code}": correctness([MORE, CONTRA])
        for name in ("healthqa", "liveqa", "medicationqa")
        for code in ("en", "es", "zh", "hi")
    }
    table = by_key(report_of(write(tmp_path, runs)))["correctness_means"]
    theirs = {"model": "GPT-3.5 (published)", "comparisons": 9}
    assert cell(table, table.columns[4], **theirs) == pytest.approx(18.12, abs=0.005)
    assert cell(table, table.columns[5], **theirs) == pytest.approx(5.82, abs=0.005)
    assert cell(table, table.columns[4], model="m") == 0.0


# Consistency and verifiability


def sampled(values, tau=(1.0,), **more):
    scores = {f"sim_1gram_t{t}": value for t, value in zip(tau, values)}
    better = dict.fromkeys(scores, True)
    return task(scores, better=better, **more)


def test_one_temperature_leaves_published_means_apart(tmp_path):
    tasks = {
        f"xlinghealth_consistency_liveqa_{c}": sampled([v]) for c, v in (("en", 0.5), ("hi", 0.4))
    }
    by_name = by_key(report_of(write(tmp_path, tasks)))
    own = by_name["consistency_liveqa"]
    assert not own.published
    assert cell(own, "hi: relative drop vs English, %", metric="sim_1gram", T="1") == pytest.approx(
        20.0
    )
    apart = by_name["consistency_liveqa_published"]
    assert apart.published == frozenset(range(len(apart.rows)))
    assert cell(apart, "hi", metric="sim_1gram", model="GPT-3.5 (published)") == 0.3329
    assert cell(apart, "en", metric="sim_1gram", model="MedAlpaca-30b (published)") == next(
        f.value for f in published(table="Table A10", metric="sim_1gram", language="en")
    )


def test_five_temperatures_give_a_mean_beside_the_paper(tmp_path):
    taus = (0.0, 0.25, 0.5, 0.75, 1.0)
    tasks = {
        "xlinghealth_consistency_liveqa_en": sampled([0.9, 0.8, 0.7, 0.6, 0.5], taus),
        "xlinghealth_consistency_liveqa_es": sampled([0.9, 0.8, 0.7, 0.6, None], taus),
    }
    by_name = by_key(report_of(write(tmp_path, tasks)))
    assert "consistency_liveqa_published" not in by_name
    own = by_name["consistency_liveqa"]
    mean = {"metric": "sim_1gram", "T": "mean of 5"}
    assert cell(own, "en", model="m", **mean) == pytest.approx(0.7)
    assert cell(own, "es", model="m", **mean) is None
    assert cell(own, "es", model="GPT-3.5 (published)", **mean) == 0.46
    assert cell(own, "es", metric="sim_1gram", T="1", model="m") is None


def test_verifiability_and_table_a11(tmp_path):
    scores = {"macro_f1_t1.0": 0.6, "auc_hard_t1.0": 0.7, "unknown_rate_t1.0": 0.1}
    folder = write(tmp_path, {"xlinghealth_verifiability_liveqa_en": task(scores)})
    by_name = by_key(report_of(folder))
    assert cell(by_name["verifiability_liveqa"], "unknown verdict", language="en") == 0.1
    apart = by_name["verifiability_liveqa_published"]
    english = {"language": "en", "model": "GPT-3.5 (published)"}
    assert cell(apart, "macro F1", **english) == 0.7140
    assert cell(apart, "AUC of hard labels", **english) == 0.6701
    assert "verifiability_liveqa_published" not in by_key(report_of(folder), published=False)


# MMedBench


def mcqa(**by_language):
    return {f"mmedbench_mcqa_{code}": task({"acc": value}) for code, value in by_language.items()}


def test_the_average_needs_every_language(tmp_path):
    six = {"en": 0.6, "zh": 0.5, "ja": 0.4, "fr": 0.3, "ru": 0.2, "es": 0.1}
    whole = write(tmp_path / "a", mcqa(**six), model="whole")
    five = write(tmp_path / "b", mcqa(**{**six, "ja": None}), model="undefined")
    less = write(tmp_path / "c", mcqa(**{c: v for c, v in six.items() if c != "fr"}), model="less")
    table = by_key(report_of(whole, five, less))["mmedbench_mcqa_mmedbench"]
    assert cell(table, "Avg.", model="whole") == pytest.approx(35.0)
    assert cell(table, "Avg.", model="undefined") is None
    assert cell(table, "Avg.", model="less") is None
    assert "undefined: ja (acc); less: fr (acc)" in table.note
    assert cell(table, "zh", model="whole") == 50.0
    assert cell(table, "setting", model="whole") == "zero-shot"


def test_published_accuracies_equal_the_file(tmp_path):
    table = by_key(report_of(write(tmp_path, mcqa(en=0.5))))["mmedbench_mcqa_mmedbench"]
    with FILE.open(encoding="utf-8", newline="") as handle:
        rows = [
            r
            for r in csv.DictReader(handle)
            if r["source"] == "mmedbench" and r["table"] in ("Table 1", "Table 6")
        ]
    assert len(table.published) == len({(r["model"], r["setting"]) for r in rows})
    for row in rows:
        name = " ".join(row["model"].replace("\xa0", " ").split()) + " (published)"
        column = "Avg." if row["language"] == "avg" else row["language"]
        assert cell(table, column, model=name, setting=row["setting"]) == float(row["value"])


def test_every_published_metric_of_rationales_stands_beside_ours(tmp_path):
    ours = (
        "bleu",
        "bleu1",
        "bleu2",
        "bleu3",
        "bleu4",
        "rouge1",
        "rouge2",
        "rougeL",
        "bertscore_f1",
    )
    runs = {"mmedbench_rationale_ft_ru": task(dict.fromkeys(ours, 0.25))}
    table = by_key(report_of(write(tmp_path, runs)))["mmedbench_rationale_ft_mmedbench"]
    names = {"bertscore_f1_percent": "bertscore_f1"}
    printed = [
        figure
        for table in ("Table 2", *(f"Table {n}" for n in range(7, 14)))
        for figure in published(source="mmedbench", table=table)
        if figure.setting != "zero-shot"
    ]
    assert len(printed) > 1000
    for f in printed:
        where = {"metric": names.get(f.metric, f.metric), "setting": f.setting}
        column = "Avg." if f.language == "avg" else f.language
        assert cell(table, column, model=f"{f.model} (published)", **where) == f.value
    assert {row[0] for i, row in enumerate(table.rows) if i in table.published} == set(ours)
    assert "Table 13" in table.note and "Two printed averages" in table.note
    assert not by_key(report_of(tmp_path), published=False)[
        "mmedbench_rationale_ft_mmedbench"
    ].published


def test_rationales_in_the_papers_unit(tmp_path):
    folder = write(
        tmp_path, {"mmedbench_rationale_en": task({"bleu1": 0.19, "sacrebleu": 3.5}, shots=2)}
    )
    table = by_key(report_of(folder))["mmedbench_rationale_mmedbench"]
    assert cell(table, "en", metric="bleu1", model="m") == pytest.approx(19.0)
    assert cell(table, "en", metric="sacrebleu", model="m") == 3.5
    assert cell(table, "setting", metric="bleu1", model="m") == "2-shot"
    assert cell(table, "en", metric="bleu1", model="GPT-3.5 (published)") == 36.21


# Translate, then evaluate


def test_groups_beside_table_4_only_for_the_same_prompts(tmp_path):
    scores = {"information_f1": 0.5, "information_f1_script_latin": 0.6, "information_f1_es": 0.6,
              "information_f1_hi": 0.4, "empty_rate_en": 0.0, "n_claims_en": 3.0}  # fmt: skip
    data = {
        "languages": ["en", "es", "hi"],
        "unusable_questions": {"hi": ["q1"]},
        "not_compared": {"q2": "country"},
        "unusable_reasons": {"text missing": 1},
    }
    ours = write(tmp_path / "a", {"xling_information": task(scores, data=data)})
    other = write(tmp_path / "b", {"xlinghealth_information_liveqa": task(scores, data=data)})
    by_name = by_key(report_of(ours))
    groups = by_name["information_xling_groups"]
    assert cell(groups, "all", model="m") == 0.5
    assert cell(groups, "languages", model="m") == 2
    assert cell(groups, "script: indic", model="m") is None
    assert cell(groups, "family: dravidian", model="gpt-4o (published)") == 0.60
    assert not by_key(report_of(other))["information_liveqa_groups"].published
    assert cell(by_name["coverage_information"], "reasons", language="hi") == "text missing: 1"
    said = "questions are asked and not compared (right answers to them differ by country)"
    assert said in by_name["coverage_information"].note
    assert cell(by_name["coverage_information"], "run", language="hi") is None


def test_trained_languages_and_branches_beside_what_is_published(tmp_path):
    scores = {"information_f1": 0.5, "information_f1_es": 0.6, "information_f1_hi": 0.4,
              "information_f1_train_in": 0.6, "information_f1_train_out": 0.4,
              "information_f1_branch_romance": 0.6}  # fmt: skip
    data = {"languages": ["en", "es", "hi"], "unusable_questions": {}}
    folder = write(tmp_path, {"xling_information": task(scores, data=data)})
    groups = by_key(report_of(folder))["information_xling_groups"]
    assert cell(groups, "trained languages", model="m") == 0.6
    assert cell(groups, "branch: romance", model="m") == 0.6
    name = "Llama-3.1-8B (published)"
    printed = next(
        published(
            table="Table 4",
            model="Llama-3.1-8B",
            language="train:out",
            metric="information_consistency",
        )
    )
    assert cell(groups, "other languages", model=name) == printed.value
    assert cell(groups, "branch: romance", model=name) is None


def test_language_consistency_as_published_stands_beside_table_a4(tmp_path):
    names = [
        f"language_consistency{kind}_t{tau}"
        for kind in ("", "_published")
        for tau in ("0.0", "1.0", "0.5")
    ]
    runs = {
        f"xlinghealth_consistency_liveqa_{c}": task(dict.fromkeys(names, 0.9)) for c in ("en", "hi")
    }
    table = by_key(report_of(write(tmp_path, runs)))["consistency_liveqa"]
    theirs = {"model": "MedAlpaca-30b (published)", "metric": "language_consistency_published"}
    assert cell(table, "hi", T="0", **theirs) == pytest.approx(0.8152)
    assert cell(table, "hi", T="1", **theirs) == pytest.approx(0.5535)
    shown = [row[:3] for i, row in enumerate(table.rows) if i in table.published]
    assert {(row[0], row[1]) for row in shown} == {
        ("language_consistency_published", t) for t in "01"
    }
    assert "Table A4" in table.note and "does not say over which dataset" in table.note


def test_empathy_with_presence_beside_agreement(tmp_path):
    scores = {"empathy": 0.75, "empathy_es": 0.75, "both_absent_es": 0.5, "profile_en": 4, "profile_es": 4,
              "emotional_reactions_present_en": 0.25, "emotional_reactions_present_es": 0.0,
              "emotional_reactions_agreement_es": 0.75, "unscored_es": 0.0}  # fmt: skip
    data = {"languages": ["en", "es"], "unusable_questions": {}}
    by_name = by_key(report_of(write(tmp_path, {"xling_empathy": task(scores, data=data)})))
    own = by_name["empathy_xling_languages"]
    assert cell(own, "all absent in both", language="es") == 0.5
    assert cell(own, "emotional reactions: present", language="en") == 0.25
    assert cell(own, "emotional reactions: agreement", language="en") is None
    assert cell(by_name["coverage_empathy"], "with a profile", language="es") == 4
    assert cell(by_name["empathy_xling_groups"], "all", model="gpt-4o (published)") == 0.82


# Tests


def similarities(values, tau=1.0):
    name = f"sim_1gram_t{tau}"
    questions = {f"q{i}": {name: value} for i, value in enumerate(values)}
    return task({name: sum(values) / len(values)}, questions, better={name: True})


def test_signs_of_differences(tmp_path):
    values = {"en": [0.5, 0.6, 0.7, 0.6], "hi": [0.2, 0.3, 0.1, 0.2], "zh": [0.4, 0.3, 0.4, 0.5]}
    folder = write(
        tmp_path,
        {f"xlinghealth_consistency_liveqa_{c}": similarities(v) for c, v in values.items()},
    )
    by_name = by_key(report_of(folder))
    paired = by_name["against_english_consistency"]
    assert cell(paired, "difference", language="hi") == pytest.approx(-0.4)
    assert cell(paired, "relative, %", language="hi") == pytest.approx(-200 / 3)
    assert cell(paired, "losses", language="hi") == 1.0
    assert cell(paired, "questions", language="hi") == "same"
    tukey = by_name["tukey_consistency_liveqa"]
    ours = cell(tukey, "difference", model="m", first="hi", second="zh")
    theirs = cell(tukey, "difference", model="GPT-3.5 (published)", first="hi", second="zh")
    assert ours == pytest.approx(0.2)
    # Table 3 prints -0.0438 for zh-hi: the mean of hi is the lower one.
    assert theirs == 0.0438
    assert (
        cell(tukey, "difference", model="GPT-3.5 (published)", first="en", second="hi") == -0.0887
    )
    # Its interval -0.0511 to -0.0364 turns with it; 'p < 0.001' stays a bound.
    row = {"model": "GPT-3.5 (published)", "first": "hi", "second": "zh"}
    assert [cell(tukey, name, **row) for name in ("low", "high", "p (Tukey)")] == [
        0.0364, 0.0511, "< 0.001",
    ]  # fmt: skip
    anova = by_name["anova_consistency_liveqa"]
    printed = next(
        f.value for f in published(table="Table A13", temperature="1.0", metric="anova_F_sim_1gram")
    )
    assert cell(anova, "F", model="GPT-3.5 (published)") == printed
    assert cell(anova, "df within", model="m") == 9


def test_published_pairs_keep_their_order_where_it_is_ours():
    figure = next(published(table="Table 2", metric="tukey_md_sim_1gram", language="zh-hi"))
    assert figure.value == -0.1512
    assert turned(figure.language, [("zh", "hi")]) == ("zh", "hi", 1)
    assert turned(figure.language, [("hi", "zh")]) == ("hi", "zh", -1)


def test_published_t_tests_have_the_sign_of_the_difference(tmp_path):
    values = {"en": [0.5, 0.6, 0.7, 0.6], "hi": [0.2, 0.3, 0.1, 0.2], "zh": [0.4, 0.3, 0.4, 0.5]}
    folder = write(
        tmp_path,
        {
            f"xlinghealth_consistency_liveqa_{c}": similarities(v, tau=0.0)
            for c, v in values.items()
        },
    )
    by_name = by_key(report_of(folder))
    tukey = by_name["tukey_consistency_liveqa"]
    row = {"model": "GPT-3.5 (published)", "first": "hi", "second": "zh"}
    # Table A12 prints t = 11.00, p = 4.29e-25 for zh-hi, where Table 2 has -0.1512 = hi - zh.
    assert [cell(tukey, name, **row) for name in ("difference", "t", "p (t test)")] == [
        0.1512,
        11.0,
        4.29e-25,
    ]
    assert cell(tukey, "t", model="m", first="hi", second="zh") > 0
    anova = by_name["anova_consistency_liveqa"]
    assert cell(anova, "F", model="GPT-3.5 (published)") == 190.94
    assert cell(anova, "p", model="GPT-3.5 (published)") == 8.29e-96


def test_mmedbench_is_unpaired(tmp_path):
    tasks = {
        f"mmedbench_mcqa_{c}": task(
            {"acc": sum(v) / 4},
            {f"{c}{i}": {"acc": x} for i, x in enumerate(v)},
            better={"acc": True},
        )
        for c, v in (("en", [1.0, 1.0, 1.0, 0.0]), ("zh", [0.0, 0.0, 1.0, 0.0]))
    }
    table = by_key(report_of(write(tmp_path, tasks)))["against_english_mmedbench_mcqa"]
    assert cell(table, "questions", language="zh") == "different questions"
    assert cell(table, "difference", language="zh") == -0.5
    assert "nothing is paired" in table.note


# What differs


def test_nothing_differs_between_equal_runs(tmp_path):
    codes = ("en", "es", "zh", "hi")
    tasks = {f"xlinghealth_correctness_liveqa_{c}": correctness([MORE, LESS]) for c in codes}
    folders = [write(tmp_path / name, tasks, model=name) for name in "ab"]
    assert differences(report_of(*folders)) == []


def test_answers_that_may_be_cut_off_are_told_by_language(tmp_path):
    cut = {"en": [0, 4], "es": [3, 4]}
    tasks = {
        f"xlinghealth_correctness_liveqa_{c}": correctness([MORE, LESS], cut={c: cut[c]})
        for c in cut
    }
    said = "\n".join(differences(report_of(write(tmp_path / "a", tasks, model="a"))))
    assert "a, answers as long as max_gen_toks allows, perhaps cut off: Spanish 3 of 4" in said
    assert "English 0" not in said


def test_a_run_that_only_generated_says_so_and_blames_no_setting(tmp_path):
    codes = ("en", "es", "zh", "hi")
    tasks = {f"xlinghealth_correctness_liveqa_{c}": task({"bypass": 999}) for c in codes}
    said = "\n".join(differences(report_of(write(tmp_path / "a", tasks, model="a"))))
    assert "a only generated answers (--predict_only) in en, es, zh, hi; `lm_eval --model" in said
    assert "without a judge" not in said


def test_differences_name_model_task_and_setting(tmp_path):
    codes = ("en", "es", "zh", "hi")
    first = {f"xlinghealth_correctness_liveqa_{c}": correctness([MORE, LESS]) for c in codes}
    other = {
        "settings": {"judge": {**JUDGE, "model_args": {"model": "judge-2"}}},
        "data": {"sha256": "xyz"},
    }
    second = {
        f"xlinghealth_correctness_liveqa_{c}": correctness(
            [MORE, LESS], ["q0", "q7"], original=5, **other
        )
        for c in codes[:2]
    }
    lines = differences(
        report_of(
            write(tmp_path / "a", first, model="a"),
            write(tmp_path / "b", second, model="b", version="0.4.14"),
        )
    )
    start = "Correctness, LiveQA: "
    assert lines == [
        start + "b ran only a part of the questions (--limit or --samples): en 2 of 5, es 2 of 5",
        start + "b has no results in zh, hi",
        start
        + "a and b answered different questions (en: 2, 2, 1 in all of them; es: 2, 2, 1 in all of them)",
        start
        + 'a and b differ in en, es: judge.model (dummy {"model": "judge-1"} / dummy {"model": "judge-2"})',
        start + "a and b differ in en, es: data.sha256 (abc / xyz)",
        start + "a and b differ in en, es: lm_eval's version (0.4.13 / 0.4.14)",
    ]


def test_differences_of_signatures_and_languages(tmp_path):
    sign = {"more_comprehensive": "more_comprehensive|judge:x|chat_template:yes"}
    codes = ("en", "es", "zh", "hi")
    first = {
        f"xlinghealth_correctness_liveqa_{c}": correctness([MORE, LESS], signatures=sign)
        for c in codes
    }
    again = {
        **first,
        "xlinghealth_correctness_liveqa_hi": correctness(
            [MORE],
            signatures={"more_comprehensive": "more_comprehensive|judge:y|chat_template:yes"},
        ),
    }
    lines = differences(
        report_of(write(tmp_path / "a", first, model="a"), write(tmp_path / "b", again, model="b"))
    )
    text = " ".join(lines)
    assert (
        "how more_comprehensive was made (judge:x|chat_template:yes / judge:y|chat_template:yes)"
        in text
    )
    assert (
        "b: the languages are over different questions (en 2, es 2, zh 2, hi 1, 1 in all of them)"
        in text
    )


def test_runs_without_samples_say_so(tmp_path):
    folder = write(tmp_path, {"xlinghealth_consistency_liveqa_en": sampled([0.5])})
    by_name = by_key(report_of(folder))
    assert "m logged no samples in en" in " ".join(differences(report_of(folder)))
    assert cell(by_name["coverage_consistency"], "samples", language="en") == "none"
    assert "en low" not in by_name["consistency_liveqa"].columns


def test_unusable_rows_are_in_the_coverage(tmp_path):
    data = {
        "questions": 246,
        "unusable_rows": 10,
        "unusable_questions": ["58", "67"],
        "unusable_reasons": {"text missing": 10},
    }
    own = correctness([MORE, LESS], original=244, data=data)
    first = tables(report_of(write(tmp_path, {"xlinghealth_correctness_liveqa_en": own})))[0]
    assert first.key == "coverage_correctness"
    english = {"language": "en"}
    assert [
        cell(first, name, **english)
        for name in ("in data", "usable", "run", "unusable rows", "unusable questions")
    ] == [246, 244, 2, 10, 2]
    assert cell(first, "reasons", **english) == "text missing: 10"
    assert "--limit" in first.note


# As text


def test_nothing_is_shown_as_minus_zero():
    table = Table("k", "summary", "t", ("x",), ((-0.0004,),))
    assert [table.shown(x) for x in (-0.0004, 0.0004, -0.0006, 0.0)] == [
        "0.000", "<0.001", "-0.001", "0.000"
    ]  # fmt: skip


def test_csv_and_markdown_escape():
    table = Table(
        "k",
        "coverage",
        "T",
        ("a|b", "n"),
        (("x|y\nz", 1.5), ('say "hi", =1+1', None), ("=2+3", 2)),
        published=frozenset({2}),
    )
    assert as_markdown(table).split("\n")[2:] == [
        "| a\\|b | n |",
        "| --- | ---: |",
        "| x\\|y z | 1.500 |",
        '| say "hi", =1+1 | – |',
        "| =2+3 | 2 |",
        "",
    ]
    text = as_csv(table)
    assert text.splitlines()[0] == "a|b,n,published"
    assert list(csv.reader(io.StringIO(text)))[1:] == [
        ["x|y\nz", "1.5", "no"],
        ['say "hi", =1+1', "", "no"],
        ["'=2+3", "2", "yes"],
    ]


def test_keys_are_unique_and_sections_known(liveqa):
    from xling_tasks.criteria import CRITERIA

    made = tables(report_of(liveqa))
    assert len({table.key for table in made}) == len(made)
    assert {table.section for table in made} <= {*CRITERIA, "coverage", "summary", "statistics"}
    assert [t.section for t in made].index("coverage") == 0
    assert made[-1].section == "statistics"
