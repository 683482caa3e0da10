"""A user's YAML over one of ours: what is set is used, or refused by name before the run."""

from __future__ import annotations

import re

import pytest
from fixed import Fixed
from lm_eval.tasks import TaskManager

from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError
from xling_tasks.harness.run import RunContext
from xling_tasks.tasks.preflight import warn_of_limit

FOLDERS = {"xlinghealth": "xlinghealth", "mmedbench": "mmedbench", "xling": "translate_evaluate"}
C, LL, M = (
    "xlinghealth_correctness_demo_en",
    "xlinghealth_verifiability_ll_demo_en",
    "mmedbench_mcqa_demo_en",
)


def load(tmp_path, base, **keys):
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    folder = FOLDERS[base.split("_")[0]]
    text = f"include: {task_folder()}/{folder}/{base}.yaml\ntask: mine\n{lines}"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    return manager.load("mine")["tasks"]["mine"]


@pytest.mark.parametrize(("base", "key", "value"), [
    (C, "doc_to_text", "'{{question}}?'"), (C, "num_fewshot", "3"), (C, "dataset_path", "imdb"),
    (C, "metric_list", "[{metric: acc}]"), (M, "output_type", "multiple_choice"),
    (C, "doc_to_txt", "x"), (LL, "generation_kwargs", "{max_gen_toks: 7}"), (M, "repeats", "4"),
    (C, "dataset_kwargs", "{record: demo, language: en, split: dev}"),
])  # fmt: skip
def test_what_is_not_read_is_refused(tmp_path, base, key, value):
    named = "dataset_kwargs.split" if key == "dataset_kwargs" else key
    with pytest.raises(SettingError, match=f"mine: the task file sets {named}, which this task"):
        load(tmp_path, base, **{key: value})


@pytest.mark.parametrize("base", [C, LL, M, "xling_information"])
def test_a_description_and_generation_arguments_are_used(tmp_path, base):
    keys = {"description": "Speak to a nurse.", "test_split": "test", "metric_list": "[]"}
    if base != LL:
        keys["generation_kwargs"] = "{max_gen_toks: 7, until: [x]}"
    task = load(tmp_path, base, **keys)
    task.set_fewshot_seed(1)
    task.start(RunContext(Fixed(str)))
    task.build_all_requests(limit=1)
    assert all(str(each.args[0]).startswith("Speak to a nurse.") for each in task.instances)
    if base != LL:
        assert all(each.args[1]["max_gen_toks"] == 7 for each in task.instances)


@pytest.mark.parametrize(("limit", "warned"), [(6, 6), (0.06, 6), (7, None)])
def test_a_limit_that_can_show_nothing(caplog, limit, warned):
    warn_of_limit(limit, 100, 3)
    # 2 / 2^7 = 0.0156 is below 0.05 / 3; 72 by rule 3 of docs/report.md: 0.95^72 is below 0.025.
    text = (
        f"with {warned} questions no difference between languages can be shown. At least 7 .* 72 "
    )
    assert bool(re.search(text, caplog.text)) == (warned is not None)
