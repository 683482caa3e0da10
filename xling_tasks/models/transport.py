"""Requests to a model of the harness, each for itself: sent again, read, and failing alone.

In the harness one request that fails for good ends the run. So requests to its API backends are
sent from here, with the backend's payload and headers; other backends are asked in batches.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xling_tasks.failed_response import (
    CONTENT_FILTER,
    REQUEST_FAILED,
    FailedResponse,
    ModelResponse,
)
from xling_tasks.harness.backends import clean_reply, speaks_chat
from xling_tasks.models.http_api import ApiRequest, concurrency, is_api_backend, open_session, post
from xling_tasks.models.retry import (
    REFUSALS,
    CircuitBreaker,
    RequestFailed,
    RetryPolicy,
    ServiceUnavailable,
    Settle,
)

BATCH = 64  # requests that a local model is given at a time


class ModelClient:
    """Sends requests to one model in one role."""

    def __init__(
        self, role: str, lm: Any, args: Mapping[str, Any], *, policy: RetryPolicy | None = None,
        batches: Any = None,
    ) -> None:  # fmt: skip
        self.role, self.lm, self._batches = role, lm, batches
        self.policy = policy or RetryPolicy.from_args(args)
        self.breaker = CircuitBreaker(role, self.policy, concurrency(lm))

    def send(
        self, requests: Sequence[ApiRequest],
        keep: Callable[[int, ModelResponse], None] = lambda i, response: None,
    ) -> list[ModelResponse]:  # fmt: skip
        """Return responses in order; a request that fails for good has a `FailedResponse`.

        `keep` is called with the number of a request and its response the moment it arrives,
        perhaps in another thread.

        Raises:
            ServiceUnavailable: If the service is.
        """
        responses: dict[int, ModelResponse] = {}

        def settle(i: int, item: ModelResponse | RequestFailed) -> None:
            item = self._explain(requests[i], item) if isinstance(item, RequestFailed) else item
            responses[i] = item
            keep(i, item)

        self.breaker.begin()
        self._send(requests, settle)
        try:
            self.breaker.check(len(requests))
        except ServiceUnavailable:  # or the few that an earlier start left fail at every start
            if not isinstance(self._send_harmless(requests[-1]), ModelResponse):
                raise
        return [responses[i] for i in range(len(requests))]

    def probe(self, request: ApiRequest, attempts: int = 1) -> ModelResponse | RequestFailed:
        """Return what comes of one request outside of a run, within a minute."""
        attempts = min(attempts, self.policy.attempts)
        policy = replace(self.policy, attempts=attempts, strict=True, deadline=60.0)
        items: list[ModelResponse | RequestFailed] = []
        client = ModelClient(self.role, self.lm, {}, policy=policy)
        client.breaker.reasons = self.breaker.reasons  # what was logged is not logged again
        client._send([request], lambda _, item: items.append(item))
        return items[0]

    def _send(self, requests: Sequence[ApiRequest], settle: Settle) -> None:
        if requests and not is_api_backend(self.lm):
            self._send_in_process(requests, settle)
        elif requests and self._batches:
            self._batches.send(self, requests, settle)
        elif requests:
            self._send_each(requests, settle)

    def _explain(self, request: ApiRequest, failure: RequestFailed) -> FailedResponse:
        """Return what a failure means: of a refused prompt, a filter if a harmless one passes.

        A filter's refusal has other words at every service, and most have no code of their own. If
        the harmless prompt is refused as well, the model does not take an argument, or the account
        has no more credit: Anthropic and DashScope say so with status 400.
        """
        if failure.reason in REFUSALS:
            answer = self._send_harmless(request)
            if answer.reason == failure.reason:
                raise self.breaker.unavailable(
                    "it refuses a harmless prompt, too; check the model's arguments and the account"
                )
            if isinstance(answer, ModelResponse) and REFUSALS[failure.reason]:
                return FailedResponse(CONTENT_FILTER, f"blocked ({failure.reason})")
        return FailedResponse(REQUEST_FAILED, failure.reason)

    def _send_harmless(self, request: ApiRequest) -> ModelResponse | RequestFailed:
        """Return what comes of a harmless prompt with the arguments of a request."""
        text = "Reply with the word: ready"
        messages = [{"role": "user", "content": text}]
        context = self.lm.apply_chat_template(messages) if speaks_chat(self.lm) else text
        return self.probe(request._replace(context=context))

    def _send_each(self, requests: Sequence[ApiRequest], settle: Settle) -> None:
        """Send every request alone, in a thread: the caller may run an event loop itself."""
        stop, errors = threading.Event(), list[BaseException]()

        def run() -> None:
            try:
                asyncio.run(self._work(requests, settle, stop))
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.5)
        finally:
            stop.set()
            thread.join(5)
        if errors:
            raise errors[0]

    async def _work(
        self, requests: Sequence[ApiRequest], settle: Settle, stop: threading.Event
    ) -> None:
        unsent = iter(range(len(requests)))

        async def work(session: Any) -> None:
            for i in unsent:
                try:
                    settle(i, await self._request(session, requests[i]))
                except RequestFailed as failure:
                    self.breaker.record_failure(failure)
                    await asyncio.to_thread(settle, i, failure)  # which may send a prompt itself
                await asyncio.sleep(0)  # what came for others is kept before more is sent

        async with open_session(self.lm, self.policy.timeout) as session:
            workers = [asyncio.create_task(work(session)) for _ in range(concurrency(self.lm))]
            pending = {*workers}
            try:
                while pending and not stop.is_set():
                    done, pending = await asyncio.wait(
                        pending, timeout=0.2, return_when=asyncio.FIRST_EXCEPTION
                    )
                    for worker in done:
                        worker.result()
                    self.breaker.check()
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _request(self, session: Any, request: ApiRequest) -> ModelResponse:
        """Send one request, as often as the policy allows."""
        began = time.monotonic()
        for attempt in itertools.count(1):
            self.breaker.outstanding += 1
            try:
                response = await post(self.lm, session, request)
                self.breaker.record_response()
                return response
            except RequestFailed as failure:
                self.breaker.record_attempt(failure, attempt)
                wait = self.policy.wait(failure, attempt)
                if self.policy.is_over(failure, attempt, time.monotonic() - began + wait):
                    raise
            finally:
                self.breaker.outstanding -= 1
            self.breaker.check()
            await asyncio.sleep(wait)
        raise AssertionError("an attempt returns or raises")

    def _send_in_process(self, requests: Sequence[ApiRequest], settle: Settle) -> None:
        """Ask in batches of equal arguments; one that raises (memory) is halved until it fits."""
        from lm_eval.api.instance import Instance

        groups: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            key = json.dumps(request.gen_kwargs, sort_keys=True, default=str)
            groups.setdefault(key, []).append(i)
        batches = [
            g[start : start + BATCH] for g in groups.values() for start in range(0, len(g), BATCH)
        ]
        batches.reverse()
        while batches:
            batch = batches.pop()
            instances = []
            for n, i in enumerate(batch):
                arguments = (requests[i].context, copy.deepcopy(requests[i].gen_kwargs))
                metadata = ("xling_role", n, 1)
                instances.append(Instance("generate_until", {}, arguments, n, metadata))
            try:
                texts = [clean_reply(text) for text in self.lm.generate_until(instances)]
            except Exception as error:
                if len(batch) > 1:
                    batches += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                    continue
                failure = RequestFailed(type(error).__name__, str(error))
                self.breaker.record_attempt(failure)
                self.breaker.record_failure(failure)
                settle(batch[0], failure)
                self.breaker.check(len(requests))
            else:
                self.breaker.record_response()
                for i, text in zip(batch, texts, strict=True):
                    settle(i, ModelResponse(text))
