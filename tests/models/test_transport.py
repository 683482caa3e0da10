"""What services send that is no completion, or none that is whole; blocked prompts; and trouble.

Forms are those of public reports: OpenRouter, vLLM, DeepSeek, Zhipu, DashScope, Azure, Anthropic, Gemini.
"""

from __future__ import annotations

import gzip
import json
import logging
import time
from types import SimpleNamespace

import pytest
from lm_eval.api.registry import get_model
from loopback import Loopback

from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED, FailedResponse
from xling_tasks.models import http_api
from xling_tasks.models.completions import parse_body
from xling_tasks.models.http_api import ApiRequest
from xling_tasks.models.retry import RequestFailed, RetryPolicy, ServiceUnavailable
from xling_tasks.models.transport import ModelClient


def chat(base_url="http://127.0.0.1:1/v1/chat/completions", **more):
    return get_model("local-chat-completions")(
        model="m", base_url=base_url, **{"num_concurrent": 4, **more}
    )


def choice(content="Drink water.", finish="stop", **more):
    message = {"role": "assistant", **({} if content is ... else {"content": content}), **more}
    return {"index": 0, "message": message, "finish_reason": finish}


def whole(text="Drink water."):
    return {"choices": [choice(text)]}


FAILURES = {
    "no choices": {"id": "1", "object": "chat.completion"},
    "empty": {}, "empty choices": {"choices": []}, "null": None,
    "zhipu": {"code": 1302, "msg": "too many"},
    "baidu": {"error_code": 18, "error_msg": "Open api qps request limit reached"},
    "rfc 7807": {"title": "Bad gateway", "status": 502},
    "aws": {"__type": "ThrottlingException"},
    "apigee": {"fault": {"faultstring": "Spike arrest violation"}},
    "error with choices": {"error": {"code": 502}, "choices": [choice()]},
    "error in the choice": {"choices": [{**choice("Drink wa"), "error": {"code": 502}}]},
    **{finish: {"choices": [choice("Drink wa", finish)]}
       for finish in ("error", "abort", "network_error", "insufficient_system_resource")},
    "null content": {"choices": [choice(None)]},
    "no content": {"choices": [choice(...)]},
    "a number": {"choices": [choice(7)]}, "an object": {"choices": [choice({"text": "x"})]},
    "tool call": {"choices": [choice(None, "tool_calls", tool_calls=[{"id": "1"}])]},
    "text": "busy", "number": 7, "list": [], "list of numbers": [1],
    "message is text": {"choices": [{"message": "x", "finish_reason": "stop"}]},
}  # fmt: skip


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES)
def test_no_whole_completion_is_a_failed_request(body):
    with pytest.raises(RequestFailed):
        parse_body(chat(), body)


@pytest.mark.parametrize(
    ("given", "outcome", "text", "reason"),
    [
        (choice(), "", "Drink water.", ""),
        (choice("Drink wa", "length"), "", "Drink wa", ""),
        (choice("", "stop"), "", "", "empty"),
        (choice(..., "length"), "", "", "no room left by thinking"),
        (choice(None, "length", reasoning_content="Hm"), "", "", "no room left by thinking"),
        (choice(None, "stop", reasoning="Hm"), "", "", "empty"),
        (choice("", "content_filter"), CONTENT_FILTER, "", "finish reason content_filter"),
        (choice(None, "stop", refusal="No."), CONTENT_FILTER, "", "finish reason stop"),
        (choice([{"type": "reasoning", "text": "Hm"}, {"type": "text", "text": "Drink"},
                 {"type": "text", "text": " it."}]), "", "Drink it.", ""),
    ],
)  # fmt: skip
def test_a_whole_completion(given, outcome, text, reason):
    response = parse_body(chat(), {"choices": [given]})
    finish = given["finish_reason"]
    assert (response.outcome, str(response), response.reason, response.finish_reason) == (
        outcome, text, reason, finish)  # fmt: skip


def test_tokens():
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
             "completion_tokens_details": {"reasoning_tokens": 2}}  # fmt: skip
    response = parse_body(chat(), {"choices": [choice()], "usage": usage})
    assert response.usage == {"prompt": 9, "completion": 5, "reasoning": 2}


def test_anthropics_form():
    lm = SimpleNamespace(parse_generations=lambda outputs: [p["text"] for p in outputs["content"]])
    body = {"content": [{"type": "text", "text": "Rest."}], "stop_reason": "max_tokens",
            "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip
    response = parse_body(lm, body)
    assert (response, response.finish_reason) == ("Rest.", "max_tokens")
    assert response.usage == {"prompt": 3, "completion": 2}


def test_thinking_is_removed_as_the_harness_does():
    response = parse_body(chat(think_end_token="</think>"), whole("Hm.</think>\n\nRest."))
    assert response == "Rest."


# On loopback


class Service(Loopback):
    """A service that answers a prompt with `reply(prompt, number)`: a body, or status, headers, bytes."""

    def __init__(self, reply):
        self.reply, self.prompts, self.times = reply, [], []
        super().__init__()

    def respond(self, path, headers, body):
        prompt = json.loads(body)["messages"][-1]["content"]
        self.prompts.append(prompt)
        self.times.append(time.monotonic())
        given = self.reply(prompt, len(self.prompts))
        if isinstance(given, dict):
            given = (200, {"Content-Type": "application/json"}, json.dumps(given).encode())
        return given

    def ask(self, prompts, args=None, **more):
        """The responses to some prompts."""
        lm = chat(f"{self.host}/v1/chat/completions", **more)
        requests = [
            ApiRequest(
                lm.apply_chat_template([{"role": "user", "content": p}]), {"max_gen_toks": 8}
            )
            for p in prompts
        ]
        client = ModelClient("the model", lm, args or {})
        return client.send(requests)


@pytest.fixture
def service():
    started = []

    def start(reply):
        started.append(Service(reply))
        return started[-1]

    yield start
    for item in started:
        item.close()


@pytest.fixture
def quick(monkeypatch):
    """Without waits, but for those that a service asks for."""
    monkeypatch.setattr(RetryPolicy, "wait", lambda self, failure, attempt: failure.wait)


def outcomes(responses):
    return [response.outcome for response in responses]


def test_a_200_without_completion_is_asked_again(service, quick):
    served = service(lambda p, n: {"code": 1302} if served.prompts.count(p) < 3 else whole(p))
    assert served.ask(["a", "b"]) == ["a", "b"] and sorted(served.prompts) == [*"aaabbb"]


def test_html_to_everything_ends_the_run_in_words_after_the_first_few(service, caplog, monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait", lambda self, failure, attempt: 0.1)
    page = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Sign in</title>")
    served = service(lambda p, n: page)
    with pytest.raises(
        ServiceUnavailable, match=r"no completion in anything.*check base_url.*no JSON"
    ):
        served.ask([f"question {i}" for i in range(96)], num_concurrent=8)
    assert len(served.prompts) <= 8 * 6
    assert "the model: no JSON in the body: <!doctype html><title>Sign in" in caplog.text


@pytest.mark.parametrize("status", [401, 402])
def test_a_wrong_key_or_no_credit_ends_the_run_at_the_first(service, status):
    served = service(lambda p, n: (status, {}, b'{"error": {"message": "no"}}'))
    with pytest.raises(ServiceUnavailable, match=f"check the API key.*status {status}"):
        served.ask([f"question {i}" for i in range(50)])
    assert len(served.prompts) <= 4  # as many as are under way


def test_half_a_text_is_no_answer(service, quick):
    broken = {"choices": [choice("Drink wa", "network_error")]}
    served = service(lambda p, n: broken if p == "a" else whole())
    first, second = served.ask(["a", "b"])
    assert (first, second) == (FailedResponse(REQUEST_FAILED, ""), "Drink water.")
    assert first.reason == "broken off (network_error)" and served.prompts.count("a") == 8


def test_what_is_of_one_prompt_is_not_asked_again(service):
    """Thinking that took all the room, and a tool call."""
    bodies = {"room": {"choices": [choice(..., "length")]},
              "tool": {"choices": [choice(None, "tool_calls", tool_calls=[{"id": "1"}])]}}  # fmt: skip
    served = service(lambda p, n: bodies[p])
    room, tool = served.ask(["room", "tool"])
    assert (room, room.reason) == ("", "no room left by thinking")
    assert (tool.outcome, tool.reason) == (REQUEST_FAILED, "a tool call in place of a text")
    assert sorted(served.prompts) == ["room", "tool"]


BLOCKS = {
    "azure": {"error": {"code": "content_filter", "message": "filtered"}},
    "dashscope": {"code": "data_inspection_failed", "message": "inappropriate content"},
    "deepseek": {"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}},
    "zhipu": {"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301"}},
}


def refusing(service, body, word="bad"):
    data = json.dumps(body).encode()
    return service(lambda p, n: (400, {}, data) if word in p else whole())


@pytest.mark.parametrize("provider", BLOCKS)
def test_a_prompt_refused_each_time_is_blocked_whatever_the_wording(service, quick, provider):
    served = refusing(service, BLOCKS[provider])
    assert outcomes(served.ask(["good", "bad", "fine"])) == ["", CONTENT_FILTER, ""]


def test_a_harmless_prompt_tells_where_no_other_was_asked(service, quick):
    served = refusing(service, BLOCKS["zhipu"])
    assert outcomes(served.ask(["bad"])) == [CONTENT_FILTER]
    assert served.prompts == ["bad", "bad", "bad", "Reply with the word: ready"]


def test_a_service_that_refuses_everything_blocks_nothing(service, quick):
    served = refusing(service, {"error": "unknown parameter"}, word="")
    assert outcomes(served.ask(["one", "two"])) == [REQUEST_FAILED, REQUEST_FAILED]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("This model's maximum context length is 4096 tokens.", "prompt too long for the service"),
        ("Conversation roles must alternate user/assistant", "conversation refused by the chat template"),
        ("Only user and assistant roles; System role not supported", "conversation refused by the chat template"),
    ],
)  # fmt: skip
def test_a_prompt_refused_for_another_reason_is_no_block(service, message, reason):
    served = refusing(service, {"error": {"message": message}})
    good, bad = served.ask(["good", "bad"])
    assert (good.outcome, bad.outcome, bad.reason) == ("", REQUEST_FAILED, reason)
    assert served.prompts.count("bad") == 1


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0"}])
def test_after_429_comes_a_back_off_of_our_own(service, headers):
    served = service(lambda p, n: (429, headers, b"") if n < 4 else whole())
    assert served.ask(["a"], num_concurrent=1) == ["Drink water."]
    waits = [b - a for a, b in zip(served.times, served.times[1:])]
    assert len(waits) == 3 and all(w > 0.45 * 2**n for n, w in enumerate(waits))


def test_the_waits_for_a_rate_limit_are_bounded_in_sum():
    policy = RetryPolicy(deadline=600)
    for retry_after in (0.0, 7.0, 3600.0):
        failure, seconds, attempt = RequestFailed("status 429", wait=retry_after), 0.0, 1
        while not policy.is_over(
            failure, attempt, seconds + (wait := policy.wait(failure, attempt))
        ):
            seconds, attempt = seconds + wait, attempt + 1
        assert seconds <= 600 and 1 <= attempt < 100


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip bomb"])
def test_a_body_is_bounded(service, quick, monkeypatch, packed):
    monkeypatch.setattr(http_api, "MAX_BODY", 2**20)
    text = json.dumps(whole("x" * 2**22)).encode()
    data, headers = (gzip.compress(text), {"Content-Encoding": "gzip"}) if packed else (text, {})
    served = service(lambda p, n: (200, headers, data) if p == "long" else whole(p))
    long, other = served.ask(["long", "b"], {"max_retries": 2})
    assert (long.outcome, other) == (REQUEST_FAILED, "b")
    assert "more than 1 MiB" in long.reason


def test_a_packed_body_is_unpacked(service):
    data = gzip.compress(json.dumps(whole("Rest.")).encode())
    served = service(lambda p, n: (200, {"Content-Encoding": "gzip"}, data))
    assert served.ask(["a"]) == ["Rest."]


def test_a_service_that_stops_working_ends_the_run_and_says_why(service, quick, caplog):
    caplog.set_level(logging.WARNING)
    served = service(lambda p, n: whole(p) if n <= 5 else (503, {}, b"upstream"))
    with pytest.raises(ServiceUnavailable, match=r"1\d requests in a row failed; status 503"):
        served.ask([f"q{i}" for i in range(40)])
    assert caplog.text.count("status 503: upstream") == 1
