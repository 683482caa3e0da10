"""The judge's backend: any harness model, asked once per prompt, cached by model and content."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import cases

from xling_tasks.errors import BackendError
from xling_tasks.models.backend import Backend, Conversation, backend
from xling_tasks.models.calls import CHUNK
from xling_tasks.models.health import ServiceDown
from xling_tasks.models.spec import ModelSpec
from xling_tasks.replies import role
from xling_tasks.replies.folder import cache_folder, key_of, named_folder
from xling_tasks.replies.role import store_of


def judge(served, *, cache=None, **more):
    return Backend("judge", ModelSpec.parse("judge", served.spec(**more)), cache)


def test_replies_in_order_equal_prompts_once_and_cached(serve, own_cache):
    served = serve(lambda prompt: f"re: {prompt}")
    assert judge(served).ask(["b", "a", "b"]) == ["re: b", "re: a", "re: b"]
    assert sorted(served.prompts) == ["a", "b"]
    assert judge(served).ask(["a", "c"]) == ["re: a", "re: c"]
    assert sorted(served.prompts) == ["a", "b", "c"]
    assert (own_cache / "replies.sqlite").is_file()


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
    assert not (own_cache / "replies.sqlite").exists()


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


def test_empty_replies_and_error_texts_are_asked_for_again_and_not_cached(serve, own_cache):
    said = iter(["", "later", "Internal Server Error", "<html>502</html>", "Fine."])
    served = serve(lambda prompt: next(said))
    assert judge(served).ask(["a"]) == [None]
    assert judge(served).ask(["a"]) == ["later"]
    more = {**served.spec()["model_args"], "max_retries": 3}
    assert judge(served, model_args=more).ask(["b"]) == ["Fine."]
    assert sorted(store_of("judge", own_cache).everything().values()) == ["Fine.", "later"]
    assert len(served.prompts) == 5


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


def test_answers_are_saved_and_forgotten(tmp_path):
    rows = [{"task": "a/b"}, {"question_id": "0", "answer": "नमस्ते\n\ud800"}]
    place = role.save_answers(tmp_path, "a/b", 1, rows)
    assert role.saved_places(tmp_path / "replies.sqlite") == {Path(place): rows[0]}
    assert list(role.saved_rows(Path(place))) == [*enumerate(rows)]
    assert role.saved_row(Path(place), 1) == rows[1]
    role.forget_saved(place)
    assert (
        not role.saved_places(tmp_path / "replies.sqlite") and role.saved_row(Path(place), 1) == {}
    )
    (tmp_path / "of_0_2.jsonl").touch()
    role.forget_saved(str(tmp_path / "of_0_2.jsonl"))
    assert not (tmp_path / "of_0_2.jsonl").exists()


# The cache never ends a run


NONSENSE = b"this is no database at all" * 100
DAMAGED = b"SQLite format 3\x00" + bytes(range(256)) * 20


@pytest.mark.parametrize("content", [DAMAGED, NONSENSE])
def test_a_damaged_cache_is_set_aside(serve, own_cache, caplog, content):
    served = serve(lambda prompt: f"re: {prompt}")
    (own_cache / "replies.sqlite").write_bytes(content)
    assert judge(served).ask(["a"]) == ["re: a"]
    assert "is damaged" in caplog.text and list(own_cache.glob("replies.sqlite.damaged-*"))
    assert judge(served).ask(["a"]) == ["re: a"] and served.prompts == ["a"]


def test_a_cache_damaged_while_it_runs(serve, own_cache, caplog):
    served = serve(lambda prompt: "x")
    judge(served).ask(["a"])
    asked, path = judge(served), own_cache / "replies.sqlite"
    path.write_bytes(NONSENSE[:100] + path.read_bytes()[100:])
    assert asked.ask(["a", "b"]) == ["x", "x"] and asked.ask(["b"]) == ["x"]
    path.write_bytes(NONSENSE)
    assert judge(served).ask(["c"]) == ["x"]
    assert served.prompts[0] == "a" and served.prompts[-1] == "c" and len(served.prompts) <= 4


@pytest.mark.parametrize(
    "problem",
    ["database or disk is full", "attempt to write a readonly database", "disk I/O error"],
)
def test_what_cannot_be_written_is_kept_for_the_run(serve, caplog, monkeypatch, problem):
    served = serve(lambda prompt: f"re: {prompt}")
    asked, connect = judge(served), sqlite3.connect

    class Full(sqlite3.Connection):
        def executemany(self, *arguments):
            raise sqlite3.OperationalError(problem)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Full, **k))
    asked._store._let_go()  # and connect to the disk that is full now
    prompts = list("abcdef")
    for _ in range(2):
        assert asked.ask(prompts) == [f"re: {p}" for p in prompts]
    assert sorted(served.prompts) == prompts
    assert caplog.text.count(problem) == 1 and "kept for this run only" in caplog.text


def test_a_cache_folder_that_is_a_file(serve, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    asked = judge(serve(lambda prompt: "x"), cache=str(tmp_path / "file"))
    assert asked.ask(["a"]) == ["x"] and "cannot be made" in caplog.text


def test_a_read_only_cache_is_read(serve, own_cache, monkeypatch, caplog):
    served = serve(lambda prompt: "x")
    judge(served).ask(["a"])

    def refused(path, *, known):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr("xling_tasks.replies.file.connect", refused)
    assert judge(served).ask(["a", "b"]) == ["x", "x"]
    assert served.prompts == ["a", "b"] and "readonly" in caplog.text


def test_two_runs_at_once_pay_once(serve):
    """Whoever claims is a store; here two stand for two processes."""
    served = serve(lambda prompt: time.sleep(0.05) or f"re: {prompt}")
    prompts = [str(i) for i in range(20)]
    with ThreadPoolExecutor(2) as pool:
        replies = pool.map(lambda asked: asked.ask(prompts), [judge(served), judge(served)])
    assert list(replies) == [[f"re: {p}" for p in prompts]] * 2
    assert sorted(served.prompts) == sorted(prompts)


# Errors that come as answers


def echoed(prompt, reply):
    return reply == prompt


@pytest.mark.parametrize("text", cases("service_texts")["fresh_trouble"])
def test_what_a_service_says_to_many_prompts_is_no_reply(serve, own_cache, text):
    moments = iter(range(1000))
    served = serve(lambda prompt: text if next(moments) in (3, 9, 20, 31, 45) else prompt)
    served.whole = lambda reply: True
    prompts = [word(i) for i in range(40)]
    assert judge(served).ask(prompts, reads=echoed) == prompts
    assert sorted(store_of("judge", own_cache).everything().values()) == sorted(prompts)
    paid = len(served.prompts)  # and a dozen with little room
    assert paid == 40 + 12 + 4
    assert judge(served).ask(prompts, reads=echoed) == prompts
    assert len(served.prompts) == paid  # nothing is paid for twice


def test_one_sentence_of_the_models_own_counts_and_is_asked_for_again(serve, caplog):
    """It says so whenever it is asked, while others get another reply."""
    served = serve(lambda prompt: prompt if "c" in prompt else "I am not able to judge this.")
    asked, prompts = judge(served), [word(i) for i in range(30)]
    odd = sum("c" not in prompt for prompt in prompts)
    replies = asked.replies(prompts, reads=echoed)
    assert not any(reply.failed for reply in replies)
    assert f"{odd} of 30 requests got one and the same reply" in caplog.text
    assert "it is the model's own, and counts" in caplog.text
    served.reply = lambda prompt: prompt  # if it was a service's after all, the next start knows
    assert asked.ask(prompts) == prompts


def test_replies_may_be_the_same_where_nothing_is_known_of_them(serve):
    served = serve(lambda prompt: "diabetes")
    assert judge(served).ask([word(i) for i in range(50)]) == ["diabetes"] * 50
    off = judge(served, detect_errors=False)
    kept = off.ask([f"x{word(i)}" for i in range(5)], reads=lambda *_: False)
    assert kept == ["diabetes"] * 5 and len(served.prompts) == 55


def word(number):
    """Prompts that differ by more than a number."""
    return "".join(chr(97 + int(digit)) for digit in f"{number:02}")


@pytest.mark.parametrize("off", ["false", "off", "0", "False"])
def test_the_environment_switches_the_cache_off(off, monkeypatch, tmp_path):
    monkeypatch.setenv("XLING_CACHE", off)
    assert named_folder(None) is None and cache_folder(None) is None
    assert named_folder(str(tmp_path)) == tmp_path
