"""The harness's output folders: `results_*.json` and `samples_*.jsonl`, found and read."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xling_tasks.criteria import LABELS, NO_RESPONSE, Place, place_of, primary_of
from xling_tasks.errors import DataError, no_such
from xling_tasks.harness.arguments import identity_of
from xling_tasks.languages import name_languages
from xling_tasks.logs.by_language import (
    language_names,
    part_of,
    recorded,
    split,
    with_bookkeeping,
)
from xling_tasks.logs.checked import AGAIN, check_results, reading, sample_of
from xling_tasks.logs.foreign import Reading
from xling_tasks.safe_json import read_json, read_lines

T = TypeVar("T")

_DAMAGED = f"The file was cut or changed: {AGAIN}"

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
SAMPLES = re.compile(r"samples_(.+?)_(\d{4}-.*)\.jsonl")


class Samples(NamedTuple):
    """One file of samples: what one run logged of one task.

    Attributes:
        task: The task.
        stamp: The run's time, as in the names of its files.
        path: The file.
        language: The one language that is read of a task with several; empty for all of it.
        reading: How a task that is not ours is read; None for ours, and for rows as they are.
    """

    task: str
    stamp: str
    path: Path
    language: str = ""
    reading: Reading | None = None

    def stream(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Each sample as `read` takes it, with the number of its line; blank lines are skipped.

        Args:
            read: Takes a sample; a ValueError, LookupError or TypeError says that it is none.
            hint: What to do about a line that `read` refuses, if not to copy it or run again.

        Raises:
            DataError: Naming file and line, if a line is no sample or the file cannot be read.
        """
        for number, _, value in self.stream_at(read, hint=hint):
            yield number, value

    def stream_at(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, int, T]]:
        """As `stream`, with the place in the file at which the line begins as second item."""
        for number, offset, line in read_lines(self.path):
            mend = _DAMAGED
            try:
                row = sample_of(line)
                mend = hint or _DAMAGED
                own = self._own(row)
                if not own:
                    continue
                value = read(own)
            except (ValueError, LookupError, TypeError) as error:
                why = repr(error) if isinstance(error, LookupError) else error
                raise DataError(
                    f"{self.path}, row {number}: not a sample of {self.task} ({why}). {mend}"
                ) from error
            yield number, offset, value

    def stream_first(
        self, read: Callable[[dict[str, Any]], T], *, hint: str = ""
    ) -> Iterator[tuple[int, T]]:
        """As `stream`, of the rows that went through the file's first filter."""
        first: list[Any] = []
        for number, (name, value) in self.stream(
            lambda row: (row.get("filter", ""), read(row)), hint=hint
        ):
            first = first or [name]
            if name == first[0]:
                yield number, value

    def at(self, offset: int) -> dict[str, Any]:
        """The sample whose line begins at a place in the file."""
        with self.path.open("rb") as file:
            file.seek(offset)
            return self._own(sample_of(file.readline()))

    def recorded(self) -> Mapping[str, Any]:
        """What the task recorded beside its samples; {} where the run's results do not say."""
        return recorded(_configs(self.path.with_name(f"results_{self.stamp}.json")), self.task)

    def _own(self, row: dict[str, Any]) -> dict[str, Any]:
        """What a sample has of this language; nothing where it has nothing."""
        if self.reading is not None:
            return self.reading.own(row)
        if not self.language:
            return row
        return part_of(row, self.language, self.recorded().get("signatures") or {})


@dataclass(frozen=True)
class Results:
    """One results file: what one command of the harness found."""

    path: Path
    content: Mapping[str, Any]

    @property
    def stamp(self) -> str:
        """Its time, as in the names of its files."""
        return self.path.stem.removeprefix("results_")

    @property
    def tasks(self) -> set[str]:
        """The tasks that it has."""
        return set(self.content["n-samples"])

    @functools.cached_property
    def places(self) -> dict[str, Place | None]:
        """What each of its tasks is about; None for those that are not ours."""
        return {task: TaskResults(task, self).place for task in sorted(self.tasks)}

    @functools.cached_property
    def config(self) -> Mapping[str, Any]:
        """The harness's record of the command; of a replayed run, with the model that answered."""
        config: Mapping[str, Any] = self.content.get("config") or {}
        answered = {key: self.replay[key] for key in ("model", "model_args") if key in self.replay}
        return {**config, **answered}

    @functools.cached_property
    def replay(self) -> Mapping[str, Any]:
        """What a replayed run records about the run it replayed; empty for others."""
        configs = self.content.get("configs") or {}
        return next(
            (dict(r) for each in configs if (r := recorded(configs, each).get("replay"))), {}
        )

    @functools.cached_property
    def model_args(self) -> dict[str, Any]:
        """The model's arguments without secrets."""
        args = self.config.get("model_args") or {}
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
        """Its samples; the file is there if they were logged."""
        stamp, part = self.run.stamp, self.xling.get("part_of") or {}
        path = self.run.path.with_name(f"samples_{part.get('task', self.task)}_{stamp}.jsonl")
        return Samples(self.task, stamp, path, part.get("language", ""), self.reading)

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
    def place(self) -> Place | None:
        """What it is about; None for a task that is not ours.

        Raises:
            DataError: If a newer version wrote it.
        """
        return _place(self.run.path, self.task, self.xling)

    @property
    def primary(self) -> list[str]:
        """Its endpoints: the metrics on which conclusions rest."""
        place, names = self.place, self.xling.get("signatures") or {}
        return [] if place is None else primary_of(place, names, self.xling.get("about"))

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
        """The harness's version."""
        return str(self.run.content.get("lm_eval_version"))

    @functools.cached_property
    def scores(self) -> dict[str, float | None]:
        """Every metric's value, as `score` gives it."""
        values = self.run.content["results"][self.task]
        names = [name.removesuffix(",none") for name in values if name.endswith(",none")]
        return {name: self.score(name) for name in names if "_stderr" not in name}

    def score(self, metric: str) -> float | None:
        """A metric's value; None where there is none.

        A share of labels where the judge (or that one of several) gave no label at all is none,
        whatever was written.
        """
        values = self.run.content["results"][self.task]
        value = values.get(f"{metric},none")
        if metric in LABELS and values.get("n_judged,none") == 0:
            return None
        label, of, number = metric.rpartition("_judge")
        if label in LABELS and values.get(f"{NO_RESPONSE}{of}{number},none") == 1:
            return None
        good = isinstance(value, (int, float)) and math.isfinite(value)
        return float(value) if good else None


def read_results(out: Path, *, whole: bool = False) -> list[Results]:
    """All results files under a folder, oldest first: the last that has a task is its newest.

    Args:
        out: The folder.
        whole: Whether tasks with several languages in one are left as they are, instead of being
            read as one task per language.

    Raises:
        DataError: If it is no folder, or a file is not valid JSON.
    """
    _check_folder(out)
    found = (read_run(path, whole=whole) for path in out.rglob("results_*.json"))
    return sorted(filter(None, found), key=lambda run: (run.stamp, str(run.path)))


def read_run(path: Path, *, whole: bool = False) -> Results | None:
    """One results file, with `whole` as for `read_results`; None if it is another program's.

    Raises:
        DataError: If it cannot be read, or was cut or changed.
    """
    content = read_json(path, AGAIN)
    if not (isinstance(content, dict) and {"results", "configs", "n-samples"} <= set(content)):
        return None
    checked = check_results(path, with_bookkeeping(content))
    return Results(path, checked if whole else _by_language(path, checked))


def newest_samples(out: Path, criteria: Collection[str]) -> list[tuple[Place, Samples]]:
    """The newest file of samples of each task of some criteria; results are not needed.

    Args:
        out: A folder that `lm_eval --output_path` wrote.
        criteria: Keys of `CRITERIA`.

    Returns:
        What each task is about, and its file, by the task's name.

    Raises:
        DataError: If it is no folder, or the files lie in the folders of several models.
    """
    _check_folder(out)
    newest: dict[str, tuple[Place, Samples]] = {}
    folders: set[str] = set()
    for path in sorted(out.rglob("samples_*.jsonl")):
        if name := SAMPLES.fullmatch(path.name):
            task, stamp = name.groups()
            configs = _configs(path.with_name(f"results_{stamp}.json"))
            for samples in _parts(configs, Samples(task, stamp, path)):
                place = _place(path, samples.task, recorded(configs, samples.task))
                if place is None or place.criterion not in criteria:
                    continue
                folders.add(str(path.parent))
                if samples.task not in newest or stamp >= newest[samples.task][1].stamp:
                    newest[samples.task] = (place, samples)
    if len(folders) > 1:
        listed = ", ".join(sorted(folders))
        raise DataError(f"{out}: holds the runs of several models; give one's folder: {listed}")
    return [newest[task] for task in sorted(newest)]


def refuse_mixed_models(out: Path, runs: Sequence[Results]) -> None:
    """Check that runs are of one model: its name and the arguments that can change a reply.

    Raises:
        DataError: Listing the models, each with one of its files.
    """
    models: dict[str, str] = {}
    for run in runs:
        models.setdefault(run.model, str(run.path.relative_to(out)))
    if len(models) > 1:
        listed = "; ".join(f"{model} ({path})" for model, path in models.items())
        raise DataError(
            f"{out}: runs of {len(models)} different models: {listed}; give the folder of one, or "
            "move the others' files away"
        )


def model_line(model: object, args: Mapping[str, Any]) -> str:
    """A model's name and those arguments that can change a reply: what makes it another model."""
    return f"{model} {as_json(identity_of(args))}"


def as_json(value: object) -> str:
    """One line of JSON, the same for equal values."""
    return _JSON.encode(value)


def _by_language(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    with reading(path):
        checked = check_results(path, split(content))
    for task in checked["configs"]:
        name_languages(language_names(checked["configs"], task))
    return checked


def _parts(configs: Any, samples: Samples) -> list[Samples]:
    """A file of samples as one for each of its languages, where its task has them in one."""
    parts = {name: recorded(configs, name).get("part_of") for name in configs}
    own = [
        Samples(name, samples.stamp, samples.path, str(part["language"]))
        for name, part in parts.items()
        if isinstance(part, dict) and part.get("task") == samples.task
    ]
    return own or [samples]


def _configs(path: Path) -> Mapping[str, Any]:
    """The tasks' configurations in a results file, by language too; {} where there is none."""
    try:
        return _read_configs(path, path.stat().st_mtime_ns)
    except FileNotFoundError:  # samples may be copied without it
        return {}


@functools.lru_cache(maxsize=32)
def _read_configs(path: Path, changed: int) -> Mapping[str, Any]:
    run = read_run(path, whole=True)
    if run is None:
        return {}
    return {**run.content["configs"], **_by_language(path, run.content)["configs"]}


def _place(path: Path, task: str, record: Mapping[str, Any]) -> Place | None:
    try:
        about = record.get("about")
        if about is not None and not isinstance(about, dict):
            raise DataError(f"{task}: what it is about is no object ({about!r:.40})")
        return place_of(task, about)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _check_folder(out: Path) -> None:
    if not out.is_dir():
        raise DataError(f"{out}: {no_such(out, 'folder')}; give the --output_path of lm_eval")
