"""What one process got from the model under test for one task, until the run has come to its end.

A shelf of the store for each task and process, which tells beside its answers what it is of. An
answer's key is the key of what was asked, and which of several equal requests it is.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import class_name
from xling_tasks.harness.run import current
from xling_tasks.log import log
from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.folder import key_of
from xling_tasks.replies.former import former_identity, former_journal, in_use, read_former_journal
from xling_tasks.replies.role import MODEL, forget_saved, path_of_task
from xling_tasks.replies.store import ReplyStore
from xling_tasks.secrets import redact

Place = tuple[str, int]
"""The key of what was asked, and which of several equal requests it is."""

_ABOUT = "about"


class Kept(NamedTuple):
    """An answer in a journal.

    Attributes:
        answer: A text, or (log-likelihood, greedy).
        outcome: '' for an answer; else what there is in its place (`xling_tasks.unanswered`).
        reason: Why there is no answer.
    """

    answer: Any
    outcome: str = ""
    reason: str = ""


class Journal:
    """The answers to one task's requests on one process.

    Several runs of one command may have it open: each asks for what no other one asks for. A disk
    that is full or read-only does not end a run: it goes on without, and says so once.

    Attributes:
        name: Its name.
        header: What it says of itself.
        store: Its shelf.
        start: The number of this run among those that have had it open.
        there: How many answers were in it when it was opened.
        settled: Whether what was in it was looked through to the end (`models.doubt`).
    """

    def __init__(self, path: Path, name: str, header: Mapping[str, Any]) -> None:
        self.path, self.name = path, name
        self.store = ReplyStore(path, f"{MODEL}/{name}", remember=False)
        self.store.sign_in()
        self.there = max(0, len(self.store) - bool(self._about()))
        self.settled = bool(self._about().get("settled"))
        # What it says of itself may be damaged: no start may draw an earlier one's numbers again.
        unknown = int(time.time()) if self.there else 0
        about = self._change(lambda told: {
            "header": dict(header), **told, "starts": int(told.get("starts", unknown)) + 1,
            "finished": None, "opened": time.time(), "settled": False,
        })  # fmt: skip
        self.header, self.start = about["header"], int(about["starts"])

    @property
    def number(self) -> int:
        """How many answers are in it now."""
        return max(0, len(self.store) - 1)

    @property
    def saved(self) -> str | None:
        """Where its answers were saved, if they were."""
        saved = self._about().get("saved")
        return None if saved is None else str(saved)

    def claim(self, places: Iterable[Place]) -> tuple[dict[Place, Kept], set[Place]]:
        """What is known, and what this run is to ask for; see `ReplyStore.claim`."""
        key = {_key(place): place for place in places}
        known, mine = self.store.claim(key)
        found = {key[k]: _kept(*json.loads(text)) for k, text in known.items()}
        return found, {key[k] for k in mine}

    def put(self, place: Place, kept: Kept, *, again: bool = False) -> None:
        """Add an answer, or put it in the place of what was kept before.

        It is with the operating system at once, on the disk within seconds.
        """
        self.store.put_many({_key(place): json.dumps(kept)}, replace=again)

    def forget(self, *places: Place) -> None:
        """Take back answers that turned out to be none."""
        self.store.forget(map(_key, places))

    def note(self, **what: Any) -> None:
        """Note what it says of itself, by name.

        Args:
            what: `settled`, once all that was asked for has come and was looked through;
                `finished`, in seconds since 1970, where the run came to its end and the journal is
                kept nevertheless.
        """
        self._change(lambda told: {**told, **what})

    def put_former(self, answers: Mapping[Place, Kept], starts: int, saved: str | None) -> None:
        """Add what a journal of 0.2 holds."""
        self.store.put_many({_key(place): json.dumps(kept) for place, kept in answers.items()})
        self.there += len(answers)
        self.start += starts
        self.note(starts=self.start, saved=saved)

    def note_saved(self, place: str) -> None:
        """Note where the answers were saved; an earlier place has a copy, which goes."""
        earlier = self.saved
        if earlier is not None and earlier != place and not self.store.others():
            forget_saved(earlier)
        self.note(saved=place)

    def set_aside(self) -> str:
        """Put all that is in it under another name, which is returned, and close it."""
        aside = f"{self.name}.aside-{time.time_ns()}"
        self.store.move_to(f"{MODEL}/{aside}")
        self.store.close()
        return aside

    def _about(self) -> dict[str, Any]:
        about: dict[str, Any] = json.loads(self.store.get_many([_ABOUT]).get(_ABOUT, "{}"))
        return about

    def _change(self, how: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Change what it says of itself."""
        text = self.store.change(_ABOUT, lambda told: json.dumps(how(json.loads(told or "{}"))))
        about: dict[str, Any] = json.loads(text)
        return about


class Content(NamedTuple):
    """What a journal holds, read by somebody who does not write it.

    Attributes:
        header: What it says of itself.
        answers: The answers by place.
        starts: How many runs have had it open.
        finished: Whether the run that wrote it came to its end.
        running: Who has it open, in words.
        opened: When it was opened last, in seconds since 1970.
    """

    header: dict[str, Any]
    answers: dict[Place, Kept]
    starts: int
    finished: bool
    running: list[str]
    opened: float


def journals(path: Path, beginning: str = "") -> list[str]:
    """The names of the journals in a store's file, of those whose name begins so."""
    with closing(Shelves(path)) as file:
        found = file.names(f"{MODEL}/{beginning}")
    return [shelf.removeprefix(f"{MODEL}/") for shelf in found]


def read_journal(path: Path, name: str) -> Content:
    """What a journal holds."""
    store = ReplyStore(path, f"{MODEL}/{name}")
    try:
        there = store.everything()
        about = json.loads(there.pop(_ABOUT, "{}"))
        answers = {_place(key): _kept(*json.loads(text)) for key, text in there.items()}
        finished = about.get("finished") is not None
        header, starts = about.get("header") or {}, int(about.get("starts", 0))
        opened = float(about.get("opened") or 0)
        return Content(header, answers, starts, finished, store.others(), opened)
    finally:
        store.close()


def _key(place: Place) -> str:
    return f"{place[0]}.{place[1]}"


def _place(key: str) -> Place:
    asked, _, number = key.rpartition(".")
    return asked, int(number)


def _kept(answer: Any, outcome: str, reason: str) -> Kept:
    """An answer as JSON has it, which knows no pairs."""
    return Kept(tuple(answer) if isinstance(answer, list) else answer, outcome, reason)


_DIGITS = 32
_NAME = 16


def key_of_request(*parts: Any) -> str:
    """The digest of what a request asks: task, document, type, prompt and arguments."""
    return key_of(*parts)[:_DIGITS]


def journal_for(
    task: str, lm: Any, instances: Sequence[Any], keys: Sequence[str], cache: Path, *, afresh: bool
) -> Journal:
    """Open the journal of a task in this run.

    Its name says the task, what is asked and who is asked: the model with its arguments (but for
    those of transport), the seeds, and of a model in a local folder that folder's files. What is
    there is set aside with `afresh`.
    """
    asked = key_of_request([[key, item.repeats] for key, item in zip(keys, instances, strict=True)])
    rank, size = getattr(lm, "rank", 0), getattr(lm, "world_size", 1)
    model, args = current().model, current().model_args
    now, before = _identities(lm, model, args)
    requests, process = f"{key_of(task)[:_NAME]}-{asked[:_NAME]}-", f"-rank{rank}of{size}"
    name = f"{requests}{now[:_NAME]}{process}"
    former = former_journal(cache, task, f"{asked[:_NAME]}-{before[:_NAME]}{process}")
    path = path_of_task(cache, name)
    header = {
        "task": task,
        "model": model if isinstance(model, str) else class_name(lm),
        "model_args": redact(dict(args)),
        "requests": sum(item.repeats for item in instances),
        "created": time.time(),
    }
    if afresh and path.exists():
        name = _afresh(path, name, header)
    journal = Journal(path, name, header)
    if not journal.there and not afresh and former.is_file() and not in_use(former):
        _take_over(former, journal)
    if not journal.there:
        _say_others(path, name, requests)
    return journal


def _afresh(path: Path, name: str, header: dict[str, Any]) -> str:
    """Set a journal aside; while another run has it open, this one gets a name of its own."""
    journal = Journal(path, name, header)
    if journal.store.others():
        journal.store.close()
        return f"{name}-{os.getpid()}"
    if journal.there:
        log.info("%s: %d answers are set aside as %s", path, journal.there, journal.set_aside())
    else:
        journal.store.close(clear_if_last=True)
    return name


def _take_over(former: Path, journal: Journal) -> None:
    """Put the answers of a journal of 0.2 into the one that takes its place."""
    try:
        there = read_former_journal(former)
    except OSError as error:
        log.warning("%s: cannot be read (%s)", former, error)
        return
    answers = {
        place: _kept(record["a"], record.get("o", ""), record.get("w", ""))
        for place, record in there.answers.items()
    }
    journal.put_former(answers, there.starts, there.saved)
    if not journal.store.failed:
        former.unlink(missing_ok=True)
        log.info("%s: its %d answers are taken over into %s", former, len(answers), journal.path)


def _say_others(path: Path, name: str, same_requests: str) -> None:
    """Hint at answers to the same requests by a model that is called otherwise."""
    for other in journals(path, same_requests):
        if other != name:
            log.info("%s: %s: answers to the same requests, of other arguments", path, other)


def _identities(lm: Any, model: Any, args: Any) -> tuple[str, str]:
    """The digest of who answers, and what it was in 0.2."""
    if not isinstance(model, str):
        # An object: nothing says whether that of another process is the same model.
        same = key_of_request("object", os.getpid(), id(lm), class_name(lm))
        return same, same
    told, seeds = identity_of(args, asked_by="the model under test"), list(current().seeds)
    former, files = former_identity(args)
    return (
        key_of_request(model, told, seeds, list(files_of(told))),
        key_of_request(model, former, seeds, files),
    )
