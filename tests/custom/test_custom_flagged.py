"""Exam questions whose translation makes a wrong option read like a right one."""

from __future__ import annotations

import json

import pytest
from builders import by_language, evaluated
from custom_tables import write_csv
from fixed import Fixed

from xling_tasks.cli import main
from xling_tasks.data.choices import EQUAL, MISSING, find_problem, normalize_option
from xling_tasks.data.custom.dataset import invalid_choices, load_custom_dataset

SAME = [("Le cœur ", "le  Cœur"), ("ＡＢＣ", "abc"), ("a\u00a0b", "A b"), ("e\u0301", "é"), ("x\u200b", "X"),
        ("ｶﾞ", "ガ"), ("STRASSE", "straße")]  # fmt: skip
OTHER = {"10²": "102", "Rh+": "Rh-", "5 mg": "5 µg", "CD4": "CD8", "α": "a", ".5": "5", "½": "1/2"}


def test_options_are_the_same_up_to_case_space_and_width():
    for pairs, same in ((SAME, True), (OTHER.items(), False)):
        assert [normalize_option(one) == normalize_option(other) for one, other in pairs] == [
            same
        ] * len(pairs)


@pytest.mark.parametrize(("options", "right", "reason"), [
    ({"A": "x", "B": "X "}, "A", EQUAL), ({"A": "x", "B": "y"}, "A", ""),
    ({"A": "x", "B": "y", "C": "Y"}, "A", ""), ({"A": "x", "B": "X", "C": "y"}, "AB", ""),
    ({"A": "x", "B": " \u200b"}, "A", MISSING), ({}, "A", ""),
])  # fmt: skip
def test_what_is_unfair(options, right, reason):
    assert find_problem(options, right) == reason


def chooser():
    """Chooses B where two options read alike, else A."""
    return Fixed(lambda context, _: "B" if "damaged" in context else "A")


def exam():
    """20 questions, all right by A; in three, Spanish makes B the same; one lacks an option."""
    rows = []
    for i in range(20):
        row = {"id": f"e{i}", "correct": "A"}
        for code, word in (("en", "answer"), ("es", "respuesta")):
            row[f"question_{code}"] = f"{word} number {i}?"
            row |= {f"option_{x}_{code}": f"{word} {x}{i}" for x in "abc"}
        rows.append(row)
    for i in (3, 7, 11):
        rows[i]["option_b_es"] = rows[i]["option_a_es"].upper() + " "
        rows[i]["question_es"] += " damaged"
    rows[15]["option_c_es"] = ""
    return rows


def test_a_damaged_question_is_left_out_everywhere_and_the_gap_given_with_it(run, tmp_path):
    path = write_csv(tmp_path / "exam.csv", exam())
    assert invalid_choices(load_custom_dataset(str(path))) == {
        **{f"e{i}": "wrong option equals a right one in Spanish" for i in (3, 7, 11)},
        "e15": "option text missing in Spanish",
    }
    metadata = {"data_dir": str(path)}
    results = evaluated(
        run, tmp_path / "out", "xling_custom_mcqa", model=chooser(), metadata=metadata
    )
    own = by_language(results, "xling_custom_mcqa")
    # Of the 16 fair questions all are right; of the 19 that Spanish asks, 3 are wrong by damage.
    assert (own["en"].scores["acc"], own["es"].scores["acc"]) == (1, 1)
    assert own["en"].scores["acc_with_flagged"] == 1
    assert own["es"].scores["acc_with_flagged"] == pytest.approx(16 / 19)
    recorded = own["es"].record
    assert set(recorded["data"]["flagged"]) == {"e3", "e7", "e11", "e15"}
    assert "of:unflagged_questions" in recorded["signatures"]["acc"]
    assert "of:all_questions" in recorded["signatures"]["acc_with_flagged"]
    for row in own["en"].samples:
        assert (row["acc"] is None) == (row["doc"]["question_id"] in recorded["data"]["flagged"])

    to = tmp_path / "to"
    assert main(["report", str(tmp_path / "out"), "--to", str(to)]) == 0
    numbers = json.loads((to / "report.json").read_text())
    gaps = {row["metric"]: row for row in numbers["remarks"] if row["kind"] == "difference"}
    assert gaps["acc_with_flagged"]["estimate"] == pytest.approx(16 / 19 - 1)
    [found] = [item for item in numbers["verdicts"] if item["metric"] == "acc"]
    assert found["estimate"] == 0 and found["verdict"] != "worse"
    assert "4 of 20 questions are left out in every language" in (to / "report.md").read_text()
