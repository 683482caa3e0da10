"""A running model whose every answer is kept in a journal the moment it is there."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from xling_tasks.errors import BackendError
from xling_tasks.harness.backends import (
    batch_size_of,
    forget_cached,
    is_engine,
    is_hosted,
    loads_for_each_call,
    unwrapped,
    uses_answer_cache,
)
from xling_tasks.harness.run import all_ranks, current, reseed
from xling_tasks.harness.watch import Watch
from xling_tasks.lm.part import Part, changed_answers, hook_key
from xling_tasks.lm.service import Service
from xling_tasks.log import log, warn_once
from xling_tasks.models.failures import in_words
from xling_tasks.models.health import ServiceDown
from xling_tasks.models.rounds import own_transport
from xling_tasks.replies.journal import Journal, Kept, Place, key_of_request
from xling_tasks.replies.store import ReplyStore
from xling_tasks.unanswered import Unanswered, failed

_KINDS = ("generate_until", "loglikelihood")
_SLICE_SECONDS = 60.0
_FIRST_SLICE, _LARGEST_SLICE = 256, 8192
# As many times the minute and the requests where every call loads the model anew.
_LONGER = 16


class Journaled:
    """The journals of a run, around its model; `parts` are the tasks of ours in the run."""

    def __init__(self, lm: Any, *, error_texts: bool, batches: ReplyStore | None = None) -> None:
        self.run = current()
        self._lm = lm
        self._stay = uses_answer_cache(lm)
        self.parts: dict[str, Part] = {}
        self._pending: dict[tuple[Any, ...], list[int]] = {}
        self._early: dict[int, Any] = {}
        self._asked: list[Any] = []
        self._places: list[tuple[Part, Place] | None] = []
        self._replies: list[Any] = []
        self._service, self._error_texts = None, error_texts
        if own_transport(unwrapped(lm)):
            args = self.run.model_args
            self._service = Service(
                unwrapped(lm), args, self._is_ours, error_texts=error_texts, reads=self._reads,
                take_back=self._take_back, changed=self._replace, batches=batches,
            )  # fmt: skip
        methods = {kind: self._method(kind) for kind in _KINDS}
        self._watch = Watch(lm, methods, self._told)

    def _is_ours(self, request: Any) -> bool:
        part = self.parts.get(str(request.task_name))
        return part is not None and id(request) in part.keys

    def _reads(self, request: Any, reply: str) -> bool:
        """Whether a reply holds what was asked for, where that is one of few things."""
        part = self.parts.get(str(request.task_name))
        return part is not None and part.reads is not None and part.reads(reply)

    def _take_back(self, request: Any) -> None:
        """A reply that was kept turned out to be none, and the run may end at any moment."""
        for other, place in zip(self._asked, self._places, strict=True):
            if other is request and place is not None and place[0].journal is not None:
                place[0].journal.forget(place[1])

    def _replace(self, number: int, answer: str) -> None:
        """An answer of an earlier start turned out to be none, and here is the second one."""
        place = self._places[number]
        assert place is not None
        self._replies[number] = answer
        place[0].keep(place[1], answer, again=True)

    @property
    def _journals(self) -> list[Journal]:
        return [part.journal for part in self.parts.values() if part.journal is not None]

    def where(self) -> str:
        """The file with the journals; '' if none is written."""
        return next((str(own.path) for own in self._journals if not own.store.failed), "")

    # Asking

    def _method(self, kind: str) -> Any:
        def ask(requests: Sequence[Any], *more: Any, **options: Any) -> list[Any]:
            return self._ask(kind, list(requests), *more, **options)

        return ask

    def _ask(self, kind: str, requests: list[Any], *more: Any, **options: Any) -> list[Any]:
        """All replies, in order: from the journals, else from the model."""
        seen: Counter[Place] = Counter()
        places: list[tuple[Part, Place] | None] = []
        for request in requests:
            part = self.parts.get(str(request.task_name))
            place = None if part is None else part.place(request, seen)
            places.append(None if part is None or place is None else (part, place))
        if not any(places):
            return list(self._watch.before[kind](requests, *more, **options))
        self._asked, self._places = requests, places
        replies = self._replies = [None] * len(requests)
        open_: list[int] = list(range(len(requests)))
        try:
            while True:
                wanted = len(open_)
                mine, open_ = self._claim(open_, replies)
                if wanted == len(requests):
                    self._say_resumed(wanted - len(mine) - len(open_), wanted)
                self._other_stream(requests, mine)
                ask = self._watch.before[kind]
                if self._service is not None and not mine:
                    self._service.look_through()
                for chunk in self._chunks(requests, mine):
                    self._ask_chunk(kind, ask, requests, chunk, replies, more, options)
                self._fill_up(ask, requests, len(mine), more, options)
                for journal in self._journals:
                    journal.store.release()
                if not any(all_ranks(bool(open_))):
                    self._settled()
                    return replies
                self._wait(open_)
        except KeyboardInterrupt:
            self.close()
            raise
        except Exception as error:
            raise self._gone(error) from error

    def _claim(self, open_: list[int], replies: list[Any]) -> tuple[list[int], list[int]]:
        """Take what is kept; returns what to ask here, and what another run is asking."""
        wanted: dict[Part, dict[Place, int]] = {}
        mine = []
        for number in open_:
            part, place = self._places[number] or (None, None)
            if part is None or place is None or part.journal is None:
                mine.append(number)
            else:
                wanted.setdefault(part, {})[place] = number
        left = []
        for part, numbers in wanted.items():
            assert part.journal is not None
            known, own = part.journal.claim(numbers)
            for place, kept in known.items():
                replies[numbers[place]] = _reply(kept)
            if self._service is not None and self._error_texts and part.unsettled():
                self._service.kept |= {
                    numbers[place]: (self._asked[numbers[place]], str(kept.answer))
                    for place, kept in known.items()
                    if not kept.outcome
                }
            mine += [number for place, number in numbers.items() if place in own]
            theirs = numbers.keys() - known.keys() - own
            left += [numbers[place] for place in theirs]
        return sorted(mine), sorted(left)

    def _settled(self) -> None:
        """All that was asked for has come, and was looked through."""
        for part in {id(place[0]): place[0] for place in self._places if place}.values():
            part.looked_through = True
            if part.journal is not None:
                part.journal.note(settled=True)

    def _wait(self, open_: list[int]) -> None:
        """Wait for another run's answers, or for that of another process of this run."""
        parts = [self._places[number] for number in open_]
        if parts and parts[0] is not None and parts[0][0].journal is not None:
            parts[0][0].journal.store.wait(len(open_))
        else:
            time.sleep(0.5)

    def _ask_chunk(
        self, kind: str, ask: Any, requests: list[Any], chunk: list[int], replies: list[Any],
        more: Any, options: Any,
    ) -> None:  # fmt: skip
        """Ask for some, and keep what the hook did not keep while they were made."""
        self._pending, self._early = {}, {}
        if not is_engine(self._lm):
            for number in reversed(chunk):
                if self._places[number] is not None:
                    key = hook_key(kind, requests[number].args)
                    self._pending.setdefault(key, []).append(number)
        given = ask([requests[number] for number in chunk], *more, **options)
        early, self._pending, self._early = self._early, {}, {}
        changed = changed_answers(early, chunk, given)
        for number, reply in zip(chunk, given, strict=True):
            replies[number] = reply
            place = self._places[number]
            if place is not None and (number not in early or number in changed):
                place[0].keep(place[1], reply, again=number in early)
            if failed(reply):
                forget_cached(self._lm, kind, requests[number].args)

    def _told(self, kind: str, request: Any, answer: Any) -> None:
        """The cache hook: an answer is there, while others are still being made."""
        waiting = self._pending.get(hook_key(kind, request))
        if waiting:
            number = waiting.pop()
            place = self._places[number]
            if place is not None and not failed(answer):
                self._early[number] = answer
                place[0].keep(place[1], answer)

    def _chunks(self, requests: list[Any], rest: list[int]) -> Iterator[list[int]]:
        """All at once; but engines, which tell nothing before the end, in slices of a minute.

        An engine that is loaded anew for every call gets slices of a quarter of an hour.
        """
        if not is_engine(self._lm) or getattr(self._lm, "world_size", 1) > 1:
            if rest:
                yield rest
            return
        # Longest first, as the harness orders them within one call.
        rest = sorted(rest, key=lambda number: -len(str(requests[number].args[0])))
        batch = batch_size_of(self._lm)
        longer = _LONGER if loads_for_each_call(self._lm) else 1
        if longer > 1 and batch is not None:
            warn_once(
                "vLLM's data parallelism loads the model anew for every batch: "
                "--batch_size auto loads it a few times in all."
            )
        first = _FIRST_SLICE * longer
        size, start = first if batch is None else batch, 0
        while start < len(rest):
            began = time.monotonic()
            yield rest[start : start + size]
            start += size
            if batch is None:
                took = max(time.monotonic() - began, 1e-3)
                wanted = int(size * min(2.0, _SLICE_SECONDS * longer / took))
                size = max(min(first, size), min(wanted, _LARGEST_SLICE * longer))

    def _fill_up(self, ask: Any, requests: list[Any], asked: int, more: Any, options: Any) -> None:
        """Ask as often as the process that has most to ask, as a model spread over them needs.

        The harness fills up, but it does not know how much each process finds in its journal.
        """
        missing = max(all_ranks(asked)) - asked
        if missing and requests:
            ask([requests[-1]] * missing, *more, **options)

    def _say_resumed(self, there: int, wanted: int) -> None:
        if there:
            log.warning(
                "resuming: %d of %d answers are there (%s); the rest is asked for. "
                "--metadata xling_resume=false would ask for all of them afresh.",
                there, wanted, self.where(),
            )  # fmt: skip

    def _other_stream(self, requests: list[Any], rest: list[int]) -> None:
        """Take care that sampling goes on, and does not begin again.

        With the same seed a second start would draw the random numbers of the first again, and
        give some of the answers that are there a second time: a consistency that is not one.
        """
        again = max((journal.start for journal in self._journals), default=1)
        if not rest or again < 2:
            return
        names = sorted(journal.name for journal in self._journals)
        reseed(int(key_of_request(names, again)[:8], 16) % 2**31)
        go_on = getattr(unwrapped(self._lm), "continue_after", None)
        if go_on is not None:  # our own models draw by the number of the repeat
            left = set(rest)
            go_on([item for number, item in enumerate(requests) if number not in left])

    def _gone(self, error: Exception) -> Exception:
        """What to raise when the model fails for good: what is kept, and how to go on."""
        hosted = is_hosted(self._lm)
        self.close()
        if not self.where():
            return error
        if isinstance(error, ServiceDown):
            return BackendError(f"{error}. {self.kept_line()}")
        if not hosted:
            log.error("%s", self.kept_line())
            return error
        reason = " ".join(str(error).split())[:200]
        said = f"({type(error).__name__}{reason and ': '}{reason})"
        if not any(part.there for part in self.parts.values()):
            return BackendError(f"the model under test does not answer {said}")
        return BackendError(
            f"the model under test does not answer any more {said}. {self.kept_line()}"
        )

    def kept_line(self) -> str:
        """What is kept, and how to go on."""
        there = sum(part.there for part in self.parts.values())
        wanted = sum(sum(part.allowed.values()) for part in self.parts.values())
        return (
            f"{there} of {wanted} answers are kept in {self.where()}; start the same command "
            "again to ask only for the rest."
        )

    # The end

    @property
    def complete(self) -> bool:
        """Whether all tasks are scored."""
        return all(part.scored for part in self.parts.values())

    def close(self) -> None:
        """Let the model and the journals go; what is in them stays."""
        self._let_go()
        for journal in self._journals:
            journal.store.close()

    def _let_go(self) -> None:
        """Give the model its own methods back, and forget it: it may be large."""
        if self._lm is None:
            return
        self._watch.undo()
        if self._service is not None:
            self._service.undo()
        self._lm = self._service = None
        del self._watch

    def scored(self, part: Part) -> None:
        """A task is scored; once all are, nothing is asked any more."""
        part.scored = True
        if not self.complete:
            return
        self._let_go()
        again = sum((part.failed for part in self.parts.values()), Counter[str]())
        if again:
            log.warning(
                "%d requests to the model under test failed (%s) and are unscored. %s",
                again.total(), in_words(again), self.kept_line(),
            )  # fmt: skip

    def conclude(self) -> None:
        """After a run that came to its end: journals whose answers are saved are not needed.

        Where answers are missing, or with `--use_cache`, they stay for the next start.
        """
        self._let_go()
        for part in self.parts.values():
            if part.journal is None:
                continue
            if part.journal.saved is None or part.failed or self._stay:
                part.journal.note(finished=time.time())
                part.journal.store.close()
            else:
                part.journal.store.close(clear_if_last=True)


def _reply(kept: Kept) -> Any:
    if kept.outcome:
        return Unanswered.of(kept.outcome, kept.reason, kept.answer)
    return kept.answer
