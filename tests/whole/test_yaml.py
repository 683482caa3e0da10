"""The harness skips a malformed task file silently; these tests do not."""

from __future__ import annotations

from pathlib import Path

import pytest
import xling_task_yaml
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml
from xling_task_yaml._generate import files, groups

from xling_tasks.data import mmedbench_files as mmedbench_source
from xling_tasks.data import prompt_sets, records

RECORDS = {**records.RECORDS, **mmedbench_source.RECORDS}

FOLDER = Path(xling_task_yaml.__file__).parent
YAMLS = sorted(FOLDER.rglob("*.yaml"))


def test_files_are_what_the_generator_writes():
    on_disk = {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in YAMLS
    }
    assert on_disk == files()


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_every_file_resolves(path):
    config = load_yaml(path, resolve_func=True)
    if "group" in config:
        assert config["task"]
        return
    assert config["task"] == path.stem
    assert config["dataset_kwargs"]["record"] in {**RECORDS, **prompt_sets.RECORDS}
    assert isinstance(config["class"], type)
    if config["output_type"] == "generate_until":
        # The harness's defaults would stop at a blank line and after 256 tokens.
        assert config["generation_kwargs"]["until"] and config["generation_kwargs"]["max_gen_toks"]
        assert "temperature" not in config["generation_kwargs"]


def test_all_files_are_in_the_index_with_all_members():
    index = TaskManager().task_index
    for path in YAMLS:
        name = path.stem.removeprefix("_")
        assert index[name].yaml_path == path.resolve()
    for members in groups().values():
        assert all(member in index for member in members)


@pytest.mark.parametrize("language", ["en", "es", "zh", "hi"])
@pytest.mark.parametrize("criterion", ["correctness", "verifiability", "verifiability_ll"])
def test_every_kind_of_task_loads(criterion, language):
    name = f"xlinghealth_{criterion}_demo_{language}"
    manager = TaskManager(include_path=FOLDER, include_defaults=False)
    task = manager.load(name)["tasks"][name]
    assert len(task.eval_docs) == 24
    assert task.VERSION == 1.0
    assert set(task.aggregation()) == set(task.higher_is_better())
