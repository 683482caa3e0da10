"""Requests one by one: concurrency, retries, waits, refusals, and what ends a run."""

from __future__ import annotations

import contextlib
import time

import pytest
from faults import services
from faults.server import WORDS
from faults.services import generate
from lm_eval.api.registry import get_model

from xling_tasks.models import http
from xling_tasks.models.calls import stream
from xling_tasks.models.failures import read_body
from xling_tasks.models.health import Health, Limits, ServiceDown
from xling_tasks.models.rounds import Call
from xling_tasks.unanswered import failed


@pytest.fixture
def faulty():
    """`faulty(kinds, share)`: the address of a server that fails so."""
    with contextlib.ExitStack() as stack:
        yield lambda *given: stack.enter_context(services.service(*given, latency=0.0))


def model_of(url, **args):
    return get_model("local-chat-completions")(model="m", base_url=url, **args)


def requests_of(lm, texts):
    return [
        (
            lm.apply_chat_template([{"role": "user", "content": text}]),
            {"temperature": 1.0, "seed": seed, "until": ["x"], "max_gen_toks": 5},
        )
        for seed, text in enumerate(texts)
    ]


def test_one_request_at_a_time_stays_one_at_a_time(faulty):
    url = faulty(["500"], 0.3)
    lm = model_of(services.chat(url))
    answers = generate(lm, requests_of(lm, map(str, range(12))))
    assert not any(map(failed, answers)) and services.told(url)["most"] == 1


def test_a_prompt_that_always_fails_fails_alone(serve):
    served = serve(lambda prompt: None if prompt == "3" else prompt)
    lm = model_of(served.url)
    limits = Limits(attempts=2)
    answers = generate(lm, requests_of(lm, map(str, range(8))), limits=limits)
    assert [str(i) if i != 3 else "" for i in range(8)] == list(map(str, answers))
    assert failed(answers[3]) and answers[3].reason == "null content"
    # Two attempts, and two in the second round.
    assert served.prompts.count("3") == 4 and len(served.prompts) == 11


def test_a_service_that_is_gone_ends_the_run(serve):
    served = serve(lambda prompt: "x")
    served.fail_with = 503
    lm = model_of(served.url, num_concurrent=4)
    limits = Limits(attempts=1, strict=True)
    with pytest.raises(ServiceDown, match=r"\d\d calls in a row failed; status 503: \d+"):
        generate(lm, requests_of(lm, map(str, range(500))), limits=limits)
    assert len(served.prompts) < 60


def test_nothing_more_is_asked_than_can_be_kept_soon(serve):
    """What has come is kept, and looked into, before more is paid for."""
    served = serve(lambda prompt: prompt)
    lm = model_of(served.url, num_concurrent=2)
    calls = [Call(context, {}) for context, _ in requests_of(lm, map(str, range(300)))]
    limits = Limits()
    arrived = stream(lm, calls, limits, Health("the model", limits, 2))
    first = next(arrived)
    time.sleep(1)  # what takes long to look into
    assert len(served.prompts) <= len(first) + 3 * 8  # eight workers: kept, waiting, under way
    assert sum(map(len, arrived)) + len(first) == 300


def test_a_hanging_service_ends_the_run(serve):
    served = serve(lambda prompt: time.sleep(1) or "x")
    lm = model_of(served.url, num_concurrent=2)
    limits = Limits(attempts=9, timeout=0.2, down=1.0)
    with pytest.raises(ServiceDown, match=r"no reply for \d+ s"):
        generate(lm, requests_of(lm, "abcdef"), limits=limits)
    assert len(served.requests) < 6 * 9  # not all attempts were made


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert http.retry_after(headers) == seconds


def test_retry_after_is_honoured(faulty):
    url = faulty(["429"], 0.5)  # which say: in a second
    lm = model_of(services.chat(url), num_concurrent=8)
    began = time.monotonic()
    answers = generate(lm, requests_of(lm, map(str, range(7, 11))))  # none is drawn twice
    assert not any(map(failed, answers)) and services.told(url)["faults"]["429"] > 0
    assert time.monotonic() - began >= 1.0


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"type": "text", "text": "Y"}, {"type": "output_text", "text": "es"}], "Yes"),
        ([{"text": "Yes"}], "Yes"),
        ([{"type": "reasoning", "text": "No?"}, {"type": "text", "text": "Yes"}], "Yes"),
        ([{"type": "thinking", "thinking": "No?"}, {"type": "text", "text": "Yes"}], "Yes"),
        ([{"type": "reasoning_text", "text": "No?"}], ""),
        (["Yes", None, {"type": "text", "text": 3}], ""),
    ],
)
def test_of_a_reply_in_parts_the_words_count(parts, said):
    assert read_body({"choices": [{"message": {"content": parts}}]}).text == said


# The quick form of `python -m tests.faults services`: every role under every fault at once


@pytest.mark.parametrize("role", services.ROLES)
def test_mixed_faults_cost_no_reply(role, monkeypatch, short_waits):
    monkeypatch.setattr(services, "CALLS", 120)
    kinds = [kind for kind in services.KINDS if kind not in ("time-out", *WORDS)]
    with services.service(kinds, 0.2, 0.0) as url:
        outcome = services.ROLES[role](url)
        stats = services.told(url)
    assert outcome == services.Found(unscored=0, wrong=0)
    assert stats["replies"] == 120 and stats["twice"] == 0
    # Nothing but what failed is asked again, and a judge greets its server first, if at all.
    assert 0 <= stats["requests"] - 120 - sum(stats["faults"].values()) <= 1
    assert sum(stats["faults"].values()) > 10 and len(stats["faults"]) > 6


@pytest.mark.parametrize("role", ["translator", "model"])
def test_trouble_in_several_languages_is_never_an_answer(role, monkeypatch, short_waits):
    """Also where the second reply is trouble in another language."""
    monkeypatch.setattr(services, "CALLS", 200)
    with services.service(list(WORDS)[:4], 0.4, 0.0) as url:
        outcome = services.ROLES[role](url)
        stats = services.told(url)
    assert outcome.wrong == 0 and outcome.unscored <= 200 * 0.4 * 0.4 * 1.5
    assert min(stats["faults"].values()) > 10, stats
    assert stats["twice"] == 0, stats
