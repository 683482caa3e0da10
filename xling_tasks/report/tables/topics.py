"""Scores by topic of the question, or by category of the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from xling_metrics.stats.resampling import ResamplerPool

from xling_tasks.criteria import CRITERIA, panel_of
from xling_tasks.languages import in_order
from xling_tasks.report.data import Task
from xling_tasks.report.inference import Draws, column_interval
from xling_tasks.report.model import Report
from xling_tasks.report.tables.grid import heading, is_language, shown_temperature
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value, note

_HEADS = ("metric", "T", "model", "language", "questions", "value", "low", "high")
WITHOUT = "without one"
"""What stands for the topic of a question that the file does not have."""


def topic_tables(report: Report, topics: Mapping[str, str] | None) -> Iterator[Table]:
    """A table per criterion and dataset: by topic where a file of topics is given, by category."""
    places: dict[tuple[str, str], list[Task]] = {}
    for task in (task for model in report.models for task in model.tasks):
        if task.ids and CRITERIA[task.place.criterion].by_topic:
            places.setdefault((task.place.criterion, task.place.dataset), []).append(task)
    for (criterion, dataset), tasks in places.items():
        if topics is not None and any(key in topics for task in tasks for key in task.ids):
            yield _table(report, criterion, dataset, tasks, "topic", topics)
        labels = {key: label for task in tasks for key, label in task.categories.items()}
        if labels:
            yield _table(report, criterion, dataset, tasks, "category", labels)


def _table(
    report: Report, criterion: str, dataset: str, tasks: list[Task], kind: str,
    labels: Mapping[str, str],
) -> Table:  # fmt: skip
    rows = Rows((kind, *_HEADS))
    draws = Draws(report.options, ResamplerPool())
    groups = sorted({labels.get(key, WITHOUT) for task in tasks for key in task.ids})
    for label in groups:
        for task in tasks:
            keep = np.array([labels.get(key, WITHOUT) == label for key in task.ids])
            for cells in _lines(task, keep, draws):
                rows.add(label, *cells)
    told = note("topics", kind=kind)
    if kind == "topic":
        told += f" {note('topics_named')}"
    title = f"{heading(criterion, dataset)}: by {kind}"
    return rows.table(f"by_{kind}_{criterion}_{dataset}", criterion, title, [told])


def _lines(task: Task, keep: NDArray[np.bool_], draws: Draws) -> Iterator[list[Value]]:
    """A task's metrics over some of its questions, a line per language."""
    lines: list[list[Value]] = []
    for name, column in task.columns.items():
        panel, language = panel_of(task.place, name)
        sums = column.sums[keep]
        n = int(np.count_nonzero(~np.isnan(sums[:, 0])))
        if not n or panel.metric not in CRITERIA[panel.criterion].main or not is_language(language):
            continue
        found = column_interval(replace(column, sums=sums), draws)
        ends = (None, None, None) if found is None else (found.value, found.low, found.high)
        tau = shown_temperature(panel.temperature)
        lines.append([panel.metric, tau, task.model, language, n, *ends])
    order = in_order({str(line[3]) for line in lines})
    yield from sorted(lines, key=lambda x: (x[0], x[1] or "", order.index(str(x[3]))))
