"""The harness's output folders: their `results_*.json`, found and read."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_tasks.criteria import LABELS, NO_RESPONSE, Place, primary_of
from xling_tasks.errors import DataError
from xling_tasks.harness.arguments import identity_of
from xling_tasks.logs.by_language import recorded
from xling_tasks.logs.foreign import Reading
from xling_tasks.logs.samples import (
    SAMPLES,
    Samples,
    by_language,
    check_folder,
    place_in,
    read_content,
    without_results,
)

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


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
        """What it is about; None for a task that is not ours. A newer version is an error."""
        return place_in(self.run.path, self.task, self.xling)

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

    With `whole` tasks with several languages in one are left as they are, instead of being read as
    one task per language.
    """
    check_folder(out)
    found = (read_run(path, whole=whole) for path in out.rglob("results_*.json"))
    runs = sorted(filter(None, found), key=lambda run: (run.stamp, str(run.path)))
    there = {(run.path.parent, run.stamp) for run in runs}
    for path in sorted(out.rglob("samples_*.jsonl")):
        if (name := SAMPLES.fullmatch(path.name)) and (path.parent, name[2]) not in there:
            raise without_results(path, name[2])
    return runs


def read_run(path: Path, *, whole: bool = False) -> Results | None:
    """One results file, with `whole` as for `read_results`; None if it is another program's."""
    content = read_content(path)
    if content is None:
        return None
    return Results(path, content if whole else by_language(path, content))


def refuse_mixed_models(out: Path, runs: Sequence[Results]) -> None:
    """Check that runs are of one model: its name and the arguments that can change a reply."""
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
