"""Data that is not there is said at once: before other tasks, the harness's files or a model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from xling_task_yaml._generate import CRITERIA, DATASETS, leaves_of

from xling_tasks.data import xlinghealth
from xling_tasks.data.availability import check_availability
from xling_tasks.errors import DataError

ONLY = """
import sys, lm_eval.tasks._index as index
every = index.TaskIndex._iter_yaml_files
index.TaskIndex._iter_yaml_files = staticmethod(lambda root: print("read", root) or every(root))
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""
HEADER = "id,label,answer_ids,question_English,answer_English\n"


def test_names_groups_and_patterns():
    assert {leaf.record for leaf in leaves_of(["xlinghealth"]).values()} == set(DATASETS)
    assert set(leaves_of(["xlinghealth_*_liveqa_hi", "mmlu"])) == {
        f"xlinghealth_{kind}_liveqa_hi" for kind in CRITERIA
    }
    assert {leaf.record for leaf in leaves_of(["mmedbench_ja", "xling_custom"]).values()} == {
        "mmedbench", "own"}  # fmt: skip
    check_availability(["xlinghealth_demo", "mmedbench_demo", "xling_empathy", "mmlu"], None)


def test_the_command_says_so_before_the_harness_reads_its_files(tmp_path):
    words = ["--model", "xling_baseline", "--tasks", "xlinghealth,mmlu"]
    done = subprocess.run(
        [sys.executable, "-c", ONLY, *words, "--metadata", f"data_dir={tmp_path}"],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "error: data_dir=" in done.stderr and "no HealthQA in it" in done.stderr
    assert "Traceback" not in done.stderr and "Initializing" not in done.stderr
    assert "read" not in done.stdout and "Next:" not in done.stdout


def test_a_run_says_so_before_another_task_reads_anything(run, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(xlinghealth, "_load", lambda *given: read.append(given))
    for name in ("HealthQA", "LiveQA"):
        (tmp_path / f"{name}.csv").write_text(HEADER + "1,1,1,Q?,A.\n", encoding="utf-8")
    tasks = ["xlinghealth_verifiability_healthqa_en", "xlinghealth_liveqa", "xlinghealth_en"]
    with pytest.raises(DataError, match="no MedicationQA in it"):
        run(tasks, metadata={"data_dir": str(tmp_path)})
    assert read == []


@pytest.mark.realdata
def test_a_folder_with_what_is_asked_for_is_enough(run, tmp_path, realdata):
    shutil.copy(realdata / "xlinghealth" / "LiveQA.xlsx", tmp_path)
    task = "xlinghealth_verifiability_liveqa_en"
    results = run(task, metadata={"data_dir": str(tmp_path)}, limit=2)["results"]
    assert task in results
