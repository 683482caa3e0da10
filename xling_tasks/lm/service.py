"""The model under test behind a service: asked request by request, each reply taken as it comes.

The harness groups requests by their arguments and asks group after group: with a seed for every
sampled answer that is one request at a time. It also ends the run when one request fails for
good, and takes a body without an answer for an empty answer. So requests of ours go through
`xling_tasks.models.calls`; those of other tasks in the run go the harness's own way.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from xling_tasks.harness.watch import Replaced
from xling_tasks.models.calls import stream
from xling_tasks.models.failures import FAILED, REFUSED, Reply
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Call, concurrency
from xling_tasks.replies.store import ReplyStore
from xling_tasks.unanswered import Unanswered

_NAME = "generate_until"


class Service(Replaced):
    """An API backend's `generate_until`, replaced on the object that runs, until `undo`.

    `take_back` is told the requests whose reply turned out to be none; `changed` the numbers in
    `kept` of answers that turned out to be none, and the second ones.

    Attributes:
        kept: Requests and answers by number that an earlier start got, which ended before it
            looked into them: the next call does so.
    """

    def __init__(
        self,
        lm: Any,
        args: Mapping[str, Any],
        ours: Callable[[Any], bool],
        *,
        error_texts: bool,
        reads: Callable[[Any, str], bool] = lambda request, reply: False,
        take_back: Callable[[Any], None] = lambda request: None,
        changed: Callable[[int, str], None] = lambda number, answer: None,
        batches: ReplyStore | None = None,
    ) -> None:
        self.kept: dict[int, tuple[Any, str]] = {}
        super().__init__(lm, {_NAME: self._generate_until})
        self._ours = ours
        self._reads, self._take_back, self._changed = reads, take_back, changed
        self._batches = batches
        self._concurrent = lm._concurrent
        # Several prompts in one request are as many requests at a time here.
        lm._concurrent = max(concurrency(lm), int(getattr(lm, "_batch_size", 1) or 1))
        self._limits = Limits.of(args, error_texts=error_texts, doubt=True)
        self._health = Health("the model under test", self._limits, concurrency(lm))

    def undo(self) -> None:
        """Give the backend its own method and concurrency back."""
        super().undo()
        self._lm._concurrent = self._concurrent

    def _generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[Any]:
        replies: list[Any] = [None] * len(requests)
        ours = [i for i, request in enumerate(requests) if self._ours(request)]
        others = [i for i, request in enumerate(requests) if not self._ours(request)]
        if others:
            given = self.before[_NAME]([requests[i] for i in others], disable_tqdm=disable_tqdm)
            for i, reply in zip(others, given, strict=True):
                replies[i] = reply
        kept, self.kept = self.kept, {}
        calls = [self._call(requests[i]) for i in ours]
        calls += [self._call(request, Reply(answer)) for request, answer in kept.values()]
        numbers = [None] * len(ours) + [*kept]
        bar = tqdm(total=len(ours), desc="Asking the model", disable=disable_tqdm or not ours)
        with bar, contextlib.closing(
            stream(self._lm, calls, self._limits, self._health, self._batches)
        ) as arriving:  # fmt: skip
            for arrived in arriving:
                for i, reply in arrived:
                    number = numbers[i]
                    if number is not None:
                        if reply is not calls[i].kept:
                            self._changed(number, as_text(reply))
                        continue
                    if reply.failed and replies[ours[i]] is not None:
                        self._take_back(requests[ours[i]])
                    bar.update(replies[ours[i]] is None)
                    replies[ours[i]] = as_text(reply)
        return replies

    def look_through(self) -> None:
        """Look into what is kept, where nothing is left to ask."""
        self._generate_until([], disable_tqdm=True)

    def _call(self, request: Any, kept: Reply | None = None) -> Call:
        reads = functools.partial(self._reads, request)
        return Call(request.args[0], request.args[1], reads, kept=kept)


def as_text(reply: Reply) -> str:
    """A reply as it travels through the harness: an `Unanswered` where there is no answer."""
    if reply.outcome in (FAILED, REFUSED):
        return Unanswered.of(reply.outcome, reply.reason, reply.text)
    return reply.text
