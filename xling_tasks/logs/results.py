"""lm_eval's output folders: their `results_*.json`, found and read."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_tasks.criteria import LABELS, NO_RESPONSE, TaskKey, primary_of
from xling_tasks.errors import DataError
from xling_tasks.harness.arguments import identity_of
from xling_tasks.logs.by_language import recorded
from xling_tasks.logs.external_tasks import Reading
from xling_tasks.logs.samples import (
    Samples,
    check_folder,
    find_samples,
    place_in,
    read_content,
    samples_path,
    without_results,
)

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


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

    @property
    def tasks(self) -> set[str]:
        """The tasks that it has."""
        return set(self.content["n-samples"])

    @functools.cached_property
    def places(self) -> dict[str, TaskKey | None]:
        """What each of its tasks is about; None for those that are not ours."""
        return {task: TaskResults(task, self).task_key for task in sorted(self.tasks)}

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
        return next(
            (dict(r) for task in configs if (r := recorded(configs, task).get("replay"))), {}
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
        path = samples_path(self.run.path, self.task, self.run.stamp)
        return Samples(self.task, self.run.stamp, path, self.reading)

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
        return place_in(self.run.path, self.task, self.xling)

    @property
    def primary(self) -> list[str]:
        """Its primary metrics, on which verdicts rest."""
        subject, names = self.task_key, self.xling.get("signatures") or {}
        return [] if subject is None else primary_of(subject, names, self.xling.get("about"))

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
        """Every metric's value, as `score` gives it."""
        values = self.run.content["results"][self.task]
        names = [name.removesuffix(",none") for name in values if name.endswith(",none")]
        return {name: self.score(name) for name in names if "_stderr" not in name}

    def score(self, metric: str) -> float | None:
        """Return a metric's value; None where there is none.

        A share of labels where the judge (or that one of several) gave no label at all is none,
        whatever was written.
        """
        values = self.run.content["results"][self.task]
        value = values.get(f"{metric},none")
        if metric in LABELS and values.get("n_judged,none") == 0:
            return None
        label, sign, number = metric.rpartition("_judge")
        if label in LABELS and values.get(f"{NO_RESPONSE}{sign}{number},none") == 1:
            return None
        good = isinstance(value, (int, float)) and math.isfinite(value)
        return float(value) if good else None


def read_results(out: Path) -> list[Results]:
    """Return all results files under a folder, oldest first; of copies with equal content one."""
    check_folder(out)
    paths = sorted(out.rglob("results_*.json"), key=lambda path: (len(path.name), str(path)))
    found = [run for path in paths if (run := read_run(path)) is not None]
    stamps = {(run.path.parent, run.stamp) for run in found}
    for path, _, stamp in find_samples(out):
        if (path.parent, stamp) not in stamps:
            raise without_results(path, stamp)
    # A copy has a longer name, such as `results_... (1).json`, and no samples beside it.
    runs = {run.digest: run for run in reversed(found)}
    return sorted(runs.values(), key=lambda run: (run.stamp, str(run.path)))


def read_run(path: Path) -> Results | None:
    """Return one results file; None of another program's."""
    content = read_content(path)
    if content is None:
        return None
    return Results(path, content, hashlib.sha256(path.read_bytes()).hexdigest())


def refuse_mixed_models(out: Path, runs: Sequence[Results]) -> None:
    """Check that runs are of one model: its name and the arguments that can change a response."""
    models: dict[str, str] = {}
    for run in runs:
        models.setdefault(run.model, str(run.path.relative_to(out)))
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
    return _JSON.encode(value)
