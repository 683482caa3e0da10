"""The one table of model arguments: argument by argument, and against the harness's own backends."""

from __future__ import annotations

import pytest

from xling_tasks.cache import cache_key
from xling_tasks.harness.arguments import (
    ADDRESS,
    IDENTITY,
    TRANSPORT,
    identity_in_signature,
    identity_of,
    kind_of,
    which_model,
)
from xling_tasks.logs.config_diff import _without_transport
from xling_tasks.logs.results import model_line
from xling_tasks.models.backend import Backend
from xling_tasks.models.model_config import ModelConfig

# One of each kind, written down from what it does, not from the table.
MOVES_BYTES = ["batch_size=8", "num_concurrent=4", "timeout=30", "max_retries=5", "device=cuda:1",
               "gpu_memory_utilization=0.5", "tensor_parallel_size=2", "header=X-Y", "api_key=k",
               "ca_cert_path=/x.pem", "download_dir=/d"]  # fmt: skip
CHANGES_REPLIES = ["model=a", "revision=c", "dtype=float16", "quantization=awq", "seed=7",
                   "max_length=2048", "tokenizer=t", "think_end_token=</think>",
                   "temperature=0.5", "base_url=http://other:1/v1", "eos_string=</s>"]  # fmt: skip


def judge(**more):
    args = {"model": "m", "base_url": "http://h/v1", **more}
    value = {"model": "local-chat-completions", "model_args": args}
    return value, ("local-chat-completions", identity_of(args))


@pytest.mark.parametrize("argument", MOVES_BYTES)
def test_how_it_is_asked_makes_no_other_model(argument):
    name, _, value = argument.partition("=")
    plain, other = judge(), judge(**{name: value})
    assert cache_key(plain[1]) == cache_key(other[1])
    assert _without_transport(plain[0]) == _without_transport(other[0])
    args = {"pretrained": "x"}
    assert model_line("hf", args) == model_line("hf", {**args, name: value})
    sign = "local-chat-completions(base_url=http://h/v1,model=m)|chat_template:yes"
    for old in (f"({argument},base", f"(base_url=http://h/v1,{argument},model=m)"):
        before = sign.replace("(base", old) if old.endswith("base") else f"j{old}|k:5"
        after = sign if old.endswith("base") else "j(base_url=http://h/v1,model=m)|k:5"
        if "key" not in name and "token" not in name and name != "header":
            assert identity_in_signature(before) == after
    assert identity_in_signature(f"hf({argument})|t:0") in ("hf()|t:0", f"hf({argument})|t:0")


@pytest.mark.parametrize("argument", CHANGES_REPLIES)
def test_what_can_change_a_reply_makes_another_model(argument):
    name, _, value = argument.partition("=")
    plain, other = judge(), judge(**{name: value})
    assert cache_key(plain[1]) != cache_key(other[1]) and _without_transport(
        plain[0]
    ) != _without_transport(other[0])
    assert model_line("hf", {}) != model_line("hf", {name: value})
    sign = f"hf(a=1,{argument},z=1)|t:0"
    assert identity_in_signature(sign) == sign


def test_kinds():
    assert [kind_of(n) for n in ("timeout", "base_url", "dtype", "nonsense")] == [
        TRANSPORT, ADDRESS, IDENTITY, IDENTITY,
    ]  # fmt: skip
    assert which_model({"base_url": "http://a", "model": "m", "timeout": 3}) == {"model": "m"}


def test_keys_and_versions_in_an_address_make_no_other_server():
    one, same, other = (
        cache_key(identity_of({"base_url": f"https://{rest}"}))
        for rest in ("h/api?code=SECRET1&api-version=1&deployment=a",
                     "user:pw@h/api?deployment=a&code=SECRET2", "h/api?deployment=b&code=SECRET1")
    )  # fmt: skip
    assert one == same != other


# Through a backend


def test_replies_are_found_whatever_the_transport(serve, own_cache):
    served = serve(lambda prompt: f"re: {prompt}")
    spec = served.spec()

    def asked(**more):
        value = {**spec, "model_args": {**spec["model_args"], **more}}
        backend = Backend("judge", ModelConfig.parse("judge", value))
        return backend.generate(["a", "b"]), backend

    first, backend = asked(num_concurrent=4, timeout=30)
    assert first == ["re: a", "re: b"] and len(served.prompts) == 2
    for more in ({}, {"num_concurrent": 8, "timeout": 3, "max_retries": 1}, {"batch_size": 1}):
        again, other = asked(**more)
        assert again == first and len(served.prompts) == 2
        assert other.signature == backend.signature
    asked(max_length=4096)
    assert len(served.prompts) == 4
