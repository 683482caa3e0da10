"""Requests to a model of the harness, each for itself: sent again, read, and failing alone.

The harness gathers all requests of a call, and one that fails for good ends the run. So requests to
its API backends are sent from here, with the backend's own payload and headers; other backends are
asked in batches. A failed request says nothing about the model: it is unscored.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import itertools
import json
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xling_tasks.failed_response import (
    CONTENT_FILTER,
    REQUEST_FAILED,
    FailedResponse,
    ModelResponse,
)
from xling_tasks.harness.backends import clean_reply, speaks_chat
from xling_tasks.models.http_api import ApiRequest, concurrency, is_api_backend, open_session, post
from xling_tasks.models.retry import BAD_REQUEST, CircuitBreaker, RequestFailed, RetryPolicy

BATCH = 64  # requests that a local model is given at a time

Arrived = list[tuple[int, ModelResponse]]
"""Responses with the positions of their requests."""

Items = list[tuple[int, ModelResponse | RequestFailed]]
Keep = Callable[[int, ModelResponse], None]
"""Called with a response the moment it arrives, perhaps in another thread."""


class ModelClient:
    """Sends requests to one model in one role.

    Attributes:
        policy: How often and how long a request is sent again.
        breaker: What ends the run if the service does not work.
    """

    def __init__(
        self, role: str, lm: Any, args: Mapping[str, Any], *, deadline: float = 600.0,
        batches: Any = None,
    ) -> None:  # fmt: skip
        self.role, self.lm, self._args, self._batches = role, lm, args, batches
        self.policy = RetryPolicy.from_args(args, deadline)
        self.breaker = CircuitBreaker(role, self.policy, concurrency(lm))
        self._accepted: set[str] = set()  # arguments of requests that were answered

    def send(
        self, requests: Sequence[ApiRequest], keep: Keep = lambda position, response: None
    ) -> Generator[Arrived, None, None]:
        """Yield responses as they arrive; close the iterator to end requests under way.

        A request that fails for good gets a `FailedResponse`.

        Raises:
            ServiceUnavailable: If the service is.
        """
        self.breaker.begin()
        rejected: list[int] = []
        for items in self._send(requests, keep):
            arrived: Arrived = []
            for i, item in items:
                if isinstance(item, ModelResponse):
                    self._accepted.add(_arguments(requests[i]))
                    arrived.append((i, item))
                elif item.reason == BAD_REQUEST:
                    rejected.append(i)
                else:
                    arrived.append((i, FailedResponse(REQUEST_FAILED, item.reason)))
            yield arrived
        if rejected:
            yield [(i, self._explain_bad_request(requests[i])) for i in rejected]
        self.breaker.check(len(requests))

    def probe(self, request: ApiRequest, attempts: int = 1) -> ModelResponse | RequestFailed:
        """Return what comes of one request outside of a run, within a minute."""
        args = {**self._args, "max_retries": min(attempts, self.policy.attempts)}
        client = ModelClient(self.role, self.lm, args, deadline=60.0)
        ((_, item),) = itertools.chain.from_iterable(client._send([request], lambda *_: None))
        return item

    def _send(self, requests: Sequence[ApiRequest], keep: Keep) -> Iterator[Items]:
        if not requests:
            return iter(())
        if not is_api_backend(self.lm):
            return self._send_in_process(requests, keep)
        return (self._send_by_batches if self._batches else self._send_each)(requests, keep)

    def _explain_bad_request(self, request: ApiRequest) -> FailedResponse:
        """Return what status 400 each time means: a filter, if others with the arguments pass.

        A filter's refusal has other words at every service, and most have no code of their own. If
        no other request with these arguments was answered, a harmless one is sent to tell.
        """
        arguments = _arguments(request)
        if arguments not in self._accepted:
            text = "Reply with the word: ready"
            messages = [{"role": "user", "content": text}]
            context = self.lm.apply_chat_template(messages) if speaks_chat(self.lm) else text
            answer = self.probe(ApiRequest(context, request.gen_kwargs))
            if isinstance(answer, RequestFailed):
                return FailedResponse(REQUEST_FAILED, BAD_REQUEST)
            self._accepted.add(arguments)
        return FailedResponse(CONTENT_FILTER, "blocked (status 400)")

    def _send_by_batches(self, requests: Sequence[ApiRequest], keep: Keep) -> Iterator[Items]:
        """Send all by batches; what failed in them (an expired one) once more."""
        again: list[int] = []
        for items in self._batches.send(self, requests, range(len(requests)), keep):
            again += [i for i, item in items if isinstance(item, RequestFailed) and item.retry]
            yield [(i, item) for i, item in items if i not in again]
        if again:
            yield from self._batches.send(self, requests, again, keep)

    def _send_each(self, requests: Sequence[ApiRequest], keep: Keep) -> Iterator[Items]:
        """Send every request by one of as many workers as the backend has slots, in a thread."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        stop = threading.Event()

        def run() -> None:
            try:
                asyncio.run(self._work(requests, keep, arrived, stop))
                arrived.put(None)
            except BaseException as error:
                arrived.put(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            over = False
            while not over:
                items: list[Any] = []
                with contextlib.suppress(queue.Empty):
                    items.append(arrived.get(timeout=1.0))
                    while True:
                        items.append(arrived.get_nowait())
                for item in items:
                    if isinstance(item, BaseException):
                        raise item
                over = None in items
                if any(items):
                    yield [item for item in items if item is not None]
                self.breaker.check()
        finally:
            stop.set()
            thread.join(5)

    async def _work(
        self, requests: Sequence[ApiRequest], keep: Keep, arrived: Any, stop: threading.Event
    ) -> None:
        pending = iter(range(len(requests)))

        async def worker(session: Any) -> None:
            for i in pending:
                if stop.is_set():
                    return
                try:
                    response = await self._request(session, requests[i])
                    keep(i, response)
                    arrived.put((i, response))
                except RequestFailed as failure:
                    self.breaker.record_failure(failure)
                    arrived.put((i, failure))

        async with open_session(self.lm, self.policy.timeout) as session:
            tasks = {asyncio.create_task(worker(session)) for _ in range(concurrency(self.lm))}
            while tasks and not stop.is_set():
                done, tasks = await asyncio.wait(tasks, timeout=0.2)
                for task in done:
                    task.result()
            for task in tasks:
                task.cancel()

    async def _request(self, session: Any, request: ApiRequest) -> ModelResponse:
        """Send one request, as often as the policy allows."""
        began = time.monotonic()
        for attempt in itertools.count(1):
            try:
                with self.breaker.outstanding():
                    response = await post(self.lm, session, request)
            except RequestFailed as failure:
                self.breaker.record_attempt(failure, attempt)
                self.breaker.check()
                wait = self.policy.wait(failure, attempt)
                if self.policy.is_over(failure, attempt, time.monotonic() - began + wait):
                    raise
                await asyncio.sleep(wait)
            else:
                self.breaker.record_response()
                return response
        raise AssertionError("an attempt returns or raises")

    def _send_in_process(self, requests: Sequence[ApiRequest], keep: Keep) -> Iterator[Items]:
        """Ask in batches of equal arguments; one that raises (memory) is halved until it fits."""
        from lm_eval.api.instance import Instance

        groups: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            key = json.dumps(request.gen_kwargs, sort_keys=True, default=str)
            groups.setdefault(key, []).append(i)
        batches = [g[at : at + BATCH] for g in groups.values() for at in range(0, len(g), BATCH)]
        batches.reverse()
        while batches:
            batch = batches.pop()
            instances = [
                Instance("generate_until", {}, (context, copy.deepcopy(kwargs)), n,
                         ("xling_role", n, 1))
                for n, (context, kwargs) in enumerate(requests[i] for i in batch)
            ]  # fmt: skip
            try:
                texts = [clean_reply(text) for text in self.lm.generate_until(instances)]
            except Exception as error:
                if len(batch) > 1:
                    batches += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                    continue
                failure = RequestFailed(type(error).__name__, str(error))
                self.breaker.record_attempt(failure)
                self.breaker.record_failure(failure)
                yield [(batch[0], failure)]
                self.breaker.check(len(requests))
                continue
            self.breaker.record_response()
            arrived = list(zip(batch, map(ModelResponse, texts), strict=True))
            for i, response in arrived:
                keep(i, response)
            yield [*arrived]


def _arguments(request: ApiRequest) -> str:
    arguments = {k: v for k, v in request.gen_kwargs.items() if k != "seed"}
    return json.dumps(arguments, sort_keys=True, default=str)


def responses_in_order(arriving: Iterable[Arrived], n: int) -> list[ModelResponse]:
    """Return the responses to n requests in the order of the requests."""
    responses = dict(item for arrived in arriving for item in arrived)
    return [responses[i] for i in range(n)]
