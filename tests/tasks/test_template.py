"""A user's YAML over one of ours: what is set is used, or refused by name before the run."""

from __future__ import annotations

from dataclasses import fields

import pytest
from fixed import Fixed
from lm_eval.api.task import TaskConfig
from lm_eval.tasks import TaskManager

from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError
from xling_tasks.harness.run import RunContext
from xling_tasks.tasks.preflight import ALWAYS_READ
from xling_tasks.tasks.task import HealthTask

FOLDERS = {"xlinghealth": "xlinghealth", "mmedbench": "mmedbench", "xling": "translate_evaluate"}
C, V, LL = (f"xlinghealth_{kind}_demo_en" for kind in
            ("correctness", "verifiability", "verifiability_ll"))  # fmt: skip
M, MLL, INFO = "mmedbench_mcqa_demo_en", "mmedbench_mcqa_ll_demo_en", "xling_information"

OTHER = {
    "dataset_path": "imdb", "dataset_name": "plain", "custom_dataset": "!function os.path.join",
    "training_split": "train", "validation_split": "dev", "test_split": "train",
    "fewshot_split": "train", "process_docs": "!function os.path.join",
    "doc_to_text": "'{{question}}?'", "doc_to_target": "answer", "doc_to_image": "image",
    "doc_to_audio": "audio", "unsafe_code": "true", "doc_to_choice": "[a, b]",
    "process_results": "!function os.path.join", "use_prompt": "'promptsource:*'",
    "description": "Be brief.", "target_delimiter": "':'", "fewshot_delimiter": "'--'",
    "fewshot_config": "{sampler: first_n}", "num_fewshot": "3",
    "metric_list": "[{metric: acc}]", "output_type": "multiple_choice",
    "generation_kwargs": "{max_gen_toks: 7, until: [x]}", "repeats": "4",
    "should_decontaminate": "true", "doc_to_decontamination_query": "question",
    "gen_prefix": "'Answer:'",
}  # fmt: skip
"""Every key that the harness knows of a task, but those that name it, with another value."""


def load(tmp_path, base, **keys):
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    folder = FOLDERS[base.split("_")[0]]
    text = f"include: {task_folder()}/{folder}/{base}.yaml\ntask: mine\n{lines}"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    return manager.load("mine")["tasks"]["mine"]


def test_every_key_of_the_harness_is_tried():
    known = {field.name for field in fields(TaskConfig)}
    assert known - ALWAYS_READ == OTHER.keys()


@pytest.mark.parametrize("key", OTHER)
@pytest.mark.parametrize("base", [C, LL, M])
def test_used_or_refused(tmp_path, base, key):
    def tried():
        return load(tmp_path, base, **{key: OTHER[key]})

    if key in type(load(tmp_path, base)).reads_keys:
        assert str(tried().config[key]) not in ("", "None")
        return
    with pytest.raises(SettingError, match=f"mine.*mine.yaml.*{key} is set to .*does not read it"):
        tried()


@pytest.mark.parametrize("base", [C, V, LL, M, MLL, INFO])
def test_what_is_ours_already_may_be_said_again(tmp_path, base):
    task = load(tmp_path, base, test_split="test", metric_list="[]", repeats=1, doc_to_text="null")
    assert isinstance(task, HealthTask)


MORE = {"doc_to_txt": "x", "dataset_kwargs": "{record: demo, language: en, split: dev}"}


@pytest.mark.parametrize(("key", "said"), [
    ("doc_to_txt", "doc_to_txt: unknown key. Did you mean 'doc_to_text'"),
    ("dataset_kwargs", "dataset_kwargs: split is not read"), ("doc_to_text", "prompt_templates=FILE"),
    ("repeats", "k="), ("num_fewshot", "mmedb"), ("dataset_path", "data_dir"),
    ("metric_list", "its class"),
])  # fmt: skip
def test_what_is_wrong_and_what_to_do_instead_is_said(tmp_path, key, said):
    with pytest.raises(SettingError, match=said):
        load(tmp_path, C, **{key: (OTHER | MORE)[key]})


def test_a_group_of_the_users_may_not_hide_it_either(tmp_path):
    text = f"group: mine\ntask:\n  - task: {C}\n    doc_to_text: Hello\n"
    (tmp_path / "group.yaml").write_text(text, encoding="utf-8")
    paths = [str(tmp_path), str(task_folder())]
    with pytest.raises(SettingError, match="doc_to_text"):
        TaskManager(include_path=paths, include_defaults=False).load("mine")


def test_a_class_made_from_ours_may_read_more(tmp_path):
    (tmp_path / "own.py").write_text(
        "from xling_tasks.tasks.correctness import CorrectnessTask\n"
        "class Mine(CorrectnessTask):\n"
        "    reads_keys = CorrectnessTask.reads_keys | {'doc_to_text'}\n"
        "    def doc_to_text(self, doc, doc_to_text=None):\n"
        "        return self.config.doc_to_text + doc['question']\n"
    )
    task = load(tmp_path, C, doc_to_text="'Please, '", **{"class": "!function own.Mine"})
    assert task.doc_to_text(task.eval_docs[0]).startswith("Please, ")
    with pytest.raises(SettingError, match="repeats"):
        load(tmp_path, C, repeats=3, **{"class": "!function own.Mine"})


@pytest.mark.parametrize("base", [C, V, LL, M, INFO])
def test_a_description_and_generation_arguments_are_used(tmp_path, base):
    keys = {"description": "Speak to a nurse."}
    arguments = "generation_kwargs" in type(load(tmp_path, base)).reads_keys
    if arguments:
        keys["generation_kwargs"] = OTHER["generation_kwargs"]
    task = load(tmp_path, base, **keys)
    task.set_fewshot_seed(1)
    task.start(RunContext(Fixed(str)))
    task.build_all_requests(limit=1)
    assert all(str(each.args[0]).startswith("Speak to a nurse.") for each in task.instances)
    if arguments:
        assert all(each.args[1]["max_gen_toks"] == 7 for each in task.instances)
