"""What counts when runs are asked whether they were made alike."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from builders import recorded

from xling_tasks.criteria import CRITERIA
from xling_tasks.logs.config_diff import find_differences
from xling_tasks.logs.results import Results, TaskResults
from xling_tasks.settings import Settings


def results(task="mmedbench_mcqa_en", settings=None, data=None, prompts=None, said=None, **content):
    xling = {
        "settings": {"prompt_language": "en", **(settings or {})},
        "data": {"dataset": "D", "kind": "hub", "name": "n", "revision": "r", **(data or {})},
        "prompts": prompts or {"mcqa": {"language": "en", "digest": "a"}},
        "generation_kwargs": {"max_gen_toks": 8, **(said or {})},
    }
    config = recorded(task, {"metadata": {"version": 1.0, "xling": xling}}, {})
    run = {"configs": {task: config}, **content}
    return TaskResults(task, Results(Path("results.json"), run))


def names(a, b, **options):
    return [item.what for item in find_differences([(a, b)], **options)]


def test_every_setting_named_is_one():
    known = {field.name for field in dataclasses.fields(Settings)}
    assert {name for own in CRITERIA.values() for name in own.settings} <= known


LANGUAGE, DIGEST = "prompt_language", "prompts.mcqa.digest"
DIFFERENCES = [
    ({"data": {"sha256": "x"}}, ["data.name", "data.revision", "data.sha256"], []),
    ({"settings": {"judge": {"model": "x"}}}, [], []),
    ({"settings": {LANGUAGE: "native"}}, [LANGUAGE], [LANGUAGE]),
    ({"prompts": {"mcqa": {"language": "en", "digest": "b"}}}, [DIGEST], [DIGEST]),
]
"""What another run has, and what then differs between models, and between languages."""


@pytest.mark.parametrize(("other", "same", "across"), DIFFERENCES)
def test_what_differs_between_models_and_between_languages(other, same, across):
    a, b = results(), results(**other)
    assert sorted(names(a, b)) == same
    named = names(a, b, across_languages=True)
    assert [name for name in named if name != "prompt templates"] == across


JUDGE = {"model": "j", "model_args": {"model": "a", "num_concurrent": 1}, "batch_size": None}
ANOTHER = {**JUDGE, "model_args": {"model": "b"}}
FASTER = {**JUDGE, "model_args": {"model": "a", "num_concurrent": 9}, "batch_size": 8}
FILE = {"sha256": "a", "revision": "r"}


@pytest.mark.parametrize(
    ("criterion", "one", "other", "differ"),
    [
        ("correctness", {"settings": {"judge": JUDGE}}, {"settings": {"judge": ANOTHER}}, ["judge.model"]),
        ("correctness", {}, {"said": {"max_gen_toks": 128}}, ["generation.max_gen_toks"]),
        ("correctness", {"chat_template": "x", "chat_template_sha": "f"}, {}, ["chat template", "apply_chat_template"]),
        ("consistency", {"settings": {"temperatures": [0.0]}}, {"settings": {"temperatures": [1.0]}}, ["temperatures"]),
        ("consistency", {}, {"settings": {"translator": JUDGE}}, ["translator"]),
        # What changes no score: correctness asks once, and the data are the same.
        ("correctness", {"settings": {"k": 10}}, {"settings": {"k": 4, "data_dir": "/else"}}, []),
        ("correctness", {"settings": {"judge": JUDGE}}, {"settings": {"judge": FASTER}}, []),
        ("correctness", {"data": FILE}, {"data": {**FILE, "revision": "q"}}, []),
    ],
)  # fmt: skip
def test_only_what_a_criterion_depends_on_differs(criterion, one, other, differ):
    a, b = (results(f"xlinghealth_{criterion}_demo_en", **own) for own in (one, other))
    assert names(a, b) == differ


def test_native_prompts_differ_between_languages_but_not_their_file():
    native = {"prompt_language": "native", "prompt_templates": "one.yaml"}
    en = results(settings=native, prompts={"mcqa": {"language": "en", "digest": "a"}})
    es = results(settings=native, prompts={"mcqa": {"language": "es", "digest": "b"}})
    assert names(en, es, across_languages=True) == []
    other = results(settings={**native, "prompt_templates": "two.yaml"}, prompts={})
    assert names(en, other, across_languages=True) == ["prompt templates"]
