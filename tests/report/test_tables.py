"""Tables of a report: literals worked by hand, on outputs written in the harness's shape."""

from __future__ import annotations

import csv
import io
from statistics import fmean

import pytest
from builders import task_of, write_run
from sklearn.metrics import roc_auc_score

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.published import FILE, published
from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.tables.all import tables
from xling_tasks.report.tables.correctness import gap_pairs, published_shares
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.tables.grid import drop, mean_of, multiple
from xling_tasks.report.tables.table import Table, as_csv, as_markdown

pytestmark = pytest.mark.core

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory", "no_response")
MORE, LESS, NEITHER, CONTRA, NONE = LABELS
JUDGE = {"model": "dummy", "model_args": {"model": "judge-1"}, "batch_size": None}
CODES = ("en", "es", "zh", "hi")
GPT = {"model": "GPT-3.5 (published)"}
RECORD = {
    "version": "0.1.0",
    "settings": {"temperatures": [0.0, 1.0], "k": 4, "judge": JUDGE, "prompt_language": "en"},
    "data": {"questions": 4, "rows": 4, "sha256": "abc", "invalid_rows": 0,
             "invalid_reasons": {}, "unusable_questions": []},
    "prompts": {"answer": {"language": "en", "digest": "d1"}},
    "generation_kwargs": {"max_gen_toks": 8}, "signatures": {},
}  # fmt: skip
"""What our tasks record."""


def task(scores, questions=(), original=None, better=None, shots=0, **more):
    """One task: its scores, and a dict of values per question where samples are logged."""
    rows = [{"doc": {"question_id": q}, **questions[q]} for q in questions]
    count = {"original": original, "effective": len(questions) or 4, "num_fewshot": shots}
    record = RECORD | {
        key: {**RECORD.get(key, {}), **value} if isinstance(value, dict) else value
        for key, value in more.items()
    }
    return task_of(scores, rows, record=record, better=better, **count)


def per_question(metric, values, score=None, **more):
    """One task of one metric, of which more is better, from its value per question."""
    score = fmean(value for value in values if value is not None) if score is None else score
    questions = {f"q{i}": {metric: value} for i, value in enumerate(values)}
    return task({metric: score}, questions, better={metric: True}, **more)


def write(folder, tasks, model="m", version="0.4.13"):
    config = {"model_args": {"pretrained": model}}
    write_run(folder / model, tasks, config=config, lm_eval_version=version)
    return folder


def named(start, tasks):
    """Tasks by language with their names, over LiveQA if no whole start is given."""
    start = start if start.endswith("_") else f"xlinghealth_{start}_liveqa_"
    return {start + code: own for code, own in tasks.items()}


def correctness(labels, ids=None, **more):
    """A correctness task from its questions' labels; None is a failed judge call."""
    questions = {
        q: {name: None if label is None else float(label == name) for name in LABELS}
        | {"judge_failed_rate": float(label is None)}
        for q, label in zip(ids or [f"q{i}" for i in range(len(labels))], labels)
    }
    known = [label for label in labels if label is not None]
    scores = {name: known.count(name) / len(known) for name in LABELS}
    scores |= {"judge_failed_rate": labels.count(None) / len(labels), "n_judged": len(known)}
    better = {MORE: True, CONTRA: False, NONE: False}
    return task(scores | {"invalid_rows": 0}, questions, better=better, **more)


def labelled(codes, labels, start="correctness", **more):
    """Tasks of correctness with the same labels in each language."""
    return named(start, {code: correctness(labels, **more) for code in codes})


def report_of(*folders):
    return make_report(read_models(folders), Options(n_resamples=200))


def by_key(report, **options):
    return {table.key: table for table in tables(report, **options)}


def tables_of(folder, tasks, **options):
    return by_key(report_of(write(folder, tasks)), **options)


def cells(table, columns, **where):
    """The values of columns in the only row that has these values."""
    at = table.columns.index
    rows = [row for row in table.rows if all(row[at(k)] == v for k, v in where.items())]
    assert len(rows) == 1, (table.key, where, rows)
    return [rows[0][at(name)] for name in columns]


def cell(table, column, **where):
    return cells(table, [column], **where)[0]


@pytest.fixture
def liveqa(tmp_path):
    """Correctness over LiveQA: en 3 more, 1 contradictory; es 1 more, 1 less, 2 contradictory."""
    labels = {"en": [MORE, MORE, MORE, CONTRA], "es": [MORE, LESS, CONTRA, CONTRA]}
    tasks = named("correctness", {code: correctness(own) for code, own in labels.items()})
    return write(tmp_path / "a", tasks)


# Which runs are read


def test_one_model_under_two_names_stays_two(tmp_path):
    """Scored by two judges, say: the labels of one must not stand under the name of the other."""
    one, two = (
        write(tmp_path / judge, labelled(["en"], labels))
        for judge, labels in (("a", [MORE, MORE]), ("b", [CONTRA, MORE]))
    )
    models = read_models([f"first={one}", f"second={two}"])
    assert {m.name: m.tasks[0].scores[MORE] for m in models} == {"first": 1.0, "second": 0.5}
    names = [model.name for model in read_models([f"x={one}", f"x (2)={two}", one, two])]
    assert names == ["x", "x (2)", "m"]


def test_the_newest_run_counts_in_any_order_of_folders(tmp_path):
    old = write(tmp_path / "old", labelled(["en"], [CONTRA, CONTRA]))
    new = write(tmp_path / "new", labelled(["en"], [MORE, MORE]))
    for path in (new / "m").iterdir():
        path.rename(path.with_name(path.name.replace("2026-01", "2026-02")))
    for folders in ((old, new), (new, old)):
        (model,) = read_models(folders)
        assert model.tasks[0].scores[MORE] == 1.0


def likelihoods(right, n=40, shift=0.0):
    """Verifiability by log-likelihood: of five answers each, P(Yes) tells the right one or not."""
    values = [
        [[int(k == 0), (0.9 if (k == 0) == (i < right) else 0.1) - k * 0.01] for k in range(5)]
        for i in range(n)
    ]
    score = roc_auc_score(*zip(*(row for own in values for row in own)))
    return per_question("auc", values, score + shift)


def test_auc_has_permutations_enough_for_the_correction(tmp_path):
    tasks = {"en": likelihoods(40), "hi": likelihoods(5), "es": likelihoods(40)}
    report = report_of(write(tmp_path, named("verifiability_ll", tasks)))
    found = {item.side: item for item in report.comparisons}
    assert found["hi"].n_permutations == 1000 and found["hi"].p == 1 / 1001
    assert found["hi"].difference < 0 and found["es"].p == 1
    verdicts = {item.language: item.verdict for item in report.conclusions}
    assert verdicts == {"hi": "worse", "es": "inconclusive"}


def test_auc_is_over_the_questions_of_both(tmp_path):
    """Either language has several questions that the other has not."""
    found = []
    for n, m in ((40, 43), (43, 40), (40, 40)):
        tasks = {"en": likelihoods(20, n), "hi": likelihoods(10, m)}
        report = report_of(write(tmp_path / f"{n}-{m}", named("verifiability_ll", tasks)))
        (item,) = (c for c in report.comparisons if c.panel.metric == "auc")
        assert (item.n, item.left_out) == (40, abs(n - m))
        found.append((item.value, item.base, item.low, item.high, item.p))
    assert None not in found[0] and found[0] == found[1] == found[2]


def test_an_auc_of_other_samples_is_refused(tmp_path):
    folder = write(tmp_path, named("verifiability_ll", {"en": likelihoods(9, shift=0.1)}))
    with pytest.raises(DataError, match="auc over its samples"):
        read_models([folder])


def test_effect_sizes_say_how_many_questions_are_left_out(tmp_path):
    values = {"en": [None, *[1.0] * 9], "hi": [*[0.0] * 8, None, None]}
    tasks = {code: per_question(MORE, own) for code, own in values.items()}
    made = report_of(write(tmp_path, named("correctness", tasks))).comparisons
    item = next(item for item in made if item.panel.metric == MORE)
    assert (item.n, item.left_out) == (item.detail.n, item.detail.left_out) == (7, 3)


def test_scores_in_each_languages_own_words_are_never_compared_across_languages(tmp_path):
    """One model is translated and scored by an encoder, the other in its own words at T=0.7."""
    values = {"en": [0.5, 0.6, 0.7, 0.8], "es": [0.1, 0.2, 0.2, 0.3]}
    folders = []
    for model, metric in (("a", "sim_sent_t1.0"), ("b", "sim_1gram_src_t0.7")):
        tasks = {code: per_question(metric, own) for code, own in values.items()}
        folders.append(write(tmp_path / model, named("consistency", tasks), model=model))
    report = report_of(*folders)
    assert {item.panel.metric for item in report.comparisons} == {"sim_sent"}
    assert {item.panel.metric for item in report.classic} == {"sim_sent"}
    by_name = by_key(report)
    summary = by_name["summary"]
    where = {"metric": "sim_sent", "T": "1", "model": "a", "language": "es"}
    assert cell(summary, "difference", **where) == pytest.approx(-0.45)
    assert {row[summary.columns.index("model")] for row in summary.rows} == {"a"}
    own = {"metric": "sim_1gram_src", "T": "0.7", "model": "b"}
    names = ["es", "es: relative drop vs English, %"]
    assert cells(by_name["consistency_liveqa"], names, **own) == [pytest.approx(0.2), None]


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
    assert [mean_of(x) for x in ([1.0, 2.0, 6.0], [1.0, None], [])] == [3.0, None, None]


# Correctness


def test_correctness_by_hand(liveqa):
    by_name = by_key(report_of(liveqa), published=False)
    table, es = by_name["correctness_liveqa"], {"model": "m", "language": "es"}
    names = ("more comprehensive", "more comprehensive: decrease vs English, percentage points",
             "more comprehensive: relative drop vs English, %", "contradictory: multiple of English")  # fmt: skip
    assert cells(table, names, **es) == pytest.approx([0.25, 50.0, 200 / 3, 2.0])
    assert cell(table, "contradictory: multiple of English", model="m", language="en") is None
    low, high = cells(table, ["contradictory low", "contradictory high"], **es)
    assert 0 <= low <= 0.5 <= high <= 1 and not table.published
    assert as_markdown(by_name["correctness_counts_liveqa"]) == (
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


def test_counts_leave_out_failed_judge_calls(tmp_path):
    made = tables_of(tmp_path, labelled(["en"], [MORE, None, MORE, NONE]), published=False)
    counts = made["correctness_counts_liveqa"]
    assert [cell(counts, "en", label=label) for label in (MORE, NONE)] == [2, 1]
    names = ["judge failed", "judged"]
    assert cells(made["coverage_correctness"], names, language="en") == [0.25, 3]


def test_filtered_answers_stand_beside_table_a5(tmp_path):
    def runs(**refused):
        tasks = {c: task({"content_filter_rate": x, "acc_t0.0": 0.5}) for c, x in refused.items()}
        return named("verifiability", tasks)

    table = tables_of(tmp_path / "a", runs(en=0.002, hi=0.0))["filtered"]
    assert cells(table, ["en", "hi"], model="m") == pytest.approx([0.2, 0.0])
    assert [cell(table, "es", T=t, **GPT) for t in "01"] == [0.2, 0.5]
    assert "Table A5" in table.note
    assert "filtered" not in tables_of(tmp_path / "b", runs(en=0.0))


def test_spread_over_the_five_temperatures_stands_beside_table_a11(tmp_path):
    shares = {0.0: 0.5, 0.25: 0.6, 0.5: 0.7, 0.75: 0.6, 1.0: 0.6}
    runs = {
        "en": task({f"macro_f1_t{t}": v for t, v in shares.items()}),
        "hi": task({"macro_f1_t0.0": 0.5}),
    }
    table = tables_of(tmp_path, named("verifiability", runs))["verifiability_liveqa"]
    # Mean 0.6; squares of 0.1, 0, 0.1, 0, 0 over 5: sd 0.0632.
    where = {"T": "mean of 5", "model": "m", "language": "en"}
    assert cell(table, "macro F1: sd over T", **where) == pytest.approx(0.06325, abs=1e-5)
    assert cell(table, "macro F1: sd over T", model="m", T="0", language="hi") is None
    metrics = {"macro F1": "macro_f1_sd", "accuracy": "accuracy_sd", "AUC of hard labels": "auc_sd"}
    for name, metric in metrics.items():
        (printed,) = published(table="Table A11", dataset="liveqa", language="hi", metric=metric)
        theirs = cell(table, f"{name}: sd over T", T="mean of 5", language="hi", **GPT)
        assert theirs == printed.value


def test_published_labels_are_those_of_the_paper(liveqa):
    made = tables(report_of(liveqa))
    by_name, sections = {table.key: table for table in made}, [table.section for table in made]
    assert len(by_name) == len(made)
    assert {*sections} <= {*CRITERIA, "coverage", "summary", "statistics"}
    assert sections[0] == "coverage" and sections[-1] == "statistics"
    counts, shares = by_name["correctness_counts_liveqa"], by_name["correctness_liveqa"]
    assert cells(counts, CODES, label=CONTRA, **GPT) == [3, 1, 4, 13]
    # 226 of 246 in English, 142 in Hindi.
    names = ("more comprehensive", "more comprehensive: relative drop vs English, %",
             "contradictory: multiple of English")  # fmt: skip
    assert cells(shares, names, language="hi", **GPT) == pytest.approx(
        [142 / 246, 100 * 84 / 226, 13 / 3]
    )
    for table in (counts, shares):
        models = [row[table.columns.index("model")] for row in table.rows]
        assert {i for i, name in enumerate(models) if "(published)" in name} == table.published
        assert "arXiv:2310.13132, Table 1" in table.note


def test_a_label_that_the_paper_does_not_print_stays_undefined(tmp_path):
    runs = labelled(["en"], [MORE, CONTRA], "xlinghealth_correctness_medicationqa_")
    table = tables_of(tmp_path, runs)["correctness_medicationqa"]
    # The text's 30.58 points of 690 questions below 618 leave 407; the rest is not printed.
    names = ["more comprehensive", "contradictory: multiple of English"]
    assert cells(table, names, language="hi", **GPT) == pytest.approx([407 / 690, 51 / 5])
    assert cell(table, "neither", language="hi", **GPT) is None
    assert "not printed: correctness_more_comprehensive_count medicationqa hi = 407." in table.note


def test_published_decreases_and_means_come_out_of_the_published_counts():
    datasets = ("healthqa", "liveqa", "medicationqa")
    shares = {
        name: published_shares(published(source="xlingeval", dataset=name), "gpt-3.5-turbo", name)
        for name in datasets
    }
    pairs = gap_pairs(shares, dict.fromkeys(datasets, CODES))
    metric = "correctness_more_comprehensive_decrease_vs_en_points"
    figures = published(table="Section 3.1", metric=metric)
    printed = {(f.dataset, f.language): f.value for f in figures}
    assert len(printed) == 9 and printed["healthqa", "hi"] == 38.62
    assert {pair: points for pair, (points, _) in pairs.items()} == pytest.approx(
        printed, abs=0.0051
    )


def test_both_means_of_a_run_beside_the_published_ones_over_the_same_pairs(tmp_path):
    """LiveQA: 3, 1, 2 of 4 more comprehensive and 1, 2, 0 contradictory in English, es and hi."""
    labels = {
        "en": [MORE] * 3 + [CONTRA],
        "es": [MORE, LESS, CONTRA, CONTRA],
        "hi": [MORE, MORE, LESS, LESS],
    }
    own = {code: correctness(each) for code, each in labels.items()}
    runs = named("correctness", own) | named("xlinghealth_correctness_demo_", own)
    table = tables_of(tmp_path, runs)["correctness_means"]
    names = table.columns[4:6]
    ours = cells(table, [*names, "comparisons"], model="m", datasets="liveqa")
    assert ours == pytest.approx([(50 + 25) / 2, (2 + 0) / 2, 2])
    assert cell(table, "datasets", **GPT) == "liveqa"
    # Of 246: 226 in English, 213 in Spanish, 142 in Hindi; contradictory 3, 1 and 13.
    assert cells(table, names, **GPT) == pytest.approx(
        [100 * ((13 + 84) / 2) / 246, (1 / 3 + 13 / 3) / 2]
    )
    assert cell(table, names[0], model="m", datasets="demo") == pytest.approx((50 + 25) / 2)


def test_the_nine_pairs_of_a_whole_run_stand_beside_the_headline_means(tmp_path):
    runs = {}
    for name in ("healthqa", "liveqa", "medicationqa"):
        runs |= labelled(CODES, [MORE, CONTRA], f"xlinghealth_correctness_{name}_")
    table = tables_of(tmp_path, runs)["correctness_means"]
    theirs = cells(table, table.columns[4:6], comparisons=9, **GPT)
    assert theirs == pytest.approx([18.12, 5.82], abs=0.005)
    assert cell(table, table.columns[4], model="m") == 0.0


# Consistency and verifiability


def sampled(values, tau=(1.0,)):
    scores = {f"sim_1gram_t{t}": value for t, value in zip(tau, values)}
    return task(scores, better=dict.fromkeys(scores, True))


def test_one_temperature_leaves_published_means_apart(tmp_path):
    runs = named("consistency", {"en": sampled([0.5]), "hi": sampled([0.4])})
    by_name = tables_of(tmp_path, runs)
    own, metric = by_name["consistency_liveqa"], {"metric": "sim_1gram"}
    assert not own.published
    drop_ = cell(own, "hi: relative drop vs English, %", T="1", **metric)
    assert drop_ == pytest.approx(20.0)
    apart = by_name["consistency_liveqa_published"]
    assert apart.published == frozenset(range(len(apart.rows)))
    assert cell(apart, "hi", **GPT, **metric) == 0.3329
    (printed, *_) = published(table="Table A10", metric="sim_1gram", language="en")
    assert cell(apart, "en", model="MedAlpaca-30b (published)", **metric) == printed.value


def test_five_temperatures_give_a_mean_beside_the_paper(tmp_path):
    taus, values = (0.0, 0.25, 0.5, 0.75, 1.0), [0.9, 0.8, 0.7, 0.6]
    runs = {"en": sampled([*values, 0.5], taus), "es": sampled([*values, None], taus)}
    by_name = tables_of(tmp_path, named("consistency", runs))
    assert "consistency_liveqa_published" not in by_name
    own, mean = by_name["consistency_liveqa"], {"metric": "sim_1gram", "T": "mean of 5"}
    assert cells(own, ["en", "es"], model="m", **mean) == [pytest.approx(0.7), None]
    assert cell(own, "es", **GPT, **mean) == 0.46
    assert cell(own, "es", metric="sim_1gram", T="1", model="m") is None


def test_verifiability_and_table_a11(tmp_path):
    scores = {"macro_f1_t1.0": 0.6, "auc_hard_t1.0": 0.7, "unparsed_rate_t1.0": 0.1}
    folder = write(tmp_path, named("verifiability", {"en": task(scores)}))
    by_name = by_key(report_of(folder))
    assert cell(by_name["verifiability_liveqa"], "unknown verdict", language="en") == 0.1
    apart = by_name["verifiability_liveqa_published"]
    theirs = cells(apart, ["macro F1", "AUC of hard labels"], language="en", **GPT)
    assert theirs == [0.7140, 0.6701]
    assert "verifiability_liveqa_published" not in by_key(report_of(folder), published=False)


# MMedBench


def mcqa(**by_language):
    return {f"mmedbench_mcqa_{code}": task({"acc": value}) for code, value in by_language.items()}


def test_the_average_needs_every_language(tmp_path):
    six = {"en": 0.6, "zh": 0.5, "ja": 0.4, "fr": 0.3, "ru": 0.2, "es": 0.1}
    runs = {"whole": six, "undefined": {**six, "ja": None}, "less": {**six}}
    del runs["less"]["fr"]
    folders = [write(tmp_path / name, mcqa(**own), model=name) for name, own in runs.items()]
    table = by_key(report_of(*folders))["mmedbench_mcqa_mmedbench"]
    whole = cells(table, ["Avg.", "zh", "setting"], model="whole")
    assert whole == [pytest.approx(35.0), 50.0, "zero-shot"]
    assert [cell(table, "Avg.", model=name) for name in ("undefined", "less")] == [None, None]
    assert "undefined: ja (acc); less: fr (acc)" in table.note


def test_published_accuracies_equal_the_file(tmp_path):
    table = tables_of(tmp_path, mcqa(en=0.5))["mmedbench_mcqa_mmedbench"]
    with FILE.open(encoding="utf-8", newline="") as handle:
        rows = [
            r for r in csv.DictReader(handle)
            if r["source"] == "mmedbench" and r["table"] in ("Table 1", "Table 6")
        ]  # fmt: skip
    assert len(table.published) == len({(r["model"], r["setting"]) for r in rows})
    for row in rows:
        name = " ".join(row["model"].replace("\xa0", " ").split()) + " (published)"
        column = "Avg." if row["language"] == "avg" else row["language"]
        assert cell(table, column, model=name, setting=row["setting"]) == float(row["value"])


def test_every_published_metric_of_rationales_stands_beside_ours(tmp_path):
    ours = [f"bleu{n}" for n in ("", *"1234")] + ["rouge1", "rouge2", "rougeL", "bertscore_f1"]
    runs = {"mmedbench_rationale_ft_ru": task(dict.fromkeys(ours, 0.25)),
            "mmedbench_rationale_en": task({"bleu1": 0.19, "sacrebleu": 3.5}, shots=2)}  # fmt: skip
    folder, key = write(tmp_path, runs), "mmedbench_rationale_ft_mmedbench"
    by_name = by_key(report_of(folder))
    table = by_name[key]
    printed = [
        figure
        for name in ("Table 2", *(f"Table {n}" for n in range(7, 14)))
        for figure in published(source="mmedbench", table=name)
        if figure.setting != "zero-shot"
    ]
    assert len(printed) > 1000
    for f in printed:
        where = {"metric": f.metric.removesuffix("_percent"), "setting": f.setting}
        column = "Avg." if f.language == "avg" else f.language
        assert cell(table, column, model=f"{f.model} (published)", **where) == f.value
    assert {row[0] for i, row in enumerate(table.rows) if i in table.published} == set(ours)
    assert "Table 13" in table.note and "Two printed averages" in table.note
    assert not by_key(report_of(folder), published=False)[key].published
    table = by_name["mmedbench_rationale_mmedbench"]  # in the paper's unit
    own = cells(table, ["en", "setting"], metric="bleu1", model="m")
    assert own == [pytest.approx(19.0), "2-shot"]
    assert cell(table, "en", metric="sacrebleu", model="m") == 3.5
    assert cell(table, "en", metric="bleu1", **GPT) == 36.21


# Translate, then evaluate


def test_groups_beside_table_4_only_for_the_same_prompts(tmp_path):
    scores = {"information_f1": 0.5, "information_f1_script_latin": 0.6, "information_f1_es": 0.6,
              "information_f1_hi": 0.4, "information_f1_train_in": 0.6, "information_f1_train_out": 0.4,
              "information_f1_branch_romance": 0.6, "empty_rate_en": 0.0, "n_claims_en": 3.0}  # fmt: skip
    data = {
        "languages": ["en", "es", "hi"],
        "unusable_questions": {"hi": ["q1"]},
        "excluded_rate": {"q2": "country"},
        "invalid_reasons": {"text missing": 1},
    }
    made = task(scores, data=data)
    by_name = tables_of(tmp_path / "a", {"xling_information": made})
    groups = by_name["information_xling_groups"]
    names = ("all", "languages", "script: indic", "trained languages", "branch: romance")
    assert cells(groups, names, model="m") == [0.5, 2, None, 0.6, 0.6]
    assert cell(groups, "family: dravidian", model="gpt-4o (published)") == 0.60
    printed = next(published(table="Table 4", model="Llama-3.1-8B", language="train:out",
                             metric="information_consistency"))  # fmt: skip
    theirs = cells(groups, ["other languages", "branch: romance"], model="Llama-3.1-8B (published)")
    assert theirs == [printed.value, None]
    other = tables_of(tmp_path / "b", {"xlinghealth_information_liveqa": made})
    assert not other["information_liveqa_groups"].published
    coverage = by_name["coverage_information"]
    assert cells(coverage, ["reasons", "run"], language="hi") == ["text missing: 1", None]
    assert "questions (right answers differ by country); claims" in coverage.note


def test_language_consistency_as_published_stands_beside_table_a4(tmp_path):
    key = "language_consistency_published"
    names = [
        f"language_consistency{kind}_t{tau}"
        for kind in ("", "_published")
        for tau in ("0.0", "1.0", "0.5")
    ]
    runs = {code: task(dict.fromkeys(names, 0.9)) for code in ("en", "hi")}
    table = tables_of(tmp_path, named("consistency", runs))["consistency_liveqa"]
    theirs = {"model": "MedAlpaca-30b (published)", "metric": key}
    found = [cell(table, "hi", T=t, **theirs) for t in "01"]
    assert found == pytest.approx([0.8152, 0.5535])
    shown = {tuple(row[:2]) for i, row in enumerate(table.rows) if i in table.published}
    assert shown == {(key, "0"), (key, "1")}
    assert "Table A4" in table.note and "does not say over which dataset" in table.note


def test_empathy_with_presence_beside_agreement(tmp_path):
    scores = {"empathy": 0.75, "empathy_es": 0.75, "both_absent_es": 0.5, "profile_en": 4, "profile_es": 4,
              "emotional_reactions_present_en": 0.25, "emotional_reactions_present_es": 0.0,
              "emotional_reactions_agreement_es": 0.75, "unscored_es": 0.0}  # fmt: skip
    data = {"languages": ["en", "es"], "unusable_questions": {}}
    by_name = tables_of(tmp_path, {"xling_empathy": task(scores, data=data)})
    own = by_name["empathy_xling_languages"]
    assert cell(own, "all absent in both", language="es") == 0.5
    names = ["emotional reactions: present", "emotional reactions: agreement"]
    assert cells(own, names, language="en") == [0.25, None]
    assert cell(by_name["coverage_empathy"], "with a profile", language="es") == 4
    assert cell(by_name["empathy_xling_groups"], "all", model="gpt-4o (published)") == 0.82


# Tests


SIMILAR = {"en": [0.5, 0.6, 0.7, 0.6], "hi": [0.2, 0.3, 0.1, 0.2], "zh": [0.4, 0.3, 0.4, 0.5]}
HI_ZH = {"first": "hi", "second": "zh"}


def similar(tmp_path, tau):
    tasks = {code: per_question(f"sim_1gram_t{tau}", own) for code, own in SIMILAR.items()}
    return tables_of(tmp_path, named("consistency", tasks))


def test_signs_of_differences(tmp_path):
    by_name = similar(tmp_path, 1.0)
    paired = cells(by_name["against_english_consistency"],
                   ["difference", "relative, %", "losses", "questions"], language="hi")  # fmt: skip
    assert paired == [pytest.approx(-0.4), pytest.approx(-200 / 3), 1.0, "same"]
    tukey = by_name["tukey_consistency_liveqa"]
    assert cell(tukey, "difference", model="m", **HI_ZH) == pytest.approx(0.2)
    # Table 3 prints -0.0438 for zh-hi: the mean of hi is the lower one. Its interval -0.0511 to
    # -0.0364 turns with it; 'p < 0.001' stays a bound.
    theirs = cells(tukey, ["difference", "low", "high", "p (Tukey)"], **HI_ZH, **GPT)
    assert theirs == [0.0438, 0.0364, 0.0511, "< 0.001"]
    assert cell(tukey, "difference", first="en", second="hi", **GPT) == -0.0887
    anova = by_name["anova_consistency_liveqa"]
    (printed, *_) = published(table="Table A13", temperature="1.0", metric="anova_F_sim_1gram")
    assert cell(anova, "F", **GPT) == printed.value
    assert cell(anova, "df within", model="m") == 9


def test_published_t_tests_have_the_sign_of_the_difference(tmp_path):
    by_name = similar(tmp_path, 0.0)
    tukey, anova = by_name["tukey_consistency_liveqa"], by_name["anova_consistency_liveqa"]
    # Table A12 prints t = 11.00, p = 4.29e-25 for zh-hi, where Table 2 has -0.1512 = hi - zh.
    theirs = cells(tukey, ["difference", "t", "p (t test)"], **HI_ZH, **GPT)
    assert theirs == [0.1512, 11.0, 4.29e-25]
    assert cell(tukey, "t", model="m", **HI_ZH) > 0
    assert cells(anova, ["F", "p"], **GPT) == [190.94, 8.29e-96]


def test_mmedbench_is_unpaired(tmp_path):
    tasks = {
        f"mmedbench_mcqa_{c}": task(
            {"acc": fmean(v)}, {f"{c}{i}": {"acc": x} for i, x in enumerate(v)}, better={"acc": True}
        )
        for c, v in (("en", [1.0, 1.0, 1.0, 0.0]), ("zh", [0.0, 0.0, 1.0, 0.0]))
    }  # fmt: skip
    table = tables_of(tmp_path, tasks)["against_english_mmedbench_mcqa"]
    found = cells(table, ["questions", "difference"], language="zh")
    assert found == ["different questions", -0.5] and "nothing is paired" in table.note


# What differs


def told(folder, *runs, versions=("0.4.13", "0.4.13")):
    """What differs between the runs of models a and b."""
    folders = [
        write(folder / name, tasks, model=name, version=version)
        for name, tasks, version in zip("ab", runs, versions, strict=False)
    ]
    return differences(report_of(*folders))


def test_answers_that_may_be_cut_off_are_told_by_language(tmp_path):
    cut = {"en": [0, 4], "es": [3, 4]}
    tasks = {c: correctness([MORE, LESS], cut={c: own}) for c, own in cut.items()}
    said = "\n".join(told(tmp_path, named("correctness", tasks)))
    assert "a, answers as long as max_gen_toks allows, perhaps cut off: Spanish 3 of 4" in said
    assert "English 0" not in said


def test_a_run_that_only_generated_says_so_and_blames_no_setting(tmp_path):
    said = "\n".join(
        told(tmp_path, named("correctness", {c: task({"bypass": 999}) for c in CODES}))
    )
    assert "a only generated answers (--predict_only) in en, es, zh, hi; `lm_eval --model" in said
    assert "without a judge" not in said


def test_differences_name_model_task_and_setting(tmp_path):
    judge = {"judge": {**JUDGE, "model_args": {"model": "judge-2"}}}
    other = {"original": 5, "settings": judge, "data": {"sha256": "xyz"}, "ids": ["q0", "q7"]}
    runs = labelled(CODES, [MORE, LESS]), labelled(CODES[:2], [MORE, LESS], **other)
    assert told(tmp_path / "same", runs[0], runs[0]) == []
    start = "Correctness, LiveQA: "
    said = told(tmp_path, *runs, versions=("0.4.13", "0.4.14"))
    assert [line.removeprefix(start) for line in said] == [
        "b ran only a part of the questions (--limit or --samples): en 2 of 5, es 2 of 5",
        "b has no results in zh, hi",
        "a and b answered different questions (en: 2, 2, 1 in all of them; es: 2, 2, 1 in all of them)",
        'a and b differ in en, es: judge.model (dummy {"model": "judge-1"} / dummy {"model": "judge-2"})',
        "a and b differ in en, es: data.sha256 (abc / xyz)",
        "a and b differ in en, es: lm_eval's version (0.4.13 / 0.4.14)",
    ]
    assert all(line.startswith(start) for line in said)


def test_differences_of_signatures_and_languages(tmp_path):
    def signed(judge):
        return {"signatures": {MORE: f"{MORE}|judge:{judge}|chat_template:yes"}}

    first = labelled(CODES, [MORE, LESS], **signed("x"))
    text = " ".join(told(tmp_path, first, first | labelled(["hi"], [MORE], **signed("y"))))
    for said in (
        "how more_comprehensive was made (judge:x|chat_template:yes / judge:y|chat_template:yes)",
        "b: the languages are over different questions (en 2, es 2, zh 2, hi 1, 1 in all of them)",
    ):
        assert said in text


def test_runs_without_samples_say_so(tmp_path):
    report = report_of(write(tmp_path, named("consistency", {"en": sampled([0.5])})))
    by_name = by_key(report)
    assert "m logged no samples in en" in " ".join(differences(report))
    assert cell(by_name["coverage_consistency"], "samples", language="en") == "none"
    assert "en low" not in by_name["consistency_liveqa"].columns


def test_unusable_rows_are_in_the_coverage(tmp_path):
    data = {"questions": 246, "invalid_rows": 10, "unusable_questions": ["58", "67"],
            "invalid_reasons": {"text missing": 10}}  # fmt: skip
    runs = labelled(["en"], [MORE, LESS], original=244, data=data)
    first = tables(report_of(write(tmp_path, runs)))[0]
    assert first.key == "coverage_correctness" and "--limit" in first.note
    names = ("in data", "usable", "run", "unusable rows", "unusable questions", "reasons")
    assert cells(first, names, language="en") == [246, 244, 2, 10, 2, "text missing: 10"]


# As text


def test_csv_and_markdown_escape():
    rows = (("x|y\nz", 1.5), ('say "hi", =1+1', None), ("=2+3", 2), ("[a](http://b) *c* a_b", "<0.001"))  # fmt: skip
    table = Table("k", "coverage", "T", ("a|b", "n"), rows, published=frozenset({2}))
    shown = [table.shown(x) for x in (-0.0004, 0.0004, -0.0006, 0.0)]
    assert shown == ["0.000", "<0.001", "-0.001", "0.000"]  # nothing is minus zero
    assert as_markdown(table).split("\n")[2:] == [
        "| a\\|b | n |",
        "| --- | ---: |",
        "| x\\|y z | 1.500 |",
        '| say "hi", =1+1 | – |',
        "| =2+3 | 2 |",
        r"| [a\](http://b) \*c\* a_b | <0.001 |",
        "",
    ]
    text = as_csv(table)
    assert text.splitlines()[0] == "a|b,n,published"
    assert list(csv.reader(io.StringIO(text)))[1:] == [
        ["x|y\nz", "1.5", "no"],
        ['say "hi", =1+1', "", "no"],
        ["'=2+3", "2", "yes"],
        ["[a](http://b) *c* a_b", "<0.001", "no"],
    ]
