"""Replies by content key in one SQLite file: durable as they arrive, shared by processes.

A file has shelves: one for each role, one for each unfinished task of the model under test, one for
each task's answers of a run that was scored. A `ReplyStore` is one shelf.

A store never ends a run: what cannot be read is asked again, what cannot be written is kept in
memory, and both are said once. Several processes may read and write one store. Each asks only for
what nobody else is asking for (`claim`), so two runs side by side pay for a reply once.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from xling_tasks.log import log
from xling_tasks.replies import file
from xling_tasks.replies.durable import LEASE, Durable, is_alive

T = TypeVar("T", bound=Hashable)

_POLL = 0.5
"""Seconds between looks for replies that another process is asking for."""

_SYNC_SECONDS = 1.0
_CHUNK = 500


class ReplyStore(Durable):
    """A shelf of replies, which are texts.

    Args:
        path: Its file, made if need be; None for a store that keeps nothing.
        shelf: Its name; '' for a file without shelves.
        remember: Whether what cannot be written is kept in memory.

    Attributes:
        shelf: Its name.
        damaged: Replies found whose checksum was wrong; they are asked for again.
    """

    def __init__(self, path: Path | None, shelf: str = "", *, remember: bool = True) -> None:
        super().__init__(path or Path(os.devnull), writes=path is not None)
        self.shelf, self.damaged = shelf, 0
        self._before = file.before(shelf)
        self._within = file.within(shelf)
        self._remember = remember and path is not None
        self._memory: dict[str, str] = {}
        self._busy = False
        self._beat: threading.Thread | None = None
        self._closed = threading.Event()
        self._since = time.time()
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        self._reads = path is not None
        if path is not None:
            self._reads = self._attempt("opened", self._opened)

    @property
    def keeps(self) -> bool:
        """Whether what is put here will be there for a later run."""
        return self._writes

    # Replies

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The replies known among `keys`."""
        wanted = list(dict.fromkeys(keys))
        known: dict[str, str] = {}
        if self._reads and wanted:
            self._reads = self._attempt("read", lambda: known.update(self._look_up(wanted)))
        return known | {key: self._memory[key] for key in wanted if key in self._memory}

    def everything(self) -> dict[str, str]:
        """All replies, in the order in which they came."""
        found: dict[str, str] = {}
        select = "SELECT key FROM replies WHERE key >= ? AND key < ? ORDER BY rowid"

        def read(db: sqlite3.Connection) -> None:
            found.clear()
            keys = [self._name(key) for (key,) in db.execute(select, self._within)]
            there = dict(self._look_up(keys))
            found.update({key: there[key] for key in keys if key in there})

        if self._reads:
            self._reading(read)
        return found

    def put_many(self, replies: Mapping[str, str], *, replace: bool = False) -> None:
        """Store replies; those already there stay, unless they are to be replaced."""
        if not replies:
            return
        rows = [self._row(key, reply) for key, reply in replies.items()]
        insert = f"INSERT OR {'REPLACE' if replace else 'IGNORE'} INTO replies VALUES (?, ?, ?)"
        several = len(rows) > 1  # one is the usual case, which a fast model must hardly feel
        kept = self._writing(lambda db: db.executemany(insert, rows), begin=several)
        if not kept and self._remember:
            self._memory.update(replies)

    def forget(self, keys: Iterable[str]) -> None:
        """Take back replies that turned out to be none."""
        wanted = list(keys)
        gone = [(self._before + key,) for key in wanted]
        for key in wanted:
            self._memory.pop(key, None)
        if gone:
            self._writing(lambda db: db.executemany("DELETE FROM replies WHERE key = ?", gone))

    def take_over(self, former: Mapping[str, str]) -> None:
        """Put replies that are known under a former key under their new one, too."""
        known = self.get_many(former)
        self.put_many({former[key]: reply for key, reply in known.items()})

    def change(self, key: str, how: Callable[[str | None], str]) -> str:
        """Change what stands under a key, alone among all processes; returns what stands there."""
        made: list[str] = []

        def write(db: sqlite3.Connection) -> None:
            made[:] = [how(dict(self._look_up([key])).get(key))]
            row = self._row(key, made[0])
            db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)

        if not self._writing(write):
            made = [how(self.get_many([key]).get(key))]
        return made[0]

    def __len__(self) -> int:
        """How many replies there are; 0 where they cannot be counted."""
        counted: list[int] = []
        select = "SELECT COUNT(*) FROM replies WHERE key >= ? AND key < ?"
        if self._reads:
            self._reading(lambda db: counted.extend(db.execute(select, self._within).fetchone()))
        return (counted and counted[-1]) or len(self._memory)

    # Who asks for what

    def claim(self, keys: Iterable[str]) -> tuple[dict[str, str], set[str]]:
        """What is known of `keys`, and what this process is to ask for from now on.

        The others are being asked for by another process, and their replies will be here. A claim
        ends with `release`, or with a process that is gone or gives no sign of life.
        """
        wanted = list(dict.fromkeys(keys))
        known: dict[str, str] = {}
        mine: set[str] = set()

        def write(db: sqlite3.Connection) -> None:
            known.update(self._look_up(wanted))
            theirs = self._claimed(db)
            mine.update(key for key in wanted if key not in known and key not in theirs)
            self._sign(db)
            rows = [(self._before + key, self._owner) for key in mine]
            db.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?)", rows)

        if not (wanted and self._writing(write)):
            known = self.get_many(wanted)
            return known, {key for key in wanted if key not in known}
        known.update({key: self._memory[key] for key in wanted if key in self._memory})
        self._busy = True
        self._start_beat()
        return known, mine - known.keys()

    def release(self) -> None:
        """End all claims of this process."""
        if self._busy:
            self._busy = False
            delete = "DELETE FROM leases WHERE owner = ?"
            self._writing(lambda db: db.execute(delete, (self._owner,)))

    def share(
        self,
        key: Mapping[T, str],
        known: Callable[[dict[T, str]], None],
        ask: Callable[[list[T]], None],
    ) -> None:
        """Get replies for some things: what is known, what is asked here, and what others ask.

        Args:
            key: The key of each.
            known: Takes replies that are there.
            ask: Asks for some, and puts the replies here as they arrive.
        """
        open_ = list(key)
        while open_:
            there, mine = self.claim(key[item] for item in open_)
            known({item: there[key[item]] for item in open_ if key[item] in there})
            here = [item for item in open_ if key[item] in mine]
            try:
                if here:
                    ask(here)
            finally:
                self.release()
            done = {*there, *mine}
            open_ = [item for item in open_ if key[item] not in done]
            if open_ and not here:
                self.wait(len(open_))

    def wait(self, number: int) -> None:
        """Wait a little for what others ask for; the first time it is said."""
        others = self.others()
        if others and not getattr(self, "_told", False):
            self._told = True
            log.warning(
                "%s is asking for %d of these replies right now: this run waits for them and takes "
                "them from %s, so that nothing is paid twice", others[0], number, self.path,
            )  # fmt: skip
        time.sleep(_POLL)

    def others(self) -> list[str]:
        """Other processes that use this shelf and live, in words."""
        told: list[str] = []

        select = "SELECT owner, seen, since FROM owners WHERE shelf = ?"

        def look(db: sqlite3.Connection) -> None:
            for owner, seen, since in db.execute(select, (self.shelf,)):
                if owner != self._owner.encode() and is_alive(owner, seen):
                    host, number = owner.decode().split("/")[:2]
                    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(since))
                    told.append(f"process {number} on {host}, since {at},")

        if self._writes:
            self._reading(look)
        return told

    def sign_in(self) -> None:
        """Say that this process uses the shelf, until `close`."""
        if self._writing(self._sign):
            self._start_beat()

    def close(self, *, clear_if_last: bool = False) -> None:
        """Let go of the file; the shelf stays, unless it is not needed and nobody else uses it."""
        self._closed.set()
        alone = clear_if_last and not self.others()

        def leave(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM leases WHERE owner = ?", (self._owner,))
            db.execute("DELETE FROM owners WHERE owner = ?", (self._owner,))
            if alone:
                db.execute("DELETE FROM replies WHERE key >= ? AND key < ?", self._within)

        with self._guard:
            if self._db is not None:
                self._writing(leave)
            self._let_go()

    def move_to(self, shelf: str) -> None:
        """Put all that is here on another shelf of the file."""
        other = ReplyStore(self.path, shelf, remember=False)
        other.put_many(self.everything())
        kept = other.keeps
        other.close()
        if kept:
            self.forget(self.everything())

    # Inside

    def _look_up(self, wanted: list[str]) -> Iterator[tuple[str, str]]:
        """Key and reply of what is there and whole; what is damaged goes."""
        bad: list[tuple[int]] = []
        with self._transaction(begin=False) as db:
            for start in range(0, len(wanted), _CHUNK):
                part = [self._before + key for key in wanted[start : start + _CHUNK]]
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    f"SELECT rowid, key, reply, sum FROM replies WHERE key IN ({marks})", part
                ).fetchall()
                for number, key, reply, total in rows:
                    if file.is_whole((key, reply, total)):
                        yield self._name(key), reply.decode("utf-8", "surrogatepass")
                    else:
                        bad.append((number,))
            if bad:
                self._drop(db, bad)

    def _drop(self, db: sqlite3.Connection, bad: list[tuple[int]]) -> None:
        db.executemany("DELETE FROM replies WHERE rowid = ?", bad)
        self.damaged += len(bad)
        log.warning(
            "%s: %d replies are damaged (their checksum is wrong); they are asked for again",
            self.path, len(bad),
        )  # fmt: skip

    def _claimed(self, db: sqlite3.Connection) -> set[str]:
        """What other living processes are asking for."""
        owners = db.execute("SELECT owner, seen FROM owners").fetchall()
        alive = {owner for owner, seen in owners if is_alive(owner, seen)}
        alive.discard(self._owner.encode())
        if not alive:
            return set()
        rows = db.execute("SELECT key, owner FROM leases WHERE key >= ? AND key < ?", self._within)
        return {self._name(key) for key, owner in rows if owner in alive}

    def _row(self, key: str, reply: str) -> tuple[str, bytes, int]:
        key, data = self._before + key, reply.encode("utf-8", "surrogatepass")
        return key, data, file.checksum(key.encode(), data)

    def _name(self, key: bytes) -> str:
        """A key without its shelf."""
        return key.decode("utf-8", "replace")[len(self._before) :]

    def _sign(self, db: sqlite3.Connection) -> None:
        row = self._owner, self.shelf, time.time(), self._since
        db.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", row)

    def _start_beat(self) -> None:
        if self._beat is None:
            self._beat = threading.Thread(target=self._live, daemon=True, name="xling-replies")
            self._beat.start()

    def _live(self) -> None:
        """Give signs of life, and bring to the disk what was written, at most once a second."""
        signed = time.monotonic()
        while not self._closed.wait(_SYNC_SECONDS):
            if self._dirty:
                self._dirty = False
                with suppress(OSError):
                    log_file = os.open(f"{self.path}-wal", os.O_RDONLY)
                    try:
                        os.fsync(log_file)
                    finally:
                        os.close(log_file)
            if time.monotonic() - signed > LEASE / 4 and not self._closed.is_set():
                signed = time.monotonic()
                with suppress(sqlite3.Error, OSError), self._transaction() as db:
                    self._sign(db)
