"""Every reader and loader, on anything: an answer, or an error of ours.

A few examples here. For the night, in minutes to hours by reader:

    XLING_HYPOTHESIS=20000 pytest -n 2 tests/test_hypothesis.py
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest
from builders import STAMP
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lm_eval.api.model import CacheHook
from lm_eval.models.openai_completions import LocalChatCompletion

from xling_tasks.cache.response_cache import ResponseCache
from xling_tasks.data import mmedbench, xlinghealth
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.tables import read_tables
from xling_tasks.errors import XlingError
from xling_tasks.logs.annotations import Annotation, read_annotations
from xling_tasks.logs.checked import check_results
from xling_tasks.logs.replay_log import find_logs
from xling_tasks.logs.results import read_results
from xling_tasks.models.completions import _retry_after, parse_body
from xling_tasks.models.judge import find_last_option
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.retry import RequestFailed
from xling_tasks.models.structured_output import (
    array_schema,
    find_object,
    object_schema,
)
from xling_tasks.models.translate.translator import read_translations
from xling_tasks.readers import read_letters, read_verdict
from xling_tasks.report.data import read_models
from xling_tasks.secrets import redact, without_hosts
from xling_tasks.settings import Settings

MANY = int(os.environ.get("XLING_HYPOTHESIS", "60"))
COMMON = settings(
    max_examples=MANY,
    deadline=None,
    derandomize="XLING_HYPOTHESIS" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)

SAID = ["Yes", "No.", "ANSWER: A, B", "答案：A和C", "<think>A</think> B", "हाँ", "Sí", "A" * 5000, "\0", "\ud800"]  # fmt: skip
TEXT = st.text(max_size=200) | st.sampled_from(SAID)
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)
OPTIONS = {"A": "Aspirin", "B": "Bed rest", "C": "Chemotherapy"}


def keyed(*names):
    """Objects with some of the right names, and anything for values."""
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=5), JSON, max_size=8)


def as_bytes(value):
    return json.dumps(value).encode("utf-8", "surrogatepass")


def lines(rows, most=3):
    """Files of JSON lines, and of anything."""
    lists = st.lists(rows, max_size=most).map(lambda own: b"\n".join(map(as_bytes, own)))
    return lists | st.binary(max_size=300)


def whole(value):
    """Files of one JSON value, and of anything."""
    return value.map(as_bytes) | st.binary(max_size=300)


# Replies


@COMMON
@given(TEXT)
def test_replies(reply):
    assert read_verdict(reply) in (0, 1, None)
    for several in (True, False):
        letters = read_letters(reply, OPTIONS, several=several)
        assert letters is None or letters <= set(OPTIONS)
    assert find_last_option(reply) is None
    assert find_object(reply, FORM) is None
    assert isinstance(redact(reply), str) and isinstance(without_hosts(reply), str)


FORM = object_schema(verdicts=array_schema(object_schema(criterion="integer", met="boolean")))
BODY = JSON | keyed("choices", "error", "content", "stop_reason", "text", "type", "meta_info")
CHOICE = keyed("message", "text", "index", "finish_reason") | st.fixed_dictionaries(
    {"message": keyed("content", "refusal", "reasoning"), "index": JSON, "finish_reason": JSON}
)
LM = LocalChatCompletion.__new__(LocalChatCompletion)
LM.think_end_token, LM.cache_hook = None, CacheHook(None)


@COMMON
@given(BODY | st.fixed_dictionaries({"choices": st.lists(CHOICE, max_size=2)}))
def test_bodies_of_services(body):
    with suppress(RequestFailed):
        assert parse_body(LM, body).outcome in ("", "content_filter")


@COMMON
@given(st.dictionaries(st.sampled_from(["Retry-After", "retry-after-ms"]), st.text(max_size=30)))
def test_headers(headers):
    assert _retry_after(headers) >= 0


# Settings and files of data

WIDE = [
    f"{kind}_{name}"
    for kind in ("question", "answer")
    for name in ("English", "Hindi", "Chinese", "Spanish")
]
ROW = st.fixed_dictionaries({name: LEAF for name in ("id", "label", "answer_ids", *WIDE)}) | JSON
SETTINGS = ("k judge translator encoder temperatures languages topic_seeds sampling_seed "
            "greedy_repeats prompts_file prompts prompt_set data_dir xling_cache")  # fmt: skip
OF_MODELS = "model model_args batch_size max_gen_toks apply_chat_template deadline"
EXPORT = st.binary(max_size=300).map(
    lambda rest: ",".join(Annotation._fields).encode() + b"\n" + rest
)
TABLE = st.binary(max_size=500) | TEXT.map(lambda text: text.encode("utf-8", "replace"))
READ = {
    "settings": (keyed(*SETTINGS.split()), lambda own: Settings.parse(own, {})),
    "a model's": (keyed(*OF_MODELS.split()), lambda own: ModelConfig.parse("judge", {"model": "hf", **own})),
    "of an exam": (
        lines(keyed("question", "answer", "options", "answer_idx", "rationale", "meta_info")),
        lambda content: mmedbench.parse(content, "place", "en", "test")),
    "x.jsonl": (lines(ROW, 4), lambda path: xlinghealth.parse(DATASETS["healthqa"], read_tables(path))),
    "x.xlsx": (TABLE, read_tables), "x.csv": (TABLE, read_tables), "x.parquet": (TABLE, read_tables),
    "translations.jsonl": (lines(keyed("language", "text", "translation", "target")), read_translations),
    "prompts.yaml": (
        whole(JSON | keyed("answer", "judge", "claims", "support", "translate")),
        lambda path: PromptTemplates(str(path))),
    "export.csv": (EXPORT | st.binary(max_size=300), lambda path: read_annotations([path])),
}  # fmt: skip
"""What is read: a file's name, or another; what it may hold; its reader."""


@pytest.mark.parametrize("name", READ)
@COMMON
@given(data=st.data())
def test_settings_and_files(name, data, tmp_path_factory):
    contents, read = READ[name]
    given_ = data.draw(contents)
    if "." in name:
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(given_)
        given_ = path
    with suppress(XlingError):
        read(given_)


# Files of runs

TASK = "xlinghealth_correctness_demo_en"
RECORD = keyed("settings", "data", "prompts", "signatures", "about", "version", "replay")
CONTENT = st.fixed_dictionaries(
    {
        "results": st.fixed_dictionaries({TASK: keyed("chrf,none", "alias", "empty_rate,none")}) | JSON,
        "configs": st.fixed_dictionaries(
            {TASK: st.fixed_dictionaries({"metadata": st.fixed_dictionaries({"xling": RECORD}) | JSON})}
        ) | JSON,
        "n-samples": st.fixed_dictionaries(
            {TASK: st.fixed_dictionaries({"original": LEAF, "effective": LEAF}) | JSON}
        ) | JSON,
    },
    optional={"config": JSON, "higher_is_better": JSON, "chat_template": JSON},
)  # fmt: skip
SAMPLE = JSON | keyed("doc", "filter", "chrf", "resps", "filtered_resps", "arguments", "n_judged") | (
    st.fixed_dictionaries({"doc": keyed("question_id", "question"), "filter": JSON, "chrf": JSON})
)  # fmt: skip


@COMMON
@given(JSON | CONTENT | st.binary(max_size=200), lines(SAMPLE))
def test_runs(tmp_path_factory, content, samples):
    folder = tmp_path_factory.getbasetemp() / "run"
    folder.mkdir(exist_ok=True)
    raw = isinstance(content, bytes)
    (folder / f"results_{STAMP}.json").write_bytes(content if raw else as_bytes(content))
    path = folder / f"samples_{TASK}_{STAMP}.jsonl"
    path.write_bytes(samples)
    for read in (read_results, lambda folder: read_models([folder]), first_of_logs):
        with suppress(XlingError):
            read(folder)
    with suppress(XlingError):
        None if raw else check_results(path, content)


def first_of_logs(folder):
    for log in find_logs(folder):
        log.first()


@settings(COMMON, max_examples=max(10, MANY // 20))
@given(st.binary(min_size=1, max_size=5000))
def test_caches(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp() / "cache"
    folder.mkdir(exist_ok=True)
    (folder / "x.jsonl").write_bytes(content)
    store = ResponseCache(folder)
    store.put_many({"a": "b"})
    assert store.get_many(["a"]) == {"a": "b"}
    store.close(clear=True)
