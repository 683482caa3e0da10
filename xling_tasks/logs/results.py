"""lm_eval's output folders: `results_*.json`, and `samples_*.jsonl`, which are read row by row."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xling_tasks.criteria import LABELS, NO_RESPONSE, TaskKey, task_key_of
from xling_tasks.criteria.sample import number
from xling_tasks.errors import DataError, no_such
from xling_tasks.harness.arguments import identity_of
from xling_tasks.logs.checked import AGAIN, read_content, recorded
from xling_tasks.logs.external_tasks import Reading
from xling_tasks.safe_json import loads, read_lines

T = TypeVar("T")

_DAMAGED = f"The file was cut or changed: {AGAIN}"

_SAMPLES = re.compile(r"samples_.+?_(\d{4}-.*?)\.jsonl(?:\.gz)?")


class Samples(NamedTuple):
    """One file of samples: what one run logged of one task.

    `reading` is how a task that is not ours is read; `n` are the questions that it has, where the
    results say so.
    """

    task: str
    path: Path
    reading: Reading | None = None
    n: int = 1

    def stream(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Yield each sample as `read` takes it, with the number of its line.

        Raises:
            DataError: If a line is no sample, or `read` raises a ValueError, LookupError or
                TypeError (with HINT), a question is there twice, or questions are missing.
        """
        seen: dict[str, set[Any]] = {}
        for line_number, _, line in read_lines(self.path):
            advice = _DAMAGED
            try:
                row = loads(line)
                questions = seen.setdefault(row.get("filter", ""), set())
                doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
                question = doc.get("question_id")
                key = row.get("doc_id", len(questions) if question is None else question)
                if key in questions:
                    raise ValueError(
                        f"question {key!r:.60} is in it twice; did two processes write here?"
                    )
                questions.add(key)
                if self.reading is not None and not self.reading.counts(row):
                    continue  # a task of others may have several filters
                advice = hint or _DAMAGED
                value = read(row if self.reading is None else self.reading.convert(row))
            except (AttributeError, ValueError, LookupError, TypeError) as error:
                problem = repr(error) if isinstance(error, LookupError) else error
                raise DataError(
                    f"{self.path}, row {line_number}: not a sample of {self.task} ({problem}). "
                    f"{advice}"
                ) from error
            yield line_number, value
        if (count := max(map(len, seen.values()), default=0)) < self.n:
            raise DataError(f"{self.path}: {count} of {self.n} questions are there. {_DAMAGED}")

    def stream_first(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Yield the rows that went through the file's first filter, as `stream` does."""
        first: list[str] = []
        for line, (name, value) in self.stream(lambda r: (r.get("filter", ""), read(r)), hint=hint):
            first = first or [name]
            if name == first[0]:
                yield line, value


@dataclass(frozen=True)
class Results:
    """One results file: what one command of lm_eval found; equal digests are one run."""

    path: Path
    content: Mapping[str, Any]
    digest: str = ""

    @property
    def stamp(self) -> str:
        """Its time, as in the names of its files."""
        return self.path.stem.removeprefix("results_")

    @functools.cached_property
    def places(self) -> dict[str, TaskKey | None]:
        """What each of its tasks is about; None for those that are not ours."""
        return {
            task: TaskResults(task, self).task_key for task in sorted(self.content["n-samples"])
        }

    @functools.cached_property
    def config(self) -> Mapping[str, Any]:
        """lm_eval's record of the command; of a replayed run, with the model that answered."""
        config: Mapping[str, Any] = self.content.get("config") or {}
        answered = {key: self.replay[key] for key in ("model", "model_args") if key in self.replay}
        return {**config, **answered}

    @functools.cached_property
    def replay(self) -> Mapping[str, Any]:
        """What a replayed run records about the run it replayed; empty for others."""
        configs = self.content.get("configs") or {}
        return next((r for task in configs if (r := recorded(configs, task).get("replay"))), {})

    @functools.cached_property
    def model_args(self) -> dict[str, Any]:
        """The model's arguments without secrets."""
        args = self.config.get("model_args")
        return dict(args) if isinstance(args, Mapping) else {}

    @property
    def model(self) -> str:
        """The model, as its name and arguments tell it."""
        return model_line(self.config.get("model"), self.model_args)


@dataclass(frozen=True)
class TaskResults:
    """One task in a results file; `reading` says how one that is not ours is read."""

    task: str
    run: Results
    reading: Reading | None = field(default=None, kw_only=True)

    @property
    def samples(self) -> Samples:
        """Its samples, compressed or not; the file is there if they were logged."""
        path = self.run.path.with_name(f"samples_{self.task}_{self.run.stamp}.jsonl")
        compressed = path.with_name(f"{path.name}.gz")
        if not path.exists() and compressed.exists():
            path = compressed
        n = self.run.content["results"][self.task].get("sample_len") or 1
        return Samples(self.task, path, self.reading, n)

    @property
    def config(self) -> Mapping[str, Any]:
        """The task's configuration as recorded."""
        config: Mapping[str, Any] = self.run.content["configs"][self.task]
        return config

    @property
    def xling(self) -> Mapping[str, Any]:
        """What our tasks record; empty for a task that is not ours."""
        xling: Mapping[str, Any] = (self.config.get("metadata") or {}).get("xling") or {}
        return xling

    @property
    def task_key(self) -> TaskKey | None:
        """What it is about; None for a task that is not ours. A newer version is an error."""
        try:
            return task_key_of(self.task, self.xling.get("about"))
        except DataError as error:
            raise DataError(f"{self.run.path}: {error}") from None

    @property
    def count(self) -> Mapping[str, int]:
        """Questions, `original` and `effective`."""
        count: Mapping[str, int] = self.run.content["n-samples"][self.task]
        return count

    @property
    def directions(self) -> Mapping[str, bool | None]:
        """Whether higher is better, of each metric."""
        return (self.run.content.get("higher_is_better") or {}).get(self.task) or {}

    @property
    def lm_eval(self) -> str:
        """lm_eval's version."""
        return str(self.run.content.get("lm_eval_version"))

    @functools.cached_property
    def scores(self) -> dict[str, float | None]:
        """Every metric's value; None where there is none.

        A share of labels where the judge (or one of several) gave no label at all is none,
        whatever was written.
        """
        values = self.run.content["results"][self.task]
        scores = {}
        for key, value in values.items():
            name, _, filtered = key.rpartition(",")
            if filtered != "none" or "_stderr" in name:
                continue
            label, sign, judge = name.rpartition("_judge")
            is_silent = values.get(f"{NO_RESPONSE}{sign}{judge},none") == 1 and label in LABELS
            is_silent |= values.get("n_judged,none") == 0 and name in LABELS
            scores[name] = None if is_silent else number(value)
        return scores


def read_results(out: Path) -> list[Results]:
    """Return all results files under a folder, oldest first; of copies with equal content one.

    Raises:
        DataError: If it is no folder, a file or a folder in it cannot be read, or samples are there
            without the results that say how they were made.
    """
    if not out.is_dir():
        raise DataError(f"{out}: {no_such(out, 'folder')}; give the --output_path of lm_eval")

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: {error.strerror}; make it readable, or move it away")

    names = [Path(path, name) for path, _, files in os.walk(out, onerror=refuse) for name in files]
    found = []
    # A copy has a longer name, such as `results_... (1).json`, and no samples beside it.
    for path in sorted(names, key=lambda path: (len(path.name), str(path))):
        if path.match("results_*.json") and (content := read_content(path)) is not None:
            found.append(Results(path, content, hashlib.sha256(path.read_bytes()).hexdigest()))
    stamps = {(run.path.parent, run.stamp) for run in found}
    for path in names:
        name = _SAMPLES.fullmatch(path.name)
        if name and (path.parent, name[1]) not in stamps:
            raise DataError(
                f"{path}: results_{name[1]}.json is not beside it, in which lm_eval wrote what "
                "model answered and how; copy it there under this name, or move the samples away"
            )
    runs = {run.digest: run for run in reversed(found)}
    return sorted(runs.values(), key=lambda run: (run.stamp, str(run.path)))


def newest_tasks(out: Path, criteria: Collection[str]) -> list[tuple[TaskKey, TaskResults]]:
    """Return the newest results of one model's tasks of some criteria, with samples; by name."""
    newest: dict[tuple[str, str], tuple[TaskKey, TaskResults]] = {}
    for run in read_results(out):
        for name, task_key in run.places.items():
            task = TaskResults(name, run)
            if task_key and task_key.criterion in criteria and task.samples.path.is_file():
                newest[name, task_key.dataset] = task_key, task
    refuse_mixed_models(out, (task.run for _, task in newest.values()))
    return [newest[name] for name in sorted(newest)]


def refuse_mixed_models(out: Path, runs: Iterable[Results]) -> None:
    """Check that runs are of one model: its name and the arguments that can change a response."""
    models = {run.model: run.path.relative_to(out) for run in runs}
    if len(models) > 1:
        names = "; ".join(f"{model} ({path})" for model, path in models.items())
        raise DataError(
            f"{out}: runs of {len(models)} different models: {names}; give the folder of one, or "
            "move the others' files away"
        )


def model_line(model: object, args: Mapping[str, Any]) -> str:
    """Return a model's name and those arguments that can change a response."""
    return f"{model} {as_json(identity_of(args))}"


def as_json(value: object) -> str:
    """Return one line of JSON, the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
