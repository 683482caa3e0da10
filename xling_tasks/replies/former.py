"""What version 0.2 kept: caches without checksums, and journals of lines. Read once, taken over."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.harness.arguments import files_of
from xling_tasks.log import log
from xling_tasks.output import file_name
from xling_tasks.replies.file import rows_of
from xling_tasks.replies.store import ReplyStore
from xling_tasks.secrets import is_secret

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

TAKEN = ".taken-over"
"""Ends the name of a file that was taken over; nothing reads it any more."""

JOURNALS = "journals"
"""Within a cache folder of 0.2: a file for each unfinished task of the model under test."""

_PREFIX = 18  # two numbers of eight digits, each with a space behind it
_BATCH = 2000
_SPEED = frozenset({"batch_size", "device", "max_batch_size", "max_retries", "num_concurrent"})


def take_over_cache(path: Path, store: ReplyStore) -> None:
    """Put the replies of a cache of 0.2 into the store that takes its place, once."""
    if not path.is_file() or not store.keeps:
        return
    number, batch = 0, dict[str, str]()
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            db.text_factory = bytes
            for key, reply in rows_of(db, "SELECT rowid, key, reply FROM replies", lambda _: True):
                try:
                    batch[key.decode()] = reply.decode()
                except (AttributeError, UnicodeDecodeError):
                    continue  # spoilt: asked for again
                number += 1
                if len(batch) >= _BATCH:
                    store.put_many(batch)
                    batch = {}
        store.put_many(batch)
        if store.keeps:
            path.rename(path.with_name(path.name + TAKEN))
            log.info("%s: %d replies are taken over into %s", path, number, store.path)
    except (sqlite3.Error, OSError) as error:
        log.warning("%s: the replies of version 0.2 cannot be read (%s)", path, error)


class FormerJournal(NamedTuple):
    """A journal of 0.2.

    Attributes:
        answers: (key, number) -> what was kept: the record of it.
        starts: How many runs have written to it.
        saved: The file that its answers were saved to, if they were.
    """

    answers: dict[tuple[str, int], dict[str, Any]]
    starts: int
    saved: str | None


def former_journal(cache: Path, task: str, name: str) -> Path:
    """Where 0.2 kept what now has a shelf."""
    folder = cache if cache.name == JOURNALS else cache / JOURNALS
    return folder / f"{file_name(task)}-{name}.journal"


def read_former_journal(path: Path) -> FormerJournal:
    """Read a journal of 0.2; records whose checksum is wrong are left out.

    Raises:
        OSError: If it cannot be read.
    """
    answers: dict[tuple[str, int], dict[str, Any]] = {}
    starts, saved = 0, None
    for record in _records(path):
        try:
            if "k" in record:
                answers[str(record["k"]), int(record["r"])] = record
            elif "start" in record:
                starts = int(record["start"])
            elif "saved" in record:
                saved = str(record["saved"])
        except (LookupError, TypeError, ValueError):
            continue
    return FormerJournal(answers, starts, saved)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            content = line[_PREFIX:-1]
            sign = b"%08x %08x " % (len(content), zlib.crc32(content))
            if line[-1:] == b"\n" and line[:_PREFIX] == sign:
                try:
                    record = json.loads(content)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    yield record


def former_identity(args: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, int, int]]]:
    """The arguments and files by which 0.2 named a journal."""
    told = {k: v for k, v in args.items() if k not in _SPEED and not is_secret(k)}
    return told, list(files_of(told))


def in_use(journal: Path) -> bool:
    """Whether a run of version 0.2 is writing a journal now."""
    try:
        with journal.with_suffix(".lock").open("rb+") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
