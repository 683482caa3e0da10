"""Where every sample lies, what it is found by, and its words: in one SQLite file on disk.

The files of samples are read once, row by row, in the background; whatever is in already can be
found at once. Memory holds one row and a batch of bounded size, however large the files are. A
complete index is kept in the cache folder under a name that changes with the files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.cache.paths import cache_folder
from xling_tasks.commands.view.facts import Row, facts
from xling_tasks.commands.view.sources import Source, Sources
from xling_tasks.errors import DataError, XlingError
from xling_tasks.log import log
from xling_tasks.logs.checked import reading

FORMAT = 2
"""Raised whenever an index holds other things than before."""

BATCH_BYTES = 2_000_000
"""Text that waits in memory to be written."""

KEPT = 5
"""Complete indexes that stay in the cache folder."""

_REST = "The rows before it are shown, those after it are not."
_DAY = 86_400.0
_SCHEMA = """
CREATE TABLE question (id INTEGER PRIMARY KEY, model TEXT, criterion TEXT, dataset TEXT,
    question TEXT, rank INTEGER, UNIQUE (model, criterion, dataset, question));
CREATE TABLE entry (id INTEGER PRIMARY KEY, question INTEGER, file INTEGER, place INTEGER,
    row INTEGER, language TEXT, title BLOB, label TEXT, score REAL, right INTEGER, flags INTEGER,
    UNIQUE (question, language));
CREATE TABLE words (id INTEGER PRIMARY KEY, folded BLOB);
CREATE TABLE problem (line TEXT);
"""


class Progress(NamedTuple):
    """How far the reading is: DONE bytes OF all, samples, and a line for what could not be read."""

    done: int
    of: int
    rows: int
    finished: bool
    problems: tuple[str, ...]


class Index:
    """The index of some files; `read_all` fills it."""

    def __init__(self, sources: Sources, first: str = "") -> None:
        """Open a complete index if there is one, else make one that reads the task FIRST first."""
        self.sources = sources
        self.lock = threading.Lock()
        self._ended = threading.Event()
        self._done, self._rows, self._problems = 0, 0, [*sources.notes]
        about = [(source.criterion, source.dataset) for source in sources.files]
        wanted = {about[i] for i, source in enumerate(sources.files) if source.task == first}
        self.order = sorted(range(len(about)), key=lambda i: about[i] not in wanted)
        self._kept = _kept_path(sources)
        self._temporary: Path | None = None
        self._db = self._open()
        self.finished = self._temporary is None

    def _open(self) -> sqlite3.Connection:
        if self._kept is not None and self._kept.is_file():
            try:
                db = sqlite3.connect(self._kept, check_same_thread=False)
                rows = db.execute("SELECT count(*) FROM entry").fetchone()[0]
                self._problems += [line for (line,) in db.execute("SELECT line FROM problem")]
                self._done, self._rows = self.sources.size, rows
                os.utime(self._kept)
                return db
            except (sqlite3.Error, OSError) as error:
                log.warning("%s is damaged (%s) and is made again", self._kept, error)
        folder = None if self._kept is None else self._kept.parent
        try:
            handle, name = tempfile.mkstemp(prefix="xling_view_", suffix=".part", dir=folder)
            os.close(handle)
            self._temporary = Path(name)
            db = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
            # Nothing is lost with it that cannot be read again.
            for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-16000"):
                db.execute(f"PRAGMA {pragma}")
            db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise DataError(
                f"{folder or tempfile.gettempdir()}: no index can be made there ({error}); free "
                "space, or name another folder with the environment variable XLING_CACHE"
            ) from error
        return db

    def progress(self) -> Progress:
        """How far the reading is."""
        problems = tuple(self._problems)
        return Progress(self._done, self.sources.size, self._rows, self.finished, problems)

    def fetch(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; an index that was closed or cannot be read is an error."""
        with self.lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise DataError(
                    f"the index cannot be read ({error}); start the view again"
                ) from error

    def close(self) -> None:
        """End reading and searching; an index that is not complete is removed."""
        self._ended.set()
        with contextlib.suppress(sqlite3.Error):
            self._db.interrupt()
        with self.lock:
            self._db.close()
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)

    # Reading

    def read_all(self) -> None:
        """Read every file; what is wrong with one is a line among the problems."""
        before = 0
        try:
            for number in self.order:
                if self.finished:
                    return
                source = self.sources.files[number]
                try:
                    with reading(source.samples.path):
                        self._read_file(number, source, before)
                except XlingError as error:
                    self._problem(f"{error}. {_REST}")
                before += source.size
                self._done = before
                if self._ended.is_set():
                    return
            self._keep()
        except (sqlite3.Error, OSError) as error:
            if not self._ended.is_set():
                self._problem(
                    f"The index cannot be written ({error}): what was not read yet cannot be "
                    "found. Free space and start again."
                )

    def _read_file(self, number: int, source: Source, before: int) -> None:
        batch: list[tuple[Row, int, int, str]] = []
        waiting, told = 0, set[str]()
        try:
            for row, place, sample in source.samples.stream_at(_with_question):
                with reading(f"{source.samples.path}, row {row}"):
                    dataset = _dataset(source, sample)
                    made = list(facts(source.criterion, source.language, sample, source.primary))
                batch += [(fact, row, place, dataset) for fact in made]
                waiting += sum(len(fact.text) for fact in made) + 1000
                self._done = before + place
                self._rows += 1
                if waiting >= BATCH_BYTES:
                    told |= self._write(batch, number, source)
                    batch, waiting = [], 0
                if self._ended.is_set():
                    return
        finally:
            told |= self._write(batch, number, source)
        for line in sorted(told):
            self._problem(line)

    def _write(
        self, batch: list[tuple[Row, int, int, str]], number: int, source: Source
    ) -> set[str]:
        twice = set()
        with self.lock:
            if self._ended.is_set():
                return set()
            self._db.execute("BEGIN")
            for fact, row, place, dataset in batch:
                key = (source.model, source.criterion, dataset, fact.question)
                self._db.execute(
                    "INSERT OR IGNORE INTO question VALUES (NULL, ?, ?, ?, ?, ?)", (*key, number)
                )
                (question,) = self._db.execute(
                    "SELECT id FROM question WHERE (model, criterion, dataset, question) "
                    "= (?, ?, ?, ?)",
                    key,
                ).fetchone()
                made = self._db.execute(
                    "INSERT OR IGNORE INTO entry VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(question, number, place, row, fact.language),
                        *(fact.title.encode("utf-8", "surrogatepass"), fact.label),
                        *(fact.score, fact.right, fact.flags),
                    ),
                )
                if not made.rowcount:
                    twice.add(
                        f"{source.samples.path}, row {row}: question {fact.question!r} stands "
                        "there twice, or in another file of its language too; the first is shown."
                    )
                    continue
                self._db.execute(
                    "INSERT INTO words VALUES (?, ?)",
                    (made.lastrowid, fact.text.encode("utf-8", "surrogatepass")),
                )
            self._db.execute("COMMIT")
        return set(sorted(twice)[:3])

    def _problem(self, line: str) -> None:
        self._problems.append(line)
        log.warning("%s", line)

    def _keep(self) -> None:
        """Give a complete index the name under which the next view finds it."""
        with self.lock:
            if self._ended.is_set():
                return
            known = len(self.sources.notes)
            self._db.executemany(
                "INSERT INTO problem VALUES (?)", [(line,) for line in self._problems[known:]]
            )
            self.finished = True
            if self._kept is not None and self._temporary is not None:
                # Where an open file cannot be renamed, the index lasts as long as this view.
                with contextlib.suppress(OSError):
                    self._temporary.replace(self._kept)
                    self._temporary = None
                _make_room(self._kept.parent)


def _with_question(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample that can be told from others."""
    doc = sample["doc"]
    if not (isinstance(doc, dict) and "question_id" in doc) and "doc_id" not in sample:
        raise LookupError("question_id")
    return sample


def _dataset(source: Source, sample: dict[str, Any]) -> str:
    """The dataset; answers that went through another filter stand apart."""
    name = str(sample.get("filter", "none"))
    return source.dataset if name == "none" else f"{source.dataset} (filter {name})".strip()


def _kept_path(sources: Sources) -> Path | None:
    folder = cache_folder(None)
    if folder is None:
        return None
    digest = hashlib.sha256(str(FORMAT).encode())
    for source in sources.files:
        digest.update(source.identity.encode())
    kept = folder / "view"
    try:
        kept.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return kept / f"{digest.hexdigest()[:32]}.sqlite"


def _make_room(folder: Path) -> None:
    """Remove all but the newest indexes, and what a killed view left behind."""
    dated = sorted(_dated(folder, "*.sqlite"), reverse=True)
    old = [path for age, path in _dated(folder, "*.part") if age < time.time() - _DAY]
    for path in [*(path for _, path in dated[KEPT:]), *old]:
        with contextlib.suppress(OSError):
            path.unlink()


def _dated(folder: Path, pattern: str) -> Iterator[tuple[float, Path]]:
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            yield path.stat().st_mtime, path
