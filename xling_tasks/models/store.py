"""A disk cache of replies, safe for several processes, and the files of answers to be scored."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_tasks.log import log, warn_once
from xling_tasks.output import file_name

LEASE = 120.0
"""Seconds for which a process may ask for a reply before another one does."""

_LOOKUP_CHUNK = 500
_PATIENCE = 30.0


def cache_folder(setting: str | bool | None) -> Path | None:
    """The folder for caches: the setting, else `XLING_CACHE`, else `~/.cache/xling_tasks`.

    Returns:
        The folder, made if need be; None if the setting is False, or (with a warning) if it
        cannot be made: a cache never ends a run.
    """
    folder = named_folder(setting)
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        warn_once(
            f"the cache folder {folder} cannot be made ({error}); the run goes on without: replies "
            "of judges and translators are not kept for a later run. Set --metadata "
            "xling_cache=FOLDER or the environment variable XLING_CACHE"
        )
        return None
    return folder


def named_folder(setting: str | bool | None) -> Path | None:
    """As `cache_folder`, but nothing is made."""
    named = setting if isinstance(setting, str) else os.environ.get("XLING_CACHE")
    # In the environment everything is text: 'false' there is no name of a folder.
    if setting is False or (setting is None and str(named).lower() in ("false", "off", "0")):
        return None
    return Path(named or "~/.cache/xling_tasks").expanduser()


def key_of(*parts: Any) -> str:
    """A content key: the digest of the parts' canonical JSON."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyStore:
    """Replies by content key in one SQLite file.

    Several processes may read and write one store; a reply once written is never changed, unless
    it is found to be none (`forget`). A store never ends a run: what cannot be read is asked
    again, what cannot be written is kept in memory, and both are said once. A damaged file is set
    aside.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.sqlite"
        self._memory: dict[str, str] = {}
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        self._writes = True
        self._reads = self._attempt("opened", self._create)

    @property
    def keeps(self) -> bool:
        """Whether what is put here will be there for a later run."""
        return self._writes

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The replies known among `keys`."""
        wanted = list(dict.fromkeys(keys))
        known: dict[str, str] = {}

        def look_up() -> None:
            with self._connect() as db:
                for start in range(0, len(wanted), _LOOKUP_CHUNK):
                    part = wanted[start : start + _LOOKUP_CHUNK]
                    marks = ",".join("?" * len(part))
                    rows = db.execute(
                        f"SELECT key, reply FROM replies WHERE key IN ({marks})", part
                    )
                    known.update((key, reply) for key, reply in rows if isinstance(reply, str))

        if self._reads:
            self._reads = self._attempt("read", look_up)
        return known | {key: self._memory[key] for key in wanted if key in self._memory}

    def put_many(self, replies: Mapping[str, str]) -> None:
        """Store replies, and end their leases; those already there stay."""

        def write() -> None:
            with self._connect() as db:
                db.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", replies.items())
                db.executemany("DELETE FROM leases WHERE key = ?", [(key,) for key in replies])

        if not replies:
            return
        if not (self._writes and self._attempt("written", write)):
            self._memory.update(replies)

    def forget(self, keys: Iterable[str]) -> None:
        """Take back replies that turned out to be none."""
        gone = [(key,) for key in keys]
        for (key,) in gone:
            self._memory.pop(key, None)

        def delete() -> None:
            with self._connect() as db:
                db.executemany("DELETE FROM replies WHERE key = ?", gone)

        if gone and self._writes:
            self._attempt("written", delete)

    def take_over(self, former: Mapping[str, str]) -> None:
        """Put replies that are known under a former key under their new one, too."""
        known = self.get_many(former)
        self.put_many({former[key]: reply for key, reply in known.items()})

    # Leases: who asks for what

    def lease(self, keys: Iterable[str]) -> set[str]:
        """Say that this process will ask for `keys`, for the next `LEASE` seconds.

        Returns:
            The keys that are its own to ask for; another process is asking for the others, and
            its replies will be here. A lease ends with its reply, with time, or with a process
            that is gone.
        """
        wanted = list(dict.fromkeys(keys))
        mine: set[str] = set()

        def write() -> None:
            now = time.time()
            with self._connect() as db:
                db.execute("BEGIN IMMEDIATE")
                taken = dict(db.execute("SELECT key, owner FROM leases WHERE until > ?", (now,)))
                alive = {owner: self._is_alive(owner) for owner in set(taken.values())}
                mine.update(key for key in wanted if not alive.get(taken.get(key, ""), False))
                db.executemany(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?)",
                    [(key, self._owner, now + LEASE) for key in mine],
                )

        if not (self._writes and wanted and self._attempt("written", write)):
            return set(wanted)
        return mine

    def release(self, keys: Iterable[str]) -> None:
        """End leases of this process."""
        gone = [(key, self._owner) for key in keys]

        def delete() -> None:
            with self._connect() as db:
                db.executemany("DELETE FROM leases WHERE key = ? AND owner = ?", gone)

        if gone and self._writes:
            self._attempt("written", delete)

    def _is_alive(self, owner: str) -> bool:
        """Whether another process may still ask; of other machines only time can tell."""
        host, _, rest = owner.partition("/")
        if owner == self._owner:
            return False
        if host != socket.gethostname():
            return True
        try:
            os.kill(int(rest.partition("/")[0]), 0)
        except (ProcessLookupError, ValueError):
            return False
        except OSError:
            return True
        return True

    # Inside

    def _create(self) -> None:
        with self._connect() as db:
            db.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")
            db.execute(
                "CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, owner TEXT, until REAL)"
            )

    def _attempt(self, what: str, work: Callable[[], None]) -> bool:
        """Do something with the file; whether it could be done."""
        try:
            work()
            return True
        except (sqlite3.Error, OSError) as first:
            why: Exception = first
        if _is_damage(why) and self._set_aside(why):
            try:
                self._create()
                work()
                return True
            except (sqlite3.Error, OSError) as second:
                why = second
        if what != "read":
            self._writes = False
        lost = (
            "replies known before are asked for again"
            if what == "read"
            else "new replies are kept for this run only, and a later one asks for them again"
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
            with self._connect() as db:
                db.execute("SELECT COUNT(*) FROM (SELECT 1 FROM replies LIMIT 1)")
            return True
        except (sqlite3.Error, OSError):
            return False

    def _set_aside(self, error: Exception) -> bool:
        target = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        try:
            self.path.rename(target)
            for end in ("-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + end).unlink(missing_ok=True)
        except OSError:
            return False
        log.warning(
            "the cache %s is damaged (%s): it is set aside as %s, and its replies are asked for "
            "again", self.path, error, target.name,
        )  # fmt: skip
        return True

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as db, db:
            yield db


def _is_damage(error: Exception) -> bool:
    """Whether an error says that the file itself is broken: rather than full, locked, read-only."""
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    said = str(error).lower()
    other = isinstance(error, sqlite3.OperationalError) and "no such" in said
    return other or any(word in said for word in ("not a database", "malformed", "corrupt"))


def save_answers(folder: Path, task: str, rank: int, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a task's answers as JSONL before they are scored; returns the new file.

    The harness writes everything at the very end, so a crash while scoring would lose them. A
    file that is there is whole.
    """
    target = folder / "answers"
    target.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S")
    path = target / f"{file_name(task)}_{stamp}_{time.time_ns()}_{os.getpid()}_rank{rank}.jsonl"
    unfinished = path.with_suffix(".part")
    with unfinished.open("x", encoding="utf-8") as handle:
        for row in rows:
            handle.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return unfinished.rename(path)
