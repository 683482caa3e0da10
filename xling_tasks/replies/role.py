"""The store of what judges, readers and translators said, by role."""

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


def store_of(role: str, folder: Path | None) -> ReplyStore:
    """The store of a role's replies in a cache folder; None for one that keeps nothing.

    On a network disk each machine writes a file of its own, and reads those of the others.
    """
    if folder is None:
        return ReplyStore(None)
    path = folder / REPLIES / f"{role}{ENDING}"
    if on_network(path):
        own = path.with_name(f"{role}@{socket.gethostname()}{ENDING}")
        store: ReplyStore = _Shard(own, role)
    else:
        store = ReplyStore(path)
    take_over_cache(folder / f"{role}.sqlite", store)
    return store


class _Shard(ReplyStore):
    """A machine's own file on a network disk, beside which it reads those of the others."""

    def __init__(self, path: Path, role: str) -> None:
        super().__init__(path)
        self._role = role
        self._others: dict[Path, ReplyStore] = {}

    def _look_up(self, wanted: list[str]) -> Iterator[tuple[str, str]]:
        found = dict(super()._look_up(wanted))
        yield from found.items()
        for path in sorted(self.path.parent.glob(f"{self._role}@*{ENDING}")):
            rest = [key for key in wanted if key not in found]
            if path != self.path and rest:
                if path not in self._others:
                    self._others[path] = _ReadOnly(path)
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
