"""The judge's backend: any harness model, asked once per prompt, cached by model and content."""

from __future__ import annotations

import pytest

from xling_tasks.errors import BackendError
from xling_tasks.models.backend import Backend, Conversation, backend
from xling_tasks.models.service import CHUNK, ServiceDown
from xling_tasks.models.spec import ModelSpec
from xling_tasks.replies.folder import cache_folder, key_of, named_folder
from xling_tasks.replies.store import store_of


def judge(served, *, cache=None, **more):
    return Backend("judge", ModelSpec.parse("judge", served.spec(**more)), cache)


def test_replies_in_order_equal_prompts_once_and_cached(serve, own_cache):
    served = serve(lambda prompt: f"re: {prompt}")
    assert judge(served).ask(["b", "a", "b"]) == ["re: b", "re: a", "re: b"]
    assert sorted(served.prompts) == ["a", "b"]
    assert judge(served).ask(["a", "c"]) == ["re: a", "re: c"]
    assert sorted(served.prompts) == ["a", "b", "c"]
    assert len(store_of("judge", own_cache)) == 3


def test_another_model_or_other_arguments_share_nothing(serve):
    served = serve(lambda prompt: "x")
    judge(served).ask(["a"])
    other = {**served.spec()["model_args"], "model": "judge-2"}
    judge(served, model_args=other).ask(["a"])
    judge(served, max_gen_toks=5).ask(["a"])
    judge(served).ask(["a"], until=["stop"])
    assert len(served.prompts) == 4
    sent = served.requests[-1]
    assert sent["temperature"] == 0 and sent["max_tokens"] == 1024 and sent["stop"] == ["stop"]
    assert sent["messages"] == [{"role": "user", "content": "a"}]


def test_no_cache(serve, own_cache):
    served = serve(lambda prompt: "x")
    for _ in range(2):
        judge(served, cache=False).ask(["a"])
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


def local(serve, model):
    asked = judge(serve(lambda prompt: "x"))
    asked.lm, asked.chat = model, False
    return asked


def test_a_local_batch_that_fails_is_halved_until_its_cause_is_alone(serve, caplog):
    prompts = [str(i) for i in range(CHUNK * 2 + 1)]
    asked = local(serve, model := Shaky(bad=["70"]))
    assert asked.ask(prompts) == ["x" if p != "70" else None for p in prompts]
    assert "1 of 129 prompts have no reply (RuntimeError: 1)" in caplog.text
    # 70 is the seventh of the second batch: 64..95, 64..79, 64..71, then 64..67 is good.
    assert model.sizes == [64, 64, 32, 16, 8, 4, 4, 2, 2, 1, 1, 8, 16, 32, 1]
    # What is known is not asked again.
    asked.lm = Shaky()
    assert asked.ask(prompts) == ["x"] * len(prompts) and asked.lm.sizes == [1]


def test_a_local_model_that_always_fails_ends_the_run(serve):
    prompts = [str(i) for i in range(CHUNK * 6)]
    model = Shaky(bad=prompts)
    with pytest.raises(ServiceDown, match="10 calls in a row failed"):
        local(serve, model).ask(prompts)
    assert len(model.sizes) < 40


def test_second_questions_that_a_local_model_cannot_take_do_not_end_the_run(serve):
    """As those of a judge whose first replies fill its context."""
    first = [f"question {i}" for i in range(12)]
    second = [Conversation(prompt, "a long reply", "the line alone?") for prompt in first]
    asked = local(serve, Shaky(bad=second))
    assert asked.ask(first) == ["x"] * 12 and asked.ask(second) == [None] * 12
    asked.lm = Shaky(bad=second[:3])
    assert asked.ask(second) == [None] * 3 + ["x"] * 9


def test_empty_replies_are_asked_for_again_and_not_kept(serve, own_cache):
    said = iter(["", "later"])
    served = serve(lambda prompt: next(said))
    assert judge(served).ask(["a"]) == [None]
    assert judge(served).ask(["a"]) == ["later"]
    assert [kept["text"] for kept in store_of("judge", own_cache).everything().values()] == [
        "later"
    ]


def test_one_handle_per_spec(serve):
    served = serve(lambda prompt: "x")
    one, same, other = (
        backend("judge", ModelSpec.parse("judge", served.spec(max_gen_toks=n))) for n in (2, 2, 3)
    )
    assert one is same is not other


def test_who_cannot_answer_is_an_error_that_says_why(serve):
    served = serve(lambda prompt: "x")
    served.fail_with = 401
    said = r"judge: 'local-chat-completions' does not answer .*401"
    with pytest.raises(BackendError, match=said):
        judge(served).check()
    for wrong, said in (
        (ModelSpec("hff"), "judge.model: .*'hff'.*Supported model names"),
        (ModelSpec("xling_baseline", {"nonsense": 1}), "could not build 'xling_baseline' with"),
        (ModelSpec("self"), "none is running"),
    ):
        with pytest.raises(BackendError, match=said):
            Backend("judge", wrong)


def test_keys_differ_by_every_part_and_not_by_order_of_arguments():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert len({key_of("a", "b"), key_of("ab", ""), key_of("a", None), key_of("A", "b")}) == 4


# The cache never ends a run


def test_a_cache_folder_that_is_a_file(serve, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    asked = judge(serve(lambda prompt: "x"), cache=str(tmp_path / "file"))
    assert asked.ask(["a"]) == ["x"] and "cannot be made" in caplog.text


@pytest.mark.parametrize("off", ["false", "off", "0", "False"])
def test_the_environment_switches_the_cache_off(off, monkeypatch, tmp_path):
    monkeypatch.setenv("XLING_CACHE", off)
    assert named_folder(None) is None and cache_folder(None) is None
    assert named_folder(str(tmp_path)) == tmp_path
