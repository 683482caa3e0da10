"""The logged answers of earlier runs, read again: found, indexed by document, read when needed.

Two kinds of log: the harness's `samples_*.jsonl` (with the `results_*.json` of the same run beside
it), and the answers that our tasks save before they score (`xling_tasks.logs.answers`), in the
store or, by version 0.2, in files.
"""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.log import log
from xling_tasks.logs.answers import FORMAT, doc_digest, read_requests
from xling_tasks.logs.by_language import recorded
from xling_tasks.logs.replay_prompts import Digest, Logged, LoggedPrompt
from xling_tasks.logs.results import Results, model_line, read_run
from xling_tasks.logs.samples import SAMPLES, check_folder, without_results
from xling_tasks.replies.role import STORES, saved_places, saved_row, saved_rows
from xling_tasks.safe_json import loads, read_lines
from xling_tasks.unanswered import missing_in

_ANSWERS = re.compile(r"(.+)_\d{4}-\d\d-\d\dT[\d-]+_\d+_\d+_rank(\d+)\.jsonl")
_REPLAY = "xling_replay"


class LoggedRequest(NamedTuple):
    """A request that was logged: `argument` is its generation arguments, or the continuation."""

    kind: str
    prompt: LoggedPrompt
    argument: Any
    replies: list[Any]


class Entry(NamedTuple):
    """Where a document is, and the log that can read it."""

    log: TaskLog
    path: Path
    row: int
    offset: int


class AnyLog(ABC):
    """What was logged of one task, by one run or in parts.

    Attributes:
        run: The run's name, which starts with its time.
        model_args: The model's arguments, without secrets.
        template: The chat template; empty if not known, None if none was applied.
        paths: Its files, one per process.
        recorded: What the task recorded of the run (`metadata.xling` of its results); empty where
            there are no results, because the run crashed.
        parts: The runs that it is made of; none of one run.
    """

    task: str
    run: str
    model: str
    model_args: Mapping[str, Any]
    template: str | None
    paths: list[Path]
    recorded: Mapping[str, Any]
    parts: Sequence[TaskLog] = ()

    @property
    def identity(self) -> str:
        """What makes the model another one."""
        return model_line(self.model, self.model_args)

    @functools.cached_property
    def index(self) -> dict[str, Entry]:
        """The places of the documents by digest, of which no line may repeat another."""
        entries: dict[str, Entry] = {}
        for digest, _, entry in self.entries():
            if twin := entries.get(digest):
                raise self._repeated(entry, twin)
            entries[digest] = entry
        return entries

    @functools.cached_property
    def questions(self) -> dict[str, Entry]:
        """The places of the documents by question, for messages."""
        return {question: entry for _, question, entry in self.entries()}

    def first(self) -> list[LoggedRequest]:
        """The requests of the first document, by which one tells how the run asked."""
        _, _, entry = next(self.entries(), (None, None, None))
        return [] if entry is None else entry.log.requests(entry)

    def missing_ranks(self) -> list[int]:
        """Processes of the run whose part is not there."""
        return []

    @abstractmethod
    def entries(self) -> Iterator[tuple[str, str, Entry]]:
        """Digest, question and place of each document."""

    def _repeated(self, entry: Entry, twin: Entry) -> DataError:
        return _broken(entry.path, entry.row, f"the same as row {twin.row}")


class TaskLog(AnyLog):
    """What one run logged of one task."""

    @functools.lru_cache(maxsize=2)  # noqa: B019  (few logs, which live as long as the run)
    def requests(self, entry: Entry) -> list[LoggedRequest]:
        """The requests of a document."""
        row = self.row(entry)
        try:
            return list(self._requests(row))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _broken(entry.path, entry.row, error) from error

    def row(self, entry: Entry) -> dict[str, Any]:
        """A document's line."""
        return _line_at(entry)

    def entries(self) -> Iterator[tuple[str, str, Entry]]:
        """Digest, question and place of each document."""
        for path in self.paths:
            for number, offset, row in self._rows(path):
                try:
                    keys = self._keys(row)
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise _broken(path, number, error) from error
                if keys is not None:
                    yield (*keys, Entry(self, path, number, offset))

    def _rows(self, path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """A file's rows with their numbers and places."""
        return _lines(path)

    @abstractmethod
    def _keys(self, row: dict[str, Any]) -> tuple[str, str] | None:
        """A line's digest and question; None if it is not a document or repeats one."""

    @abstractmethod
    def _requests(self, row: dict[str, Any]) -> Iterator[LoggedRequest]:
        """The requests in a document's line."""


class SamplesLog(TaskLog):
    """The harness's samples of one task."""

    def __init__(self, task: str, path: Path, results: Results) -> None:
        self.task, self.run, self.paths = task, results.stamp, [path]
        self.model = str(results.config.get("model"))
        self.model_args = results.model_args
        self.template = results.content.get("chat_template")
        self.recorded = recorded(results.content.get("configs"), task)
        self._filter: str | None = None

    def _keys(self, row: dict[str, Any]) -> tuple[str, str] | None:
        # With several filters a document has a line for each.
        self._filter = row["filter"] if self._filter is None else self._filter
        if row["filter"] != self._filter:
            return None
        return doc_digest(row["doc"]), str(row["doc"].get("question_id"))

    def _requests(self, row: dict[str, Any]) -> Iterator[LoggedRequest]:
        arguments, missing = row["arguments"], missing_in(row)
        for number, replies in enumerate(row["resps"]):
            asked = arguments[f"gen_args_{number}"]
            content, argument = asked["arg_0"], asked["arg_1"]
            prompt = Logged(content, self.template is not None)
            if isinstance(argument, dict):
                answers = [missing.get((number, i), str(r)) for i, r in enumerate(replies)]
                yield LoggedRequest("generate_until", prompt, argument, answers)
            else:
                # The harness logs numbers as texts that give back exactly the same number.
                scores = [(float(score), greedy == "True") for score, greedy in replies]
                yield LoggedRequest("loglikelihood", prompt, argument, scores)


class AnswersLog(TaskLog):
    """The saved answers of one task: one place per process of the run, each with its header.

    A place is a file of version 0.2, or a shelf behind its store.
    """

    def __init__(self, headers: Mapping[Path, Mapping[str, Any]]) -> None:
        self.paths = sorted(headers, key=lambda path: int(headers[path]["rank"]))
        self._headers = [headers[path] for path in self.paths]
        first = self._headers[0]
        self.task, self.run, self.model = first["task"], first["run"], str(first["model"])
        self.model_args = dict(first["model_args"])
        self.template = "" if first["chat_template"] else None
        self.recorded = {}

    def missing_ranks(self) -> list[int]:
        """Those of the run whose file is not there."""
        ranks = {int(header["rank"]) for header in self._headers}
        return sorted(set(range(int(self._headers[0]["world_size"]))) - ranks)

    def row(self, entry: Entry) -> dict[str, Any]:
        """A document's line, with the arguments in its file's header."""
        header = self._headers[self.paths.index(entry.path)]
        line = _line_at(entry) if entry.path.is_file() else saved_row(entry.path, entry.row)
        return {**line, "arguments": header["arguments"]}

    def _rows(self, path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
        if path.is_file():
            return _lines(path)
        return ((number, 0, row) for number, row in saved_rows(path))

    def _keys(self, row: dict[str, Any]) -> tuple[str, str] | None:
        return None if "xling_answers" in row else (row["doc"], str(row["question_id"]))

    def _requests(self, row: dict[str, Any]) -> Iterator[LoggedRequest]:
        for kind, digest, argument, replies in read_requests(row, row["arguments"]):
            prompt = Digest(digest, self.template is not None)
            yield LoggedRequest(kind, prompt, argument, replies)


class JoinedLog(AnyLog):
    """Logs of one task and model, each with other documents.

    Raises:
        DataError: If some were made with a chat template and others without.
    """

    def __init__(self, parts: Sequence[TaskLog]) -> None:
        first = parts[0]
        self.parts = list(parts)
        self.task, self.model, self.model_args = first.task, first.model, first.model_args
        self.recorded = first.recorded
        self.run = max(part.run for part in parts)
        self.template = next((part.template for part in parts if part.template), first.template)
        self.paths = [path for part in parts for path in part.paths]
        for part in parts[1:]:
            if (part.template is None) != (first.template is None):
                raise DataError(
                    f"{self.task}: {first.paths[0]} and {part.paths[0]} are no parts of one run: "
                    "a chat template was applied in one of them only"
                )

    def entries(self) -> Iterator[tuple[str, str, Entry]]:
        """Those of its parts."""
        return chain.from_iterable(part.entries() for part in self.parts)

    def missing_ranks(self) -> list[int]:
        """Processes of a part whose file is not there."""
        return sorted({rank for part in self.parts for rank in part.missing_ranks()})

    def _repeated(self, entry: Entry, twin: Entry) -> DataError:
        if entry.log is twin.log:
            return super()._repeated(entry, twin)
        return DataError(
            f"{self.task}: {entry.path}, row {entry.row} and {twin.path}, row {twin.row} are the "
            "same question, so these are no parts of one run; leave one of them out (path=..., or "
            "run=... within a folder)"
        )


def find_logs(folder: Path) -> list[TaskLog]:
    """All logs anywhere below a folder, but for those of replays, which are copies."""
    check_folder(folder, "path= the --output_path of a run with --log_samples, or the cache folder")
    return [*_samples(folder), *_answers(folder)]


def _samples(folder: Path) -> Iterator[TaskLog]:
    @functools.cache
    def written(place: Path, stamp: str) -> Results | None:
        for path in place.glob(f"*_{stamp}.json"):
            if run := read_run(path, whole=True):
                return replace(run, path=place / f"results_{stamp}.json")
        return None

    for path in sorted(folder.rglob("samples_*.jsonl")):
        name = SAMPLES.fullmatch(path.name)
        if name is None:
            continue
        task, stamp = name.groups()
        origin = written(path.parent, stamp)
        if origin is None:
            raise without_results(path, stamp)
        if not origin.replay and origin.config.get("model") != _REPLAY:
            yield SamplesLog(task, path, origin)


def _answers(folder: Path) -> Iterator[TaskLog]:
    runs: dict[tuple[str, str], dict[Path, Mapping[str, Any]]] = {}
    old = []
    for path in sorted(folder.rglob("*_rank*.jsonl")):
        if not _ANSWERS.fullmatch(path.name) or path.name.startswith("samples_"):
            continue
        header = next((row for _, _, row in _lines(path)), {})
        if header.get("xling_answers") != FORMAT:
            old.append(path)
            continue
        runs.setdefault((header["task"], header["run"]), {})[path] = header
    if old:
        log.warning("%s: %d files of answers by another version are left out", folder, len(old))
    for path in sorted(folder.rglob(STORES)):
        for place, header in saved_places(path).items():
            if header.get("xling_answers") == FORMAT:
                runs.setdefault((header["task"], header["run"]), {})[place] = header
    for headers in runs.values():
        yield AnswersLog(headers)


def _line_at(entry: Entry) -> dict[str, Any]:
    with entry.path.open("rb") as file:
        file.seek(entry.offset)
        return dict(loads(file.readline()))


def _lines(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """A file's lines as JSON objects, with their numbers and places."""
    for number, offset, line in read_lines(path):
        try:
            yield number, offset, dict(loads(line))
        except (ValueError, TypeError) as error:
            raise _broken(path, number, error) from error


def _broken(path: Path, row: int, error: Exception | str) -> DataError:
    return DataError(
        f"{path}, row {row}: not a logged document ({error!r}); copy the file again, or move it "
        "away and replay another run"
    )
