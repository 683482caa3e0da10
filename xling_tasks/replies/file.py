"""A SQLite file of replies: how it is opened, what is in it, and what is saved of a damaged one.

Every reply has a checksum over its key and itself, so that a spoilt byte makes it missing, never
another reply. The schema never changes within a format: so the first page, on which all of a file
hangs, can be put back from a new file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

FORMAT = 1

_PATIENCE = 30.0
_PAGE = 4096
_SCHEMA = f"""
CREATE TABLE replies (key TEXT PRIMARY KEY, reply BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE leases (key TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE owners (owner TEXT PRIMARY KEY, shelf TEXT, seen REAL NOT NULL, since REAL NOT NULL);
PRAGMA user_version = {FORMAT};
"""
_COLUMNS = {
    "replies": "key, reply, sum",
    "owners": "owner, shelf, seen, since",
    "leases": "key, owner",
}
# Of the table, and of the index by which replies are found: a spoilt page may hide many silently.
_COUNTS = """
SELECT (SELECT COUNT(*) FROM replies NOT INDEXED), (SELECT COUNT(key) FROM replies WHERE key >= '')
"""
_LEAF = 13  # the first byte of a page with rows of a table
_MAGIC = b"SQLite format 3\x00"
_BESIDE = ("-journal", "-wal", "-shm")
# Kinds of file systems whose locks and shared memory do not reach from one machine to another.
_NETWORK = (
    "nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "afs", "9p", "fuse.", "glusterfs",
    "pvfs", "orangefs", "wekafs", "panfs", "davfs", "ncpfs",
)  # fmt: skip


def connect(path: Path, *, known: bool = False) -> sqlite3.Connection:
    """Open a file, made if need be.

    A reply is with the operating system as soon as it is written: no killed process loses one. With
    `known` this process has it open already, so that it was looked through.

    Raises:
        sqlite3.Error, OSError: If it cannot be opened, or is of another format.
    """
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        db.text_factory = bytes  # what is spoilt may be no text
        db.execute(f"PRAGMA page_size={_PAGE}")
        # Write-ahead logs need memory that all processes share, which a network disk has not.
        db.execute(f"PRAGMA journal_mode={'DELETE' if on_network(path) else 'WAL'}")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA cell_size_check=ON")
        if db.execute("PRAGMA user_version").fetchone()[0] == 0:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("PRAGMA user_version").fetchone()[0] == 0:  # nobody was faster
                for statement in _SCHEMA.strip().splitlines():
                    db.execute(statement)
            db.execute("COMMIT")
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found != FORMAT:
            raise sqlite3.DatabaseError(f"malformed: format {found}, not {FORMAT}")
        for table, columns in _COLUMNS.items():
            db.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        rows, found = (0, 0) if known else db.execute(_COUNTS).fetchone()
        if rows != found:
            raise sqlite3.DatabaseError(f"malformed: {found} of {rows} replies can be found")
    except BaseException:
        db.close()
        raise
    return db


def on_network(path: Path) -> bool:
    """Whether a file lies on a disk of another machine, as far as the system tells."""
    try:
        lines = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:
        return False
    place, best, kind = str(path.absolute()), "", ""
    for line in lines:
        _, folder, name, *_ = [*line.split(" "), "", "", ""]
        folder = folder.replace("\\040", " ")
        inside = place == folder or place.startswith(folder.rstrip("/") + "/")
        if inside and len(folder) >= len(best):
            best, kind = folder, name
    return kind.startswith(_NETWORK)


LAST = "\U0010ffff"
"""Behind every key."""


def before(shelf: str) -> str:
    """How the keys of a shelf begin."""
    return f"{shelf}:" if shelf else ""


def within(shelf: str) -> tuple[str, str]:
    """Between which keys a shelf lies: no less than the first, less than the second."""
    return (f"{shelf}:", f"{shelf};") if shelf else ("", LAST)


def checksum(key: bytes, reply: bytes) -> int:
    """What stands beside a reply: any one changed byte of key or reply changes it."""
    return zlib.crc32(reply, zlib.crc32(key + b"\x00"))


_SAID_OF_DAMAGE = (
    *("not a database", "malformed", "corrupt", "no such", "unsupported", "decode", "already"),
)


def is_damage(path: Path, error: Exception) -> bool:
    """Whether an error says that a file is broken, rather than full, locked or read-only."""
    said = str(error).lower()
    if isinstance(error, sqlite3.Error) and any(word in said for word in _SAID_OF_DAMAGE):
        return True
    return isinstance(error, (UnicodeError, TypeError)) or not _has_sound_header(path)


def _has_sound_header(path: Path) -> bool:
    """Whether a file's first bytes are as ours are; one that cannot be read says nothing."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return True
    if not head:
        return True
    fixed = (
        head[:16] == _MAGIC and head[16:18] == b"\x10\x00" and head[20:24] == b"\x00\x40\x20\x20"
    )
    versions = len(head) == 100 and head[18] in (1, 2) and head[19] in (1, 2)
    return (
        fixed and versions and head[44:48] in (bytes(4), b"\0\0\0\4") and head[56:60] < b"\0\0\0\4"
    )


def mended(path: Path) -> tuple[Path, int]:
    """Put a new file in a damaged one's place, with all that can be read of it.

    Returns:
        Where the damaged file is kept, and how many replies the new one has.
    """
    saved = _saved_from(path)
    new = path.with_name(f"{path.name}.mended-{os.getpid()}.tmp")
    try:
        with closing(connect(new)) as db:
            rows = [(key.decode(), reply, checksum(key, reply)) for key, reply in saved.items()]
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", rows)
            db.execute("COMMIT")
        target = set_aside(path, "damaged")
        new.rename(path)
    finally:
        remove(new)
    return target, len(saved)


def set_aside(path: Path, why: str) -> Path:
    """Take a file out of the way, with what belongs to it."""
    target = path.with_name(f"{path.name}.{why}-{time.time_ns()}")
    path.rename(target)
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(target.with_name(target.name + end))
    return target


def remove(path: Path) -> None:
    """Take a file off the disk, with what belongs to it."""
    for end in ("", *_BESIDE):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _saved_from(damaged: Path) -> dict[bytes, bytes]:
    """The replies of a damaged file whose checksum is right, however much of it can be read."""
    work = damaged.with_name(f"{damaged.name}.{os.getpid()}.tmp")
    try:
        for end in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(
                    damaged.with_name(damaged.name + end), work.with_name(work.name + end)
                )
        _put_first_page_back(work)
        found, whole = _good_replies(work)
        content = b"" if whole else work.read_bytes()
        for start in range(_PAGE, len(content), _PAGE):
            # A page on which others hang is spoilt: each leaf comes in the place of the root.
            if content[start] == _LEAF:
                with work.open("r+b") as file:
                    file.seek(_PAGE)
                    file.write(content[start : start + _PAGE])
                for key, reply in _good_replies(work)[0].items():
                    found.setdefault(key, reply)
        return found
    except (sqlite3.Error, OSError):
        return {}
    finally:
        remove(work)


def _good_replies(path: Path) -> tuple[dict[bytes, bytes], bool]:
    """The good replies that can be reached from the table's root; whether these are all."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.text_factory = bytes
        with suppress(sqlite3.Error):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        rows = rows_of(db, "SELECT rowid, key, reply, sum FROM replies", is_whole)
        found = {key: reply for key, reply, _ in rows}
        try:
            return found, len(found) >= db.execute(_COUNTS).fetchone()[1]
        except sqlite3.Error:
            return found, False


def _put_first_page_back(path: Path) -> None:
    """Header and schema of a new file in the place of what may be spoilt."""
    new = path.with_name(f"{path.name}.new")
    try:
        connect(new).close()
        first = bytearray(new.read_bytes()[:_PAGE])
    finally:
        remove(new)
    pages = path.stat().st_size // _PAGE
    first[28:32] = pages.to_bytes(4, "big")
    first[92:96] = first[24:28]  # else the number of pages is not believed
    with path.open("r+b") as file:
        file.write(first)


def is_whole(row: tuple[Any, ...]) -> bool:
    """Whether a reply is as it was written, by key, reply and checksum."""
    key, reply, total = row
    return isinstance(key, bytes) and isinstance(reply, bytes) and checksum(key, reply) == total


def rows_of(
    db: sqlite3.Connection, select: str, good: Callable[[tuple[Any, ...]], bool]
) -> Iterator[tuple[Any, ...]]:
    """All good rows of a table that can be read, across pages that cannot.

    `select` is `SELECT rowid, ... FROM table`; `good` tells of a row without its rowid.
    """
    last, step, most = 0, 1, 0
    with suppress(sqlite3.Error):
        most = int(db.execute(select.replace("rowid,", "MAX(rowid),", 1)).fetchone()[0] or 0)
    while step <= max(most - last, 1 << 20) and last + step < 1 << 62:
        try:
            # From here on, until a page that cannot be read.
            for row in db.execute(f"{select} WHERE rowid >= ? ORDER BY rowid", (last + step,)):
                if good(row[1:]):  # else its number may be nonsense, too
                    last, step = max(last, row[0]), 1
                    yield row[1:]
            return
        except (sqlite3.Error, UnicodeError):
            step *= 2  # rows of a page are neighbours
