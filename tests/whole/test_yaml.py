"""The harness skips a malformed task file silently; these tests do not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import builders
import pytest
import xling_task_yaml
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml
from xling_task_yaml._generate import _leaf, files, groups

from xling_tasks.data.dataset_info import DATASETS, MMEDBENCH_LANGUAGES, XLINGHEALTH

FOLDER = Path(xling_task_yaml.__file__).parent
YAMLS = sorted(FOLDER.rglob("*.yaml"))
REAL = tuple(key for key, record in XLINGHEALTH.items() if not record.bundled)
IN_HINDI = sum("hi" in XLINGHEALTH[key].languages for key in REAL)


def _in(*datasets: str) -> int:
    """Languages of data sets of XLingHealth, all together: a criterion's tasks over them."""
    return sum(len(XLINGHEALTH[dataset].languages) for dataset in datasets)


def _endings(languages: Iterable[str]) -> list[str]:
    return ["", *(f"_{code}" for code in languages)]


def test_files_are_what_the_generator_writes():
    on_disk = {p.relative_to(FOLDER).as_posix(): p.read_text(encoding="utf-8") for p in YAMLS}
    wanted = files()
    other = [path for path in {**on_disk, **wanted} if on_disk.get(path) != wanted.get(path)]
    assert not other, f"python -m xling_task_yaml._generate writes {other}"


def test_norwegian_is_a_language_and_not_false():
    assert '\n  language: "no"\n' in _leaf("xling_no", "correctness", "demo", "no")
    assert "\n  language: es\n" in _leaf("xling_es", "correctness", "demo", "es")


def test_every_file_resolves():
    for path in YAMLS:
        config = load_yaml(path, resolve_func=True)
        if "group" in config:
            assert config["task"], path
            continue
        assert config["task"] == path.stem and isinstance(config["class"], type)
        assert config["dataset_kwargs"]["record"] in {*DATASETS, "custom"}
        if config["output_type"] == "generate_until":
            # The harness's defaults would stop at a blank line and after 256 tokens.
            given = config["generation_kwargs"]
            assert given["until"] and given["max_gen_toks"] and "temperature" not in given, path


def test_all_files_are_in_the_index_with_all_members():
    with builders.our_index_once():
        index = TaskManager().task_index
    found = {path: index[path.stem.removeprefix("_")].yaml_path for path in YAMLS}
    assert found == {path: path.resolve() for path in YAMLS}
    for members in groups().values():
        assert all(member in index for member in members)


@pytest.mark.parametrize(
    ("name", "n_tasks", "one_of_them"),
    [
        ("xlinghealth_correctness_liveqa", _in("liveqa"), "xlinghealth_correctness_liveqa_hi"),
        ("xlinghealth_verifiability_ll_demo", _in("demo"), "xlinghealth_verifiability_ll_demo_en"),
        ("xlinghealth_medicationqa_zh", 3, "xlinghealth_consistency_medicationqa_zh"),
        ("xlinghealth_consistency_hi", IN_HINDI, "xlinghealth_consistency_healthqa_hi"),
        ("xlinghealth_verifiability_ll_hi", IN_HINDI, "xlinghealth_verifiability_ll_liveqa_hi"),
        ("xlinghealth_hi", 3 * IN_HINDI, "xlinghealth_verifiability_liveqa_hi"),
        ("xlinghealth", 3 * _in(*REAL), "xlinghealth_correctness_healthqa_en"),
        ("xlinghealth_demo", 3 * _in("demo"), "xlinghealth_correctness_demo_en"),
        ("mmedbench_mcqa_demo", 6, "mmedbench_mcqa_demo_ja"),
        ("mmedbench_ru", 2, "mmedbench_rationale_ru"),
        ("mmedbench_ft", 12, "mmedbench_rationale_ft_es"),
    ],
)
def test_groups_that_people_try(name, n_tasks, one_of_them):
    tasks = builders.our_tasks()._index[name].cfg["task"]
    assert len(tasks) == len(set(tasks)) == n_tasks and one_of_them in tasks


def test_every_product_of_the_parts_of_a_name_is_there():
    names = {path.stem.removeprefix("_") for path in YAMLS}
    criteria = ["", "_correctness", "_consistency", "_verifiability", "_verifiability_ll"]
    # Without a data set in its name, a group holds the published ones.
    datasets = [("", DATASETS["healthqa"])]
    datasets += [(f"_{key}", XLINGHEALTH[key]) for key in (*REAL, "demo")]
    guesses = {
        "xlinghealth" + "".join((criterion, dataset, language))
        for dataset, record in datasets
        for criterion, language in product(criteria, _endings(record.languages))
    }
    kinds = ["", "_mcqa", "_mcqa_ll", "_mcqa_ft", "_rationale", "_rationale_ft"]
    parts = product(kinds, ["", "_demo"], _endings(MMEDBENCH_LANGUAGES))
    assert guesses | {"mmedbench" + "".join(part) for part in parts} <= names
