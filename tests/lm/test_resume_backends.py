"""Resumed runs on real backends: sampling goes on, and does not begin again; engines in slices."""

from __future__ import annotations

import json

import pytest
from lm_eval.api import registry
from lm_eval.api.model import LM
from stored import Killed, dying_after, kept_in

from xling_tasks.cache import ResponseCache
from xling_tasks.lm import resumable

T = "xlinghealth_consistency_demo_en"
V = "xlinghealth_verifiability_demo_en"
LL = "xlinghealth_verifiability_ll_demo_en"
QUICK = {"k": 6, "topic_seeds": 0, "encoder": False, "source_encoder": False, "temperatures": [1.0]}


@pytest.fixture(autouse=True)
def ended():
    yield
    resumable.clear_finished()


def answers(cache):
    stores = map(ResponseCache, kept_in(cache))
    return {
        key: kept["text"] if isinstance(kept, dict) else kept[0]
        for store in stores
        for key, kept in store.get_all().items()
    }


def test_hf_draws_other_numbers_after_a_kill(run, tiny_hf, own_cache):
    """With one seed for both starts the second would repeat the first."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def start():
        args = {"pretrained": tiny_hf, "device": "cpu"}
        options = {"limit": 1, "gen_kwargs": "max_gen_toks=8", "batch_size": 1}
        return run(T, model="hf", model_args=args, metadata=dict(QUICK), **options)

    try:
        with dying_after(3), pytest.raises(Killed):
            start()
        first = list(answers(own_cache).values())
        (sample,) = start()["samples"][T]
    finally:
        torch.set_num_threads(threads)
    several = [response for (response,) in sample["resps"]]
    assert several[:3] == first and len(set(first)) == 3
    assert len(set(several)) == 6


class VLLM(LM):
    """An engine as the harness has it: the hook comes after a batch, with arguments of its own."""

    tokenizer_name = "engine"
    batch_size = 4
    calls: list = []
    lives = 10**9

    def __init__(self, batch_size=None, **others):
        super().__init__()

    def _answers(self, kind, requests, answer):
        VLLM.calls.append(len(requests))
        if VLLM.lives < len(VLLM.calls):
            raise Killed
        texts = [answer(request) for request in requests]
        for request, one in zip(requests, texts, strict=True):
            self.cache_hook.add_partial(kind, (request.args[0], {"rewritten": True}), one)
        return texts

    def generate_until(self, requests, disable_tqdm=False):
        return self._answers("generate_until", requests, lambda r: f"{r.args[1]['seed']}{r.doc_id}")

    def loglikelihood(self, requests, disable_tqdm=False):
        return self._answers("loglikelihood", requests, lambda r: (-float(len(r.args[1])), False))

    loglikelihood_rolling = loglikelihood


@pytest.mark.parametrize("task", [T, LL])
def test_engines_are_asked_in_slices(run, own_cache, task):
    if "engine" not in registry.model_registry:
        registry.model_registry.register("engine", target=VLLM)

    def start(lives=10**9):
        VLLM.lives, VLLM.calls = lives, []
        return run(task, model="engine", model_args="pretrained=it", metadata=dict(QUICK), limit=3)

    whole = start()
    wanted = sum(VLLM.calls)
    assert VLLM.calls[:2] == [4, 4]
    resumable.clear_finished()
    with pytest.raises(Killed):
        start(lives=2)
    resumable.clear_finished()
    assert len(answers(own_cache)) == 8
    again = start()
    assert sum(VLLM.calls) == wanted - 8
    shown = [[x["results"], x["samples"]] for x in (whole, again)]
    assert json.dumps(shown[0], default=str) == json.dumps(shown[1], default=str)
