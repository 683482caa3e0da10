"""Models read one after another: of each only what a leaderboard needs is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xling_tasks.criteria import CRITERIA, MetricKey, TaskKey, metric_key_of
from xling_tasks.logs.newest import named_folder
from xling_tasks.logs.results import as_json
from xling_tasks.report.data import Model, Task, each_model
from xling_tasks.report.leaderboard.about_file import read_about
from xling_tasks.report.lists import find_remarks, make_scores, make_verdicts
from xling_tasks.report.record import Record
from xling_tasks.report.unscored import OF_UNPARSED
from xling_tasks.report.verdicts import Options
from xling_tasks.secrets import public

_ROLES = ("judge", "answer_extractor", "translator")
"""The models beside the one under test that scores depend on."""


@dataclass(frozen=True)
class Entry:
    """One model, with as much of its runs as ranks need.

    Attributes:
        name: Its short name.
        tasks: By what they are about, with the values of primary metrics alone.
        names: Metric and language -> the metric as its task calls it.
        rows: Its scores on primary metrics, verdicts and remarks.
        info: What the page says of it: model, versions, newest run, helpers, about.
    """

    name: str
    tasks: dict[TaskKey, Task]
    names: dict[tuple[MetricKey, str], str]
    rows: Mapping[str, Any]
    info: dict[str, Any]


def read_entries(
    folders: Iterable[Path | str], options: Options, families: Sequence[str] = ()
) -> Iterator[Entry]:
    """Yield every model in some output folders, concluded by itself as a report does it."""
    supplied = [str(item) for item in folders]
    for model in each_model(supplied, families):
        if model.tasks:
            yield _entry(model, options, [named_folder(item)[1] for item in supplied])


def _entry(model: Model, options: Options, folders: Sequence[Path]) -> Entry:
    scores = [score for task in model.tasks for score in make_scores(task, options, task.endpoints)]
    verdicts = make_verdicts(model, options)
    remarks = find_remarks([model], verdicts)
    tasks = {task.task_key: _slim(task) for task in model.tasks}
    names = {
        metric_key_of(task.task_key, name): name for task in model.tasks for name in task.endpoints
    }
    runs = [task.results.run for task in model.tasks]
    versions = {
        "lm_eval": {task.results.lm_eval for task in model.tasks},
        "xling-tasks": {str(task.results.xling.get("version")) for task in model.tasks},
    }
    helpers: dict[str, dict[str, None]] = {}
    for task in model.tasks:
        settings = task.results.xling.get("settings") or {}
        for role in set(_ROLES) & set(CRITERIA[task.task_key.criterion].settings):
            helpers.setdefault(role, {}).update(dict.fromkeys(_names(settings.get(role))))
    rows = Record(tuple(scores), tuple(verdicts), tuple(remarks), {}).rows()
    full = f"{runs[0].config.get('model')} {as_json(public(runs[0].model_args))}"
    for row in rows["remarks"]:
        if row["kind"] == "model":
            row["full"] = full
    return Entry(model.name, tasks, names, public(rows), {
        "model": model.name, "full": full,
        "newest_run": max(run.stamp for run in runs),
        "versions": {name: ", ".join(sorted(found)) for name, found in versions.items()},
        "helpers": {role: list(helpers[role]) for role in _ROLES if helpers.get(role)},
        "about": read_about(dict.fromkeys(run.path for run in runs), folders),
    })  # fmt: skip


def _slim(task: Task) -> Task:
    """Return a task with the values of its primary metrics, and of what was unparsed."""
    stored = {
        name: column
        for name, column in task.columns.items()
        if name in task.endpoints or name.startswith(OF_UNPARSED)
    }
    return replace(
        task, ids=list(map(sys.intern, task.ids)), columns=stored, categories={}, counted={}
    )


def _names(given: Any) -> Iterator[str]:
    """Yield what a setting of models names: a model, the one under test, the judge, or several."""
    if isinstance(given, list):
        for item in given:
            yield from _names(item)
    elif isinstance(given, str) and given:
        yield "the model itself" if given == "self" else str(public(given))
    elif isinstance(given, Mapping) and given.get("model"):
        backend, args = str(given["model"]), given.get("model_args") or {}
        name = args.get("peft") or args.get("pretrained") or args.get("model") or args.get("path")
        if backend == "self":
            yield "the model itself"
        else:
            yield str(public(f"{name} ({backend})" if name else backend))
