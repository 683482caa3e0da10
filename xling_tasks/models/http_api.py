"""One request over HTTP: what an API backend of the harness sends, and the response."""

from __future__ import annotations

import asyncio
import copy
import json
import ssl
import urllib.request
import zlib
from typing import Any, NamedTuple

from xling_tasks.failed_response import ModelResponse
from xling_tasks.harness.backends import is_own
from xling_tasks.models.completions import parse_body, parse_error_status
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
