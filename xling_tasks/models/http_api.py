"""One request over HTTP: what an API backend of the harness sends, and what the reply is.

A reply is a response of the model, a blocked prompt, or a failed request. The forms are those of
OpenAI, Azure, Anthropic, Gemini, vLLM, OpenRouter, DeepSeek and Zhipu.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import email.utils
import json
import ssl
import time
import urllib.request
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from xling_tasks.failed_response import CONTENT_FILTER, TRUNCATED, FailedResponse, ModelResponse
from xling_tasks.harness.backends import clean_reply, is_own
from xling_tasks.models.retry import RequestFailed

# Bytes of one reply, unpacked: 200,000 tokens of Chinese, escaped as JSON, have a tenth of it.
MAX_BODY = 2**24


class ApiRequest(NamedTuple):
    """What a backend takes as context, and its generation arguments."""

    context: Any
    gen_kwargs: dict[str, Any]


def is_api_backend(lm: Any) -> bool:
    """Return whether requests to a backend are sent from here: the harness's API backends."""
    return is_own(lm, "generate_until")


def posts_plainly(lm: Any) -> bool:
    """Return whether a backend posts what `_create_payload` returns, by the harness's code."""
    return is_own(lm, "model_call", "amodel_call")


def concurrency(lm: Any) -> int:
    """Return how many requests a backend is sent at a time."""
    return max(1, int(getattr(lm, "_concurrent", 1) or 1)) if is_api_backend(lm) else 1


def open_session(lm: Any, timeout: float) -> Any:
    """Return a session with the backend's certificates and concurrency."""
    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    verify: Any = bool(getattr(lm, "verify_certificate", True))
    if verify and getattr(lm, "ca_cert_path", None):
        verify = ssl.create_default_context(cafile=lm.ca_cert_path)
    return ClientSession(
        connector=TCPConnector(limit=concurrency(lm), ssl=verify),
        timeout=ClientTimeout(total=timeout), trust_env=bool(urllib.request.getproxies()),
        auto_decompress=False, headers={"Accept-Encoding": "gzip, deflate"},
    )  # fmt: skip


async def post(lm: Any, session: Any, request: ApiRequest) -> ModelResponse:
    """Send a request once and return its response; raise RequestFailed if none came."""
    import aiohttp

    if not posts_plainly(lm):
        return await _post_by_client(lm, request)
    try:
        async with session.post(
            lm.base_url, json=build_payload(lm, request), headers=lm.header
        ) as response:
            status, headers = response.status, response.headers
            data = await _read_body(response)
    except asyncio.TimeoutError as error:
        raise RequestFailed("time-out") from error
    except (aiohttp.ClientError, OSError) as error:
        raise RequestFailed(f"no connection ({type(error).__name__})") from error
    if status >= 400:
        return parse_error_status(status, headers, data.decode("utf-8", "replace"))
    try:
        return parse_body(lm, json.loads(data))
    except (ValueError, RecursionError) as error:
        excerpt = data[:300].decode("utf-8", "replace")
        raise RequestFailed("no JSON in the body", excerpt, kind="malformed") from error


async def _post_by_client(lm: Any, request: ApiRequest) -> ModelResponse:
    """Send by the backend's own client (LiteLLM's and others)."""
    contents, gen_kwargs = _contents(lm, request), copy.deepcopy(request.gen_kwargs)
    try:
        body = await asyncio.to_thread(
            lambda: lm.model_call(contents, generate=True, gen_kwargs=gen_kwargs)
        )
    except Exception as error:
        if isinstance(status := getattr(error, "status_code", None), int):
            return parse_error_status(status, {}, str(error))
        raise RequestFailed(type(error).__name__, str(error)) from error
    return parse_body(lm, body.model_dump() if hasattr(body, "model_dump") else body)


async def _read_body(response: Any) -> bytes:
    """Read and unpack at most `MAX_BODY` bytes."""
    too_long = RequestFailed(f"a body of more than {MAX_BODY >> 20} MiB")
    data = b""
    async for chunk in response.content.iter_chunked(2**20):
        data += chunk
        if len(data) > MAX_BODY:
            raise too_long
    if response.headers.get("Content-Encoding", "").lower() in ("gzip", "deflate"):
        try:
            data = zlib.decompressobj(wbits=47).decompress(data, MAX_BODY + 1)
        except zlib.error as error:
            raise RequestFailed("a body that cannot be unpacked", kind="malformed") from error
    if len(data) > MAX_BODY:
        raise too_long
    return data


def build_payload(lm: Any, request: ApiRequest) -> dict[str, Any]:
    """Return what the backend sends for one request."""
    extra = {"eos": lm.eos_string} if lm.tokenizer is not None else {}
    payload: dict[str, Any] = lm._create_payload(
        lm.create_message(_contents(lm, request)), generate=True,
        gen_kwargs=copy.deepcopy(dict(request.gen_kwargs)), seed=lm._seed, **extra,
    )  # fmt: skip
    return payload


def _contents(lm: Any, request: ApiRequest) -> list[Any]:
    """Return a request's context as the payload takes it: text, or tokens cut to fit."""
    if not lm.tokenized_requests:
        return [request.context]
    tokens = lm.tok_encode([request.context], add_special_tokens=lm.add_bos_token)[0]
    max_tokens = lm.max_length - int(request.gen_kwargs.get("max_gen_toks", lm._max_gen_toks))
    return [tokens[-max(1, max_tokens) :]]


# What a reply is

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
    if status in (401, 402) or "insufficient_quota" in lower:  # OpenAI's 429 without credit
        raise RequestFailed(f"status {status}", text, retry=False, kind="account")
    of_prompt = status in (400, 403, 413, 422)
    for reason, words in _REFUSED.items():
        if of_prompt and any(word in lower for word in words):
            raise RequestFailed(reason, text, retry=False, kind="prompt")
    wait, after = 0.0, headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError, TypeError):
        wait = email.utils.parsedate_to_datetime(after).timestamp() - time.time()
    with contextlib.suppress(ValueError):
        wait = float(after)
    raise RequestFailed(
        f"status {status}", text, wait=max(0.0, wait), kind="prompt" if of_prompt else "service",
        retry=status >= 500 or status in (400, 403, 408, 409, 425, 429, 499),
    )  # fmt: skip


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
    if isinstance(content, list):  # of parts, among which thoughts and tool calls are no text
        kinds = (None, "text", "output_text")
        texts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") in kinds]
        content = "".join(text for text in texts if isinstance(text, str))
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
    content = content or ""
    # Some backends' own parsers remove a model's thinking.
    outputs = {"choices": [{"index": 0, "message": {"content": content}, "text": content}]}
    with contextlib.suppress(KeyError, TypeError):  # of another form: nothing to remove
        content = lm.parse_generations(outputs=outputs)[0]
    return ModelResponse(clean_reply(content), finish, usage)


def _usage(usage: Any) -> dict[str, int]:
    """Return tokens by kind, of the fields of OpenAI's and Anthropic's services.

    Gemini's endpoint counts thinking in the total alone (HELM #3804), xAI's in the details, too.
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
            counts["reasoning"] = max(counts.get("reasoning", 0), hidden)
    return counts
