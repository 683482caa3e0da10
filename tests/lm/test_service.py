"""The model under test behind a server that fails in every way a server can."""

from __future__ import annotations

import hashlib
import itertools
import json

import pytest
from stored import kept_in

from xling_tasks.cache import ResponseCache
from xling_tasks.errors import BackendError
from xling_tasks.lm.resumable import clear_finished

C = "xlinghealth_correctness_demo_en"
T = "xlinghealth_consistency_demo_en"
QUICK = {"k": 5, "topic_seeds": 0, "encoder": False, "source_encoder": False}


@pytest.fixture
def faulty(serve):
    """`faulty(answer)`: a server whose `answer(number, body)` gives (status, headers, bytes)."""

    def start(answer):
        served, numbers = serve(str), itertools.count()
        served.answer = lambda sent: answer(next(numbers), sent)
        args = served.spec()["model_args"]
        served.args = {**args, "model": "m", "max_retries": 2, "num_concurrent": 4}
        return served

    yield start
    clear_finished()


def whole(told):
    return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()


def body(**choice):
    return whole({"choices": [{"index": 0, **choice}]})


def said(text, **more):
    return body(message={"content": text}, **more)


def ask(run, server, task=C, metadata=QUICK, **options):
    options |= {"model_args": server.args, "metadata": dict(metadata), "apply_chat_template": True}
    return run(task, model="local-chat-completions", **options)


def rates(results, task=C):
    scores = results["results"][task]
    return [scores[f"{name}_rate,none"] for name in ("failed", "content_filter", "empty")]


OUTCOMES = {
    "failed": [(200, {}, b"{}"), (500, {}, b"no"), None, body(message={"content": None}, finish_reason="stop")],
    "content_filter": [
        said("", finish_reason="content_filter"),
        body(message={"content": None, "refusal": "I cannot."}, finish_reason="stop"),
    ],
    "empty": [
        said("", finish_reason="stop"), said(" \n"),
        body(message={"content": None, "reasoning_content": "hm"}, finish_reason="length"),
    ],
}  # fmt: skip


def apart(sent):
    """A reply of its own to each prompt, as a model has."""
    digest = hashlib.sha256(str(sent["messages"]).encode()).digest()
    return said("Drink " + "".join(chr(97 + byte % 26) for byte in digest[:12]))


def test_what_came_back_is_told_apart(run, faulty, own_cache):
    """Every kind for one question; the others are answered."""
    for outcome, kinds in OUTCOMES.items():
        marked = {}

        def answer(number, sent, kinds=kinds, marked=marked):
            prompt = sent["messages"][-1]["content"]
            place = marked.setdefault(prompt, len(marked))
            return kinds[place] if place < len(kinds) else apart(sent)

        server = faulty(answer)
        n, results = len(kinds), ask(run, server, limit=16)
        assert rates(results) == [n / 16 if name == outcome else 0 for name in OUTCOMES], outcome
        clear_finished()
        kept = kept_in(own_cache)
        assert len(kept) == (outcome == "failed")
        if kept:
            assert len(ResponseCache(kept[0])) == 16 - n
            # The next start asks for these alone, and they may come now.
            before = len(server.requests)
            kinds[:] = []
            assert rates(ask(run, server, limit=16)) == [0, 0, 0]
            assert len(server.requests) == before + n
            clear_finished()
            assert not kept_in(own_cache)


def test_trouble_that_stays_ends_the_run_and_the_next_start_asks_for_the_rest(
    run, faulty, own_cache
):
    """Nothing that came is lost, and nothing of the trouble is kept."""
    busy = [True]
    server = faulty(lambda number, sent: None if busy[0] and number >= 6 else apart(sent))
    told = r"model under test.*6 of 24 answers are kept in .*same command"
    with pytest.raises(BackendError, match=told):
        ask(run, server)
    (there,) = kept_in(own_cache)
    answers = [row["text"] for row in ResponseCache(there).get_all().values()]
    assert len(answers) == 6 and all(answer.startswith("Drink") for answer in answers)
    server.settle()  # requests that the ended run left under way are none of the next one's
    busy[0], before = False, len(server.requests)
    assert rates(ask(run, server)) == [0, 0, 0]
    assert len(server.requests) - before == 18


def test_use_cache_keeps_no_failure_and_sampled_answers_are_not_asked_again(run, faulty, tmp_path):
    first = [True]

    def answer(number, sent):
        words = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        return (200, {}, b"{}") if first[0] and number < 2 else said(f"Answer {words}.")

    server = faulty(answer)
    server.args["max_retries"] = 1
    options = {"task": T, "limit": 3, "use_cache": str(tmp_path / "cache")}
    results = ask(run, server, **options)
    assert results["results"][T]["failed_rate,none"] == 2 / 30
    first[0], before = False, len(server.requests)
    again = ask(run, server, **options)
    assert len(server.requests) - before == 2
    assert again["results"][T]["failed_rate,none"] == 0
    before = len(server.requests)
    ask(run, server, **options)
    assert len(server.requests) == before
