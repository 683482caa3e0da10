"""Replies of which the instrument learnt nothing, counted in more than one way.

A judge that is silent, a verdict that nobody can read, a call that failed: none says anything of
the model. A verdict rests on the score that the tables have, and has to hold where these replies
are left out and where they are counted as wrong, on both sides alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from xling_metrics.aggregate import HARMONIC

from xling_tasks.criteria import panel_of
from xling_tasks.outcomes import (
    EMPTY,
    HELD_BACK,
    NOT_MEASURED,
    OF_A_JUDGE,
    RATES,
    SERVED,
    TIED,
    UNFILTERED,
    UNJUDGED,
    UNREAD,
)
from xling_tasks.report.columns import Column
from xling_tasks.report.data import Task
from xling_tasks.report.outcomes import silent
from xling_tasks.report.paired import outside

_ABSENT = {EMPTY: ("empty_rate",), HELD_BACK: ("content_filter_rate",)}
"""Answers that are not there, where the rates of unread replies count them too; of letters an
empty one is wrong, and not unread."""

OF_UNREAD = (
    *("unparsed_rate", "empty_rate", "no_response", "no_majority"),
    *("judge_failed_rate", "excluded_rate"),
)
"""The metrics that say which replies these are."""

_OF_LABELS = ("contradictory", "more_comprehensive")


@dataclass(frozen=True)
class Unread:
    """What was not read of one side.

    Attributes:
        count: Questions, or rows of questions.
        why: What it was, mostly: one of `outcomes.REMEDIES`; empty where all was read.
    """

    count: int
    why: str = ""


def measured(task: Task) -> Task:
    """A task whose endpoints leave out the replies of which the instrument learnt nothing.

    Tasks count an answer without a label as no contradiction, and letters that nobody could read as
    wrong; here they are missing.
    """

    def left_out(name: str, column: Column) -> Column | None:
        lost = _lost(task, name)
        if lost is None or not lost.any():
            return None
        sums = column.sums.copy()
        sums[lost] = np.nan
        return replace(column, sums=sums)

    return _with_columns(task, left_out)


def as_wrong(task: Task) -> Task:
    """A task whose endpoints count these replies as wrong: of harm, as harmful."""
    made = _with_columns(task, lambda name, column: _filled(task, name, column))
    if any(chance is None for own in task.rows.values() for _, chance in own):
        rows: dict[str, list[tuple[int, float | None]]] = {
            key: [(label, 1.0 - label if chance is None else chance) for label, chance in own]
            for key, own in task.rows.items()
        }
        made = replace(made, rows=rows)
    return made


def _with_columns(task: Task, change: Callable[[str, Column], Column | None]) -> Task:
    """A task with other columns of its endpoints; itself where none changes."""
    columns = {}
    for name in task.endpoints:
        column = task.columns.get(name)
        changed = None if column is None else change(name, column)
        if changed is not None:
            columns[name] = changed
    return replace(task, columns={**task.columns, **columns}) if columns else task


def _filled(task: Task, name: str, column: Column) -> Column | None:
    """The values of an endpoint with the worst one where nothing was read."""
    lost, sums = _lost(task, name), column.sums.copy()
    missing = _asked(task, name) & np.isnan(sums[:, 0])
    if lost is not None:
        missing |= lost
    if name in task.unread:
        yes, no = task.unread[name].T
        if not (yes + no).any():
            return None
        sums[missing & (yes + no > 0)] = 0.0
        sums[:, 1] += no
        sums[:, 2] += yes
        return replace(column, sums=sums)
    if not missing.any():
        return None
    if column.made is HARMONIC:
        sums[missing] = (0.0, 1.0, 0.0, 1.0)
    elif column.simple and not outside(column.sums[:, 0]):
        sums[missing] = (float(task.directions.get(name) is False), 1.0)
    else:
        return None
    same = np.array_equal(sums, column.sums, equal_nan=True)
    return None if same else replace(column, sums=sums)


def _lost(task: Task, name: str) -> np.ndarray | None:
    """The questions whose value says nothing, because nothing was read."""
    metric, code = panel_of(task.place, name)
    suffix = "" if task.place.language else f"_{code}"
    if metric.metric in _OF_LABELS:
        return silent(task.columns, suffix)
    unparsed = task.columns.get("unparsed_rate" + suffix)
    if unparsed is not None and unparsed.simple:
        lost: np.ndarray = unparsed.sums[:, 0] == 1
        empty = task.columns.get("empty_rate" + suffix)
        return lost if empty is None else lost & (empty.sums[:, 0] != 1)
    return None


def unread(task: Task, name: str) -> Unread:
    """What was not read behind a metric."""
    count = _count(task, name)
    if not count:
        return Unread(0)
    why = _why(task, name)
    judged = any(panel_of(task.place, own)[0].metric in OF_A_JUDGE for own in task.scores)
    return Unread(count, UNJUDGED if judged and why == UNREAD else why)


def _why(task: Task, name: str) -> str:
    """What most of it was: by the outcomes of answers, or by the rates that count them."""
    if task.place.criterion.endswith("_ll") or "acc_norm" in task.scores:
        return TIED
    if task.results.reading is not None:
        return UNFILTERED
    code = panel_of(task.place, name)[1]
    kinds = Counter(own for own in task.outcomes.get(code, ()) if own and own in NOT_MEASURED)
    if kinds:
        return kinds.most_common(1)[0][0]
    absent = _ABSENT if name in task.unread else {HELD_BACK: _ABSENT[HELD_BACK]}
    rates = {kind: 0.0 for kind in (*RATES, *absent)}
    for own, score in task.scores.items():
        panel, language = panel_of(task.place, own)
        for kind, names in {**RATES, **absent}.items():
            if language == code and panel.metric in names:
                rates[kind] = max(rates[kind], score or 0.0)
    rates[UNREAD] -= sum(rates[kind] for kind in absent)
    return max(rates, key=rates.__getitem__) if any(rates.values()) else UNREAD


def _count(task: Task, name: str) -> int:
    """Questions, or rows of questions, behind a metric of which nothing was read."""
    column = task.columns.get(name)
    if name == "auc" and task.rows:
        return sum(chance is None for own in task.rows.values() for _, chance in own)
    if column is None:
        return len(task.ids)
    if name in task.unread:
        return int(task.unread[name].sum())
    missing, lost = _asked(task, name) & np.isnan(column.sums[:, 0]), _lost(task, name)
    return int((missing if lost is None else missing | lost).sum())


def _asked(task: Task, name: str) -> np.ndarray:
    """The questions that a metric is over, of those that were asked in its language."""
    metric, code = panel_of(task.place, name)
    own = task.outcomes.get(code)
    asked = np.ones(len(task.ids), dtype=bool)
    if own is not None:
        asked = np.array([outcome is not None for outcome in own], dtype=bool)
    flagged = (task.results.xling.get("data") or {}).get("flagged") or ()
    asked &= np.array([question not in flagged for question in task.ids], dtype=bool)
    kept_out = task.columns.get("excluded_rate")
    if kept_out is not None and metric.metric != SERVED:
        asked &= kept_out.sums[:, 0] != 1  # compared with nothing, so that nothing is unread
    return asked
