"""Models read one after another: of each only what its endpoints need is kept."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xling_tasks.criteria import Panel, Place, panel_of
from xling_tasks.logs.results import as_json
from xling_tasks.report.board.handed_in import handed_in
from xling_tasks.report.board.how_made import how_made
from xling_tasks.report.board.model import EndpointCell, Entry
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import Model, Task, each_model, folder_of
from xling_tasks.report.model import Options, Report
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.unread import measured, unread
from xling_tasks.secrets import publishable


def entries(
    folders: Iterable[Path | str], options: Options, families: Sequence[str] = ()
) -> Iterator[Entry]:
    """Every model in some output folders, concluded by itself as a report does it.

    Raises:
        DataError: As `read_models`.
    """
    given = [str(item) for item in folders]
    for model in each_model(given, families):
        if model.tasks:
            yield _entry(model, options, [folder_of(item) for item in given])


def _entry(model: Model, options: Options, folders: Sequence[Path]) -> Entry:
    runs = [task.results.run for task in model.tasks]
    tasks = {task.place: _slim(measured(task)) for task in model.tasks}
    return Entry(
        name=model.name,
        model=f"{runs[0].config.get('model')} {as_json(publishable(runs[0].model_args))}",
        versions=_versions(model),
        stamp=max(run.stamp for run in runs),
        tasks=tasks,
        cells=_cells(model, tasks, Statistics(options).undescribed()),
        notes=(*differences(Report((model,), (), (), (), options)), *model.about_others),
        made=how_made(model),
        handed_in=handed_in(dict.fromkeys(run.path for run in runs), folders),
    )


def _cells(
    model: Model, tasks: Mapping[Place, Task], statistics: Statistics
) -> dict[tuple[Panel, str], EndpointCell]:
    concluded = {
        (Panel(c.criterion, c.dataset, c.metric, c.temperature), c.language): c
        for c in conclusions_of(statistics, model)
    }
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


def _versions(model: Model) -> tuple[tuple[str, tuple[str, ...]], ...]:
    harness = {task.results.lm_eval for task in model.tasks}
    ours = {str(task.results.xling.get("version")) for task in model.tasks}
    return ("lm_eval", tuple(sorted(harness))), ("xling-tasks", tuple(sorted(ours)))


def _slim(task: Task) -> Task:
    """A task with the values of its endpoints alone."""
    kept = task.endpoints.keys()
    return replace(
        task,
        ids=list(map(sys.intern, task.ids)),
        offsets=array("q"),
        columns={name: column for name, column in task.columns.items() if name in kept},
        unread={name: counts for name, counts in task.unread.items() if name in kept},
        rows=task.rows if "auc" in kept else {},
        categories={},
    )
