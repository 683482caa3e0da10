"""What one process got from the model under test for one task, until the run has come to its end.

A shelf of the store for each task and process, which tells beside its answers what it is of. An
answer's key is the key of what was asked, and which of several equal requests it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.replies.role import MODEL
from xling_tasks.replies.saved import forget_saved
from xling_tasks.replies.shelves import Shelves
from xling_tasks.replies.store import ReplyStore

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

    Args:
        path: The store's file; the folder is made.
        name: Which task's, of which model, asked what.
        header: What it says of itself, where it is new.

    Attributes:
        name: Its name.
        header: What it says of itself.
        start: The number of this run among those that have had it open.
        there: How many answers were in it when it was opened.
        settled: Whether what was in it was looked through to the end (`models.doubt`).
    """

    def __init__(self, path: Path, name: str, header: Mapping[str, Any]) -> None:
        self.path, self.name = path, name
        self._store = ReplyStore(path, f"{MODEL}/{name}", remember=False)
        self._store.sign_in()
        self.there = max(0, len(self._store) - bool(self._about()))
        self.settled = bool(self._about().get("settled"))
        # What it says of itself may be damaged: no start may draw an earlier one's numbers again.
        unknown = int(time.time()) if self.there else 0
        about = self._change(lambda told: {
            "header": dict(header), **told, "starts": int(told.get("starts", unknown)) + 1,
            "finished": None, "opened": time.time(), "settled": False,
        })  # fmt: skip
        self.header, self.start = about["header"], int(about["starts"])

    @property
    def failed(self) -> str:
        """Why it is written no more; '' while it is."""
        return self._store.failed

    @property
    def number(self) -> int:
        """How many answers are in it now."""
        return max(0, len(self._store) - 1)

    @property
    def others(self) -> list[str]:
        """Other runs that have it open, in words."""
        return self._store.others()

    @property
    def saved(self) -> str | None:
        """Where its answers were saved, if they were."""
        saved = self._about().get("saved")
        return None if saved is None else str(saved)

    def claim(self, places: Iterable[Place]) -> tuple[dict[Place, Kept], set[Place]]:
        """What is known, and what this run is to ask for; see `ReplyStore.claim`."""
        key = {_key(place): place for place in places}
        known, mine = self._store.claim(key)
        found = {key[k]: _kept(text) for k, text in known.items()}
        return found, {key[k] for k in mine}

    def release(self) -> None:
        """Let others ask for what is claimed and has not come."""
        self._store.release()

    def wait(self, number: int) -> None:
        """Wait a little for what another run asks for."""
        self._store.wait(number)

    def put(self, place: Place, kept: Kept, *, again: bool = False) -> None:
        """Add an answer, or put it in the place of what was kept before.

        It is with the operating system at once, on the disk within seconds.
        """
        self._store.put_many({_key(place): json.dumps(kept)}, replace=again)

    def forget(self, *places: Place) -> None:
        """Take back answers that turned out to be none."""
        self._store.forget(map(_key, places))

    def note_settled(self) -> None:
        """Note that all that was asked for has come, and was looked through."""
        self._change(lambda told: {**told, "settled": True})

    def put_former(self, answers: Mapping[Place, Kept], starts: int, saved: str | None) -> None:
        """Add what a journal of 0.2 holds."""
        self._store.put_many({_key(place): json.dumps(kept) for place, kept in answers.items()})
        self.there += len(answers)
        self.start += starts
        self._change(lambda told: {**told, "starts": self.start, "saved": saved})

    def note_saved(self, place: str) -> None:
        """Note where the answers were saved; an earlier place has a copy, which goes."""
        earlier = self.saved
        if earlier is not None and earlier != place and not self.others:
            forget_saved(earlier)
        self._change(lambda told: {**told, "saved": place})

    def note_finished(self) -> None:
        """Note that the run came to its end, where the journal is kept nevertheless."""
        self._change(lambda told: {**told, "finished": time.time()})

    def close(self) -> None:
        """Let others have it."""
        self._store.close()

    def set_aside(self) -> str:
        """Put all that is in it under another name, which is returned, and close it."""
        aside = f"{self.name}.aside-{time.time_ns()}"
        self._store.move_to(f"{MODEL}/{aside}")
        self.close()
        return aside

    def remove(self) -> None:
        """Close it and, unless another run has it open, clear its shelf: it is saved."""
        self._store.close(clear_if_last=True)

    def _about(self) -> dict[str, Any]:
        about: dict[str, Any] = json.loads(self._store.get_many([_ABOUT]).get(_ABOUT, "{}"))
        return about

    def _change(self, how: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Change what it says of itself."""
        text = self._store.change(_ABOUT, lambda told: json.dumps(how(json.loads(told or "{}"))))
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
        answers = {_place(key): _kept(text) for key, text in there.items()}
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


def _kept(text: str) -> Kept:
    answer, outcome, reason = json.loads(text)
    return Kept(tuple(answer) if isinstance(answer, list) else answer, outcome, reason)
