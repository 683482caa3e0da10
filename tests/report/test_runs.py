"""`xling_tasks.read`: the numbers of the report as tables, from folders and from a run's results."""

from __future__ import annotations

import copy
import json
import shutil

import pytest
from boards import many_models
from builders import evaluated, write_lines

import xling_tasks
from xling_tasks.cli import main
from xling_tasks.errors import DataError, SettingError

TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es")]


@pytest.fixture(scope="module")
def ran(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("ran") / "out"
    results = evaluated(run, out, TASKS, limit=4, metadata={"judge": {"model": "xling_baseline"}})
    return out, results


def test_the_tables_are_the_reports_numbers(tmp_path):
    folder = many_models(tmp_path, [0], n=40)[0]
    runs = xling_tasks.read(folder)
    to = tmp_path / "to"
    assert main(["report", folder, "--to", str(to)]) == 0
    told = json.loads((to / "report.json").read_text())
    scores, verdicts = runs.scores(), runs.verdicts()
    for name in ("value", "ci_low"):
        assert [row[name] for row in scores] == [row[name] for row in told["scores"]]
    assert [row["verdict"] for row in verdicts] == [v["verdict"] for v in told["verdicts"]]
    assert all(row["in_words"] for row in verdicts)
    assert {frozenset(row) for row in scores} == {frozenset(scores[0])}


def test_a_run_in_memory_gives_what_its_files_give(ran):
    out, results = ran
    before = copy.deepcopy(results)
    of_files, of_memory = xling_tasks.read(out), xling_tasks.read(results)
    assert results.keys() == before.keys() and results["config"] == before["config"]
    for table in ("scores", "verdicts", "tasks"):
        own, other = (getattr(runs, table)() for runs in (of_files, of_memory))
        assert own and [{**row, "model": ""} for row in own] == [
            {**row, "model": ""} for row in other
        ]
    rows = of_memory.samples(TASKS[1])
    asked = results["samples"][TASKS[1]]
    answers = [[reply for each in row["resps"] for reply in each] for row in asked]
    assert [row["answers"] for row in rows] == answers
    assert [row["langid_match"] for row in rows] == [row["langid_match"] for row in asked]


def test_samples_are_those_of_the_filter_that_scores_are_of(ran, tmp_path):
    """A user's YAML can log every question once for each of several filters."""
    out = shutil.copytree(ran[0], tmp_path / "out")
    (path,) = out.rglob(f"samples_{TASKS[1]}_*.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    write_lines(path, [*rows, *({**row, "filter": "strict"} for row in rows)])
    assert len(xling_tasks.read(out).samples(TASKS[1])) == 4


def test_what_cannot_be_read_is_said(ran, tmp_path):
    for ask, error, said in (
        (lambda: xling_tasks.read(), DataError, "name a folder"),
        (lambda: xling_tasks.read({"results": {}}), DataError, "no results of simple_evaluate"),
        (lambda: xling_tasks.read(tmp_path / "none").scores(), DataError, "no such folder"),
        (lambda: xling_tasks.read(ran[0]).samples(TASKS[0] + "x"), DataError, f"Did you mean '{TASKS[0]}'"),
        (lambda: xling_tasks.read(ran[0], confidence=2), SettingError, "--confidence: must be a number between 0 and 1, got 2"),
        (lambda: xling_tasks.reed, AttributeError, "no attribute 'reed'"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            ask()
