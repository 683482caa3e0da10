"""What services send that is no completion, or none that is whole; blocked prompts; and trouble.

Forms are those of public reports: OpenRouter, vLLM, DeepSeek, Zhipu, Baidu, DashScope, Azure, AWS,
Anthropic. Every row is tried on loopback for the model under test, a judge and a translator.
"""

from __future__ import annotations

import gzip
import json
import logging
import time
from types import SimpleNamespace

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model

from xling_tasks.errors import BackendError
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED
from xling_tasks.harness.run import RunContext
from xling_tasks.lm.resumable import ResumableLM
from xling_tasks.models import http_api
from xling_tasks.models.backend import Backend
from xling_tasks.models.http_api import parse_body
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.retry import RequestFailed, RetryPolicy, ServiceUnavailable
from xling_tasks.models.translate.translator import load_translator, parse_translator
from xling_tasks.settings import Settings

GOOD = "Drink plenty of water every day."
ANSWERS = {"uno": "Drink much water.", "dos": "Sleep well at night.", "tres": "Call a doctor soon."}
TEXTS = {word: f"Beba agua y descanse, paso {word}." for word in ANSWERS}


def choice(content=GOOD, finish="stop", **more):
    message = {"role": "assistant", **({} if content is ... else {"content": content}), **more}
    return {"index": 0, "message": message, "finish_reason": finish}


def whole(text=GOOD):
    return {"choices": [choice(text)]}


@pytest.fixture
def service(serve):
    """`service(reply)`: it answers a prompt with `reply(prompt, number)`: a body, or all of an answer."""

    def start(reply):
        served = serve(str)
        served.asked, served.times = [], []

        def answer(sent):
            served.asked.append(sent["messages"][-1]["content"])
            served.times.append(time.monotonic())
            given = reply(served.asked[-1], len(served.asked))
            return (200, {}, json.dumps(given).encode()) if isinstance(given, dict) else given

        served.answer = answer
        return served

    return start


@pytest.fixture
def quick(monkeypatch):
    """Without waits, but for those that a service asks for."""
    monkeypatch.setattr(RetryPolicy, "wait", lambda self, failure, attempt: failure.wait)


def setting(served, **args):
    args = {
        "model": "m",
        "base_url": f"{served.host}/v1/chat/completions",
        "num_concurrent": 4,
        **args,
    }
    return {"model": "local-chat-completions", "model_args": args, "max_gen_toks": 100}


def ask_model(served, texts, **args):
    args = setting(served, **args)["model_args"]
    lm = get_model("local-chat-completions")(**args)
    tasks = {"t": SimpleNamespace(settings=Settings.parse({"xling_cache": False}, {}))}
    requests = [
        Instance("generate_until", {"text": text},
                 (lm.apply_chat_template([{"role": "user", "content": text}]), {"max_gen_toks": 100}),
                 0, ("t", i, 1))
        for i, text in enumerate(texts)
    ]  # fmt: skip
    return ResumableLM(RunContext(lm, args), tasks).generate_until(requests)


def ask_judge(served, texts, **args):
    config = ModelConfig.parse("judge", setting(served, **args))
    return Backend("judge", config, False).generate(texts)


def ask_translator(served, texts, **args):
    config = parse_translator("translator", setting(served, **args))
    return load_translator(config, False).translate(texts, "es")


ROLES = {"the model under test": ask_model, "judge": ask_judge, "translator": ask_translator}
roles = pytest.mark.parametrize(("role", "ask"), ROLES.items(), ids=ROLES)

AGAIN = {
    "no choices": {"id": "1", "object": "chat.completion"}, "empty": {}, "null choices": {"choices": None},
    "zhipu": {"code": 1302, "msg": "too many"}, "rfc 7807": {"title": "Bad gateway", "status": 502},
    "baidu": {"error_code": 18, "error_msg": "Open api qps request limit reached"},
    "aws": {"__type": "ThrottlingException"}, "error": {"error": {"code": 502}, "choices": [choice()]},
    "html": (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Sign in</title>"),
    "half": (200, {}, b'{"choices": [{"mess'), "nothing": (200, {}, b""), "hung up": None,
    "error in the choice": {"choices": [{**choice("Drink"), "error": {"code": 502}}]},
    **{finish: {"choices": [choice("Drink", finish)]}
       for finish in ("error", "abort", "network_error", "insufficient_system_resource")},
    "null content": {"choices": [choice(None)]}, "number": {"choices": [choice(7)]},
    "500": (500, {}, b"no"), "429": (429, {"Retry-After": "0"}, b"slow"),
}  # fmt: skip


@pytest.mark.parametrize("body", AGAIN.values(), ids=AGAIN)
def test_what_is_no_whole_completion_is_asked_again(service, quick, body):
    served = service(lambda p, n: body if n < 3 else whole())
    assert ask_judge(served, [TEXTS["uno"]]) == [GOOD] and len(served.asked) == 3


@roles
def test_a_request_that_stays_broken_fails_alone(service, quick, caplog, role, ask):
    broken = {"choices": [choice("Drink", "network_error")]}
    served = service(lambda p, n: broken if "uno" in p else whole())
    first, second = ask(served, [TEXTS["uno"], TEXTS["dos"]])
    assert second == GOOD and sum("uno" in p for p in served.asked) == 8
    assert first is None if role == "translator" else first.outcome == REQUEST_FAILED
    if role != "the model under test":
        assert "broken off (network_error): 1" in caplog.text


@roles
def test_html_to_everything_ends_the_run_in_words_after_the_first_few(
    service, caplog, monkeypatch, role, ask
):
    monkeypatch.setattr(RetryPolicy, "wait", lambda self, failure, attempt: 0.02)
    served = service(lambda p, n: AGAIN["html"])
    with pytest.raises(BackendError, match=r"no completion in anything.*check base_url.*no JSON"):
        ask(served, [f"Pregunta {i} sobre la salud." for i in range(60)])
    assert len(served.asked) <= 4 * 12
    assert f"{role}: no JSON in the body: <!doctype html><title>Sign in" in caplog.text


@roles
@pytest.mark.parametrize("status", [401, 402, 429])
def test_a_wrong_key_or_no_credit_ends_the_run_at_the_first(service, role, ask, status):
    served = service(lambda p, n: (status, {}, b'{"error": {"code": "insufficient_quota"}}'))
    with pytest.raises(BackendError, match=f"check the API key.*status {status}"):
        ask(served, [f"Pregunta {i} sobre la salud." for i in range(50)])
    assert len(served.asked) <= 4  # as many as are under way


@roles
@pytest.mark.parametrize("content", [..., None, "", "Drink plenty"])
def test_what_was_cut_off(service, caplog, role, ask, content):
    """The model's is recorded; of a translation it is done again with room, else unscored."""
    served = service(lambda p, n: {"choices": [choice(content, "length", reasoning_content="Hm")]})
    (response,) = ask(served, [TEXTS["uno"]])
    rooms = [body["max_tokens"] for body in served.requests]
    if role == "translator":
        assert response is None and rooms == [100, 400, 400, 400, 400]
        assert "have no translation (cut off: 1)" in caplog.text
        return
    text = "Drink plenty" if content == "Drink plenty" else ""
    assert (response, response.finish_reason, response.outcome) == (text, "length", "")
    assert response.reason == ("" if text else "no room left by thinking") and rooms == [100]
    if role == "judge" and response.reason:
        assert "no room left by thinking: 1" in caplog.text and "max_gen_toks" in caplog.text


@roles
def test_a_tool_call_fails_in_words_and_is_not_asked_again(service, caplog, role, ask):
    body = {"choices": [choice(None, "tool_calls", tool_calls=[{"id": "1"}])]}
    served = service(lambda p, n: body if "uno" in p else whole())
    first, second = ask(served, [TEXTS["uno"], TEXTS["dos"]])
    assert second == GOOD and sum("uno" in p for p in served.asked) == 1
    assert (
        first is None if role == "translator" else first.reason == "a tool call in place of a text"
    )
    assert "a tool call in place of a text: 1" in caplog.text or role == "the model under test"


BLOCKS = {
    "azure": {"error": {"code": "content_filter", "message": "filtered"}},
    "dashscope": {"code": "data_inspection_failed", "message": "inappropriate content"},
    "deepseek": {"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}},
    "zhipu": {"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301"}},
    "openrouter": {"error": {"code": 403, "message": "Input was flagged"}},
}


def refusing(service, body, word="uno"):
    data, status = json.dumps(body).encode(), 403 if "flagged" in str(body) else 400
    return service(lambda p, n: (status, {}, data) if word in p else whole())


@roles
@pytest.mark.parametrize("body", BLOCKS.values(), ids=BLOCKS)
def test_a_prompt_refused_each_time_is_blocked_whatever_the_wording(
    service, quick, role, ask, body
):
    served = refusing(service, body)
    first, *others = ask(served, [*TEXTS.values()])
    assert first is None if role == "translator" else first.outcome == CONTENT_FILTER
    assert others == [GOOD, GOOD]


def test_a_harmless_prompt_tells_where_no_other_was_asked(service, quick):
    served = refusing(service, BLOCKS["zhipu"])
    (response,) = ask_judge(served, ["uno"])
    assert response.outcome == CONTENT_FILTER
    assert served.asked == ["uno", "uno", "uno", "Reply with the word: ready"]


@roles
@pytest.mark.parametrize("status", [400, 403, 422])
@pytest.mark.parametrize("answered", [0, 20])
def test_a_service_that_refuses_a_harmless_prompt_too_ends_the_run(
    service, quick, role, ask, status, answered
):
    """A parameter that a model does not take; credit that is gone within a run blocks nothing."""
    refusal = (status, {}, b'{"error": "Your credit balance is too low"}')
    served = service(lambda p, n: whole(f"Beba {n}.") if n <= answered else refusal)
    with pytest.raises(BackendError, match=f"refuses a harmless prompt, too.*status {status}"):
        ask(served, [f"Pregunta {i} sobre la salud." for i in range(60)])
    assert len(served.asked) <= answered + 4 * 4


@roles
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("This model's maximum context length is 4096 tokens.", "prompt too long for the service"),
        ("Conversation roles must alternate user/assistant", "conversation refused by the chat template"),
        ("Only user and assistant roles; System role not supported", "conversation refused by the chat template"),
    ],
)  # fmt: skip
def test_a_prompt_refused_for_another_reason_is_no_block(service, role, ask, message, reason):
    served = refusing(service, {"error": {"message": message}})
    first, second = ask(served, [TEXTS["uno"], TEXTS["dos"]])
    assert second == GOOD and sum("uno" in p for p in served.asked) == 1
    assert role == "translator" or (first.outcome, first.reason) == (REQUEST_FAILED, reason)


@roles
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip bomb"])
def test_a_body_is_bounded(service, quick, monkeypatch, role, ask, packed):
    monkeypatch.setattr(http_api, "MAX_BODY", 2**20)
    text = json.dumps(whole("x" * 2**22)).encode()
    data, headers = (gzip.compress(text), {"Content-Encoding": "gzip"}) if packed else (text, {})
    small = json.dumps(whole()).encode()
    small = gzip.compress(small) if packed else small
    served = service(lambda p, n: (200, headers, data if "uno" in p else small))
    first, second = ask(served, [TEXTS["uno"], TEXTS["dos"]], max_retries=2)
    assert second == GOOD and sum("uno" in p for p in served.asked) == 2
    assert first is None if role == "translator" else "more than 1 MiB" in first.reason


def test_after_429_comes_a_back_off_of_our_own(service):
    headers = ({}, {"Retry-After": "0"})
    served = service(lambda p, n: (429, headers[n % 2], b"") if n < 4 else whole())
    assert ask_judge(served, ["a"]) == [GOOD]
    waits = [b - a for a, b in zip(served.times, served.times[1:])]
    assert len(waits) == 3 and all(w > 0.45 * 2**n for n, w in enumerate(waits))


@pytest.mark.parametrize("retry_after", [0.0, 3600.0])
def test_the_waits_for_a_rate_limit_are_bounded_in_sum(retry_after):
    policy = RetryPolicy(deadline=600)
    failure, seconds, attempt = RequestFailed("status 429", wait=retry_after), 0.0, 1
    while not policy.is_over(failure, attempt, seconds + (wait := policy.wait(failure, attempt))):
        seconds, attempt = seconds + wait, attempt + 1
    assert seconds <= 600 and 1 <= attempt < 100


def test_a_service_that_stops_working_ends_the_run_and_says_why(service, quick, caplog):
    caplog.set_level(logging.WARNING)
    served = service(lambda p, n: whole(p) if n <= 5 else (503, {}, b"upstream"))
    with pytest.raises(ServiceUnavailable, match=r"1\d requests in a row failed; status 503"):
        ask_judge(served, [f"q{i}" for i in range(40)])
    assert caplog.text.count("status 503: upstream") == 1


def test_the_few_prompts_that_fail_at_every_start_do_not_end_the_next(service, quick):
    served = service(lambda p, n: whole(p) if "ready" in p else (500, {}, b"no worker"))
    for response in ask_judge(served, ["q1", "q2", "q3"]):
        assert (response.outcome, response.reason) == (REQUEST_FAILED, "status 500")
    texts = [request["messages"][-1]["content"] for request in served.requests]
    assert texts.count("Reply with the word: ready") == 1


# Forms of a completion


@pytest.mark.parametrize(
    ("given", "outcome", "text", "reason"),
    [
        (choice("", "stop"), "", "", "empty"),
        (choice(None, "stop", reasoning="Hm"), "", "", "empty"),
        (choice("", "content_filter"), CONTENT_FILTER, "", "finish reason content_filter"),
        (choice(None, "stop", refusal="No."), CONTENT_FILTER, "", "finish reason stop"),
        (choice("", "model_context_window_exceeded"), "", "", "no room left by thinking"),
        (choice([{"type": "reasoning", "text": "Hm"}, {"type": "text", "text": "Drink"},
                 {"type": "text", "text": " it."}]), "", "Drink it.", ""),
    ],
)  # fmt: skip
def test_a_whole_completion(given, outcome, text, reason):
    lm = get_model("local-chat-completions")(model="m", base_url="http://127.0.0.1:1/v1")
    response = parse_body(lm, {"choices": [given]})
    finish = given["finish_reason"]
    assert (response.outcome, str(response), response.reason, response.finish_reason) == (
        outcome, text, reason, finish)  # fmt: skip


def test_tokens_and_thinking_as_the_harness_removes_it():
    args = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "think_end_token": "</think>"}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
             "completion_tokens_details": {"reasoning_tokens": 2}}  # fmt: skip
    body = {**whole("Hm.</think>\n\nRest."), "usage": usage}
    response = parse_body(get_model("local-chat-completions")(**args), body)
    assert response == "Rest."
    assert response.usage == {"prompt": 9, "completion": 5, "reasoning": 2}
    # Gemini's endpoint counts thinking in the total alone.
    gemini = {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 265}
    lm = get_model("local-chat-completions")(**args)
    response = parse_body(lm, {"choices": [choice("", "length")], "usage": gemini})
    assert response.usage == {"prompt": 9, "completion": 256, "reasoning": 256}
    # xAI's has it in the details, too, and not in the completion.
    xai = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135,
           "completion_tokens_details": {"reasoning_tokens": 94}}  # fmt: skip
    response = parse_body(lm, {**whole(), "usage": xai})
    assert response.usage == {"prompt": 32, "completion": 103, "reasoning": 94}
    # Anthropic's form.
    lm = SimpleNamespace(parse_generations=lambda outputs: [p["text"] for p in outputs["content"]])
    body = {"content": [{"type": "text", "text": "Rest."}], "stop_reason": "max_tokens",
            "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip
    response = parse_body(lm, body)
    assert (response, response.finish_reason) == ("Rest.", "max_tokens")
    assert response.usage == {"prompt": 3, "completion": 2}
