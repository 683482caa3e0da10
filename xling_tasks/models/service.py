"""Requests to a model of the harness, each for itself: tried again, read, and failing alone.

The harness gathers all requests of a call, and one that fails for good ends the run. So requests to
its API backends are sent from here, with the backend's own payload, headers and parser; other
backends are asked in batches. A failed call says nothing about the model: it is unscored.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import email.utils
import json
import queue
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from xling_tasks.errors import BackendError
from xling_tasks.harness.backends import CUT, clean_reply, is_own, speaks_chat
from xling_tasks.log import log, warn_once
from xling_tasks.secrets import redact_log
from xling_tasks.unanswered import Answered

ANSWER, EMPTY, REFUSED, FAILED = "answer", "empty", "refused", "failed"
TOO_MANY, BAD_REQUEST = "status 429", "status 400"
CHUNK = 64
_FILTERED = ("content_filter", "content management policy", "content_policy_violation")
_TOO_LONG = ("context length", "context_length", "maximum context", "too long", "max_model_len")
_AGAIN = {408, 409, 425, 429, 499}
_BAD_REQUESTS = 3
"""How often a prompt that is refused with status 400 is asked, before it counts as held back."""

TOO_LONG, TOOL_CALL = "prompt too long for the service", "a tool call in place of an answer"
_OF_THE_PROMPT = {BAD_REQUEST, "status 413", "status 422", "null content", TOO_LONG, TOOL_CALL}
"""Failures that say nothing about whether the service works."""

# Finish reasons of OpenAI, Azure, Anthropic, Gemini, vLLM, OpenRouter, DeepSeek and Zhipu.
_HELD_BACK = {"content_filter", "safety", "refusal", "sensitive", "recitation", "blocklist", "spii",
              "prohibited_content"}  # fmt: skip
_BROKEN_OFF = {"error", "abort", "network_error", "insufficient_system_resource", "cancelled"}


class Reply(NamedTuple):
    """What came back: the model's words, or why there are none (`outcome`, `reason`).

    `finish` is the service's finish reason, '' where it gives none; `usage` has the tokens of
    prompt, completion and, of the latter, reasoning, as far as it says.
    """

    text: str
    outcome: str = ANSWER
    reason: str = ""
    finish: str = ""
    usage: Mapping[str, int] | None = None

    @property
    def failed(self) -> bool:
        """Whether it says nothing about the model."""
        return self.outcome == FAILED

    @property
    def said(self) -> str | None:
        """The text of an answer; None where there is none."""
        return self.text if self.outcome == ANSWER else None

    def kept(self) -> dict[str, Any]:
        """What is kept of an answer."""
        told = {"finish": self.finish, "usage": self.usage}
        return {"text": self.text, **{name: value for name, value in told.items() if value}}


class CallFailed(Exception):
    """An attempt that brought no reply; `wait` is what the service asks for, in seconds."""

    def __init__(self, reason: str, *, again: bool = True, wait: float | None = None, **_: Any):
        super().__init__(reason)
        self.reason, self.again, self.wait = reason, again, wait


class ServiceDown(BackendError):
    """A service stays down: asking on would cost hours and bring nothing."""


class Call(NamedTuple):
    """One request: what a backend takes as context, and its generation arguments."""

    context: Any
    gen_kwargs: dict[str, Any]


Arrived = list[tuple[int, Reply]]
Stream = Generator[Arrived, None, None]


@dataclass(frozen=True)
class Limits:
    """How long to go on; `strict` where a user set `max_retries`."""

    attempts: int = 8
    strict: bool = False
    timeout: float = 280.0
    deadline: float = 600.0
    down: float = 265.0

    @classmethod
    def of(cls, args: Mapping[str, Any], *, deadline: float = 600.0) -> Limits:
        """The limits that model arguments set, and ours elsewhere."""
        made: dict[str, Any] = {"deadline": deadline}
        with contextlib.suppress(KeyError, TypeError, ValueError):
            made |= {"attempts": max(1, int(args["max_retries"])), "strict": True}
        with contextlib.suppress(KeyError, TypeError, ValueError):
            made |= {"timeout": float(args["timeout"])}
            made["down"] = max(200.0, 0.95 * made["timeout"])
        return cls(**made)


class Health:
    """Whether a service works: it is down if many calls in a row fail, or none replies for long."""

    def __init__(self, name: str, limits: Limits, concurrent: int) -> None:
        self.name, self.limits = name, limits
        self._most, self.in_a_row, self.reasons = max(10, 2 * concurrent), 0, Counter[str]()
        self._alive, self._attempts = time.monotonic(), 0
        self.answered: set[str] = set()  # arguments with which requests are answered

    def start(self) -> None:
        """A new set of calls."""
        self._alive, self._attempts = time.monotonic(), 0

    def works(self) -> None:
        """A reply came."""
        self.start()
        self.in_a_row = 0

    def attempt_failed(self, failed: CallFailed) -> None:
        """One attempt failed; there may be more."""
        self._attempts += 1
        self.reasons[failed.reason] += 1

    def gave_up(self, failed: CallFailed) -> None:
        """A call failed for good; what is wrong with one prompt alone does not count."""
        self.in_a_row += failed.reason not in _OF_THE_PROMPT

    def check(self, calls: int = 0) -> None:
        """Raise ServiceDown if the service is down."""
        silent = time.monotonic() - self._alive
        if self._attempts >= 3 and silent > self.limits.down:
            raise self.down(f"no reply for {silent:.0f} s")
        if self.in_a_row >= (self._most if not calls else max(3, min(calls, self._most))):
            raise self.down(f"{self.in_a_row} calls in a row failed")

    def down(self, why: str) -> ServiceDown:
        """What ends the run."""
        return ServiceDown(
            f"{self.name}: the service does not work ({why}; {in_words(self.reasons)}). Everything "
            "so far is kept: start the same command again to go on"
        )


def own_transport(lm: Any) -> bool:
    """Whether requests to this backend are sent from here: the harness's API backends."""
    return is_own(lm, "generate_until")


def concurrency(lm: Any) -> int:
    """Requests at a time."""
    return max(1, int(getattr(lm, "_concurrent", 1) or 1)) if own_transport(lm) else 1


def stream(
    lm: Any, calls: Sequence[Call], limits: Limits, health: Health, by_batches: Any = None
) -> Stream:
    """Replies as they arrive, with the places of their calls; close it to end what is under way.

    `by_batches` is what asks by the service's batch interface (`batches.batches_of`).
    """
    if not calls:
        return
    health.start()
    if not own_transport(lm):
        yield from _in_batches(lm, calls, health)
        return
    if by_batches is None:
        ask = _each(lm, calls, limits, health)
    else:
        ask = _by_batches(lm, calls, limits, health, by_batches)
    bad: list[int] = []
    for arrived in ask:
        bad += [
            i for i, own in arrived if isinstance(own, CallFailed) and own.reason == BAD_REQUEST
        ]
        health.answered |= {_arguments(calls[i]) for i, own in arrived if isinstance(own, Reply)}
        yield [(i, Reply("", FAILED, own.reason) if isinstance(own, CallFailed) else own)
               for i, own in arrived if i not in bad]  # fmt: skip
    if bad:
        yield list(_bad_requests(lm, calls, bad, limits, health))
    health.check(len(calls))


def _by_batches(
    lm: Any, calls: Sequence[Call], limits: Limits, health: Health, by_batches: Any
) -> Iterator[list[tuple[int, Any]]]:
    """All calls by batches; what failed in them (an expired one) is submitted once more."""
    failed: list[int] = []
    for arrived in by_batches(lm, calls, range(len(calls)), limits, health):
        failed += [i for i, own in arrived if isinstance(own, CallFailed) and own.again]
        yield [(i, own) for i, own in arrived if i not in failed]
    if failed:
        yield from by_batches(lm, calls, failed, limits, health)


def _bad_requests(
    lm: Any, calls: Sequence[Call], places: Sequence[int], limits: Limits, health: Health
) -> Iterator[tuple[int, Reply]]:
    """Requests refused with status 400 each time: held back if others with their arguments pass.

    A filter's refusal has other words at every service, and most have no code of their own. If no
    other request with these arguments was answered, a harmless one is asked to tell.
    """
    for kind in {_arguments(calls[i]): calls[i] for i in places}.values():
        if _arguments(kind) not in health.answered and _harmless_passes(lm, kind, limits, health):
            health.answered.add(_arguments(kind))
    for i in places:
        held_back = _arguments(calls[i]) in health.answered
        yield (
            i,
            Reply(
                "", *((REFUSED, "held back (status 400)") if held_back else (FAILED, BAD_REQUEST))
            ),
        )


def _harmless_passes(lm: Any, like: Call, limits: Limits, health: Health) -> bool:
    words = "Reply with the word: ready"
    context = (
        lm.apply_chat_template([{"role": "user", "content": words}]) if speaks_chat(lm) else words
    )
    once = replace(limits, attempts=1, strict=True, deadline=60.0)

    async def ask() -> Reply:
        async with _session(lm, limits.timeout) as session:
            return await _call(lm, session, Call(context, like.gen_kwargs), once, health)

    try:
        return not asyncio.run(ask()).failed
    except CallFailed:
        return False


def _arguments(call: Call) -> str:
    own = {k: v for k, v in call.gen_kwargs.items() if k != "seed"}
    return json.dumps(own, sort_keys=True, default=str)


def _each(
    lm: Any, calls: Sequence[Call], limits: Limits, health: Health
) -> Iterator[list[tuple[int, Any]]]:
    """Every call by one of as many workers as the backend has slots, in a thread of their own."""
    came: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting, stop = iter(range(len(calls))), threading.Event()

    async def worker(session: Any) -> None:
        for i in waiting:
            if stop.is_set():
                return
            while came.qsize() >= concurrency(lm):  # nothing more is paid for until that is kept
                await asyncio.sleep(0.01)
            try:
                came.put((i, await _call(lm, session, calls[i], limits, health)))
            except CallFailed as failed:
                health.gave_up(failed)
                came.put((i, failed))

    async def all_calls() -> None:
        async with _session(lm, limits.timeout) as session:
            workers = [asyncio.create_task(worker(session)) for _ in range(concurrency(lm))]
            while workers and not stop.is_set():
                done, left = await asyncio.wait(workers, timeout=0.2)
                workers = [*left]
                for each in done:
                    each.result()
            for each in workers:
                each.cancel()

    def run() -> None:
        try:
            asyncio.run(all_calls())
            came.put(None)
        except BaseException as error:
            came.put(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        over = False
        while not over:
            arrived: list[tuple[int, Any]] = []
            with contextlib.suppress(queue.Empty):
                item = came.get(timeout=1.0)
                while True:
                    if isinstance(item, BaseException):
                        raise item
                    over = over or item is None
                    arrived += [] if item is None else [item]
                    item = came.get_nowait()
            if arrived:
                yield arrived
            health.check()
    finally:
        stop.set()
        thread.join(5)


async def _call(lm: Any, session: Any, call: Call, limits: Limits, health: Health) -> Reply:
    """One request, with as many attempts as it may have; a wait asked for counts as none."""
    from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

    backoff = wait_random_exponential(multiplier=0.5, max=30)

    def wait(state: Any) -> float:
        asked = getattr(state.outcome.exception(), "wait", None)
        return float(backoff(state)) if asked is None else asked

    def over(state: Any) -> bool:
        reason = getattr(state.outcome.exception(), "reason", "")
        if reason == BAD_REQUEST:
            return bool(state.attempt_number >= min(_BAD_REQUESTS, limits.attempts))
        counts = limits.strict or reason != TOO_MANY
        late = state.seconds_since_start + wait(state) >= limits.deadline
        return late or (counts and state.attempt_number >= limits.attempts)

    again = retry_if_exception(lambda e: isinstance(e, CallFailed) and e.again)
    async for attempt in AsyncRetrying(retry=again, wait=wait, stop=over, reraise=True):
        with attempt:
            try:
                body = await _post(lm, session, call)
                reply = body if isinstance(body, Reply) else reply_in(lm, call, body)
            except CallFailed as failed:
                health.attempt_failed(failed)
                raise
            health.works()
            return reply
    raise AssertionError("an attempt returns or raises")


def _session(lm: Any, timeout: float) -> Any:
    import ssl

    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    verify: Any = bool(getattr(lm, "verify_certificate", True))
    if verify and getattr(lm, "ca_cert_path", None):
        verify = ssl.create_default_context(cafile=lm.ca_cert_path)
    return ClientSession(
        connector=TCPConnector(limit=concurrency(lm), ssl=verify),
        timeout=ClientTimeout(total=timeout), trust_env=bool(urllib.request.getproxies()),
    )  # fmt: skip


async def _post(lm: Any, session: Any, call: Call) -> Any:
    import aiohttp

    if not is_plain(lm):  # LiteLLM's and others, by their own client
        asked = messages(lm, call), copy.deepcopy(call.gen_kwargs)
        try:
            body = await asyncio.to_thread(
                lambda: lm.model_call(asked[0], generate=True, gen_kwargs=asked[1]))  # fmt: skip
        except Exception as error:
            if isinstance(status := getattr(error, "status_code", None), int):
                return refused(status, {}, str(error))
            raise CallFailed(type(error).__name__) from error
        return body.model_dump() if hasattr(body, "model_dump") else body
    asked_for = payload(lm, messages(lm, call), call.gen_kwargs)
    try:
        async with session.post(lm.base_url, json=asked_for, headers=lm.header) as response:
            data, status, headers = await response.read(), response.status, response.headers
    except asyncio.TimeoutError as error:
        raise CallFailed("time-out") from error
    except (aiohttp.ClientError, OSError) as error:
        raise CallFailed(f"no connection ({type(error).__name__})") from error
    if status >= 400:
        return refused(status, headers, data.decode("utf-8", "replace"))
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CallFailed("no JSON in the body") from error


def is_plain(lm: Any) -> bool:
    """Whether a backend posts what `_create_payload` says by the harness's own code."""
    return is_own(lm, "model_call", "amodel_call")


def payload(lm: Any, asked: list[Any], gen_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What the backend sends for one request."""
    extra = {"eos": lm.eos_string} if lm.tokenizer is not None else {}
    made: dict[str, Any] = lm._create_payload(
        lm.create_message(asked), generate=True, gen_kwargs=copy.deepcopy(dict(gen_kwargs)),
        seed=lm._seed, **extra,
    )  # fmt: skip
    return made


def messages(lm: Any, call: Call) -> list[Any]:
    """A request's context as the backend's payload takes it: text, or tokens cut to fit."""
    if not lm.tokenized_requests:
        return [call.context]
    tokens = lm.tok_encode([call.context], add_special_tokens=lm.add_bos_token)[0]
    room = lm.max_length - int(call.gen_kwargs.get("max_gen_toks", lm._max_gen_toks))
    return [tokens[-max(1, room) :]]


def refused(status: int, headers: Mapping[str, str], text: str) -> Reply:
    """What an error status means: a filter's refusal, else a CallFailed is raised."""
    if status in (400, 403, 422) and any(word in text.lower() for word in _FILTERED):
        return Reply("", REFUSED, "content filter")
    warn_once(f"a service answers with status {status}: {' '.join(redact_log(text).split())[:200]}")
    if status in (400, 413, 422) and any(words in text.lower() for words in _TOO_LONG):
        raise CallFailed(TOO_LONG, again=False)
    again = status >= 500 or status in _AGAIN or status == 400
    raise CallFailed(f"status {status}", again=again, wait=_retry_after(headers) if again else None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    said = headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    return None


def reply_in(lm: Any, call: Call, body: Any) -> Reply:
    """What a body says to a request; raises CallFailed if it holds no whole completion."""
    body = body[0] if isinstance(body, list) and body else body
    if not isinstance(body, dict):
        raise CallFailed("no completion in the body")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if choice is None and not isinstance(body.get("content", body.get("text")), (list, str)):
        raise CallFailed("no completion in the body")
    try:
        return _of_choice(lm, call, body, {"message": body} if choice is None else choice)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CallFailed(f"unreadable body ({type(error).__name__})") from error


def _of_choice(lm: Any, call: Call, body: dict[str, Any], choice: dict[str, Any]) -> Reply:
    message = choice.get("message") or choice
    said = choice.get("finish_reason") or body.get("stop_reason") or body.get("finish_reason") or ""
    finish, usage = str(said).lower(), _usage(body.get("usage"))
    if choice.get("error") or body.get("error") or finish in _BROKEN_OFF:
        raise CallFailed(f"broken off ({finish or 'error'})")
    content = message.get("content", choice.get("text"))
    if isinstance(content, list):  # parts, of which thoughts and tools are no words
        words = (
            part.get("text")
            for part in content
            if part.get("type") in (None, "text", "output_text")
        )
        content = "".join(filter(None, words))
        if message is not body:  # Anthropic's own parser takes the parts
            message["content"] = content
    if finish in _HELD_BACK or (message.get("refusal") and not content):
        return Reply("", REFUSED, f"finish reason {finish}", finish, usage)
    if not content and finish in CUT:
        return Reply("", EMPTY, "thinking left no room for an answer", finish, usage)
    if not content and (message.get("tool_calls") or finish == "tool_calls"):
        raise CallFailed(TOOL_CALL, again=False)
    if content is None and not (message.get("reasoning_content") or message.get("reasoning")):
        raise CallFailed("null content")
    choice.setdefault("index", 0)
    text = clean_reply((lm.parse_generations(outputs=body) or [None])[0])
    if content and not text:
        raise CallFailed("unreadable body")
    if not text.strip():
        return Reply("", EMPTY, "empty", finish, usage)
    kept = Answered.of(text, finish, usage)
    lm.cache_hook.add_partial("generate_until", (call.context, call.gen_kwargs), kept)
    return Reply(text, finish=finish, usage=usage)


def _usage(told: Any) -> dict[str, int] | None:
    """Tokens as OpenAI's and Anthropic's services name them."""
    if not isinstance(told, dict):
        return None
    details = told.get("completion_tokens_details")
    found = {
        "prompt": told.get("prompt_tokens", told.get("input_tokens")),
        "completion": told.get("completion_tokens", told.get("output_tokens")),
        "reasoning": details.get("reasoning_tokens") if isinstance(details, dict) else None,
    }
    return {name: n for name, n in found.items() if type(n) is int} or None


def _in_batches(lm: Any, calls: Sequence[Call], health: Health) -> Stream:
    """Batches of calls with equal arguments; one that raises (memory) is halved until it fits."""
    from lm_eval.api.instance import Instance

    groups: dict[str, list[int]] = {}
    for i, call in enumerate(calls):
        groups.setdefault(json.dumps(call.gen_kwargs, sort_keys=True, default=str), []).append(i)
    parts = [own[at : at + CHUNK] for own in groups.values() for at in range(0, len(own), CHUNK)][
        ::-1
    ]
    while parts:
        part = parts.pop()
        contents = [(calls[i].context, copy.deepcopy(calls[i].gen_kwargs)) for i in part]
        asked = [
            Instance("generate_until", {}, own, n, ("xling_role", n, 1))
            for n, own in enumerate(contents)
        ]
        try:
            texts = [clean_reply(text) for text in lm.generate_until(asked)]
        except Exception as error:
            if len(part) > 1:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
                continue
            log.error("%s: %s: %s", health.name, type(error).__name__, error)
            health.attempt_failed(failed := CallFailed(type(error).__name__))
            health.gave_up(failed)
            yield [(part[0], Reply("", FAILED, failed.reason))]
            health.check(len(calls))
            continue
        health.works()
        yield [(i, Reply(text) if text.strip() else Reply("", EMPTY, "empty"))
               for i, text in zip(part, texts, strict=True)]  # fmt: skip


_told: Counter[tuple[str, str]] = Counter()


def tell(role: str, reasons: Mapping[str, int]) -> None:
    """Count requests that brought no answer, by reason."""
    _told.update({(role, reason): n for reason, n in reasons.items()})


def told() -> Counter[tuple[str, str]]:
    """All that was counted so far, by role and reason."""
    return _told.copy()


def by_role(counted: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Role -> reason -> number."""
    counts: dict[str, dict[str, int]] = {}
    for (role, reason), n in sorted(counted.items()):
        counts.setdefault(role, {})[reason] = n
    return counts


def in_words(reasons: Mapping[str, int]) -> str:
    """`time-out: 3, status 500: 1`, the most frequent first."""
    return ", ".join(f"{reason}: {n}" for reason, n in sorted(reasons.items(), key=lambda x: -x[1]))
