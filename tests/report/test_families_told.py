"""What is told of other people's tasks: what translation did, what a score's unit allows, what next."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from builders import changed
from report.test_families import MINE, after, each, edited, verdicts
from tasks_of_others import SAYS, chosen, docs, right, written, wrong
from tasks_of_others import run as run_tasks

import xling_tasks
from xling_tasks.cli import main
from xling_tasks.report.tables.translation import translation_tables

OPTIONS = {f"op{at}": lambda number, at=at: f"choice {'abcd'[at - 1]}" for at in range(1, 5)}
HI = {f"op{at}": lambda number, at=at: f"विकल्प {'कखगघ'[at - 1]}" for at in range(1, 5)}


def half(code: str, number: int) -> str:
    return right(number) if code == "en" or number % 4 else wrong(number)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """CareQA's form, whose Hindi is damaged where the model errs; and a task without words of its own."""
    more = {"exam_id": lambda i: i, "year": lambda i: 2020, "category": lambda i: "x"}
    hindi, english = docs("hi", **more, **HI), docs("en", **more, **OPTIONS)
    for number, doc in enumerate(hindi):
        if number % 12 == 0:
            doc["op1"] = doc["op2"]
        if number == 6:
            doc["op3"] = ""
        doc["question"] += " 250 mg" if number != 7 else " 25 mg"
    for doc in english:
        doc["question"] += " 250 mg"
    tasks = [(chosen("hi", "careqa_hi"), hindi), (chosen("en", "careqa_en"), english)]
    tasks += [(chosen(code, f"mytask_{code}"), docs(code)) for code in ("en", "hi")]
    return run_tasks(tmp_path_factory.mktemp("told"), tasks, half)


def test_what_translation_did_is_counted_in_a_family_and_the_gap_is_given_without_it(out):
    (table,) = translation_tables(xling_tasks.read(out, n_resamples=1000).report)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    counted = {"language": "hi", "questions": 120, "coincide": 10, "empty": 1, "untranslated": 0,
               "numbers": 1, "units": 0, "any of these": 12, "n without": 108}  # fmt: skip
    assert {name: row[name] for name in counted} == counted
    assert [row["gap"], row["gap without"]] == pytest.approx([-30 / 120, -20 / 108])


def scaled(out: Path, tmp_path: Path, **values: tuple[float, float]):
    """`mytask` with other values for what is right and what is wrong: its verdict."""
    changes = {
        code: each(lambda row, own=own: row.update(acc=own[0] if row["acc"] else own[1]))
        for code, own in values.items()
    }
    return after(out, tmp_path, MINE, **changes)


def test_a_score_in_a_unit_that_nobody_knows_is_the_same_only_by_a_users_margin(
    out, tmp_path, capsys
):
    """It may fall to nothing within 0.05 of its unit."""
    own = scaled(out, tmp_path, en=(0.011, 0.01), hi=(0.0103, 0.0102))
    assert (own["metric"], own["verdict"]) == ("task_score", "worse")
    alike = scaled(out, tmp_path, en=(0.011, 0.01), hi=(0.011, 0.0101))
    assert alike["verdict"] != "about_the_same"
    found = scaled(out, tmp_path, hi=(0.011, 0.011), en=(0.011, 0.011))
    assert found["verdict"] == "cannot_tell" and "unit is not known" in found["reason"]
    assert "--margin" in found["next"]
    same = tmp_path / "edit5"
    for margin, verdict in ((0.001, "cannot_tell"), (0.1, "about_the_same")):
        found = verdicts(same, families=[MINE], margin=margin)["mytask hi"]
        assert found["verdict"] == verdict
    # A gate never lets through what nobody sized.
    main(["gate", str(same), "--family", MINE, "--json"])
    rows = {row["dataset"]: row for row in json.loads(capsys.readouterr().out)["checked"]}
    assert rows["mytask"]["outcome"] == "INCONCLUSIVE"


def test_a_direction_that_nobody_says_is_not_guessed(out, tmp_path):
    def undirected(content):
        for code in ("en", "hi"):
            task = f"mytask_{code}"
            content["higher_is_better"][task] = {}
            metric = {"metric": "perplexity", "aggregation": "mean"}
            content["configs"][task]["metric_list"] = [metric]
            content["results"][task] = {"perplexity,none": content["results"][task]["acc,none"]}

    with pytest.raises(xling_tasks.errors.DataError, match="do not say whether more of perplexity"):
        verdicts(changed(shutil.copytree(out, tmp_path / "o"), undirected), families=[MINE])


def prox(tmp_path, says):
    """A run of MMLU-ProX's form in English and Hindi."""
    tasks = [(written(code, f"mmlu_prox_{code}_health"), docs(code, n=40, question_id=lambda i: i))
             for code in ("en", "hi")]  # fmt: skip
    return run_tasks(tmp_path, tasks, says)


def test_where_a_filter_reads_nothing_what_to_do_is_about_the_filter(tmp_path):
    def says(code: str, number: int) -> str:
        return "Plainly." if code == "hi" else f"{SAYS[code]} ({right(number)})"

    found = verdicts(prox(tmp_path, says))["mmlu_prox: health hi"]
    assert found["verdict"] == "cannot_tell" and "filter" in found["next"]
    assert "ask_again" not in found["next"] and "reader" not in found["next"]


# Out again


@pytest.mark.realdata
def test_families_are_exported_in_every_language_and_whatever_their_score_is(tmp_path, realdata):
    names = {"en": "english", "hi": "hindi", "x": "hin_Latn"}
    tasks = [(chosen(code, f"mytask_{name}"), docs(code, n=40)) for code, name in names.items()]
    folder = run_tasks(tmp_path, tasks, half)
    for name in names.values():
        halves = each(lambda row: row.update(acc=row["acc"] / 2))
        folder = edited(folder, tmp_path / name, f"mytask_{name}", halves)
    to = tmp_path / "eee"
    assert main(["export", "eee", str(folder), "--to", str(to)]) == 2
    assert main(["export", "eee", str(folder), "--family", MINE, "--to", str(to)]) == 0
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(to.iterdir())]
    told = [each["evaluation_results"][0] for each in documents]
    assert [each["metric_config"]["metric_id"] for each in told] == ["task_score"] * 3
    languages = {each["score_details"]["details"]["language"] for each in told}
    assert languages == {"en", "hi", "hin_Latn"}
    assert unlike_schema(realdata, "eval", documents) == []


def unlike_schema(realdata: Path, name: str, documents: list) -> list[str]:
    """What the published schema has against some documents."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = realdata.parent / "reference" / "every_eval_ever" / f"{name}.schema.json"
    if not schema.exists():
        pytest.skip("the schema is not beside the data")
    checker = jsonschema.Draft7Validator(json.loads(schema.read_text("utf-8")))
    return [error.message for each in documents for error in checker.iter_errors(each)]


@pytest.mark.realdata
def test_questions_are_exported_beside_their_document_and_unread_ones_are_not(tmp_path, realdata):
    def says(code: str, number: int) -> str:
        unread = code == "hi" and number < 4
        return "Plainly." if unread else f"{SAYS[code]} ({half(code, number)})"

    out, to = prox(tmp_path, says), tmp_path / "eee"
    words = ["export", "eee", str(out), "--to", str(to), "--with-samples", "--model-id", "a/b"]
    assert main(words) == 0
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(to.glob("*.json"))]
    assert unlike_schema(realdata, "eval", documents) == []
    sizes = []
    for document in documents:
        told = document["detailed_evaluation_results"]
        text = (to / told["file_path"].rpartition("/")[2]).read_bytes()
        rows = [json.loads(line) for line in text.splitlines()]
        assert unlike_schema(realdata, "instance_level_eval", rows) == []
        assert told["checksum"] == hashlib.sha256(text).hexdigest()
        assert told["total_rows"] == len(rows)
        assert {row["evaluation_id"] for row in rows} == {document["evaluation_id"]}
        right_ones = sum(row["evaluation"]["is_correct"] for row in rows)
        sizes.append((len(rows), right_ones))
        assert "Which is right" in rows[0]["input"]["raw"] and rows[0]["output"]["raw"][0]
    # Of 40 Hindi questions 4 were not read (one of them wrong), and of the others 9 are wrong.
    assert sorted(sizes) == [(36, 27), (40, 40)]
