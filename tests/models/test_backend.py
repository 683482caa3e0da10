"""The judge's backend: any harness model, asked once per prompt, cached by model and content."""

from __future__ import annotations

import gc
import json
import time

import pytest

from xling_tasks.cache import open_cache
from xling_tasks.errors import BackendError
from xling_tasks.failed_response import is_failed
from xling_tasks.models.backend import Backend, load_backend
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.retry import ServiceUnavailable
from xling_tasks.models.transport import BATCH


def judge(served, *, cache=None, **more):
    return Backend("judge", ModelConfig.parse("judge", served.spec(**more)), cache)


def test_replies_in_order_equal_prompts_once_and_cached(serve, own_cache):
    served = serve(lambda prompt: f"re: {prompt}")
    assert judge(served).generate(["b", "a", "b"]) == ["re: b", "re: a", "re: b"]
    assert sorted(served.prompts) == ["a", "b"]
    assert judge(served).generate(["a", "c"]) == ["re: a", "re: c"]
    assert sorted(served.prompts) == ["a", "b", "c"]
    assert len(open_cache("judge", own_cache)) == 3


def test_another_model_or_other_arguments_share_nothing(serve):
    served = serve(lambda prompt: "x")
    judge(served).generate(["a"])
    args = served.spec()["model_args"]
    first = judge(served, model_args={**args, "num_concurrent": 8, "timeout": 3}, batch_size=1)
    assert first.generate(["a"]) == ["x"] and len(served.prompts) == 1
    assert first.signature == judge(served).signature
    judge(served, model_args={**args, "model": "judge-2"}).generate(["a"])
    judge(served, max_gen_toks=5).generate(["a"])
    judge(served).generate(["a"], until=["stop"])
    assert len(served.prompts) == 4
    sent = served.requests[-1]
    assert sent["temperature"] == 0 and sent["max_tokens"] == 1024 and sent["stop"] == ["stop"]
    assert sent["messages"] == [{"role": "user", "content": "a"}]
    warm = judge(served, temperature=1)
    warm.generate(["a"])
    assert served.requests[-1]["temperature"] == 1 and warm.signature.endswith("temperature:1")


def test_no_cache(serve, own_cache):
    served = serve(lambda prompt: "x")
    for _ in range(2):
        judge(served, cache=False).generate(["a"])
    assert len(served.prompts) == 2
    assert not list(own_cache.iterdir())


class Shaky:
    """A local model: it fails on whole batches that hold a bad prompt."""

    def __init__(self, bad=(), answer="x"):
        self.bad, self.answer, self.sizes = set(bad), answer, []

    def generate_until(self, requests):
        contexts = [request.args[0] for request in requests]
        self.sizes.append(len(contexts))
        if self.bad & set(contexts):
            raise RuntimeError("CUDA out of memory")
        return [self.answer] * len(contexts)


def put(asked, model):
    asked.lm = asked.client.lm = model


def local(serve, model):
    asked = judge(serve(lambda prompt: "x"))
    asked.chat = False
    put(asked, model)
    return asked


def test_a_local_batch_that_fails_is_halved_until_its_cause_is_alone(serve, caplog):
    prompts = [str(i) for i in range(BATCH * 2 + 1)]
    asked = local(serve, model := Shaky(bad=["70"]))
    assert [is_failed(r) for r in asked.generate(prompts)] == [p == "70" for p in prompts]
    assert "1 of 129 prompts have no response (RuntimeError: 1)" in caplog.text
    # 70 is the seventh of the second batch: 64..95, 64..79, 64..71, then 64..67 is good.
    assert model.sizes == [64, 64, 32, 16, 8, 4, 4, 2, 2, 1, 1, 8, 16, 32, 1]
    # What is known is not asked again.
    put(asked, Shaky())
    assert asked.generate(prompts) == ["x"] * len(prompts) and asked.lm.sizes == [1]


def test_a_local_model_that_always_fails_ends_the_run(serve):
    prompts = [str(i) for i in range(BATCH * 6)]
    model = Shaky(bad=prompts)
    with pytest.raises(ServiceUnavailable, match="10 requests in a row failed"):
        local(serve, model).generate(prompts)
    assert len(model.sizes) < 40


def test_a_service_that_ended_a_run_and_works_again_is_given_time(serve, caplog):
    """Its first reply comes after the failures are looked at, and none of them counts any more."""
    served = serve(lambda prompt: time.sleep(0.4) or f"re: {prompt}")
    asked = judge(served, model_args={**served.spec()["model_args"], "num_concurrent": 4})
    served.fail_with = 500
    with pytest.raises(ServiceUnavailable, match="requests in a row failed; status 500: "):
        asked.generate([str(i) for i in range(24)])
    served.fail_with = None
    assert asked.generate(["a", "b"]) == ["re: a", "re: b"]
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_empty_replies_are_asked_for_again_and_not_kept(serve, own_cache):
    said = iter(["", "later"])
    served = serve(lambda prompt: next(said))
    assert judge(served).generate(["a"]) == [""]
    assert judge(served).generate(["a"]) == ["later"]
    assert [kept["text"] for kept in open_cache("judge", own_cache).get_all().values()] == ["later"]


def test_one_handle_per_spec(serve):
    served = serve(lambda prompt: "x")
    one, same, other = (
        load_backend("judge", ModelConfig.parse("judge", served.spec(max_gen_toks=n)))
        for n in (2, 2, 3)
    )
    assert one is same is not other


def test_who_cannot_answer_is_an_error_that_says_why(serve):
    served = serve(lambda prompt: "x")
    served.fail_with = 401
    said = r"judge: 'local-chat-completions' does not answer .*401"
    with pytest.raises(BackendError, match=said):
        judge(served).check()
    for wrong, said in (
        (ModelConfig("hff"), "judge.model: .*'hff'.*Supported model names"),
        (ModelConfig("xling_baseline", {"nonsense": 1}), "could not build 'xling_baseline' with"),
        (ModelConfig("self"), "none is running"),
    ):
        with pytest.raises(BackendError, match=said):
            Backend("judge", wrong)


def test_a_schema_is_probed_again_after_trouble_and_not_after_a_refusal(serve):
    for status, takes, n in ((503, True, 2), (400, False, 1)):
        served, statuses = serve(str), iter([status])
        whole = {"choices": [{"index": 0, "message": {"content": "{}"}, "finish_reason": "stop"}]}
        served.answer = lambda sent, s=statuses, w=whole: (next(s, 200), {}, json.dumps(w).encode())
        assert judge(served).takes_schema is takes and len(served.requests) == n
