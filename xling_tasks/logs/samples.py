"""lm_eval's files of samples, `samples_*.jsonl`, compressed or not: found, and read row by row."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xling_tasks.criteria import TaskKey, task_key_of
from xling_tasks.errors import DataError, no_such
from xling_tasks.logs.by_language import recorded, with_bookkeeping
from xling_tasks.logs.checked import AGAIN, check_results, parse_sample
from xling_tasks.logs.external_tasks import Reading
from xling_tasks.safe_json import read_json, read_lines

T = TypeVar("T")

_DAMAGED = f"The file was cut or changed: {AGAIN}"

SAMPLES = re.compile(r"samples_(.+?)_(\d{4}-.*?)\.jsonl(?:\.gz)?")


class Samples(NamedTuple):
    """One file of samples: what one run, named by its time, logged of one task.

    `reading` is how a task that is not ours is read; None for ours, and for rows as they are.
    """

    task: str
    stamp: str
    path: Path
    reading: Reading | None = None

    def stream(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Yield each sample as `read` takes it, with the number of its line.

        Where `read` raises a ValueError, LookupError or TypeError the line is no sample: an error
        that names file and line, with HINT, if not to copy it or run again.
        """
        seen: dict[str, set[Any]] = {}
        for number, _, line in read_lines(self.path):
            advice = _DAMAGED
            try:
                row = parse_sample(line)
                _add_once(row, seen.setdefault(row.get("filter", ""), set()))
                advice = hint or _DAMAGED
                value = read(row if self.reading is None else self.reading.convert(row))
            except (ValueError, LookupError, TypeError) as error:
                problem = repr(error) if isinstance(error, LookupError) else error
                raise DataError(
                    f"{self.path}, row {number}: not a sample of {self.task} ({problem}). {advice}"
                ) from error
            yield number, value
        self._refuse_short(max(map(len, seen.values()), default=0))

    def stream_first(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Yield the rows that went through the file's first filter, as `stream` does."""
        first: list[str] = []
        for number, (name, value) in self.stream(
            lambda row: (row.get("filter", ""), read(row)), hint=hint
        ):
            first = first or [name]
            if name == first[0]:
                yield number, value

    def recorded(self) -> Mapping[str, Any]:
        """Return what the task recorded beside its samples."""
        return recorded(_beside(self.path, self.stamp).get("configs"), self.task)

    def _refuse_short(self, count: int) -> None:
        """Refuse a file with fewer questions than the results count."""
        name = SAMPLES.fullmatch(self.path.name)
        results = _beside(self.path, self.stamp).get("results", {}).get(name and name[1], {})
        asked = results.get("sample_len")  # where lm_eval says so
        if count < (asked if isinstance(asked, int) else 1):
            of = "" if asked is None else f" of {asked}"
            raise DataError(f"{self.path}: {count or 'no'}{of} questions are there. {_DAMAGED}")


def _add_once(row: Mapping[str, Any], seen: set[Any]) -> None:
    """Add a row's question to those SEEN, of which it may not be one."""
    question = row["doc"].get("question_id") if isinstance(row.get("doc"), dict) else None
    key = row.get("doc_id", len(seen) if question is None else question)
    if key in seen:
        raise ValueError(f"question {key!r:.60} is in it twice; did two processes write here?")
    seen.add(key)


def samples_path(results: Path, task: str, stamp: str) -> Path:
    """Return the path of a task's samples beside its results, compressed or not."""
    path = results.with_name(f"samples_{task}_{stamp}.jsonl")
    compressed = path.with_name(f"{path.name}.gz")
    return compressed if not path.exists() and compressed.exists() else path


def find_samples(out: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the files of samples under a folder, each with task and time."""
    for path in sorted(out.rglob("samples_*.jsonl*")):
        if name := SAMPLES.fullmatch(path.name):
            yield path, name[1], name[2]


def newest_samples(out: Path, criteria: Collection[str]) -> list[tuple[TaskKey, Samples]]:
    """Return what each task of some criteria is about, and its newest file of samples; by name.

    Files of several models in one folder are an error.
    """
    check_folder(out)
    newest: dict[str, tuple[TaskKey, Samples]] = {}
    folders: set[str] = set()
    for path, task, stamp in find_samples(out):
        configs = _beside(path, stamp).get("configs", {})
        task_key = place_in(path, task, recorded(configs, task))
        if task_key is None or task_key.criterion not in criteria:
            continue
        folders.add(str(path.parent))
        if task not in newest or stamp >= newest[task][1].stamp:
            newest[task] = (task_key, Samples(task, stamp, path))
    if len(folders) > 1:
        names = ", ".join(sorted(folders))
        raise DataError(f"{out}: holds the runs of several models; give one's folder: {names}")
    return [newest[task] for task in sorted(newest)]


def without_results(samples: Path, stamp: str) -> DataError:
    """Return the error that samples are there without what says how they were made."""
    return DataError(
        f"{samples}: results_{stamp}.json is not beside it, in which lm_eval wrote what model "
        "answered and how; copy it there under this name, or move the samples away"
    )


# The results beside them


def read_content(path: Path) -> dict[str, Any] | None:
    """Return a results file's content; None of another program's."""
    content = read_json(path, AGAIN)
    if isinstance(content, dict) and {"results", "configs", "n-samples"} <= set(content):
        return check_results(path, with_bookkeeping(content))
    return None


def _beside(samples: Path, stamp: str) -> Mapping[str, Any]:
    """Return the results beside samples; {} of another program's."""
    path = samples.with_name(f"results_{stamp}.json")
    try:
        return _read_beside(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise without_results(samples, stamp) from None


@functools.lru_cache(maxsize=32)
def _read_beside(path: Path, changed: int) -> Mapping[str, Any]:
    return read_content(path) or {}


def place_in(path: Path, task: str, record: Mapping[str, Any]) -> TaskKey | None:
    """Return what a task is about by its record in a file; None of a task that is not ours."""
    try:
        subject = record.get("about")
        if subject is not None and not isinstance(subject, dict):
            raise DataError(f"{task}: what it is about is no object ({subject!r:.40})")
        return task_key_of(task, subject)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def check_folder(out: Path, give: str = "the --output_path of lm_eval") -> None:
    """Raise a DataError, with what to give, if it is no folder, or one in it cannot be opened."""
    if not out.is_dir():
        raise DataError(f"{out}: {no_such(out, 'folder')}; give {give}")

    def refuse(error: OSError) -> None:
        if isinstance(error, PermissionError):
            raise DataError(
                f"{error.filename}: {error.strerror}; make it readable, or move it away"
            )

    for _ in os.walk(out, onerror=refuse):
        pass
