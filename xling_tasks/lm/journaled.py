"""Every answer of the model under test is kept as it comes: the same command goes on from there.

The harness hands the requests of all tasks to `lm.generate_until` and `lm.loglikelihood`, and tells
a cache hook of each answer. Both are replaced on the one model object while tasks of ours run.
Answers lie in a `ReplyStore` per task, model and process, until the run has come to its end.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from xling_tasks.cache.paths import cache_key
from xling_tasks.cache.response_cache import ResponseCache
from xling_tasks.errors import BackendError, user_path
from xling_tasks.failed_response import ModelResponse, is_failed, response_of
from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import (
    batch_size_of,
    class_name,
    forget_cached,
    is_engine,
    loads_for_each_call,
    unwrapped,
    uses_answer_cache,
)
from xling_tasks.harness.run import all_ranks, current, reseed
from xling_tasks.lm.service import Service
from xling_tasks.log import log
from xling_tasks.log_filter import say_when_interrupted
from xling_tasks.logs.answers import doc_digest
from xling_tasks.logs.results import as_json
from xling_tasks.models.batches import BatchInterface, open_batches
from xling_tasks.models.http_api import is_api_backend
from xling_tasks.models.retry import ServiceUnavailable, format_reasons
from xling_tasks.output import file_name

_KINDS = ("generate_until", "loglikelihood")
_SLICE_SECONDS, _SLICE, _LARGEST = 60.0, 256, 8192


class _Task:
    """One task's requests on this process, and the store of their answers."""

    def __init__(self, instances: Sequence[Any], keys: list[str], store: ResponseCache) -> None:
        self.store, self.scored = store, False
        self.keys = {id(item): key for item, key in zip(instances, keys, strict=True)}
        self.allowed = Counter[str]()
        for item, key in zip(instances, keys, strict=True):
            self.allowed[key] += item.repeats
        self.failed = Counter[str]()

    def key(self, request: Any, seen: Counter[str]) -> str | None:
        """The key of one answer to a request; None for a request that only fills up a batch."""
        key = self.keys.get(id(request))
        if key is None or seen[key] >= self.allowed[key]:
            return None
        seen[key] += 1
        return f"{key}.{seen[key]}"

    def keep(self, key: str, reply: Any) -> None:
        """Keep an answer; a failed call is none, and is asked for again."""
        if is_failed(reply):
            self.failed[reply.reason] += 1
            self.store.discard([key])
            return
        if isinstance(reply, str):
            details = reply.details() if isinstance(reply, ModelResponse) else {}
            self.store.put_many({key: {"text": str(reply), "details": details}})
        else:
            self.store.put_many({key: reply})


def _reply(kept: Any) -> Any:
    return response_of(**kept) if isinstance(kept, dict) else tuple(kept)


class Keeper:
    """The model of a run with its two methods and its hook replaced, until `let_go`."""

    def __init__(self, lm: Any, *, batches: BatchInterface | None) -> None:
        self.run, self._lm, self.tasks = current(), lm, dict[str, _Task]()
        self._service, self._stays = None, uses_answer_cache(lm)
        if is_api_backend(unwrapped(lm)):
            self._service = Service(
                unwrapped(lm), self.run.model_args,
                lambda r: (own := self._task(r)) is not None and id(r) in own.keys,
                batches=batches,
            )  # fmt: skip
        self._before = {kind: getattr(lm, kind) for kind in _KINDS}
        self._hook = getattr(unwrapped(lm), "cache_hook", None)
        self._waiting: dict[Any, list[int]] = {}
        self._early: dict[int, Any] = {}
        self._places: list[tuple[_Task, str] | None] = []
        for kind in _KINDS:
            lm.__dict__[kind] = lambda requests, *a, _kind=kind, **o: self._ask(
                _kind, requests, a, o
            )
        hook = SimpleNamespace(add_partial=self._told, dbdict=getattr(self._hook, "dbdict", None))
        unwrapped(lm).cache_hook = hook

    def let_go(self) -> None:
        """Give the model its own methods back, and close the stores; what is in them stays."""
        if self._lm is None:
            return
        for kind in _KINDS:
            self._lm.__dict__.pop(kind, None)
        unwrapped(self._lm).cache_hook = self._hook
        if self._service is not None:
            self._service.undo()
        self._lm = self._service = None
        for task in self.tasks.values():
            task.store.close()

    def _task(self, request: Any) -> _Task | None:
        return self.tasks.get(str(request.task_name))

    def _ask(self, kind: str, requests: Sequence[Any], more: Any, options: Any) -> list[Any]:
        requests, seen, ask = list(requests), Counter[str](), self._before[kind]
        self._places = []
        for request in requests:
            task = self._task(request)
            key = None if task is None else task.key(request, seen)
            self._places.append(None if task is None or key is None else (task, key))
        if not any(self._places):
            return list(ask(requests, *more, **options))
        replies = self._known()
        rest = [i for i, reply in enumerate(replies) if reply is None]
        if len(rest) < len(requests):
            log.warning(
                "resuming: %d of %d answers are there (%s); the rest is asked for. --metadata "
                "xling_resume=false would ask for all of them afresh.",
                len(requests) - len(rest),
                len(requests),
                self.where(),
            )
        self._go_on(requests, rest)
        try:
            for chunk in self._chunks(requests, rest):
                self._ask_chunk(kind, requests, chunk, replies, more, options)
            missing = max(all_ranks(len(rest))) - len(rest)
            if missing and requests:  # a model spread over processes needs all of them each time
                ask([requests[-1]] * missing, *more, **options)
        except KeyboardInterrupt:
            self.let_go()
            raise
        except Exception as error:
            kept = self.kept_line()
            self.let_go()
            if isinstance(error, ServiceUnavailable) and self.where():
                raise BackendError(f"{error}. {kept}") from error
            log.error("%s", kept)
            raise
        return replies

    def _known(self) -> list[Any]:
        replies: list[Any] = [None] * len(self._places)
        for task in self.tasks.values():
            own = {p[1]: i for i, p in enumerate(self._places) if p is not None and p[0] is task}
            for key, kept in task.store.get_many(own).items():
                replies[own[key]] = _reply(kept)
        return replies

    def _ask_chunk(
        self, kind: str, requests: list[Any], chunk: list[int], replies: list[Any], more: Any,
        options: Any,
    ) -> None:  # fmt: skip
        """Ask for some, and keep what the hook did not tell of while they were made."""
        self._waiting, self._early = {}, {}
        for i in reversed(chunk):
            if self._places[i] is not None and not is_engine(self._lm):
                self._waiting.setdefault(_seen_as(kind, requests[i].args), []).append(i)
        given = self._before[kind]([requests[i] for i in chunk], *more, **options)
        for i, reply in zip(chunk, given, strict=True):
            replies[i], place = reply, self._places[i]
            if place is not None and (i not in self._early or self._early[i] != reply):
                place[0].keep(place[1], reply)
            if is_failed(reply):
                forget_cached(self._lm, kind, requests[i].args)

    def _told(self, kind: str, request: Any, answer: Any) -> None:
        """The cache hook: an answer is there, while others are still being made."""
        if self._hook is not None and not is_failed(answer):
            self._hook.add_partial(
                kind, request, str(answer) if isinstance(answer, str) else answer
            )
        if (waiting := self._waiting.get(_seen_as(kind, request))) and not is_failed(answer):
            i = waiting.pop()
            task, key = self._places[i]  # type: ignore[misc]
            self._early[i] = answer
            task.keep(key, answer)

    def _chunks(self, requests: list[Any], rest: list[int]) -> Iterator[list[int]]:
        """All at once; engines, which tell nothing before the end of a call, in slices."""
        if not is_engine(self._lm) or getattr(self._lm, "world_size", 1) > 1:
            yield from [rest] if rest else []
            return
        rest = sorted(rest, key=lambda i: -len(str(requests[i].args[0])))
        longer = 16 if loads_for_each_call(self._lm) else 1
        size, at = batch_size_of(self._lm) or _SLICE * longer, 0
        while at < len(rest):
            began = time.monotonic()
            yield rest[at : at + size]
            at += size
            if batch_size_of(self._lm) is None:
                took = max(time.monotonic() - began, 1e-3)
                size = int(min(size * min(2.0, _SLICE_SECONDS * longer / took), _LARGEST * longer))
                size = max(size, 16)

    def _go_on(self, requests: list[Any], rest: list[int]) -> None:
        """Draw on: with the same seed a second start would draw the first one's answers again."""
        runs = max((task.store.files_before for task in self.tasks.values()), default=0)
        if not rest or not runs:
            return
        reseed(int(cache_key(sorted(self.tasks), runs)[:8], 16) % 2**31)
        if (go_on := getattr(unwrapped(self._lm), "continue_after", None)) is not None:
            left = set(rest)
            go_on([request for i, request in enumerate(requests) if i not in left])

    # What is said, and the end

    def where(self) -> str:
        """The folder of the answers; '' if none are kept."""
        stores = [task.store for task in self.tasks.values()]
        return next((str(s.folder.parent) for s in stores if s.folder and not s.error), "")

    def kept_line(self) -> str:
        """What is kept, and how to go on."""
        there = sum(len(task.store) for task in self.tasks.values())
        wanted = sum(task.allowed.total() for task in self.tasks.values())
        return (f"{there} of {wanted} answers are kept in {self.where()}; start the same command "
                "again to ask only for the rest.")  # fmt: skip

    def scored_one(self, task: _Task) -> None:
        """A task is scored; once all are, nothing is asked any more."""
        task.scored = True
        if all(own.scored for own in self.tasks.values()):
            again = sum((own.failed for own in self.tasks.values()), Counter[str]())
            if again:
                log.warning("%d requests to the model under test failed (%s) and are unscored. %s",
                            again.total(), format_reasons(again), self.kept_line())  # fmt: skip
            self.let_go()

    def conclude(self) -> None:
        """The run is over: answers that are all there and scored are in its results."""
        whole = all(task.scored for task in self.tasks.values())
        self.let_go()
        for task in self.tasks.values():
            if whole and not task.failed and not self._stays:  # `--use_cache` keeps no sampled ones
                task.store.close(clear=True)


def _seen_as(kind: str, request: Any) -> Any:
    context, argument = request[0], request[1]
    return kind, context if isinstance(context, str) else as_json(context), as_json(argument)


_current: Keeper | None = None


def watch(
    task: str, lm: Any, instances: Sequence[Any], cache: Path | None, resume: str | bool | None, *,
    batch: bool = False,
) -> None:  # fmt: skip
    """Keep the answers to a task's requests from now on, and take those that are there."""
    global _current
    if _current is not None and (_current.run is not current() or task in _current.tasks):
        end()
    folder = user_path(resume) if isinstance(resume, str) else cache
    if _current is None:
        batches = open_batches("the model under test", unwrapped(lm), folder) if batch else None
        _current = Keeper(lm, batches=batches)
    digests: dict[int, str] = {}
    keys = []
    for item in instances:
        doc = digests.setdefault(id(item.doc), "") or doc_digest(item.doc)
        digests[id(item.doc)] = doc
        keys.append(cache_key(doc, item.request_type, item.args)[:32])
    place = None if folder is None else folder / "answers" / _name(task, lm, keys, instances)
    store = ResponseCache(place)
    if resume is False and place is not None and len(store):
        place.rename(place.with_name(f"{place.name}.aside-{time.time_ns()}"))
        store = ResponseCache(place)
    _current.tasks[task] = _Task(instances, keys, store)


def _name(task: str, lm: Any, keys: list[str], instances: Sequence[Any]) -> str:
    """Task, what is asked, who is asked (model, arguments, seeds, local files), and the process."""
    run = current()
    model: Any = (class_name(lm), os.getpid(), id(lm))
    if isinstance(run.model, str):
        told = identity_of(run.model_args)
        model = run.model, told, list(run.seeds), list(files_of(told))
    rank, size = getattr(lm, "rank", 0), getattr(lm, "world_size", 1)
    asked = [[key, item.repeats] for key, item in zip(keys, instances, strict=True)]
    return f"{file_name(task)}-{cache_key(asked, model)[:16]}-rank{rank}of{size}"


def scored(task: str) -> None:
    """The task is scored."""
    if _current is not None and task in _current.tasks:
        _current.scored_one(_current.tasks[task])


def end() -> None:
    """Conclude the run that is over, or let go of one that broke off."""
    global _current
    before, _current = _current, None
    if before is not None:
        before.conclude()


say_when_interrupted(lambda: _current.kept_line() if _current and _current.where() else "")


@atexit.register
def _at_exit() -> None:
    """A process that ends well has written its results; after an error the answers stay."""
    global _current
    if _current is not None and getattr(sys, "last_value", None) is not None:
        _current.let_go()
        _current = None
    end()
