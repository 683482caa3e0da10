"""What is told of other people's tasks: what translation did, what a score's unit allows, what next."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builders import changed
from report.test_families import MINE, after, each, verdicts
from tasks_of_others import SAYS, chosen, docs, right, written, wrong
from tasks_of_others import run as run_tasks

import xling_tasks

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


def scaled(out: Path, tmp_path: Path, **values: tuple[float, float]):
    """`mytask` with other values for what is right and what is wrong: its verdict."""
    changes = {
        code: each(lambda row, own=own: row.update(acc=own[0] if row["acc"] else own[1]))
        for code, own in values.items()
    }
    return after(out, tmp_path, MINE, **changes)


def test_a_score_in_a_unit_that_nobody_knows_is_the_same_only_by_a_users_margin(out, tmp_path):
    """It may fall to nothing within 0.05 of its unit."""
    own = scaled(out, tmp_path, en=(0.011, 0.01), hi=(0.0103, 0.0102))
    assert (own["metric"], own["verdict"]) == ("task_score", "worse")
    alike = scaled(out, tmp_path, en=(0.011, 0.01), hi=(0.011, 0.0101))
    assert alike["verdict"] != "equivalent"
    found = scaled(out, tmp_path, hi=(0.011, 0.011), en=(0.011, 0.011))
    assert found["verdict"] == "inconclusive" and "unit is not known" in found["reason"]
    assert "--margin" in found["next"]
    same = tmp_path / "edit5"
    for margin, verdict in ((0.001, "inconclusive"), (0.1, "equivalent")):
        found = verdicts(same, families=[MINE], margin=margin)["mytask hi"]
        assert found["verdict"] == verdict


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
    assert found["verdict"] == "inconclusive" and "filter" in found["next"]
    assert "ask_again" not in found["next"] and "reader" not in found["next"]
