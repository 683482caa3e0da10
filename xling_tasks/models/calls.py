"""Requests to a model of the harness, each for itself.

A reply is handed over the moment it arrives, a request that fails is tried again and then fails
alone, and a service that stays down ends the run. API backends are asked in rounds (`rounds`),
other backends keep their batches.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import json
from collections.abc import Generator, Sequence
from typing import Any

from xling_tasks.harness.backends import clean_reply
from xling_tasks.log import log
from xling_tasks.models.batches import batch_round
from xling_tasks.models.doubt import Doubt
from xling_tasks.models.failures import EMPTY, FAILED, CallFailed, Reply
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Arrived, Call, one_round, own_transport
from xling_tasks.replies.store import ReplyStore

CHUNK = 64
"""Requests per call of a local backend: small enough to lose little, large enough for batches."""


Stream = Generator[Arrived, None, None]
"""Replies as they arrive; close it to end the requests under way."""


def stream(
    lm: Any,
    calls: Sequence[Call],
    limits: Limits,
    health: Health,
    batches: ReplyStore | None = None,
) -> Stream:
    """Replies as they arrive, each request once; those that failed come last.

    Use it with `contextlib.closing`, so that an interruption ends the requests under way. With
    `batches`, where these are noted, the service is asked by its batch interface.

    Yields:
        The replies that are there: never an empty list except as a sign of life.

    Raises:
        ServiceDown: If the service stays down; what was yielded before is good.
    """
    if not calls:
        return
    health.start()
    if own_transport(lm):
        yield from _apis(lm, calls, limits, health, batches)
    else:
        yield from _batches(lm, calls, health)


# API backends


def _apis(
    lm: Any, calls: Sequence[Call], limits: Limits, health: Health, batches: ReplyStore | None
) -> Stream:
    """Two rounds: what failed is asked again once the rest is there, if the service works."""
    late: dict[int, CallFailed] = {}
    ask = one_round if batches is None else functools.partial(batch_round, noted=batches)
    doubt = Doubt(lm, calls, limits, health) if limits.doubt and limits.error_texts else None
    kept = [(i, call.kept) for i, call in enumerate(calls) if call.kept is not None]
    places = [i for i, call in enumerate(calls) if call.kept is None]
    asked = ask(lm, calls, places, limits, health) if places else ()
    for arrived in itertools.chain([kept] if kept else (), asked):
        good: Arrived = []
        for i, reply in arrived:
            if isinstance(reply, CallFailed):
                late[i] = reply
            else:
                good.append((i, reply))
        yield good
        if doubt is not None and (gone := doubt.arrived(good)):
            yield gone
            health.check()
    if doubt is not None:
        yield from doubt.rest()
    once_more = [i for i, failed in late.items() if failed.again]
    # Of a batch, this is a request's second attempt; else it has had as many as a user allows.
    may = not limits.strict or (batches is not None and limits.attempts > 1)
    if once_more and len(late) < len(calls) and may:
        for arrived in ask(lm, calls, once_more, limits, health):
            for i, reply in arrived:
                if isinstance(reply, CallFailed):
                    late[i] = reply
                else:
                    del late[i]
                    yield [(i, reply)]
    health.reasons.update(failed.reason for failed in late.values())
    if late:
        yield [(i, Reply("", FAILED, failed.reason)) for i, failed in late.items()]
    health.check_all(len(calls))


# Other backends


def _batches(lm: Any, calls: Sequence[Call], health: Health) -> Stream:
    """Batches of calls with equal arguments; one that raises is halved until its cause is alone.

    Where a conversation that the model replied in can't go on, as it fills the model's context, the
    model is not down.
    """
    groups: dict[str, list[int]] = {}
    for i, call in enumerate(calls):
        groups.setdefault(json.dumps(call.gen_kwargs, sort_keys=True, default=str), []).append(i)
    failed = 0
    for places in groups.values():
        parts = [places[at : at + CHUNK] for at in range(0, len(places), CHUNK)][::-1]
        while parts:
            part = parts.pop()
            try:
                arrived = _batch(lm, calls, part)
            except Exception as error:
                if len(part) > 1:
                    half = len(part) // 2
                    parts += [part[half:], part[:half]]
                    _after_memory_error(error)
                    continue
                log.error("%s: %s: %s", health.name, type(error).__name__, error)
                arrived = [(part[0], Reply("", FAILED, type(error).__name__))]
            health.reasons.update(reply.reason for _, reply in arrived if reply.failed)
            lost = sum(reply.failed for _, reply in arrived)
            follows = all(calls[i].follows for i in part)
            failed = failed + lost if lost == len(arrived) and not follows else 0
            yield arrived
            if failed >= min(len(calls), 10) and failed >= 3:
                raise health.down(f"{failed} calls in a row failed")


def _batch(lm: Any, calls: Sequence[Call], places: Sequence[int]) -> Arrived:
    from lm_eval.api.instance import Instance

    requests = [
        Instance(
            request_type="generate_until",
            doc={},
            arguments=(calls[i].context, copy.deepcopy(calls[i].gen_kwargs)),
            idx=n,
            metadata=("xling_role", n, 1),
        )
        for n, i in enumerate(places)
    ]
    answers = list(lm.generate_until(requests))
    # A hosted backend of the harness may break off and return what it has.
    texts = map(clean_reply, answers[: len(places)])
    replies = [Reply(text) if text.strip() else Reply("", EMPTY, "empty") for text in texts]
    replies += [Reply("", FAILED, "no reply")] * (len(places) - len(replies))
    return list(zip(places, replies, strict=True))


def _after_memory_error(error: Exception) -> None:
    """Give a GPU's memory back before a smaller batch is tried."""
    if "memory" not in f"{type(error).__name__} {error}".lower():
        return
    with contextlib.suppress(Exception):
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
