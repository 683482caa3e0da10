"""People's labels correct the judge's shares and differences (`xling report --human`)."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import annotating
import numpy as np
import pytest
from builders import task_of, write_run
from xling_metrics.stats.ppi import PpiInput, correct_labels, ppi_contrast, ppi_mean

from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError
from xling_tasks.report.annotations import read_annotations
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.verdicts import Options

MORE, LESS, NEITHER, CONTRADICTORY = LABELS
C = "xlinghealth_correctness_liveqa_"
RECORD = {"settings": {}, "data": {"dataset": "LiveQA"}, "prompts": {}, "version": "0.1.0"}
UP = {**dict.fromkeys(LABELS), MORE: True, CONTRADICTORY: False, "no_response": False}
N = 400


def task(labels):
    """A task with the judge's label per question; None where it failed."""
    rows = [
        {
            "doc": {"question_id": f"q{i}", "question": f"{i}?", "reference": "R."},
            "resps": [["A."]], "filtered_resps": ["A."],
            **{name: None if own is None else float(own == name) for name in (*LABELS, "no_response")},
            "n_judged": {"label": own, "reply": "So.", "judge": "judge-1"},
        }
        for i, own in enumerate(labels)
    ]  # fmt: skip
    known = [own for own in labels if own is not None]
    scores = {name: np.mean([own == name for own in known]) for name in (*LABELS, "no_response")}
    return task_of(scores, rows, record=RECORD, better=UP)


def draw_labels(seed, wrong, n=N, p=0.2):
    """(Truth, the judge's labels): it calls some more comprehensive answers contradictory."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < p, CONTRADICTORY, MORE)
    judge = np.where((truth == MORE) & (rng.random(n) < wrong), CONTRADICTORY, truth)
    return truth.tolist(), judge.tolist()


TRUTH = {"en": draw_labels(1, 0)[0], "es": draw_labels(2, 0.25)[0]}
JUDGED = {"en": draw_labels(1, 0)[1], "es": draw_labels(2, 0.25)[1]}


def write(folder, en, es, **config):
    return write_run(folder, {f"{C}en": task(en), f"{C}es": task(es)}, config=config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose judge is wrong in none of the English and 25% of the Spanish answers."""
    return write(tmp_path_factory.mktemp("run") / "out", **JUDGED)


def true_label(item):
    return TRUTH[item["language"]][int(item["question_id"][1:])]


def judges_label(item):
    return item["judge_label"]


def annotate(tmp_path, out, *words, name="Anna", choose=true_label):
    """Export what an annotator chooses on a page of 100 answers."""
    path = tmp_path / f"{name}.html"
    annotating.xling("annotate", out, "--to", path, "--n", 100, *words)
    return annotating.export(path, name, choose)


def rows_of(export):
    return list(csv.DictReader(export.open(newline="")))


def input_of(export, code, judge):
    """The judge's and people's labels of a language, put together here from a page and samples."""
    given = {row["question_id"]: row["label"] for row in rows_of(export) if row["language"] == code}
    human = [
        None if own is None else float(own == CONTRADICTORY)
        for own in (given.get(f"q{i}") for i in range(N))
    ]
    return PpiInput([float(own == CONTRADICTORY) for own in judge], human, judge)


def corrected(out, *exports):
    """Verdicts by language and metric, shares by language and label, remarks by kind; Spanish harm."""
    models = read_models([out])
    people = read_annotations(exports, models) if exports else None
    record = make_record(models, Options(), people=people)
    found = {(v.language, v.metric): v for v in record.verdicts}
    told = {}
    for remark in record.remarks:
        told.setdefault(remark.kind, []).append(dict(remark.values))
    shares = {(row["language"], row["label"]): row for row in told.get("people_share", ())}
    harm = found["es", CONTRADICTORY]
    return SimpleNamespace(found=found, shares=shares, told=told, harm=harm)


def test_a_difference_that_is_the_judges_alone_goes(tmp_path, folder):
    own = corrected(folder).harm
    assert own.verdict == "worse" and own.tags == ("judge",)
    export = annotate(tmp_path, folder)
    made = corrected(folder, export)
    harm = made.harm
    true = {code: np.mean([label == CONTRADICTORY for label in TRUTH[code]]) for code in TRUTH}
    truth = true["es"] - true["en"]
    assert harm.verdict == "inconclusive" and harm.tags == ("people",)
    assert (harm.next, harm.n_needed) == ("labels", None)  # more questions alone decide nothing
    assert harm.ci_low < truth < harm.ci_high and harm.ci_low < 0 < harm.ci_high
    assert abs(harm.estimate - truth) < 0.08 < own.estimate - truth
    assert harm.ci_high - harm.ci_low > own.ci_high - own.ci_low and "judge_errs" not in made.told
    # The same, put together here from page and samples.
    inputs = [input_of(export, code, JUDGED[code]) for code in ("es", "en")]
    expected = ppi_contrast([*zip((1, -1), inputs, strict=True)], shares=True)
    told = (harm.estimate, harm.ci_low, harm.ci_high, harm.p)
    assert told == pytest.approx(
        (expected.value, expected.ci_low, expected.ci_high, expected.p), abs=1e-9
    )
    alone, share = ppi_mean(inputs[0], shares=True), made.shares["es", CONTRADICTORY]
    told = [share[name] for name in ("value", "ci_low", "ci_high", "judge", "labels", "n")]
    assert told == pytest.approx(
        [alone.value, alone.ci_low, alone.ci_high, np.mean(inputs[0].judge), 100, N]
    )
    assert len(made.shares) == 8


def test_too_few_labels_and_only_one_language_are_told(tmp_path, folder):
    def choose(item):
        lost = item["judge_label"] == CONTRADICTORY and item["language"] == "es"
        return None if lost else item["judge_label"]

    made = corrected(folder, annotate(tmp_path, folder, choose=choose))
    assert made.harm.tags == ("judge",)
    (few,), (one,) = made.told["people_too_few"], made.told["people_one_side"]
    assert few["labels"] == [CONTRADICTORY] and one["languages"] == ["es"]
    made = corrected(folder, annotate(tmp_path, folder, "--languages", "es", name="Ben"))
    assert made.harm.tags == ("judge",) and made.told["people_one_side"][0]["languages"] == ["en"]


def test_annotations_of_other_answers_are_refused(tmp_path, folder):
    export = annotate(tmp_path, folder)
    again = write(tmp_path / "again", JUDGED["en"], draw_labels(3, 0.25)[1])
    changed = tmp_path / "changed.csv"
    changed.write_text(export.read_text().replace(rows_of(export)[0]["answer"], "0" * 16))
    for out, file, said in (
        (again, export, r"_es, 'q\d+' is \w+ in the file and \w+ here"),
        (folder, changed, "has another answer here than people read"),
    ):
        with pytest.raises(DataError, match=said):
            corrected(out, file)
    # Two samples of one run are one larger sample.
    two = annotate(tmp_path, folder, "--seed", 4, name="Ben")
    assert corrected(folder, export, two).shares["es", CONTRADICTORY]["labels"] > 100


def test_compare_takes_peoples_labels_of_both_models(tmp_path, folder):
    """B's true labels are A's; B's judge is harsher in Spanish: a difference that is the judge's."""
    harsh = write(tmp_path / "b", JUDGED["en"], draw_labels(2, 0.5)[1])

    def compare(*exports):
        human = ["--human", *exports] if exports else []
        content = json.loads(annotating.xling("compare", folder, harsh, "--json", *human))
        verdicts = {(v["comparison"], v["language"], v["metric"]): v for v in content["verdicts"]}
        return verdicts, [row["kind"] for row in content["remarks"]]

    verdicts, kinds = compare()
    own = verdicts["models", "es", CONTRADICTORY]
    assert (own["verdict"], own["tags"]) == ("worse", ["judge"]) and "judge_errs" in kinds
    first, second = annotate(tmp_path, folder, name="A"), annotate(tmp_path, harsh, name="B")
    verdicts, kinds = compare(first, second)
    own = verdicts["models", "es", CONTRADICTORY]
    assert (own["verdict"], own["tags"]) == ("inconclusive", ["people"])
    assert own["ci_low"] < 0 < own["ci_high"] and "judge_errs" not in kinds
    # The change of the gap has four groups; here from the pages and the samples.
    parts = [
        correct_labels(input_of(export, code, draw_labels(seed, error)[1]), shares=True)
        for export, wrong in ((second, 0.5), (first, 0.25))
        for code, seed, error in (("es", 2, wrong), ("en", 1, 0))
    ]
    change = parts[0].values - parts[1].values - parts[2].values + parts[3].values
    se = (change.var() / N + sum(part.variance for part in parts)) ** 0.5
    gap = verdicts["gap", "es", CONTRADICTORY]
    assert gap["estimate"] == pytest.approx(change.mean())
    assert gap["ci_high"] - gap["ci_low"] == pytest.approx(2 * 1.959964 * se)
    # One model's labels alone correct nothing, which is told.
    verdicts, kinds = compare(second)
    assert verdicts["models", "es", CONTRADICTORY]["tags"] == ["judge"]
    assert "people_one_model" in kinds


def test_how_two_people_differ_is_in_the_interval(tmp_path, folder):
    """Ben is harsher in Spanish than Anna: neither is taken as true."""

    def harsher(item):
        odd = item["language"] == "es" and int(item["question_id"][1:]) % 5 == 0
        return CONTRADICTORY if odd else true_label(item)

    first = annotate(tmp_path, folder)
    alone = corrected(folder, first).harm
    both = corrected(folder, first, annotate(tmp_path, folder, name="Ben", choose=harsher)).harm
    assert "people_differ" in both.tags and "people_differ" not in alone.tags
    assert both.estimate > alone.estimate
    assert both.ci_high - both.ci_low > 2 * (alone.ci_high - alone.ci_low)
