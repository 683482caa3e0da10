"""Tables of a report: literals worked by hand, on outputs written in the harness's shape."""

from __future__ import annotations

import csv
import io
from statistics import fmean

import pytest
from builders import task_of, write_run
from sklearn.metrics import roc_auc_score

from xling_tasks.languages import language_name
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.paper_tables import gap_pairs, make_tables
from xling_tasks.report.paper_tests import anova_rows, pair_rows
from xling_tasks.report.published import FILE, published, published_scores
from xling_tasks.report.table import Estimate, Table, as_csv, format_cell
from xling_tasks.report.verdicts import Options

pytestmark = pytest.mark.core

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory", "no_response")
MORE, LESS, NEITHER, CONTRA, NONE = LABELS
JUDGE = {"model": "dummy", "model_args": {"model": "judge-1"}, "batch_size": None}
CODES = ("en", "es", "zh", "hi")
GPT = {"Model": "GPT-3.5 (published)"}
OURS = {"Model": "m"}
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
    """The three lists of the models in some folders."""
    return make_record(read_models(folders), Options()).rows()


def by_key(report, **options):
    return {table.key: table for table in make_tables(report, **options)}


def tables_of(folder, tasks, **options):
    return by_key(report_of(write(folder, tasks)), **options)


def remarks_of(report, kind):
    return [row for row in report["remarks"] if row["kind"] == kind]


def cells(table, columns, **where):
    """The values of columns in the only row that has these values."""
    rows = table if isinstance(table, list) else table.rows
    rows = [row for row in rows if all(row.get(k) == v for k, v in where.items())]
    assert len(rows) == 1, (where, rows)
    values = [rows[0].get(name) for name in columns]
    return [value.value if isinstance(value, Estimate) else value for value in values]


def cell(table, column, **where):
    return cells(table, [column], **where)[0]


@pytest.fixture
def liveqa(tmp_path):
    """Correctness over LiveQA: en 3 more, 1 contradictory; es 1 more, 1 less, 2 contradictory."""
    labels = {"en": [MORE, MORE, MORE, CONTRA], "es": [MORE, LESS, CONTRA, CONTRA]}
    tasks = named("correctness", {code: correctness(own) for code, own in labels.items()})
    return write(tmp_path / "a", tasks)


# Which runs are read


def likelihoods(right, n=40, shift=0.0):
    """Verifiability by log-likelihood: of five answers each, P(Yes) tells the right one or not."""
    values = [
        [[int(k == 0), (0.9 if (k == 0) == (i < right) else 0.1) - k * 0.01] for k in range(5)]
        for i in range(n)
    ]
    score = roc_auc_score(*zip(*(row for own in values for row in own)))
    return per_question("auc", values, score + shift)


def test_auc_finds_a_language_worse(tmp_path):
    tasks = {"en": likelihoods(40), "hi": likelihoods(5), "es": likelihoods(40)}
    report = report_of(write(tmp_path, named("verifiability_ll", tasks)))
    found = {row["language"]: row for row in report["verdicts"]}
    assert found["hi"]["estimate"] < 0 and found["hi"]["p"] < 1e-6
    assert {c: row["verdict"] for c, row in found.items()} == {"hi": "worse", "es": "inconclusive"}


def test_questions_without_a_score_in_both_are_left_out_of_a_difference(tmp_path):
    values = {"en": [None, *[1.0] * 9], "hi": [*[0.0] * 8, None, None]}
    tasks = {code: per_question(MORE, own) for code, own in values.items()}
    report = report_of(write(tmp_path, named("correctness", tasks)))
    (row,) = (row for row in report["verdicts"] if row["metric"] == MORE)
    assert (row["n"], row["n_excluded"], row["estimate"]) == (7, 3, -1)


def test_scores_in_each_languages_own_words_are_never_compared_across_languages(tmp_path):
    """One model is translated and scored by an encoder, the other in its own words at T=0.7."""
    values = {"en": [0.5, 0.6, 0.7, 0.8], "es": [0.1, 0.2, 0.2, 0.3]}
    folders = []
    for model, metric in (("a", "sim_sent_t1.0"), ("b", "sim_1gram_src_t0.7")):
        tasks = {code: per_question(metric, own) for code, own in values.items()}
        folders.append(write(tmp_path / model, named("consistency", tasks), model=model))
    report = report_of(*folders)
    kinds = ("difference", "anova")
    assert {x["metric"] for kind in kinds for x in remarks_of(report, kind)} == {"sim_sent"}
    (verdict,) = report["verdicts"]
    assert (verdict["model"], verdict["metric"], verdict["temperature"]) == ("a", "sim_sent", 1.0)
    assert verdict["estimate"] == pytest.approx(-0.45)
    own = {"Metric": "sim_1gram_src", "T": "0.7", "Model": "b"}
    names = ["Spanish", "es: relative drop vs English, %"]
    assert cells(by_key(report)["consistency"], names, **own) == [pytest.approx(0.2), None]


# Correctness


def test_correctness_by_hand(liveqa):
    table = by_key(report_of(liveqa), published=False)["correctness"]
    es = {**OURS, "code": "es"}
    names = ("Says more", "Says more: decrease vs English, percentage points",
             "Says more: relative drop vs English, %", "Harmful: multiple of English",
             "Harmful: count", "n")  # fmt: skip
    assert cells(table, names, **es) == pytest.approx([0.25, 50.0, 200 / 3, 2.0, 2, 4])
    assert cell(table, "Harmful: multiple of English", **OURS, code="en") is None
    (row,) = (row for row in table.rows if row["code"] == "es")
    assert 0 <= row["Harmful"].low <= 0.5 <= row["Harmful"].high <= 1 and not table.published
    assert format_cell(row["Harmful"]).startswith("50.0% (")
    assert "code" not in dict(table.shown) and "Harmful: count" not in dict(table.shown)
    (missing,) = remarks_of(report_of(liveqa), "missing_languages")
    assert missing["languages"] == ["zh", "hi"]


def test_filtered_answers_stand_beside_table_a5(tmp_path):
    def runs(**refused):
        tasks = {c: task({"content_filter_rate": x, "acc_t0.0": 0.5}) for c, x in refused.items()}
        return named("verifiability", tasks)

    table = tables_of(tmp_path / "a", runs(en=0.002, hi=0.0))["filtered"]
    assert cells(table, ["English", "Hindi"], **OURS) == pytest.approx([0.002, 0.0])
    assert [cell(table, "Spanish", T=t, **GPT) for t in "01"] == pytest.approx([0.002, 0.005])
    assert "filtered" not in tables_of(tmp_path / "b", runs(en=0.0))


def test_spread_over_the_five_temperatures_stands_beside_table_a11(tmp_path):
    shares = {0.0: 0.5, 0.25: 0.6, 0.5: 0.7, 0.75: 0.6, 1.0: 0.6}
    runs = {
        "en": task({f"macro_f1_t{t}": v for t, v in shares.items()}),
        "hi": task({"macro_f1_t0.0": 0.5}),
    }
    table = tables_of(tmp_path, named("verifiability", runs))["verifiability"]
    # Mean 0.6; squares of 0.1, 0, 0.1, 0, 0 over 5: sd 0.0632.
    where = {"T": "mean of 5", **OURS, "code": "en"}
    assert cell(table, "Macro F1: sd over T", **where) == pytest.approx(0.06325, abs=1e-5)
    assert cell(table, "Macro F1: sd over T", **OURS, T="0", code="hi") is None
    for name, metric in {"Macro F1": "macro_f1", "Accuracy": "accuracy"}.items():
        for end, ours in (("", name), ("_sd", f"{name}: sd over T")):
            (printed,) = published(
                table="Table A11", dataset="liveqa", language="hi", metric=f"{metric}{end}",
                model="gpt-3.5-turbo",
            )  # fmt: skip
            assert cell(table, ours, T="mean of 5", code="hi", **GPT) == printed.value


def test_published_labels_are_those_of_the_paper(liveqa):
    table = by_key(report_of(liveqa))["correctness"]
    assert [cell(table, "Harmful: count", code=c, **GPT) for c in CODES] == [3, 1, 4, 13]
    # 226 of 246 in English, 142 in Hindi.
    names = ("Says more", "Says more: relative drop vs English, %", "Harmful: multiple of English")
    assert cells(table, names, code="hi", **GPT) == pytest.approx(
        [142 / 246, 100 * 84 / 226, 13 / 3]
    )
    marked = {i for i, row in enumerate(table.rows) if "(published)" in row["Model"]}
    assert marked == table.published and "arXiv:2310.13132, Table 1" in table.note


def test_published_decreases_and_means_come_out_of_the_published_counts():
    datasets = ("healthqa", "liveqa", "medicationqa")
    rows = [row for name in datasets for row in published_scores("correctness", name)]
    pairs = gap_pairs([row for row in rows if row["model"] == GPT["Model"]])
    metric = "correctness_more_comprehensive_decrease_vs_en_points"
    figures = published(table="Section 3.1", metric=metric)
    printed = {(f.dataset, f.language): f.value for f in figures}
    assert len(printed) == 9 and printed["healthqa", "hi"] == 38.62
    assert {pair: points for pair, (points, _) in pairs.items()} == pytest.approx(
        printed, abs=0.0051
    )


MEANS = ("Says more: mean decrease, percentage points", "Harmful: mean multiple of English")


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
    ours = cells(table, [*MEANS, "Comparisons"], **OURS, Datasets="liveqa")
    assert ours == pytest.approx([(50 + 25) / 2, (2 + 0) / 2, 2])
    assert cell(table, "Datasets", **GPT) == "liveqa"
    # Of 246: 226 in English, 213 in Spanish, 142 in Hindi; contradictory 3, 1 and 13.
    assert cells(table, MEANS, **GPT) == pytest.approx(
        [100 * ((13 + 84) / 2) / 246, (1 / 3 + 13 / 3) / 2]
    )
    assert cell(table, MEANS[0], **OURS, Datasets="demo") == pytest.approx((50 + 25) / 2)


def test_the_nine_pairs_of_a_whole_run_stand_beside_the_headline_means(tmp_path):
    runs = {}
    for name in ("healthqa", "liveqa", "medicationqa"):
        runs |= labelled(CODES, [MORE, CONTRA], f"xlinghealth_correctness_{name}_")
    table = tables_of(tmp_path, runs)["correctness_means"]
    assert cells(table, MEANS, Comparisons=9, **GPT) == pytest.approx([18.12, 5.82], abs=0.005)
    assert cell(table, MEANS[0], **OURS) == 0.0


# Consistency and verifiability


# MMedBench


def mcqa(**by_language):
    return {f"mmedbench_mcqa_{code}": task({"acc": value}) for code, value in by_language.items()}


def test_the_average_needs_every_language(tmp_path):
    six = {"en": 0.6, "zh": 0.5, "ja": 0.4, "fr": 0.3, "ru": 0.2, "es": 0.1}
    runs = {"whole": six, "undefined": {**six, "ja": None}, "less": {**six}}
    del runs["less"]["fr"]
    folders = [write(tmp_path / name, mcqa(**own), model=name) for name, own in runs.items()]
    table = by_key(report_of(*folders))["mmedbench_mcqa"]
    assert cells(table, ["Avg.", "Chinese"], Model="whole") == [pytest.approx(0.35), 0.5]
    assert [cell(table, "Avg.", Model=name) for name in ("undefined", "less")] == [None, None]


def test_published_accuracies_equal_the_file(tmp_path):
    table = tables_of(tmp_path, mcqa(en=0.5))["mmedbench_mcqa"]
    with FILE.open(encoding="utf-8", newline="") as handle:
        rows = [
            r for r in csv.DictReader(handle)
            if r["source"] == "mmedbench" and r["table"] in ("Table 1", "Table 6")
        ]  # fmt: skip
    assert len(table.published) == len({(r["model"], r["setting"]) for r in rows})
    for row in rows:
        name = " ".join(row["model"].replace("\xa0", " ").split()) + " (published)"
        column = "Avg." if row["language"] == "avg" else language_name(row["language"])
        found = cell(table, column, Model=f"{name}, {row['setting']}")
        assert 100 * found == pytest.approx(float(row["value"]))


def test_every_published_metric_of_rationales_stands_beside_ours(tmp_path):
    ours = [f"bleu{n}" for n in ("", *"1234")] + ["rouge1", "rouge2", "rougeL", "bertscore_f1"]
    runs = {"mmedbench_rationale_ft_ru": task(dict.fromkeys(ours, 0.25)),
            "mmedbench_rationale_en": task({"bleu1": 0.19, "sacrebleu": 3.5}, shots=2)}  # fmt: skip
    folder = write(tmp_path, runs)
    by_name = by_key(report_of(folder))
    table = by_name["mmedbench_rationale_ft"]
    printed = [
        figure
        for name in ("Table 2", *(f"Table {n}" for n in range(7, 14)))
        for figure in published(source="mmedbench", table=name)
        if figure.setting != "zero-shot"
    ]
    assert len(printed) > 1000
    for f in printed:
        where = {"Metric": f.metric.removesuffix("_percent")}
        column = "Avg." if f.language == "avg" else language_name(f.language)
        found = cell(table, column, Model=f"{f.model} (published), {f.setting}", **where)
        assert 100 * found == pytest.approx(f.value)
    assert {r["Metric"] for i, r in enumerate(table.rows) if i in table.published} == set(ours)
    assert not by_key(report_of(folder), published=False)["mmedbench_rationale_ft"].published
    table = by_name["mmedbench_rationale"]
    assert cell(table, "English", Metric="sacrebleu", **OURS) == 3.5
    theirs = {"Model": "GPT-3.5 (published), zero-shot", "Metric": "bleu1"}
    assert cell(table, "English", **theirs) == pytest.approx(0.3621)


# Translate, then evaluate


def test_groups_beside_table_4_only_for_the_same_prompts(tmp_path):
    scores = {"information_f1": 0.5, "information_f1_script_latin": 0.6, "information_f1_es": 0.6,
              "information_f1_hi": 0.4, "information_f1_train_in": 0.6,
              "information_f1_branch_romance": 0.6, "n_claims_en": 3.0}  # fmt: skip
    data = {"languages": ["en", "es", "hi"], "unusable_questions": {"hi": ["q1"]},
            "invalid_reasons": {"text missing": 1}}  # fmt: skip
    made = task(scores, data=data)
    by_name = tables_of(tmp_path / "a", {"xling_information": made})
    groups = by_name["information_groups"]
    names = ("All", "Languages", "script: indic", "train: in", "branch: romance")
    assert cells(groups, names, **OURS) == [0.5, 2, None, 0.6, 0.6]
    assert cell(groups, "family: dravidian", Model="gpt-4o (published)") == 0.60
    other = tables_of(tmp_path / "b", {"xlinghealth_information_liveqa": made})
    assert not other["information_groups"].published
    assert cells(by_name["coverage"], ["Reasons"], Language="Hindi") == ["text missing: 1"]


def test_language_consistency_as_published_stands_beside_table_a4(tmp_path):
    key = "language_consistency_published"
    names = [
        f"language_consistency{kind}_t{tau}"
        for kind in ("", "_published")
        for tau in ("0.0", "1.0", "0.5")
    ]
    runs = {code: task(dict.fromkeys(names, 0.9)) for code in ("en", "hi")}
    table = tables_of(tmp_path, named("consistency", runs))["consistency"]
    theirs = {"Model": "MedAlpaca-30b (published)", "Metric": key}
    found = [cell(table, "Hindi", T=t, **theirs) for t in "01"]
    assert found == pytest.approx([0.8152, 0.5535]) and "Table A4" in table.note


# Tests


SIMILAR = {"en": [0.5, 0.6, 0.7, 0.6], "hi": [0.2, 0.3, 0.1, 0.2], "zh": [0.4, 0.3, 0.4, 0.5]}
HI_ZH = {"first": "hi", "second": "zh"}
THEIRS = {"model": "GPT-3.5 (published)"}


def similar(tmp_path, tau):
    tasks = {code: per_question(f"sim_1gram_t{tau}", own) for code, own in SIMILAR.items()}
    report = report_of(write(tmp_path, named("consistency", tasks)))
    return report["remarks"]


def test_signs_of_differences(tmp_path):
    remarks = similar(tmp_path, 1.0)
    pairs = pair_rows(remarks, with_published=True)
    assert cell(pairs, "difference", model="m", **HI_ZH) == pytest.approx(0.2)
    # Table 3 prints -0.0438 for zh-hi: the mean of hi is the lower one. Its interval -0.0511 to
    # -0.0364 turns with it; 'p < 0.001' stays a bound.
    names = ["difference", "tukey_low", "tukey_high", "tukey_p"]
    assert cells(pairs, names, **HI_ZH, **THEIRS) == [0.0438, 0.0364, 0.0511, "< 0.001"]
    assert cell(pairs, "difference", first="en", second="hi", **THEIRS) == -0.0887
    anova = anova_rows(remarks, with_published=True)
    (printed, *_) = published(table="Table A13", temperature="1.0", metric="anova_F_sim_1gram")
    assert cell(anova, "f", **THEIRS) == printed.value
    assert cell(anova, "df_within", model="m") == 9
    assert len(anova_rows(remarks, with_published=False)) == 1


# As text


def test_cells_and_csv():
    shown = [
        format_cell(x) for x in (0.0004, -0.5, 0.0, None, 1234, Estimate(0.5, 0.25, 0.75, True))
    ]
    assert shown == ["<0.001", "\u22120.500", "0.000", "–", "1,234", "50.0% (25.0 to 75.0)"]
    rows = [
        {"a|b": "x|y\nz", "n": 1.5},
        {"a|b": '=1+1, "hi"'},
        {"a|b": "=2+3", "n": 2, "gone": None},
    ]
    first = list(csv.reader(io.StringIO(as_csv([Table("k", "T", rows, {2}, dataset="d")]))))
    assert first == [
        ["dataset", "a|b", "n", "published"],
        ["d", "x|y\nz", "1.5", "no"],
        ["d", '\'=1+1, "hi"', "", "no"],
        ["d", "'=2+3", "2", "yes"],
    ]
    (head, row) = csv.reader(io.StringIO(as_csv([Table("k", "T", [{"x": Estimate(1, 0.5, 2)}])])))
    assert head == ["x", "x low", "x high"] and row == ["1", "0.5", "2"]
