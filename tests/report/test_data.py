"""What runs found, read from files: checked against the results, and refused where they disagree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from builders import write_lines, write_run
from in_memory import correctness, exam, similar

from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import judge_remarks, make_record
from xling_tasks.report.verdicts import Options
from xling_tasks.report.words import words


def first(n, k):
    return np.arange(n) < k


def remarks(*tasks, **options):
    record = make_record(read_models([*tasks]), Options(**options))
    return {remark.kind: remark.values for remark in record.remarks}


def test_samples_that_contradict_the_results_are_refused(tmp_path):
    out = write_run(tmp_path / "m", exam("en", first(24, 20)))
    (path,) = out.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for change, said in (
        ({"acc": 0.0}, "acc over its samples is 0.79.*, but results_.* says 0.83"),
        ({"doc": {}}, "row 1: not a sample of mcqa_liveqa_en"),
        ({"acc": "x"}, "row 1: .*acc: a number is expected"),
        ({"doc": {"question_id": "q1"}}, "row 2: .*question 'q1' is in it twice"),
    ):
        write_lines(path, [{**rows[0], **change}, *rows[1:]])
        with pytest.raises(DataError, match=said):
            read_models([out])
    write_lines(path, rows[:9])
    with pytest.raises(DataError, match="acc over its samples is 1.0"):
        read_models([out])


def test_what_was_asked_and_what_is_missing_are_remarks(tmp_path):
    tasks = correctness("en", first(30, 2)) | correctness("es", first(20, 2))
    tasks["correctness_liveqa_es"]["count"]["original"] = 30
    found = remarks(write_run(tmp_path / "m", tasks))
    assert (found["paired"]["n"], found["paired"]["asked"]) == (20, {"en": 30, "es": 20})
    assert (found["part"]["asked"], found["part"]["available"]) == (20, 30)
    assert set(found["missing_languages"]["languages"]) == {"zh", "hi"}
    assert found["judge_errs"]["metrics"] == ["correctness.contradictory", "correctness.helpful"]


def test_only_labels_of_correctness_can_be_checked_by_hand():
    made = judge_remarks(["rubric.helpful", "correctness.helpful"], {})
    assert [(remark.kind, remark.values["metrics"]) for remark in made] == [
        ("judge_errs", ["correctness.helpful"]), ("judge_errs_alone", ["rubric.helpful"])
    ]  # fmt: skip
    steps = words()["remarks"]
    assert steps["judge_errs"]["next"] == "label" and "next" not in steps["judge_errs_alone"]


@pytest.mark.parametrize(("criterion", "kind"), [
    ("correctness", "no_judge"), ("consistency", "no_translator"), ("information", "no_judge"),
    ("empathy", "no_classifiers"),
])  # fmt: skip
def test_what_a_run_lacks_is_a_remark_with_the_metrics_that_it_has_not(tmp_path, criterion, kind):
    (made,) = similar("en", np.zeros(9)).values()
    about = made["config"]["metadata"]["xling"]["about"]
    about["criterion"] = criterion
    made |= {"scores": {"langid_match": 1.0}, "better": {"langid_match": True}}
    for row in made["rows"]:
        row["langid_match"] = 1.0
    found = remarks(write_run(tmp_path / "m", {f"xling_{criterion}_x": made}))
    assert found[kind]["metrics"] and "usable" not in found[kind]["metrics"]
