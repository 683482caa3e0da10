"""Which file has a shelf of the store: of a role, of a task, of answers that are saved.

One file in the cache folder. On a network disk, whose locks and shared memory do not reach from one
machine to another, each machine writes a file of its own and reads those of the others; a task's
answers, which another machine may go on with, have a file for the task.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.file import before, on_network
from xling_tasks.replies.folder import ENDING, REPLIES, key_of
from xling_tasks.replies.former import take_over_cache
from xling_tasks.replies.store import ReplyStore

MODEL = "model"
"""The shelves of unfinished tasks of the model under test begin so."""

ANSWERS = "answers"
"""The shelves of answers that were scored begin so."""

STORES = f"{REPLIES}*{ENDING}"
"""What files of the store are called."""

_DIGITS = 16


def store_of(role: str, folder: Path | None) -> ReplyStore:
    """The shelf of a role's replies in a cache folder; None for one that keeps nothing."""
    if folder is None:
        return ReplyStore(None)
    path = folder / f"{REPLIES}{ENDING}"
    if on_network(path):
        store: ReplyStore = _Shard(folder / f"{REPLIES}@{socket.gethostname()}{ENDING}", role)
    else:
        store = ReplyStore(path, role)
    take_over_cache(folder / f"{role}.sqlite", store)
    return store


def path_of_task(folder: Path, name: str) -> Path:
    """The file with the shelf of a task of the model under test."""
    path = folder / f"{REPLIES}{ENDING}"
    return folder / f"{REPLIES}-{name}{ENDING}" if on_network(path) else path


def store_files(folder: Path) -> list[Path]:
    """All files of the store in a cache folder."""
    return sorted(folder.glob(STORES))


class _Shard(ReplyStore):
    """A machine's own file on a network disk, beside which it reads those of the others."""

    def __init__(self, path: Path, shelf: str) -> None:
        super().__init__(path, shelf)
        self._others: dict[Path, ReplyStore] = {}

    def _look_up(self, wanted: list[str]) -> Iterator[tuple[str, str]]:
        found = dict(super()._look_up(wanted))
        yield from found.items()
        for path in sorted(self.path.parent.glob(f"{REPLIES}@*{ENDING}")):
            rest = [key for key in wanted if key not in found]
            if path != self.path and rest:
                if path not in self._others:
                    self._others[path] = _ReadOnly(path, self.shelf)
                more = self._others[path].get_many(rest)
                found |= more
                yield from more.items()


class _ReadOnly(ReplyStore):
    """Another machine's file, which only that one mends."""

    def _opened(self) -> sqlite3.Connection:
        if self._db is None or self._process != os.getpid():
            self._db = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
            self._db.text_factory = bytes
            self._process = os.getpid()
        return self._db

    def _drop(self, db: sqlite3.Connection, bad: list[tuple[int]]) -> None:
        pass

    def _mend(self, error: Exception) -> None:
        raise OSError(str(error))


# Answers of the model under test that are there to be scored, and scored again


def save_answers(folder: Path, task: str, rank: int, rows: Iterable[Mapping[str, Any]]) -> str:
    """Put a task's answers into the store before they are scored, all or none.

    The harness writes everything at the very end, so a crash while scoring would lose them.

    Returns:
        Where they are, the store's file and the shelf; '' if they could not be written.
    """
    stamp = f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{time.time_ns()}"
    shelf = f"{ANSWERS}/{stamp}-rank{rank}-{key_of(task)[:_DIGITS]}"
    store = store_of(shelf, folder)
    texts = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    store.put_many({_number(number): text for number, text in enumerate(texts)})
    kept = store.keeps
    store.close()
    return str(store.path / shelf) if kept else ""


def saved_places(path: Path) -> dict[Path, dict[str, Any]]:
    """Where answers are in a file of the store, each the file and a shelf, with their headers."""
    with closing(Shelves(path)) as file:
        shelves = file.names(f"{ANSWERS}/")
    keys = {f"{before(shelf)}{_number(0)}": path / shelf for shelf in shelves}
    with closing(ReplyStore(path)) as store:
        return {keys[key]: json.loads(text) for key, text in store.get_many(keys).items()}


def saved_rows(place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and content of what is at a place of saved answers; the first is the header."""
    with closing(_at(place)) as store:
        for key, text in store.everything().items():
            yield int(key), json.loads(text)


def saved_row(place: Path, number: int) -> dict[str, Any]:
    """One of the rows; an empty one if it is gone."""
    key = _number(number)
    found: dict[str, Any] = json.loads(_open(place).get_many([key]).get(key, "{}"))
    return found


def forget_saved(place: str) -> None:
    """Take saved answers away: those of a shelf, or the file that version 0.2 wrote."""
    if Path(place).parent.parent.suffix == ENDING:
        _at(Path(place)).close(clear_if_last=True)
    else:
        with suppress(OSError):
            Path(place).unlink()


@functools.lru_cache(maxsize=8)  # the processes of a run
def _open(place: Path) -> ReplyStore:
    return _at(place)


def _at(place: Path) -> ReplyStore:
    return ReplyStore(place.parent.parent, f"{place.parent.name}/{place.name}")


def _number(row: int) -> str:
    return f"{row:09d}"
