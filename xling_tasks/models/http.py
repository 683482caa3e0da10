"""One HTTP request to a service, in the words of the harness's API backends."""

from __future__ import annotations

import asyncio
import copy
import email.utils
import json
import math
import time
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from xling_tasks.harness.backends import is_own
from xling_tasks.log import warn_once
from xling_tasks.models.failures import REFUSED, CallFailed, Reply
from xling_tasks.secrets import redact_log

TOO_MANY = "status 429"
"""The reason of a call that a rate limit held back for too long."""

_FILTERED = ("content_filter", "content management policy", "content_policy_violation")
_CONTENT = {400, 413, 422}
_AGAIN = {408, 409, 425, 429, 499}


def session(lm: Any, concurrent: int, timeout: float) -> Any:
    """An aiohttp session as the backend would open one."""
    import ssl

    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    verify: Any = bool(getattr(lm, "verify_certificate", True))
    authority = getattr(lm, "ca_cert_path", None)
    if verify and authority:
        verify = ssl.create_default_context(cafile=authority)
    return ClientSession(
        connector=TCPConnector(limit=concurrent, ssl=verify),
        timeout=ClientTimeout(total=timeout),
        trust_env=bool(urllib.request.getproxies()),
    )


async def post(lm: Any, session: Any, messages: list[Any], gen_kwargs: dict[str, Any]) -> Any:
    """Send one request.

    Returns:
        The body's JSON; a Reply where a status says that a filter refused.

    Raises:
        CallFailed: With the reason, and whether to ask again.
    """
    if not is_plain(lm):
        return await _through_backend(lm, messages, gen_kwargs)
    import aiohttp

    asked = payload(lm, messages, gen_kwargs)
    try:
        async with session.post(lm.base_url, json=asked, headers=lm.header) as response:
            data = await response.read()
            status, headers = response.status, response.headers
    except asyncio.TimeoutError as error:
        raise CallFailed("time-out", down=True) from error
    except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError) as error:
        raise CallFailed("connection cut", down=True) from error
    except aiohttp.InvalidURL as error:
        raise CallFailed("no valid base_url", again=False, down=True) from error
    except (aiohttp.ClientError, OSError) as error:
        raise CallFailed(f"no connection ({type(error).__name__})", down=True) from error
    if status >= 400:
        return refused(status, headers, data.decode("utf-8", "replace"))
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CallFailed("no JSON in the body" if data.strip() else "empty body") from error


def payload(lm: Any, messages: list[Any], gen_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What the backend sends for one request."""
    extra = {"eos": lm.eos_string} if lm.tokenizer is not None else {}
    arguments = copy.deepcopy(dict(gen_kwargs))  # a payload takes its arguments out of the mapping
    asked: dict[str, Any] = lm._create_payload(
        lm.create_message(messages), generate=True, gen_kwargs=arguments, seed=lm._seed, **extra
    )
    return asked


def refused(status: int, headers: Mapping[str, str], text: str) -> Reply:
    """What an error status means: a filter's refusal, or a failure.

    Raises:
        CallFailed: For a failure.
    """
    if status in (400, 403, 422) and any(word in text.lower() for word in _FILTERED):
        return Reply("", REFUSED, "content filter")
    shown = " ".join(redact_log(text).split())[:200]
    warn_once(f"a service answers with status {status}: {shown or 'no text'}")
    again = status >= 500 or status in _AGAIN
    raise CallFailed(
        f"status {status}",
        again=again,
        down=status not in _CONTENT,
        wait=retry_after(headers) if again else None,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a header `Retry-After` (seconds or a date); None where there is none."""
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            seconds = float(said) / unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(said).timestamp() - time.time()
            except (TypeError, ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def is_plain(lm: Any) -> bool:
    """Whether a backend posts by itself what `_create_payload` says (LiteLLM's does not)."""
    return is_own(lm, "model_call", "amodel_call")


_threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="xling-call")


async def _through_backend(lm: Any, messages: list[Any], gen_kwargs: dict[str, Any]) -> Any:
    """A call by the backend's own client, in a thread."""
    loop = asyncio.get_running_loop()
    try:
        body = await loop.run_in_executor(
            _threads, lambda: lm.model_call(messages, generate=True, gen_kwargs=gen_kwargs)
        )
    except Exception as error:
        status = getattr(error, "status_code", None)
        if isinstance(status, int) and status >= 400:
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
            return refused(status, headers, str(error))
        raise CallFailed(type(error).__name__, down=True) from error
    if hasattr(body, "model_dump"):
        body = body.model_dump()
    if body is None:
        raise CallFailed("no reply", down=True)
    return body
