"""`xling report --human`: people's labels correct the judge's shares and gaps."""

from __future__ import annotations

import csv
import json
import re
from types import SimpleNamespace

import annotating
import numpy as np
import pytest
from builders import task_of, write_run
from xling_metrics.stats.ppi import Judged, corrected, ppi_contrast, ppi_mean

from xling_tasks.cli import main, parse
from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models
from xling_tasks.report.human_pages import read_human
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.sentences import sentence

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


def labels_of(seed, wrong, n=N, p=0.2):
    """(Truth, the judge's labels): it calls some more comprehensive answers contradictory."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < p, CONTRADICTORY, MORE)
    judge = np.where((truth == MORE) & (rng.random(n) < wrong), CONTRADICTORY, truth)
    return truth.tolist(), judge.tolist()


def run_of(folder, en, es, **config):
    """A run with these labels of the judge."""
    return write_run(folder, {f"{C}en": task(en), f"{C}es": task(es)}, config=config)


TRUTH = {"en": labels_of(1, 0)[0], "es": labels_of(2, 0.25)[0]}
JUDGED = {"en": labels_of(1, 0)[1], "es": labels_of(2, 0.25)[1]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose judge is wrong in none of the English and 25% of the Spanish answers."""
    return run_of(tmp_path_factory.mktemp("run") / "out", **JUDGED)


def truth_of(item):
    return TRUTH[item["language"]][int(item["question_id"][1:])]


def judge_of(item):
    return item["judge_label"]


def annotated(tmp_path, out, *words, name="Anna", say=None):
    """The page's export, its labels chosen by `say` (item -> label), by the truth if not given."""
    path = tmp_path / f"{name}.html"
    annotating.xling("annotate", out, "--to", path, "--n", 100, *words)
    return annotating.export(path, name, say or truth_of)


def rows_of(export):
    return list(csv.DictReader(export.open(newline="")))


def side_of(export, code, judge):
    """The judge's and people's labels of a language, put together here from a page and samples."""
    said = {i["question_id"]: i["label"] for i in rows_of(export) if i["language"] == code}
    given = [said.get(f"q{i}") for i in range(N)]
    human = [None if own is None else float(own == CONTRADICTORY) for own in given]
    return Judged([float(own == CONTRADICTORY) for own in judge], human, judge)


def concluded(out, *exports):
    """What is concluded: `gap` and `share` are of harm in Spanish."""
    models = read_models([out])
    human = read_human(exports, models) if exports else None
    report = make_report(models, Options(n_resamples=1000), human)
    found = {(c.language, c.metric): c for c in report.conclusions}
    shares = {(c.language, c.label): c for c in report.corrected}
    notes = human.notes if human else None
    spanish = ("es", CONTRADICTORY)
    return SimpleNamespace(all=found, shares=shares, notes=notes, gap=found[spanish],
                           share=shares.get(spanish))  # fmt: skip


def test_a_gap_that_is_the_judges_own_goes(tmp_path, folder):
    own = concluded(folder).gap
    assert own.verdict == "worse" and own.judge_error_in_interval is False
    export = annotated(tmp_path, folder)
    made = concluded(folder, export)
    mended, share = made.gap, made.share
    true = {code: np.mean([own == CONTRADICTORY for own in TRUTH[code]]) for code in TRUTH}
    true_gap = true["es"] - true["en"]
    assert mended.verdict != "worse" and mended.judge_error_in_interval is True
    assert mended.low < true_gap < mended.high and mended.low < 0 < mended.high
    assert abs(mended.estimate - true_gap) < 0.08 < own.estimate - true_gap
    assert mended.high - mended.low > own.high - own.low and made.notes == []
    # The same, put together here from page and samples.
    sides = [side_of(export, code, JUDGED[code]) for code in ("es", "en")]
    expected = ppi_contrast([*zip((1, -1), sides, strict=True)], shares=True)
    told = [(own.low, own.high) for own in (mended, expected)]
    assert told[0] == pytest.approx(told[1])
    assert (mended.estimate, mended.p) == pytest.approx((expected.value, expected.p))
    alone = ppi_mean(sides[0], shares=True)
    told = (share.value, share.low, share.high, share.judge, share.labels, share.n)
    wanted = (alone.value, alone.low, alone.high, np.mean(sides[0].judge), 100, N)
    assert told == pytest.approx(wanted)


def test_a_second_model_and_a_subset_change_nothing(tmp_path, folder):
    export = annotated(tmp_path, folder)
    first = concluded(folder, export).all
    run_of(tmp_path / "other", labels_of(9, 0.1)[1], labels_of(10, 0.1)[1], model="other")
    models = read_models([f"a={folder}", f"b={tmp_path / 'other'}"])
    report = make_report(models, Options(n_resamples=1000), read_human([export], models))
    both = {(c.model, c.metric): c for c in report.conclusions}
    for metric in (CONTRADICTORY, MORE):
        own, alone = both["a", metric], first["es", metric]
        assert (own.estimate, own.low, own.p_holm) == (alone.estimate, alone.low, alone.p_holm)
        assert both["b", metric].judge_error_in_interval is False
    assert {item.model for item in report.corrected} == {"a"}


def test_page_report_and_json_say_it(tmp_path, folder, capsys):
    export = annotated(tmp_path, folder)
    words = ["--no-pictures", "--samples", "0", "--n-resamples", "1000", "--to"]
    assert main(["report", str(folder), *words, str(tmp_path / "alone")]) == 0
    said = (
        "Correctness: the judge's own error is not in the intervals; people's labels put it there"
    )
    assert said in capsys.readouterr().out
    assert said in (tmp_path / "alone/report.md").read_text()
    assert said.replace("'", "&#39;") in (tmp_path / "alone/report.html").read_text()
    both = [*words, str(tmp_path / "both"), "--human", str(export)]
    assert main(["report", str(folder), *both]) == 0
    out = capsys.readouterr().out
    assert "judge's own error" not in out and "corrected by people's labels" in out
    text = (tmp_path / "both/report.md").read_text()
    assert "### Corrected by people" in text and "judge's own error is" not in text
    content = json.loads((tmp_path / "both/report.json").read_text())
    assert len(content["corrected_by_people"]) == 8
    assert all(c["judge_error_in_interval"] for c in content["conclusions"])


def test_several_people_and_what_only_people_say(tmp_path, folder):
    # Two of three call every contradictory Spanish answer's reference wrong: no contradiction.
    def wrong(item):
        return "reference_wrong" if item["judge_label"] == CONTRADICTORY else item["judge_label"]

    files = [annotated(tmp_path, folder, name=name, say=wrong) for name in ("Anna", "Ben")]
    files.append(annotated(tmp_path, folder, name="Cleo", say=judge_of))
    values = {key: share.value for key, share in concluded(folder, *files).shares.items()}
    assert values["es", CONTRADICTORY] == values["en", CONTRADICTORY] == 0
    assert values["es", MORE] == pytest.approx(JUDGED["es"].count(MORE) / N)


def test_too_few_labels_and_only_one_language_are_told(tmp_path, folder):
    def say(item):
        lost = item["judge_label"] == CONTRADICTORY and item["language"] == "es"
        return None if lost else item["judge_label"]

    made = concluded(folder, annotated(tmp_path, folder, say=say))
    assert made.gap.judge_error_in_interval is False
    assert re.search("people labelled none of the .*judge calls contradictory", made.notes[0])
    said = "no usable labels of people for Spanish: the gap of Spanish is not corrected"
    assert made.notes[1].endswith(said)
    made = concluded(folder, annotated(tmp_path, folder, "--languages", "es", name="Ben"))
    assert made.gap.judge_error_in_interval is False
    assert made.notes[0].endswith("no usable labels of people for English: no gap corrected")


def test_failed_and_silent_verdicts_keep_their_place(tmp_path):
    """Failures are out; an answer without a label stays what the judge makes of it."""
    en = [MORE] * 60 + [CONTRADICTORY] * 40
    out = run_of(tmp_path / "out", en, [None, "no_response"] + [CONTRADICTORY] * 20 + [MORE] * 78)
    export = annotated(tmp_path, out, say=judge_of)
    made = concluded(out, export)
    assert made.gap.n == 99 and made.gap.estimate == pytest.approx(20 / 99 - 40 / 99)
    assert made.share.value == pytest.approx(20 / 99) and made.share.labels == 98


def test_annotations_of_other_answers_are_refused(tmp_path, folder):
    export = annotated(tmp_path, folder)
    again = run_of(tmp_path / "again", JUDGED["en"], labels_of(3, 0.25)[1])
    text = export.read_text()
    changed = tmp_path / "changed.csv"
    changed.write_text(text.replace(rows_of(export)[0]["answer"], "0" * 16))
    for out, file, said in (
        (again, export, r"_es, 'q\d+' is \w+ in the file and \w+ here"),
        (folder, changed, "has another answer here than people read"),
    ):
        with pytest.raises(DataError, match=said):
            concluded(out, file)
    # Two samples of one run are one larger sample.
    two = annotated(tmp_path, folder, "--seed", 4, name="Ben")
    assert concluded(folder, export, two).share.labels > 100


def comparison(a, b, *exports):
    human = ["--human", *exports] if exports else []
    options = parse(list(map(str, ["compare", a, b, "--json", *human])))
    content = json.loads(options.run(options))
    rows = {(r["kind"], r["language"], r["metric"]): r for r in content["comparisons"]}
    return rows, content


def test_compare_takes_peoples_labels_of_both_models(tmp_path, folder):
    """B's true labels are A's; B's judge is harsher in Spanish: a difference that is the judge's."""
    harsh = run_of(tmp_path / "b", JUDGED["en"], labels_of(2, 0.5)[1])
    alone, content = comparison(folder, harsh)
    own = alone["difference", "es", CONTRADICTORY]
    assert own["verdict"] == "worse" and own["judge_error_in_interval"] is False
    said = [line for line in content["summary"] if "judge's own error is not" in line]
    assert len(said) == 1 and "xling compare --human" in said[0]
    first, second = annotated(tmp_path, folder, name="A"), annotated(tmp_path, harsh, name="B")
    by_line, content = comparison(folder, harsh, first, second)
    mended = by_line["difference", "es", CONTRADICTORY]
    assert mended["verdict"] == "inconclusive" and mended["judge_error_in_interval"] is True
    assert mended["low"] < 0 < mended["high"] and mended["method"] == "ppi"
    assert not [line for line in content["summary"] if "judge's own error" in line]
    # The change of the gap has four sides; here from the pages and the samples.
    sides = [
        side_of(export, code, labels_of(seed, error)[1])
        for export, wrong in ((second, 0.5), (first, 0.25))
        for code, seed, error in (("es", 2, wrong), ("en", 1, 0))
    ]
    parts = [corrected(side, shares=True) for side in sides]
    change = parts[0].values - parts[1].values - parts[2].values + parts[3].values
    se = (change.var() / N + sum(part.variance for part in parts)) ** 0.5
    gap = by_line["gap", "es", CONTRADICTORY]
    assert gap["difference"] == pytest.approx(change.mean())
    assert gap["high"] - gap["low"] == pytest.approx(2 * 1.959964 * se)
    # One model's labels alone correct nothing, and a note says so.
    by_line, content = comparison(folder, harsh, second)
    assert by_line["difference", "es", CONTRADICTORY]["judge_error_in_interval"] is False
    said = f"{C}es: no usable labels of people for A: the difference is the judge's alone"
    assert said in content["notes"]


def test_labels_that_pairing_loses_are_told(tmp_path):
    """English lacks the questions that people labelled contradictory in Spanish."""
    english, spanish = JUDGED["en"].copy(), [MORE] * N
    rare = [at for at in range(N) if english[at] == MORE][:40]
    for at in rare:
        spanish[at], english[at] = CONTRADICTORY, None
    # One contradictory answer is left that both have, and nobody labelled it.
    left = next(at for at in range(N) if english[at] == MORE and at not in rare)
    spanish[left] = CONTRADICTORY
    out = run_of(tmp_path / "m", english, spanish)

    def say(item):
        lost = item["language"] == "es" and item["question_id"] == f"q{left}"
        return None if lost else item["judge_label"]

    export = annotated(tmp_path, out, say=say)
    made = concluded(out, export)
    assert made.gap.judge_error_in_interval is False
    note = next(n for n in made.notes if "beside" in n)
    assert note.endswith(
        "people labelled no answer that the judge calls contradictory, so the gap is the judge's "
        "alone; label more"
    )
    assert f"{C}es beside" in note
    # Shares by themselves are corrected, and the page's banner has the note.
    assert {language for language, _ in made.shares} == {"en", "es"}
    to = tmp_path / "report"
    words = ["report", out, "--to", to, "--no-pictures", "--samples", 0, "--human", export]
    assert main(list(map(str, words))) == 0
    assert note in (to / "report.md").read_text(encoding="utf-8")


def test_how_two_people_differ_is_in_the_interval(tmp_path, folder):
    """Ben is harsher in Spanish than Anna: neither is taken as true."""

    def harsher(item):
        odd = item["language"] == "es" and int(item["question_id"][1:]) % 5 == 0
        return CONTRADICTORY if odd else truth_of(item)

    first = annotated(tmp_path, folder)
    alone = concluded(folder, first).gap
    item = concluded(folder, first, annotated(tmp_path, folder, name="Ben", say=harsher)).gap
    assert item.people_error_in_interval and not alone.people_error_in_interval
    assert item.estimate > alone.estimate and item.high - item.low > 2 * (alone.high - alone.low)
    assert "whose differences from each other are in the interval" in sentence(item)
    assert "which are taken as true" in sentence(alone)


def test_answers_without_a_majority_of_a_jury_are_left_out_and_bound(tmp_path):
    """Of three judges' labels 6% have no majority: unscored, not corrected, but counted as unread."""

    def jury_task(seed, silent):
        labels = labels_of(seed, 0.1)[1]
        made = task([None if at in silent else own for at, own in enumerate(labels)])
        for at, row in enumerate(made["rows"]):
            row["no_majority"] = float(at in silent)
            row["no_response"] = 0.0
            if at in silent:
                row["n_judged"] |= {"no_majority": True}
        made["scores"] |= {"no_majority": len(silent) / N, "no_response": 0.0}
        return made

    silent = set(range(0, N, 17))
    out = write_run(tmp_path / "m", {f"{C}en": jury_task(1, set()), f"{C}es": jury_task(2, silent)})
    export = annotated(tmp_path, out)
    shown = {int(i["question_id"][1:]) for i in rows_of(export) if i["language"] == "es"}
    assert not shown & silent
    made = concluded(out, export)
    item, share = made.gap, made.share
    assert share.n == item.n == N - len(silent) and made.notes == []
    known = [own for at, own in enumerate(TRUTH["es"]) if at not in silent]
    assert share.low < np.mean([own == CONTRADICTORY for own in known]) < share.high
    # Where a verdict stands, both bounds of what no majority read are beside it.
    assert item.verdict in ("inconclusive", "not_comparable")


def test_labels_of_other_answers_are_refused_though_the_judge_said_the_same(tmp_path, folder):
    export = annotated(tmp_path, folder)
    other = {C + code: task(own) for code, own in JUDGED.items()}
    for row in other[f"{C}es"]["rows"]:
        row["filtered_resps"] = row["resps"][0] = ["B."]
    out = write_run(tmp_path / "other", other)
    with pytest.raises(DataError, match="has another answer here than people read"):
        concluded(out, export)
