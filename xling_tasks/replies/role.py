"""Which file has a shelf of the store: of a role, of a task, of answers that are saved.

One file in the cache folder. On a network disk, whose locks and shared memory do not reach from one
machine to another, each machine writes a file of its own and reads those of the others; a task's
answers, which another machine may go on with, have a file for the task.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from xling_tasks.replies.file import on_network
from xling_tasks.replies.folder import ENDING, REPLIES
from xling_tasks.replies.former import take_over_cache
from xling_tasks.replies.store import ReplyStore

MODEL = "model"
"""The shelves of unfinished tasks of the model under test begin so."""

ANSWERS = "answers"
"""The shelves of answers that were scored begin so."""


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
    return sorted(folder.glob(f"{REPLIES}*{ENDING}"))


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
