"""The judge's backend: any harness model, asked once per prompt, cached by model and content."""

from __future__ import annotations

import sqlite3

import pytest

from xling_tasks.errors import BackendError
from xling_tasks.models.backend import Backend, backend
from xling_tasks.models.calls import CHUNK, ServiceDown
from xling_tasks.models.spec import ModelSpec
from xling_tasks.models.store import ReplyStore, key_of, save_answers


def spec(served, **more):
    return ModelSpec.parse("judge", served.spec(**more))


def test_replies_in_order_equal_prompts_once_and_cached(serve, own_cache):
    served = serve(lambda prompt: f"re: {prompt}")
    first = Backend("judge", spec(served))
    assert first.ask(["b", "a", "b"]) == ["re: b", "re: a", "re: b"]
    assert sorted(served.prompts) == ["a", "b"]
    assert Backend("judge", spec(served)).ask(["a", "c"]) == ["re: a", "re: c"]
    assert sorted(served.prompts) == ["a", "b", "c"]
    assert (own_cache / "judge.sqlite").is_file()


def test_another_model_or_other_arguments_share_nothing(serve):
    served = serve(lambda prompt: "x")
    Backend("judge", spec(served)).ask(["a"])
    other = served.spec()
    other["model_args"]["model"] = "judge-2"
    Backend("judge", ModelSpec.parse("judge", other)).ask(["a"])
    Backend("judge", spec(served, max_gen_toks=5)).ask(["a"])
    Backend("judge", spec(served)).ask(["a"], until=["stop"])
    assert len(served.prompts) == 4


def test_no_cache(serve, own_cache):
    served = serve(lambda prompt: "x")
    for _ in range(2):
        Backend("judge", spec(served), cache=False).ask(["a"])
    assert len(served.prompts) == 2
    assert not (own_cache / "judge.sqlite").exists()


def test_greedy_chat_messages(serve):
    served = serve(lambda prompt: "x")
    Backend("judge", spec(served)).ask(["a"], until=["stop"])
    sent = served.requests[-1]
    assert sent["temperature"] == 0 and sent["max_tokens"] == 1024 and sent["stop"] == ["stop"]
    assert sent["messages"] == [{"role": "user", "content": "a"}]


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


def local(served, model):
    judge = Backend("judge", spec(served))
    judge.lm, judge.chat = model, False
    return judge


def test_a_local_batch_that_fails_is_halved_until_its_cause_is_alone(serve, caplog):
    served = serve(lambda prompt: "x")
    prompts = [str(i) for i in range(CHUNK * 2 + 1)]
    model = Shaky(bad=["70"])
    judge = local(served, model)
    assert judge.ask(prompts) == ["x" if p != "70" else None for p in prompts]
    assert "1 of 129 prompts have no reply (RuntimeError: 1)" in caplog.text
    # 70 is the seventh of the second batch: 64..95, 64..79, 64..71, then 64..67 is good.
    assert model.sizes == [64, 64, 32, 16, 8, 4, 4, 2, 2, 1, 1, 8, 16, 32, 1]
    # What is known is not asked again.
    judge.lm = Shaky()
    assert judge.ask(prompts) == ["x"] * len(prompts) and judge.lm.sizes == [1]


def test_a_local_model_that_always_fails_ends_the_run(serve):
    prompts = [str(i) for i in range(CHUNK * 6)]
    model = Shaky(bad=prompts)
    with pytest.raises(ServiceDown, match="10 calls in a row failed"):
        local(serve(lambda prompt: "x"), model).ask(prompts)
    assert len(model.sizes) < 40


def test_empty_replies_are_not_cached(serve):
    answers = iter(["", "later"])
    judge = Backend("judge", spec(serve(lambda prompt: next(answers))))
    assert judge.ask(["a"]) == [None]
    assert judge.ask(["a"]) == ["later"]


def test_one_handle_per_spec(serve):
    served = serve(lambda prompt: "x")
    assert backend("judge", spec(served)) is backend("judge", spec(served))
    assert backend("judge", spec(served)) is not backend("judge", spec(served, max_gen_toks=3))


def test_check_fails_with_what_the_server_said(serve):
    served = serve(lambda prompt: "x")
    served.fail_with = 401
    with pytest.raises(
        BackendError, match=r"judge: 'local-chat-completions' does not answer .*401"
    ):
        Backend("judge", spec(served)).check()


def test_unknown_model_and_wrong_arguments():
    with pytest.raises(BackendError, match="judge.model: .*'hff'.*Supported model names"):
        Backend("judge", ModelSpec("hff"))
    with pytest.raises(BackendError, match="could not build 'xling_baseline' with"):
        Backend("judge", ModelSpec("xling_baseline", {"nonsense": 1}))


def test_self_needs_a_run():
    with pytest.raises(BackendError, match="none is running"):
        Backend("judge", ModelSpec("self"))


def test_store_survives_many_keys_and_keeps_the_first(tmp_path):
    store = ReplyStore(tmp_path, "x")
    store.put_many({str(i): "a" for i in range(1200)})
    store.put_many({"3": "b"})
    assert len(store.get_many(map(str, range(1300)))) == 1200
    assert store.get_many(["3"]) == {"3": "a"}
    assert sqlite3.connect(store.path).execute("SELECT COUNT(*) FROM replies").fetchone() == (1200,)


def test_keys_differ_by_every_part_and_not_by_order_of_arguments():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert len({key_of("a", "b"), key_of("ab", ""), key_of("a", None), key_of("A", "b")}) == 4


def test_answers_are_saved_as_jsonl(tmp_path):
    path = save_answers(tmp_path, "task", 1, [{"question_id": "0", "answer": "नमस्ते\n"}])
    assert path.read_text(encoding="utf-8") == '{"question_id": "0", "answer": "नमस्ते\\n"}\n'
