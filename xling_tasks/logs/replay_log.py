"""The logged answers of earlier runs, read again: found, indexed by document, read when needed.

They are in the harness's `samples_*.jsonl`, with the `results_*.json` of the same run beside it.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.failed_response import logged_details, response_of
from xling_tasks.logs.answers import doc_digest
from xling_tasks.logs.by_language import recorded
from xling_tasks.logs.replay_prompts import Logged
from xling_tasks.logs.results import Results, model_line, read_run
from xling_tasks.logs.samples import SAMPLES, check_folder, without_results
from xling_tasks.safe_json import loads, read_lines

_REPLAY = "xling_replay"


class LoggedRequest(NamedTuple):
    """A request that was logged: `argument` is its generation arguments, or the continuation."""

    kind: str
    prompt: Logged
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
            if earlier := entries.get(digest):
                raise self._repeated(entry, earlier)
            entries[digest] = entry
        return entries

    @functools.cached_property
    def questions(self) -> dict[str, Entry]:
        """The places of the documents by question, for messages."""
        return {question: entry for _, question, entry in self.entries()}

    def first(self) -> list[LoggedRequest]:
        """Return the requests of the first document, which tell how the run asked."""
        _, _, entry = next(self.entries(), (None, None, None))
        return [] if entry is None else entry.log.requests(entry)

    @abstractmethod
    def entries(self) -> Iterator[tuple[str, str, Entry]]:
        """Yield digest, question and location of each document."""

    def _repeated(self, entry: Entry, earlier: Entry) -> DataError:
        return _broken(entry.path, entry.row, f"the same as row {earlier.row}")


class TaskLog(AnyLog):
    """The harness's samples of one task in one run."""

    def __init__(self, task: str, path: Path, results: Results) -> None:
        self.task, self.run, self.paths = task, results.stamp, [path]
        self.model = str(results.config.get("model"))
        self.model_args = results.model_args
        self.template = results.content.get("chat_template")
        self.recorded = recorded(results.content.get("configs"), task)
        self._filter: str | None = None

    @functools.lru_cache(maxsize=2)  # noqa: B019  (few logs, which live as long as the run)
    def requests(self, entry: Entry) -> list[LoggedRequest]:
        """Return the requests of a document."""
        row = self.row(entry)
        try:
            return list(self._requests(row))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _broken(entry.path, entry.row, error) from error

    def row(self, entry: Entry) -> dict[str, Any]:
        """Return a document's line."""
        with entry.path.open("rb") as file:
            file.seek(entry.offset)
            return dict(loads(file.readline()))

    def entries(self) -> Iterator[tuple[str, str, Entry]]:
        """Yield digest, question and location of each document."""
        for path in self.paths:
            for number, offset, line in read_lines(path):
                try:
                    keys = self._keys(dict(loads(line)))
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise _broken(path, number, error) from error
                if keys is not None:
                    yield (*keys, Entry(self, path, number, offset))

    def _keys(self, row: dict[str, Any]) -> tuple[str, str] | None:
        """Return a line's digest and question; None if it repeats a document."""
        # With several filters a document has a line for each.
        self._filter = row["filter"] if self._filter is None else self._filter
        if row["filter"] != self._filter:
            return None
        return doc_digest(row["doc"]), str(row["doc"].get("question_id"))

    def _requests(self, row: dict[str, Any]) -> Iterator[LoggedRequest]:
        arguments, details = row["arguments"], logged_details(row)
        for number, replies in enumerate(row["resps"]):
            logged = arguments[f"gen_args_{number}"]
            content, argument = logged["arg_0"], logged["arg_1"]
            prompt = Logged(content, self.template is not None)
            if isinstance(argument, dict):
                answers: list[str] = [
                    response_of(str(r), details.get((number, i), {})) for i, r in enumerate(replies)
                ]
                yield LoggedRequest("generate_until", prompt, argument, answers)
            else:
                # The harness logs numbers as texts that give back exactly the same number.
                scores = [(float(score), greedy == "True") for score, greedy in replies]
                yield LoggedRequest("loglikelihood", prompt, argument, scores)


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
        """Yield the entries of its parts."""
        return chain.from_iterable(part.entries() for part in self.parts)

    def _repeated(self, entry: Entry, earlier: Entry) -> DataError:
        if entry.log is earlier.log:
            return super()._repeated(entry, earlier)
        return DataError(
            f"{self.task}: {entry.path}, row {entry.row} and {earlier.path}, row {earlier.row} "
            "are the same question, so these are no parts of one run; leave one of them out "
            "(path=..., or run=... within a folder)"
        )


def find_logs(folder: Path) -> list[TaskLog]:
    """Return all logs below a folder, except those of replays, which are copies."""
    check_folder(folder, "path= the --output_path of a run with --log_samples")

    @functools.cache
    def written(parent: Path, stamp: str) -> Results | None:
        for path in parent.glob(f"*_{stamp}.json"):
            if run := read_run(path):
                return replace(run, path=parent / f"results_{stamp}.json")
        return None

    found = []
    for path in sorted(folder.rglob("samples_*.jsonl")):
        name = SAMPLES.fullmatch(path.name)
        if name is None:
            continue
        task, stamp = name.groups()
        origin = written(path.parent, stamp)
        if origin is None:
            raise without_results(path, stamp)
        if not origin.replay and origin.config.get("model") != _REPLAY:
            found.append(TaskLog(task, path, origin))
    return found


def _broken(path: Path, row: int, error: Exception | str) -> DataError:
    return DataError(
        f"{path}, row {row}: not a logged document ({error!r}); copy the file again, or move it "
        "away and replay another run"
    )
