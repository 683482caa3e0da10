"""One round of requests to an API backend: each for itself, in an event loop of its own thread.

The harness gathers all requests of a call: one that fails for good cancels the others there, its
back-off ignores Retry-After, and what a body holds beside the text (finish reasons, errors) is
lost. So requests are sent from here, with the backend's own payload, headers and parser.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import queue
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.harness.backends import clean_reply, is_own
from xling_tasks.log import log
from xling_tasks.models import failures, http
from xling_tasks.models.failures import FAILED, CallFailed, Reply
from xling_tasks.models.health import Health, Limits, ServiceDown

_UNTIL_KEPT = 0.01
"""Seconds after which a call that waits for what came before it to be taken looks again."""

Arrived = list[tuple[int, Reply]]
"""Replies with the places of their requests, in the order of arrival."""


class Call(NamedTuple):
    """One request.

    Attributes:
        context: What a backend takes as context.
        gen_kwargs: Its generation arguments.
        reads: Whether a reply holds what was asked for, where that is one of few things (Yes or
            No, letters), which many prompts have in common; None where anything may be said.
        follows: Whether it goes on a conversation in which the model replied.
        kept: What an earlier start got for it, which ended before it looked into that.
    """

    context: Any
    gen_kwargs: dict[str, Any]
    reads: Callable[[str], bool] | None = None
    follows: bool = False
    kept: Reply | None = None


def concurrency(lm: Any) -> int:
    """Requests at a time."""
    return max(1, int(getattr(lm, "_concurrent", 1) or 1)) if own_transport(lm) else 1


def own_transport(lm: Any) -> bool:
    """Whether requests to this backend are sent from here: the harness's API backends."""
    return is_own(lm, "generate_until")


def one_round(
    lm: Any, calls: Sequence[Call], places: Sequence[int], limits: Limits, health: Health
) -> Iterator[list[tuple[int, Any]]]:
    """One attempt (with its repetitions) at some calls, in an event loop of its own thread."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()
    work = _Work(lm, calls, limits, health, results)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=work.run, args=(loop, places), daemon=True)
    thread.start()
    arrived: list[tuple[int, Any]] = []
    try:
        while True:
            arrived = []
            error, done = _drain(results, arrived)
            if arrived or not (error or done):
                yield arrived
            if error is not None:
                raise error
            health.check()  # at the end too: the last calls may all have failed at once
            if done:
                return
    except (ServiceDown, KeyboardInterrupt) as ended:
        work.stop(loop)
        thread.join(2)
        # What arrived meanwhile is paid for.
        arrived = [] if isinstance(ended, ServiceDown) else arrived
        _drain(results, arrived)
        yield arrived
        raise
    finally:
        work.stop(loop)
        thread.join(5)


def _drain(
    results: queue.SimpleQueue[Any], arrived: list[tuple[int, Any]]
) -> tuple[BaseException | None, bool]:
    """Add all that has arrived; returns what error ended the calls, and whether all are done."""
    while True:
        try:
            # What has come is kept at once: a kill loses what waits for more. A second at most, so
            # that a hanging service is noticed.
            item = results.get(block=not arrived, timeout=1.0)
        except queue.Empty:
            return None, False
        if item is None:
            return None, True
        if isinstance(item, BaseException):
            return item, False
        arrived.append(item)


class _Work:
    """The calls of one round, in their event loop."""

    def __init__(
        self,
        lm: Any,
        calls: Sequence[Call],
        limits: Limits,
        health: Health,
        results: queue.SimpleQueue[Any],
    ) -> None:
        self._lm, self._calls, self._limits, self._health = lm, calls, limits, health
        self._results = results
        self._task: asyncio.Task[None] | None = None

    def run(self, loop: asyncio.AbstractEventLoop, places: Sequence[int]) -> None:
        """The thread: all calls, then None, or the error that ended them."""
        try:
            asyncio.set_event_loop(loop)
            self._task = loop.create_task(self._all(places))
            loop.run_until_complete(self._task)
            self._results.put(None)
        except asyncio.CancelledError:
            self._results.put(None)
        except BaseException as error:
            self._results.put(error)
        finally:
            loop.close()

    def stop(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what is under way."""
        if self._task is not None and not self._task.done():
            with contextlib.suppress(RuntimeError):  # the loop has just closed
                loop.call_soon_threadsafe(self._task.cancel)

    async def _all(self, places: Sequence[int]) -> None:
        concurrent = concurrency(self._lm)
        slots = asyncio.Semaphore(concurrent)
        waiting = iter(places)
        # More workers than slots, so that a call that waits for its next attempt holds none up.
        workers = min(len(places), 4 * concurrent)

        async def worker() -> None:
            for i in waiting:
                # Nothing more is paid for while what has come is not kept yet, or looked into.
                while self._results.qsize() >= workers:
                    await asyncio.sleep(_UNTIL_KEPT)
                try:
                    reply: Any = await self._call(session, slots, self._calls[i])
                except CallFailed as failed:
                    self._health.gave_up(failed)
                    reply = failed
                self._results.put((i, reply))

        async with http.session(self._lm, concurrent, self._limits.timeout) as session:
            tasks = [asyncio.ensure_future(worker()) for _ in range(workers)]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, session: Any, slots: asyncio.Semaphore, call: Call) -> Reply:
        """One request, with as many attempts as it may have."""
        from tenacity import AsyncRetrying, retry_if_exception

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda e: isinstance(e, CallFailed) and e.again),
            wait=_wait,
            stop=self._is_over,
            reraise=True,
        )
        async for attempt in attempts:
            with attempt:
                async with slots:
                    return await self._attempt(session, call)
        raise AssertionError("an attempt returns or raises")

    def _is_over(self, state: Any) -> bool:
        error = state.outcome.exception()
        counts = self._limits.strict or getattr(error, "reason", "") != http.TOO_MANY
        late = state.seconds_since_start + _wait(state) >= self._limits.deadline
        return late or (counts and state.attempt_number >= self._limits.attempts)

    async def _attempt(self, session: Any, call: Call) -> Reply:
        try:
            reply = await self._ask(session, call)
        except CallFailed as failed:
            self._health.attempt_failed(failed)
            raise
        self._health.works()
        return reply

    async def _ask(self, session: Any, call: Call) -> Reply:
        lm = self._lm
        body = await http.post(lm, session, messages(lm, call), copy.deepcopy(call.gen_kwargs))
        if isinstance(body, Reply):
            return body
        return reply_in(lm, call, body, self._limits.error_texts)


def reply_in(lm: Any, call: Call, body: Any, error_texts: bool) -> Reply:
    """What a body says to a request; the backend's cache is told.

    Raises:
        CallFailed: If it says that the request failed.
    """
    reply = failures.read_body(body) or Reply("?")
    if reply.outcome == failures.ANSWER:
        reply = parsed(lm, body)
    if reply.failed:
        raise CallFailed(reply.reason)
    wrong = failures.error_text(reply.text) if error_texts else None
    if wrong is not None:
        log.debug("%s: %.200s", wrong, reply.text)
        raise CallFailed(wrong)
    lm.cache_hook.add_partial("generate_until", (call.context, call.gen_kwargs), reply.text)
    return reply


def _wait(state: Any) -> float:
    """Seconds until the next attempt: what the service asks for, else exponential with jitter."""
    from tenacity import wait_random_exponential

    asked = getattr(state.outcome.exception(), "wait", None)
    if asked is not None:
        return float(asked) + 0.1 * random.random() * min(10.0, float(asked))
    return float(wait_random_exponential(multiplier=0.5, max=30)(state))


def messages(lm: Any, call: Call) -> list[Any]:
    """A request's context as the backend's payload takes it: text, or tokens cut to fit."""
    if not lm.tokenized_requests:
        return [call.context]
    tokens = lm.tok_encode([call.context], add_special_tokens=lm.add_bos_token)[0]
    room = lm.max_length - int(call.gen_kwargs.get("max_gen_toks", lm._max_gen_toks))
    if len(tokens) > room:
        log.warning(
            "a prompt of %d tokens leaves no room for its reply in max_length %d: its beginning "
            "is cut off", len(tokens), lm.max_length,
        )  # fmt: skip
    return [tokens[-max(1, room) :]]


def parsed(lm: Any, body: Any) -> Reply:
    """The text by the backend's own parser, which takes a model's thinking away."""
    try:
        generations = lm.parse_generations(outputs=_joined(body))
    except Exception as error:
        return Reply("", FAILED, f"unreadable body ({type(error).__name__})")
    text = clean_reply(generations[0] if generations else None)
    return Reply(text) if text.strip() else Reply("", failures.EMPTY, "nothing but thinking")


def _joined(body: Any) -> Any:
    """A chat body whose content is a list of parts, with the parts' text joined."""
    for choice in body.get("choices") or () if isinstance(body, Mapping) else ():
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if isinstance(message, dict) and "content" in message:
            message["content"] = failures.joined(message["content"])
        if isinstance(choice, dict):
            choice.setdefault("index", 0)
    return body
