"""A file of answers that is always whole: what a killed run leaves behind, and the next one reads.

A journal holds what one process got from the model under test for one task. It is only ever added
to. A record is one line: the length in bytes and the CRC-32 of what follows, and a JSON object.

    000000a7 1c291ca3 {"k": "...", "r": 0, "a": "the answer"}

The first record is a header. An answer has `k` (the key of what was asked), `r` (which of several
equal requests) and `a` (the answer: a text, or `[log-likelihood, greedy]`); a reply that is no
answer has its outcome as `o` and the reason as `w`. A later record of the same request wins.
"""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.log import log
from xling_tasks.logs.lock import Lock

FORMAT = 1
"""In every header, under `xling_journal`."""

ENDING = ".journal"
_SYNC_SECONDS = 1.0
_PREFIX = 18  # two numbers of eight digits, each with a space behind it

Place = tuple[str, int]
"""The key of what was asked, and which of several equal requests it is."""


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


@dataclass
class Content:
    """What a journal holds.

    Attributes:
        header: Its first record; empty if there is none.
        answers: The answers by place.
        starts: How many runs have written to it.
        saved: The file that its answers were saved to, if they were.
        finished: Whether the run that wrote it came to its end.
        damaged: Lines that cannot be read.
        whole: How many bytes of the file are whole records; what follows is a torn one.
    """

    header: dict[str, Any] = field(default_factory=dict)
    answers: dict[Place, Kept] = field(default_factory=dict)
    starts: int = 0
    saved: str | None = None
    finished: bool = False
    damaged: int = 0
    whole: int = 0


def read_journal(path: Path) -> Content:
    """Read a journal; what is damaged is counted and left out.

    Raises:
        DataError: If it is of a version that is not known here.
        OSError: If it cannot be read.
    """
    content = Content()
    with path.open("rb") as file:
        for record in _records(file, content):
            _take(path, record, content)
    return content


def _records(file: Any, content: Content) -> Iterator[dict[str, Any]]:
    for line in file:
        record = _record(line)
        if record is not None:
            content.whole += len(line)
            yield record
        elif line.endswith(b"\n"):  # damaged, with a whole one behind it
            content.whole += len(line)
            content.damaged += 1
        # Else the last record was torn when its writer died: it was never there.


def _record(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line; None if the line is not what was written."""
    content = line[_PREFIX:-1]
    if line[-1:] != b"\n" or line[:_PREFIX] != _prefix(content):
        return None
    try:
        record = json.loads(content)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _prefix(content: bytes) -> bytes:
    return b"%08x %08x " % (len(content), zlib.crc32(content))


def _take(path: Path, record: Mapping[str, Any], content: Content) -> None:
    if "k" in record:
        answer = record["a"]
        kept = tuple(answer) if isinstance(answer, list) else answer
        place = (str(record["k"]), int(record["r"]))
        content.answers[place] = Kept(kept, record.get("o", ""), record.get("w", ""))
    elif "xling_journal" in record:
        if record["xling_journal"] != FORMAT:
            raise DataError(
                f"{path}: a journal of format {record['xling_journal']}; this version reads "
                f"{FORMAT}. Move it away, or start with --metadata xling_resume=false"
            )
        content.header = dict(record)
    elif "start" in record:
        content.starts, content.finished = int(record["start"]), False
    elif "saved" in record:
        content.saved = str(record["saved"])
    elif "finished" in record:
        content.finished = True


class Journal:
    """A journal that this process writes, and nobody else meanwhile.

    A disk that is full or read-only does not end the run: it goes on without a journal, and says
    so once.

    Args:
        path: Its file; the folder is made.
        header: What its first record says, where it is new.

    Attributes:
        content: What was in it when it was opened.
        failed: Why it is written no more; None while it is.

    Raises:
        Locked: If another run writes it.
        DataError: If it is of another version.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        self.content = Content()
        self.failed: str | None = None
        self._file: int | None = None
        self._dirty = threading.Event()
        self._closed = threading.Event()
        self._guard = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(path.with_suffix(".lock"))
        except OSError as error:
            self._give_up(error)
            return
        try:
            self._open(header)
        except OSError as error:
            self._give_up(error)
        except BaseException:
            self._lock.release()
            raise
        threading.Thread(target=self._sync, daemon=True, name="xling-journal").start()

    def _open(self, header: Mapping[str, Any]) -> None:
        if self.path.exists():
            self.content = read_journal(self.path)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(self._file).st_size > self.content.whole:
            log.info("%s: the last record was torn; it is cut off", self.path)
            os.ftruncate(self._file, self.content.whole)
        if self.content.damaged:
            log.warning(
                "%s: %d damaged records; these answers are asked for again",
                self.path, self.content.damaged,
            )  # fmt: skip
        if not self.content.header:
            self._write({"xling_journal": FORMAT, **header})
        self.content.starts += 1
        self._write({"start": self.content.starts, "time": time.time(), "pid": os.getpid()})

    def put(self, place: Place, kept: Kept) -> None:
        """Add an answer; it is with the operating system at once, on the disk within seconds."""
        record = {"k": place[0], "r": place[1], "a": kept.answer}
        if kept.outcome:
            record |= {"o": kept.outcome, "w": kept.reason}
        self._write(record)

    def note_saved(self, file: Path) -> None:
        """Note the file that the answers were saved to; an earlier one is a copy, and goes."""
        earlier = self.content.saved
        if earlier is not None and earlier != str(file):
            with suppress(OSError):
                Path(earlier).unlink()
        self.content.saved = str(file)
        self._write({"saved": str(file)})

    def note_finished(self) -> None:
        """Note that the run came to its end, where the journal is kept nevertheless."""
        self._write({"finished": time.time()})

    def _write(self, record: Mapping[str, Any]) -> None:
        content = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )
        line = _prefix(content) + content + b"\n"
        with self._guard:
            if self._file is None:
                return
            try:
                # One call a record, so that it stays whole when the process is killed.
                if os.write(self._file, line) != len(line):
                    raise OSError("no space left on the disk")
            except OSError as error:
                self._give_up(error)
                return
        self._dirty.set()

    def _give_up(self, error: OSError) -> None:
        self.failed = error.strerror or str(error)
        log.warning(
            "%s: cannot be written (%s). The run goes on without it: if it is killed, the answers "
            "from here on are lost. Set --metadata xling_cache=FOLDER to another disk.",
            self.path, self.failed,
        )  # fmt: skip
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _sync(self) -> None:
        """Bring to the disk what was written, at most once a second."""
        while not self._closed.wait(_SYNC_SECONDS):
            if self._dirty.is_set():
                self._dirty.clear()
                with self._guard:
                    file = None if self._file is None else os.dup(self._file)
                if file is not None:
                    with suppress(OSError):  # the next write tells if the disk is full
                        os.fsync(file)
                    os.close(file)

    def close(self) -> None:
        """Bring everything to the disk and let others have the journal."""
        if not self._closed.is_set():
            self._end(keep=True)

    def remove(self) -> None:
        """Close it and take it off the disk: its answers are saved."""
        self._end(keep=False)

    def _end(self, *, keep: bool) -> None:
        self._closed.set()
        with self._guard:
            if self._file is not None:
                with suppress(OSError):
                    os.fsync(self._file)
                os.close(self._file)
                self._file = None
        if not keep:
            with suppress(OSError):
                self.path.unlink()
        if hasattr(self, "_lock"):
            self._lock.release()
