"""A SQLite file that processes share, opened when it is needed, mended when it is damaged."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from xling_tasks.log import log
from xling_tasks.replies import file

LEASE = 120.0
"""Seconds after which a process that gives no sign of life asks for nothing any more."""


def is_alive(owner: bytes, seen: Any) -> bool:
    """Whether a process may still ask; of other machines only its last sign of life can tell."""
    if not isinstance(seen, float) or seen < time.time() - LEASE:
        return False
    host, _, rest = owner.decode("utf-8", "replace").partition("/")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(rest.partition("/")[0]), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        return True
    return True


_LOOK = 0.05
"""Seconds between looks whether the file is still the one that was opened."""

_all: weakref.WeakSet[Durable] = weakref.WeakSet()


class Durable:
    """A file with which something can be done or not; either way the run goes on.

    Attributes:
        path: The file.
        failed: Why nothing is written any more; '' while it is.
    """

    def __init__(self, path: Path, *, writes: bool) -> None:
        self.path, self.failed = path, ""
        self._guard = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._process, self._inode, self._looked = 0, 0, 0.0
        self._dirty = False
        self._writes = writes
        _all.add(self)

    @contextmanager
    def _transaction(self, *, begin: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection, alone in this process; all that is done with it, or nothing."""
        with self._guard:
            db = self._opened()
            begin = begin and not db.in_transaction
            if begin:
                db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                if begin:
                    db.execute("COMMIT")
            except BaseException:
                if begin and db.in_transaction:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                raise
            self._dirty = True

    def _reading(self, work: Callable[[sqlite3.Connection], Any]) -> bool:
        """Read something; whether it could be done."""

        def read() -> None:
            with self._transaction(begin=False) as db:
                work(db)

        return self._attempt("read", read)

    def _writing(self, work: Callable[[sqlite3.Connection], Any], *, begin: bool = True) -> bool:
        """Write something, if anything is written at all; whether it could be done."""

        def write() -> None:
            with self._transaction(begin=begin) as db:
                work(db)

        return self._writes and self._attempt("written", write)

    def _opened(self) -> sqlite3.Connection:
        """The connection of this process to the file that is there now."""
        now = time.monotonic()
        if self._db is not None and self._process == os.getpid() and now < self._looked + _LOOK:
            return self._db
        try:
            inode = self.path.stat().st_ino
        except FileNotFoundError:
            inode = 0
        self._looked = now
        if self._db is None or self._process != os.getpid() or inode != self._inode:
            if self._process == os.getpid():
                self._let_go()
            self._db = None
            self.path.parent.mkdir(parents=True, exist_ok=True)
            known = any(other._has_open(self.path, inode) for other in list(_all))
            self._db = file.connect(self.path, known=known)
            self._process, self._inode = os.getpid(), self.path.stat().st_ino
        return self._db

    def _has_open(self, path: Path, inode: int) -> bool:
        """Whether this process has a file open here; while it has, no other has its number."""
        here = self._db is not None and self._process == os.getpid()
        return here and (path, inode) == (self.path, self._inode)

    def _let_go(self) -> None:
        if self._db is not None and self._process == os.getpid():
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def _attempt(self, what: str, work: Callable[[], Any]) -> bool:
        """Do something with the file; whether it could be done."""
        try:
            work()
            return True
        except (sqlite3.Error, OSError, ValueError, TypeError) as first:
            why: Exception = first
        if file.is_damage(self.path, why):
            try:
                self._mend(why)
                work()
                return True
            except (sqlite3.Error, OSError, ValueError, TypeError) as second:
                why = second
        if what != "read":
            self._writes, self.failed = False, str(why)
        lost = (
            "replies known before are asked for again"
            if what == "read"
            else "new replies are kept for this run only, and a later start asks for them again"
        )
        log.warning(
            "the cache %s cannot be %s (%s); the run goes on without: %s. Free space or name "
            "another folder with --metadata xling_cache=FOLDER",
            self.path, what, why, lost,
        )  # fmt: skip
        # What is there can still be read from a store that cannot be written to.
        return what == "opened" and self._is_readable()

    def _is_readable(self) -> bool:
        try:
            with self._guard:
                db = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, check_same_thread=False)
                db.text_factory = bytes
                db.execute("SELECT key, reply, sum FROM replies LIMIT 1").fetchone()
                self._db, self._process = db, os.getpid()
                self._inode = self.path.stat().st_ino
            return True
        except (sqlite3.Error, OSError):
            return False

    def _mend(self, error: Exception) -> None:
        """A new file with all that can be read of a damaged one, which is kept beside it."""
        with self._guard:
            self._let_go()
            target, saved = file.mended(self.path)
        log.warning(
            "the cache %s is damaged (%s): it is set aside as %s; %d replies could be read and are "
            "taken over, what is missing is asked for again",
            self.path, error, target.name, saved,
        )  # fmt: skip


class Shelves(Durable):
    """A file of the store."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, writes=True)

    def names(self, beginning: str = "") -> list[str]:
        """The shelves whose name begins so, by name."""
        found: list[str] = []

        def read(db: sqlite3.Connection) -> None:
            found.clear()
            first, select = beginning, "SELECT MIN(key) FROM replies WHERE key >= ? AND key < ?"
            # From shelf to shelf, whatever is on each.
            while key := db.execute(select, (first, beginning + file.LAST)).fetchone()[0]:
                found.append(key.decode("utf-8", "replace").partition(":")[0])
                first = max(file.within(found[-1])[1], first + "\0")

        self._reading(read)
        return found

    def sizes(self) -> dict[str, tuple[int, int]]:
        """How many replies and bytes are on each shelf."""
        found: dict[str, tuple[int, int]] = {}
        select = "SELECT COUNT(*), TOTAL(LENGTH(key) + LENGTH(reply)) FROM replies"

        def read(db: sqlite3.Connection) -> None:
            for shelf in names:
                bounds = file.within(shelf)
                row = db.execute(f"{select} WHERE key >= ? AND key < ?", bounds).fetchone()
                found[shelf] = (int(row[0]), int(row[1]))

        names = self.names()
        self._reading(read)
        return found

    def shrink(self) -> None:
        """Give the room of what was removed back to the disk, if nobody else is at work."""
        with suppress(sqlite3.Error, OSError), self._guard:
            self._opened().execute("VACUUM")

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._let_go()
