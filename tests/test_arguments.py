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

# One of each kind, written down from what it does, not from the table.
MOVES_BYTES = {"batch_size": 8, "num_concurrent": 4, "timeout": 30, "max_retries": 5, "api_key": "k",
               "device": "cuda:1", "tensor_parallel_size": 2, "header": "X-Y"}  # fmt: skip
CHANGES_REPLIES = {"model": "a", "revision": "c", "dtype": "float16", "seed": 7, "tokenizer": "t",
                   "max_length": 2048, "think_end_token": "</think>", "temperature": 0.5,
                   "base_url": "http://other:1/v1", "eos_string": "</s>"}  # fmt: skip


@pytest.mark.parametrize("name", [*MOVES_BYTES, *CHANGES_REPLIES])
def test_how_it_is_asked_makes_no_other_model(name):
    same, value = name in MOVES_BYTES, {**MOVES_BYTES, **CHANGES_REPLIES}[name]
    plain = {"model": "m", "base_url": "http://h/v1"}
    other = {**plain, name: value}
    assert (cache_key(identity_of(plain)) == cache_key(identity_of(other))) == same
    judges = ({"model": "local-chat-completions", "model_args": args} for args in (plain, other))
    one, two = map(_without_transport, judges)
    assert (one == two) == same
    assert (model_line("hf", {}) == model_line("hf", {name: value})) == same
    if name not in ("api_key", "header"):
        signature = f"hf(a=1,{name}={value},z=1)|t:0"
        assert (identity_in_signature(signature) == "hf(a=1,z=1)|t:0") == same


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
