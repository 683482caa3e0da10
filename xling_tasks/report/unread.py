"""How far replies that could not be read can move a result: all of them right, or all wrong.

Leaving them out is fair only if they are as often right as the others. Where they are many more in
one language, they can make a gap, or hide one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xling_tasks.report.columns import Column, Row
from xling_tasks.report.data import Task


def read_as(task: Task, name: str, *, right: bool) -> Task | None:
    """The task as if every unread reply behind a metric had been right, or wrong.

    Args:
        task: A task with logged samples.
        name: Its metric.
        right: Which of the two.

    Returns:
        A copy with this metric's values changed; None where every reply was read.
    """
    if name == "auc" and task.rows:
        return _rows(task, right=right)
    column = task.columns.get(name)
    if column is None:
        return None
    if name in task.unread:
        return _verdicts(task, name, column, right=right)
    if "no_response" in task.columns and name in ("contradictory", "more_comprehensive"):
        # The worst is a contradiction, the best a more comprehensive answer.
        good = name == "more_comprehensive"
        return _labels(task, name, column, 1.0 if right == good else 0.0)
    if "unparsed_rate" in task.columns and name == "acc":
        unread = task.columns["unparsed_rate"].sums[:, 0] == 1
        return _filled(task, name, column, unread, 1.0 if right else 0.0)
    return None


def _rows(task: Task, *, right: bool) -> Task | None:
    """P(Yes) that is undefined becomes certainty."""
    if all(chance is not None for own in task.rows.values() for _, chance in own):
        return None
    rows: dict[str, list[Row]] = {
        key: [(y, (float(y == right) if c is None else c)) for y, c in own]
        for key, own in task.rows.items()
    }
    return replace(task, rows=rows)


def _verdicts(task: Task, name: str, column: Column, *, right: bool) -> Task | None:
    """Unknown verdicts join the counts (tp, fp, fn, tn) of their label."""
    unread = task.unread[name]
    if not unread.any():
        return None
    sums = np.nan_to_num(column.sums.copy())
    of_yes, of_no = (0, 3) if right else (2, 1)
    sums[:, of_yes] += unread[:, 0]
    sums[:, of_no] += unread[:, 1]
    sums[sums.sum(axis=1) == 0] = np.nan
    return replace(task, columns={**task.columns, name: replace(column, sums=sums)})


def _labels(task: Task, name: str, column: Column, value: float) -> Task | None:
    """Answers that are there, but have no label: none in form, none of most judges, a failed call.

    A judge's call may fail for what the answer says (a content filter), so it is not left out.
    """
    silent = task.columns["no_response"].sums[:, 0] == 1
    empty = task.columns.get("empty_rate")
    if empty is not None:
        silent &= empty.sums[:, 0] != 1
    for rate in ("no_majority", "judge_failed_rate"):
        if rate in task.columns:
            silent |= task.columns[rate].sums[:, 0] == 1
    return _filled(task, name, column, silent, value)


def _filled(task: Task, name: str, column: Column, unread: np.ndarray, value: float) -> Task | None:
    if not unread.any():
        return None
    sums = column.sums.copy()
    sums[unread] = (value, 1.0)
    return replace(task, columns={**task.columns, name: replace(column, sums=sums)})
