"""Names of data sets become names of files: never a way out of a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builders import changed, evaluated, readers

from xling_tasks.cli import main

TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es")]


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "m"
    evaluated(run, out, TASKS, limit=3, metadata={"judge": {"model": "xling_baseline"}})
    return out


@pytest.mark.parametrize("name", ["a b/c", "x/../../../PWNED", "डेटा"])
@pytest.mark.parametrize("command", ["report", "samples"])
def test_a_dataset_of_any_name_stays_in_the_folder(command, name, whole, tmp_path):
    def rename(content):
        for config in content["configs"].values():
            config["metadata"]["xling"]["about"]["dataset"] = name

    out = changed(Path(shutil.copytree(whole, tmp_path / "in" / "out")), rename)
    to = tmp_path / "a" / "b" / "to"
    to.parent.mkdir(parents=True)
    before = {*tmp_path.rglob("*")}
    assert main(readers(out, to, name=name)[command]) == 0
    assert all(to in (path, *path.parents) for path in {*tmp_path.rglob("*")} - before)
