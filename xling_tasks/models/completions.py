"""What a service's reply is: a response of the model, a blocked prompt, or a failed request.

The forms are those of OpenAI, Azure, Anthropic, Gemini, vLLM, OpenRouter, DeepSeek and Zhipu.
"""

from __future__ import annotations

import contextlib
import email.utils
import time
from collections.abc import Mapping
from typing import Any

from xling_tasks.failed_response import CONTENT_FILTER, TRUNCATED, FailedResponse, ModelResponse
from xling_tasks.harness.backends import clean_reply
from xling_tasks.models.retry import RequestFailed

_FILTERED = ("content_filter", "content management policy", "content_policy_violation")
# What else a prompt may be refused for: its length, and its turns by the model's chat template
# (lm-evaluation-harness #2069, llama.cpp #21879).
_REFUSED = {
    "prompt too long for the service": (
        "context length", "context_length", "maximum context", "too long", "max_model_len",
    ),
    "conversation refused by the chat template": (
        "chat template", "chat_template", "jinja", "must alternate", "system role",
    ),
}  # fmt: skip
_BLOCKED = {"content_filter", "safety", "refusal", "sensitive", "recitation", "blocklist", "spii",
            "prohibited_content"}  # fmt: skip
_BROKEN_OFF = {"error", "abort", "network_error", "insufficient_system_resource", "cancelled"}


def parse_error_status(status: int, headers: Mapping[str, str], text: str) -> FailedResponse:
    """Return the block of a content filter; raise RequestFailed for any other error status."""
    lower = text[:10_000].lower()
    if status in (400, 403, 422) and any(word in lower for word in _FILTERED):
        return FailedResponse(CONTENT_FILTER, "content filter")
    if status in (401, 402):
        raise RequestFailed(f"status {status}", text, retry=False, kind="account")
    of_prompt = status in (400, 413, 422)
    for reason, words in _REFUSED.items():
        if of_prompt and any(word in lower for word in words):
            raise RequestFailed(reason, text, retry=False, kind="prompt")
    raise RequestFailed(
        f"status {status}", text, retry=status >= 500 or status in (400, 408, 409, 425, 429, 499),
        wait=_retry_after(headers), kind="prompt" if of_prompt else "service",
    )  # fmt: skip


def _retry_after(headers: Mapping[str, str]) -> float:
    value = headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return 0.0


def parse_body(lm: Any, body: Any) -> ModelResponse:
    """Return what a body with status 200 says; raise RequestFailed without a whole completion.

    A body of the harness's chat and text completions has `choices`; Anthropic's has `content`.
    """
    body = body[0] if isinstance(body, list) and body else body
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if choice is None and isinstance(body, dict) and isinstance(body.get("content"), list):
        choice = {"message": body}
    if not isinstance(choice, dict) or not isinstance(choice.get("message") or {}, dict):
        raise RequestFailed("no completion in the body", str(body)[:300], kind="malformed")
    reason = choice.get("finish_reason") or body.get("stop_reason") or body.get("finish_reason")
    finish = str(reason or "").lower()
    error = choice.get("error") or body.get("error")
    if error or finish in _BROKEN_OFF:
        raise RequestFailed(f"broken off ({finish or 'error'})", str(error or ""))
    message, usage = choice.get("message") or choice, _usage(body.get("usage"))
    content = message.get("content", choice.get("text"))
    if isinstance(content, list):
        content = _join_parts(content)
    if content is not None and not isinstance(content, str):
        raise RequestFailed("content that is no text", repr(content)[:300], kind="malformed")
    if finish in _BLOCKED or (message.get("refusal") and not content):
        return FailedResponse(CONTENT_FILTER, f"finish reason {finish}", "", finish, usage)
    if not content and finish in TRUNCATED:  # a reasoning model's thoughts took all the room
        return ModelResponse("", finish, usage)
    if not content and (message.get("tool_calls") or finish in ("tool_calls", "tool_use")):
        raise RequestFailed("a tool call in place of a text", retry=False, kind="prompt")
    if content is None and not (message.get("reasoning_content") or message.get("reasoning")):
        raise RequestFailed("null content", kind="prompt")
    return ModelResponse(_postprocess(lm, content or ""), finish, usage)


def _join_parts(parts: list[Any]) -> str:
    """Join the texts among a message's parts; thoughts and tool calls are none."""
    kinds = (None, "text", "output_text")
    texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") in kinds]
    return "".join(text for text in texts if isinstance(text, str))


def _postprocess(lm: Any, content: str) -> str:
    """Return the text as the backend's own parser does: some remove a model's thinking."""
    outputs = {"choices": [{"index": 0, "message": {"content": content}, "text": content}]}
    try:
        return clean_reply(lm.parse_generations(outputs=outputs)[0])
    except (KeyError, TypeError):  # of another form, without anything to remove
        return clean_reply(content)


def _usage(usage: Any) -> dict[str, int]:
    """Return tokens by kind, of the fields of OpenAI's and Anthropic's services.

    Gemini's endpoint counts thinking in the total alone (HELM #3804).
    """
    if not isinstance(usage, dict):
        return {}
    details = usage.get("completion_tokens_details")
    tokens = {
        "prompt": usage.get("prompt_tokens", usage.get("input_tokens")),
        "completion": usage.get("completion_tokens", usage.get("output_tokens")),
        "reasoning": details.get("reasoning_tokens") if isinstance(details, dict) else None,
    }
    counts = {name: n for name, n in tokens.items() if type(n) is int}
    total = usage.get("total_tokens")
    if type(total) is int and {"prompt", "completion"} <= counts.keys():
        hidden = total - counts["prompt"] - counts["completion"]
        if hidden > 0:
            counts["completion"] += hidden
            counts["reasoning"] = counts.get("reasoning", 0) + hidden
    return counts
