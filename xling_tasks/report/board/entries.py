"""Models read one after another: of each only what its endpoints need is kept."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xling_tasks.criteria import CRITERIA, Panel, Place, panel_of
from xling_tasks.logs.results import as_json
from xling_tasks.report.board.handed_in import handed_in
from xling_tasks.report.board.model import EndpointCell, Entry
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import Model, Task, each_model, named_folder
from xling_tasks.report.model import Options, Report
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.tables.grid import heading
from xling_tasks.report.unread import OF_UNREAD, unread
from xling_tasks.secrets import publishable, publishable_text

_ROLES = ("judge", "answer_extractor", "translator")
"""The models beside the one under test that scores depend on."""


def entries(
    folders: Iterable[Path | str], options: Options, families: Sequence[str] = ()
) -> Iterator[Entry]:
    """Every model in some output folders, concluded by itself as a report does it."""
    given = [str(item) for item in folders]
    for model in each_model(given, families):
        if model.tasks:
            yield _entry(model, options, [named_folder(item)[1] for item in given])


def _entry(model: Model, options: Options, folders: Sequence[Path]) -> Entry:
    runs = [task.results.run for task in model.tasks]
    tasks = {task.place: _slim(task) for task in model.tasks}
    return Entry(
        name=model.name,
        model=f"{runs[0].config.get('model')} {as_json(publishable(runs[0].model_args))}",
        versions=_versions(model),
        stamp=max(run.stamp for run in runs),
        tasks=tasks,
        cells=_cells(model, tasks, Statistics(options).undescribed()),
        notes=(*differences(Report((model,), (), (), (), options)), *model.about_others),
        made=tuple(_how_made(model)),
        handed_in=handed_in(dict.fromkeys(run.path for run in runs), folders),
    )


def _cells(
    model: Model, tasks: Mapping[Place, Task], statistics: Statistics
) -> dict[tuple[Panel, str], EndpointCell]:
    concluded = {(item.panel, item.language): item for item in conclusions_of(statistics, model)}
    cells = {}
    for task in tasks.values():
        for name, endpoint in task.endpoints.items():
            about = panel_of(task.place, name)
            made = statistics.cell(task, name)
            value = made.value if made.interval is None else made.interval.value
            cells[about] = EndpointCell(
                name, endpoint, value, made.interval, concluded.get(about),
                unread(task, name).count,
            )  # fmt: skip
    return cells


def _versions(model: Model) -> dict[str, list[str]]:
    harness = {task.results.lm_eval for task in model.tasks}
    ours = {str(task.results.xling.get("version")) for task in model.tasks}
    return {"lm_eval": sorted(harness), "xling-tasks": sorted(ours)}


def _slim(task: Task) -> Task:
    """A task with the values of its endpoints alone, and what says which replies were not read."""
    kept = task.endpoints.keys()
    return replace(
        task,
        ids=list(map(sys.intern, task.ids)),
        offsets=array("q"),
        columns={
            name: column
            for name, column in task.columns.items()
            if name in kept or name.startswith(OF_UNREAD)
        },
        unread={name: counts for name, counts in task.unread.items() if name in kept},
        rows=task.rows if "auc" in kept else {},
        categories={},
    )


# How its results were made


def _how_made(model: Model) -> Iterator[dict[str, Any]]:
    """What each criterion over each dataset was measured by, its languages together."""
    abouts: dict[tuple[str, str], list[Task]] = {}
    for task in model.tasks:
        abouts.setdefault((task.place.criterion, task.place.dataset), []).append(task)
    for about, tasks in abouts.items():
        found = {(task.results.config.get("metadata") or {}).get("version") for task in tasks}
        versions = sorted(str(version) for version in found if version is not None)
        helpers = _helpers(about[0], tasks)
        yield {"title": heading(*about), "versions": versions, "helpers": helpers}


def _helpers(criterion: str, tasks: Sequence[Task]) -> dict[str, list[str]]:
    helpers = {}
    for role in _ROLES:
        if role in CRITERIA[criterion].settings:
            given = [(task.results.xling.get("settings") or {}).get(role) for task in tasks]
            if names := dict.fromkeys(name for each in given for name in _names(each)):
                helpers[role] = list(names)
    return helpers


def _names(given: Any) -> Iterator[str]:
    """What a model setting names: a model, the one under test, the judge, or several."""
    if isinstance(given, list):
        for each in given:
            yield from _names(each)
    elif isinstance(given, str) and given:
        yield "the model itself" if given == "self" else publishable_text(given)
    elif isinstance(given, Mapping) and given.get("model"):
        backend, args = str(given["model"]), given.get("model_args") or {}
        name = args.get("peft") or args.get("pretrained") or args.get("model") or args.get("path")
        if backend == "self":
            yield "the model itself"
        else:
            yield publishable_text(f"{name} ({backend})" if name else backend)
