"""What a service's reply is: a response of the model, a blocked prompt, or a failed request.

The forms are those of OpenAI, Azure, Anthropic, Gemini, vLLM, OpenRouter, DeepSeek and Zhipu.
"""

from __future__ import annotations

import contextlib
import email.utils
import time
from collections.abc import Mapping
from typing import Any

from xling_tasks.failed_response import (
    CONTENT_FILTER,
    TRUNCATED,
    FailedResponse,
    ModelResponse,
)
from xling_tasks.harness.backends import clean_reply
from xling_tasks.models.retry import RequestFailed

TOO_LONG = "prompt too long for the service"
TOOL_CALL = "a tool call in place of a text"
TEMPLATE = "conversation refused by the chat template"

_FILTERED = ("content_filter", "content management policy", "content_policy_violation")
_TOO_LONG = ("context length", "context_length", "maximum context", "too long", "max_model_len")
_TEMPLATE = ("chat template", "chat_template", "jinja", "must alternate", "system role")
_RETRIED = {400, 408, 409, 425, 429, 499}
_ACCOUNT = {401, 402}

_BLOCKED = {"content_filter", "safety", "refusal", "sensitive", "recitation", "blocklist", "spii",
            "prohibited_content"}  # fmt: skip
_BROKEN_OFF = {"error", "abort", "network_error", "insufficient_system_resource", "cancelled"}


def parse_error_status(status: int, headers: Mapping[str, str], text: str) -> FailedResponse:
    """Return the block of a content filter that says so.

    Raises:
        RequestFailed: For any other error status.
    """
    lower = text[:10_000].lower()
    if status in (400, 403, 422) and any(word in lower for word in _FILTERED):
        return FailedResponse(CONTENT_FILTER, "content filter")
    reason = f"status {status}"
    if status in _ACCOUNT:
        raise RequestFailed(reason, text, retry=False, kind="account")
    if status in (400, 413, 422) and any(words in lower for words in _TOO_LONG):
        raise RequestFailed(TOO_LONG, text, retry=False, kind="prompt")
    if status in (400, 422) and any(words in lower for words in _TEMPLATE):
        raise RequestFailed(TEMPLATE, text, retry=False, kind="prompt")
    raise RequestFailed(
        reason, text, retry=status >= 500 or status in _RETRIED, wait=_retry_after(headers),
        kind="prompt" if status in (400, 413, 422) else "service",
    )  # fmt: skip


def _retry_after(headers: Mapping[str, str]) -> float:
    value = headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return 0.0


def parse_body(lm: Any, body: Any) -> ModelResponse:
    """Return what a body with status 200 says.

    A body of the harness's chat and text completions has `choices`; Anthropic's has `content`.

    Raises:
        RequestFailed: If there is no whole completion in it.
    """
    body = body[0] if isinstance(body, list) and body else body
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if choice is None and isinstance(body, dict) and isinstance(body.get("content"), list):
        choice = {"message": body}
    if not isinstance(choice, dict) or not isinstance(choice.get("message") or {}, dict):
        raise RequestFailed("no completion in the body", str(body)[:300], kind="malformed")
    finish = _finish_reason(choice, body)
    if choice.get("error") or body.get("error") or finish in _BROKEN_OFF:
        error = choice.get("error") or body.get("error") or ""
        raise RequestFailed(f"broken off ({finish or 'error'})", str(error))
    return _parse_choice(lm, body, choice, finish)


def _finish_reason(choice: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    reason = choice.get("finish_reason") or body.get("stop_reason") or body.get("finish_reason")
    return str(reason or "").lower()


def _parse_choice(
    lm: Any, body: dict[str, Any], choice: dict[str, Any], finish: str
) -> ModelResponse:
    """Return the response of a choice that was not broken off."""
    message, usage = choice.get("message") or choice, _usage(body.get("usage"))
    content = message.get("content", choice.get("text"))
    if isinstance(content, list):
        content = message["content"] = _join_parts(content)
    if content is not None and not isinstance(content, str):
        raise RequestFailed("content that is no text", repr(content)[:300], kind="malformed")
    if finish in _BLOCKED or (message.get("refusal") and not content):
        return FailedResponse(CONTENT_FILTER, f"finish reason {finish}", "", finish, usage)
    if not content and finish in TRUNCATED:
        return ModelResponse("", finish, usage)
    if not content and (message.get("tool_calls") or finish in ("tool_calls", "tool_use")):
        raise RequestFailed(TOOL_CALL, retry=False, kind="prompt")
    if content is None and not (message.get("reasoning_content") or message.get("reasoning")):
        raise RequestFailed("null content", kind="prompt")
    return ModelResponse(_postprocess(lm, content or ""), finish, usage)


def _join_parts(parts: list[Any]) -> str:
    """Join the texts among a message's parts; thoughts and tool calls are none."""
    kinds = (None, "text", "output_text")
    texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") in kinds]
    return "".join(text for text in texts if isinstance(text, str))


def _postprocess(lm: Any, content: str) -> str:
    """Return the text as the backend's own parser returns it: some remove a model's thinking."""
    outputs = {"choices": [{"index": 0, "message": {"content": content}, "text": content}]}
    try:
        texts = lm.parse_generations(outputs=outputs)
    except (KeyError, TypeError):  # another form of bodies, without anything to remove
        texts = [content]
    return clean_reply(texts[0] if texts else content)


def _usage(usage: Any) -> dict[str, int]:
    """Return tokens by kind, of the fields of OpenAI's and Anthropic's services."""
    if not isinstance(usage, dict):
        return {}
    details = usage.get("completion_tokens_details")
    tokens = {
        "prompt": usage.get("prompt_tokens", usage.get("input_tokens")),
        "completion": usage.get("completion_tokens", usage.get("output_tokens")),
        "reasoning": details.get("reasoning_tokens") if isinstance(details, dict) else None,
    }
    return {name: n for name, n in tokens.items() if type(n) is int}
