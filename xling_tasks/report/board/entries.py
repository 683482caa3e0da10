"""Models read one after another: of each only what its endpoints need is kept."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from xling_tasks.criteria import Panel, panel_of
from xling_tasks.logs.results import as_json
from xling_tasks.report.board.model import EndpointCell, Entry
from xling_tasks.report.conclusions import conclusions_of, endpoints_of
from xling_tasks.report.data import Model, Task, each_model
from xling_tasks.report.model import Options, Report
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.vetoes import Rates, vetoes
from xling_tasks.secrets import publishable

_SAY_WHAT_IS_UNREAD = ("no_response", "no_majority", "empty_rate", "unparsed_rate")
"""Metrics without which the bounds of unread replies are not known."""


def entries(folders: Iterable[Path | str], options: Options) -> Iterator[Entry]:
    """Every model in some output folders, concluded by itself as a report does it.

    Raises:
        DataError: As `read_models`.
    """
    for model in each_model(folders):
        if model.tasks:
            yield _entry(model, options)


def _entry(model: Model, options: Options) -> Entry:
    runs = [task.results.run for task in model.tasks]
    return Entry(
        name=model.name,
        model=f"{runs[0].config.get('model')} {as_json(publishable(runs[0].model_args))}",
        versions=_versions(model),
        stamp=max(run.stamp for run in runs),
        tasks={task.place: _slim(task) for task in model.tasks},
        cells=_cells(model, Statistics(options).undescribed()),
        notes=tuple(differences(Report((model,), (), (), (), options))),
    )


def _cells(model: Model, statistics: Statistics) -> dict[tuple[Panel, str], EndpointCell]:
    concluded = {
        (Panel(c.criterion, c.dataset, c.metric, c.temperature), c.language): c
        for c in conclusions_of(statistics, model)
    }
    cells = {}
    for task in model.tasks:
        rates = Rates(task.results, task.scores)
        for name, endpoint in endpoints_of(task).items():
            about = panel, language = panel_of(task.place, name)
            made = statistics.cell(task, name)
            veto = "; ".join(each.text for each in vetoes(rates, language, panel.temperature))
            cells[about] = EndpointCell(
                name, endpoint, made.value, made.interval, concluded.get(about), veto
            )
    return cells


def _versions(model: Model) -> tuple[tuple[str, tuple[str, ...]], ...]:
    harness = {task.results.lm_eval for task in model.tasks}
    ours = {str(task.results.xling.get("version")) for task in model.tasks}
    return ("lm_eval", tuple(sorted(harness))), ("xling-tasks", tuple(sorted(ours)))


def _slim(task: Task) -> Task:
    """A task with its endpoints' values, and what says which of them are unread."""
    kept = {*endpoints_of(task), *_SAY_WHAT_IS_UNREAD}
    return replace(
        task,
        ids=list(map(sys.intern, task.ids)),
        offsets=array("q"),
        columns={name: column for name, column in task.columns.items() if name in kept},
        unread={name: counts for name, counts in task.unread.items() if name in kept},
        rows=task.rows if "auc" in kept else {},
        categories={},
    )
