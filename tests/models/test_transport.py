"""What services reply that is no completion, or none that is whole; and prompts that they hold back.

Forms are those of public reports: OpenRouter, vLLM, DeepSeek, Zhipu, DashScope, Azure, Anthropic.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from xling_tasks.models.service import (
    ANSWER,
    EMPTY,
    FAILED,
    REFUSED,
    Call,
    CallFailed,
    Health,
    Limits,
    reply_in,
    stream,
)  # fmt: skip


def chat(base_url="http://127.0.0.1:1/v1/chat/completions"):
    from lm_eval.api.registry import get_model

    return get_model("local-chat-completions")(model="m", base_url=base_url, num_concurrent=4)


def choice(content="Drink water.", finish="stop", **more):
    message = {"role": "assistant", **({} if content is ... else {"content": content}), **more}
    return {"index": 0, "message": message, "finish_reason": finish}


CALL = Call("p", {"max_gen_toks": 8})
FAILURES = {
    "no choices": {"id": "1", "object": "chat.completion"},
    "empty choices": {"choices": []},
    "zhipu": {"code": 1302, "msg": "too many"},
    "baidu": {"error_code": 18, "error_msg": "Open api qps request limit reached"},
    "rfc 7807": {"title": "Bad gateway", "status": 502},
    "aws": {"__type": "ThrottlingException"},
    "apigee": {"fault": {"faultstring": "Spike arrest violation"}},
    "error with choices": {"error": {"code": 502}, "choices": [choice()]},
    "error in the choice": {"choices": [{**choice("Drink wa"), "error": {"code": 502}}]},
    **{finish: {"choices": [choice("Drink wa", finish)]}
       for finish in ("error", "abort", "network_error", "insufficient_system_resource")},
    "null": {"choices": [choice(None)]},
    "no content": {"choices": [choice(...)]},
    "tool call": {"choices": [choice(None, "tool_calls", tool_calls=[{"id": "1"}])]},
    "text": "busy", "number": 7, "list": [], "list of numbers": [1],
    "message is text": {"choices": [{"message": "x", "finish_reason": "stop"}]},
}  # fmt: skip


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES)
def test_no_whole_completion_is_a_failed_call(body):
    with pytest.raises(CallFailed):
        reply_in(chat(), CALL, body)


@pytest.mark.parametrize(
    ("given", "outcome", "text"),
    [
        (choice(), ANSWER, "Drink water."),
        (choice("Drink wa", "length"), ANSWER, "Drink wa"),
        (choice("", "stop"), EMPTY, ""),
        (choice(..., "length"), EMPTY, ""),
        (choice(None, "length", reasoning_content="Hm"), EMPTY, ""),
        (choice(None, "stop", reasoning="Hm"), EMPTY, ""),
        (choice("", "content_filter"), REFUSED, ""),
        (choice(None, "stop", refusal="No."), REFUSED, ""),
        (choice([{"type": "text", "text": "Drink"}, {"type": "text", "text": " it."}]), ANSWER, "Drink it."),
    ],
)  # fmt: skip
def test_what_a_whole_completion_says(given, outcome, text):
    reply = reply_in(chat(), CALL, {"choices": [given]})
    assert (reply.outcome, reply.text, reply.finish) == (outcome, text, given["finish_reason"])


def test_tokens_are_kept():
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    reply = reply_in(chat(), CALL, {"choices": [choice()], "usage": usage})
    assert reply.usage == {"prompt": 9, "completion": 5, "reasoning": 2}


def test_anthropics_form():
    lm = SimpleNamespace(
        parse_generations=lambda outputs: [each["text"] for each in outputs["content"]],
        cache_hook=SimpleNamespace(add_partial=lambda *_: None),
    )
    body = {"content": [{"type": "text", "text": "Rest."}], "stop_reason": "max_tokens",
            "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip
    reply = reply_in(lm, CALL, body)
    assert (reply.text, reply.finish, reply.usage) == (
        "Rest.",
        "max_tokens",
        {"prompt": 3, "completion": 2},
    )


BODIES = {
    "azure": {"error": {"code": "content_filter", "message": "filtered"}},
    "dashscope": {"code": "data_inspection_failed", "message": "inappropriate content"},
    "deepseek": {"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}},
    "zhipu": {"contentFilter": [{"level": 1}], "error": {"code": "1301", "message": "..."}},
}


@contextmanager
def filtering(body, status=400, word="bad"):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][
                -1
            ]["content"]
            asked.append(prompt)
            held = word in prompt
            data = json.dumps(body if held else {"choices": [choice()]}).encode()
            self.send_response(status if held else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions", asked
    finally:
        server.shutdown()
        server.server_close()


def replies(url, prompts):
    lm = chat(url)
    calls = [
        Call(lm.apply_chat_template([{"role": "user", "content": p}]), {"max_gen_toks": 8})
        for p in prompts
    ]
    limits = Limits.of({})
    arrived = stream(lm, calls, limits, Health("the model", limits, 4))
    found = dict(pair for part in arrived for pair in part)
    return [found[i].outcome for i in range(len(prompts))]


@pytest.mark.parametrize("service", BODIES)
def test_a_prompt_refused_each_time_is_held_back_whatever_the_wording(service):
    with filtering(BODIES[service]) as (url, _):
        assert replies(url, ["good", "bad", "fine"]) == [ANSWER, REFUSED, ANSWER]


def test_a_harmless_prompt_tells_where_no_other_was_asked():
    with filtering(BODIES["zhipu"]) as (url, asked):
        assert replies(url, ["bad"]) == [REFUSED]
        assert asked.count("bad") == 3 and "Reply with the word: ready" in asked


def test_a_service_that_refuses_everything_holds_nothing_back():
    with filtering({"error": "unknown parameter"}, word="") as (url, _):
        assert replies(url, ["one", "two"]) == [FAILED, FAILED]


def test_too_long_a_prompt_is_no_filter():
    body = {"error": {"message": "This model's maximum context length is 4096 tokens."}}
    with filtering(body) as (url, asked):
        assert replies(url, ["good", "bad"]) == [ANSWER, FAILED] and asked.count("bad") == 1
