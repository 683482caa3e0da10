"""The model under test behind a service: its `generate_until` for requests of ours, replaced.

The harness groups requests by their arguments and asks group after group: with a seed for every
sampled answer that is one request at a time. Requests of other tasks go the harness's own way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from xling_tasks.models.service import (
    FAILED,
    REFUSED,
    Call,
    Health,
    Limits,
    Reply,
    concurrency,
    stream,
)
from xling_tasks.unanswered import Answered, Unanswered


class Service:
    """An API backend's `generate_until`, replaced on the object that runs, until `undo`."""

    def __init__(
        self, lm: Any, args: Mapping[str, Any], ours: Callable[[Any], bool], *, batches: Any = None
    ) -> None:
        self._lm, self._ours, self._batches = lm, ours, batches
        self._before, self._concurrent = lm.generate_until, lm._concurrent
        lm._concurrent = max(concurrency(lm), int(getattr(lm, "_batch_size", 1) or 1))
        self._limits = Limits.of(args)
        self._health = Health("the model under test", self._limits, concurrency(lm))
        lm.__dict__["generate_until"] = self._generate_until

    def undo(self) -> None:
        """Give the backend its own method and concurrency back."""
        self._lm.__dict__.pop("generate_until", None)
        self._lm._concurrent = self._concurrent

    def _generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[Any]:
        replies: list[Any] = [None] * len(requests)
        ours = [i for i, request in enumerate(requests) if self._ours(request)]
        others = [i for i in range(len(requests)) if i not in {*ours}]
        if others:
            given = self._before([requests[i] for i in others], disable_tqdm=disable_tqdm)
            for i, reply in zip(others, given, strict=True):
                replies[i] = reply
        calls = [Call(*requests[i].args[:2]) for i in ours]
        bar = tqdm(total=len(ours), desc="Asking the model", disable=disable_tqdm or not ours)
        arriving = stream(self._lm, calls, self._limits, self._health, self._batches)
        with bar, contextlib.closing(arriving):
            for arrived in arriving:
                bar.update(len(arrived))
                for i, reply in arrived:
                    replies[ours[i]] = as_text(reply)
        return replies


def as_text(reply: Reply) -> str:
    """A reply as it travels through the harness: an `Unanswered` where there is no answer."""
    if reply.outcome in (FAILED, REFUSED):
        return Unanswered.of(reply.outcome, reply.reason, reply.text)
    return Answered.of(reply.text, reply.finish, reply.usage)
