"""Responses of which nothing was learned, counted in more than one way.

A judge without a label, an answer that cannot be extracted, a request that failed: none says
anything of the model. A verdict rests on the score that the tables have, and has to hold with these
responses counted in other ways (`WAYS`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from xling_metrics.aggregate import HARMONIC

from xling_tasks.criteria import metric_key_of
from xling_tasks.outcomes import (
    EMPTY,
    HELD_BACK,
    HELPED,
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
from xling_tasks.report.usable import SILENT, find_silent

SCORED, LEFT_OUT, WRONG, RIGHT = "as_scored", "left_out", "as_wrong", "as_right"
"""Ways to count responses of which nothing was learned: as the tables do, or all of them so."""

WAYS: Mapping[str, tuple[str, str]] = {
    SCORED: (SCORED, SCORED),
    LEFT_OUT: (LEFT_OUT, LEFT_OUT),
    WRONG: (WRONG, WRONG),
    "against": (WRONG, RIGHT),
    "in_favour": (RIGHT, WRONG),
}
"""How they are counted in the language (or model) and in its baseline; the last two are bounds."""

OF_UNPARSED = ("unparsed_rate", "empty_rate", "excluded_rate", *SILENT)
"""Beginnings of the names of metrics that say which responses were unparsed."""
_LABELS = ("contradictory", "more_comprehensive")
_ABSENT = {EMPTY: ("empty_rate",), HELD_BACK: ("content_filter_rate",)}
"""Responses that are not there, where the rates of unparsed ones count them, too."""


class Unparsed(NamedTuple):
    """Responses of which nothing was learned: how many questions or rows of those asked.

    `kind` is what most of them were: `unparsed` or another cause; empty without any.
    """

    n: int
    asked: int
    kind: str = ""

    @property
    def share(self) -> float:
        """Their share of what was asked."""
        return self.n / self.asked if self.asked else 0.0


def count_unparsed(task: Task, name: str) -> Unparsed:
    """Count the responses behind a metric of which nothing was learned."""
    column = task.columns.get(name)
    if column is None:
        count, requested = len(task.ids), len(task.ids)
    elif column.rows is not None:
        chances = [chance for row in column.rows for _, chance in row]
        count, requested = sum(chance is None for chance in chances), len(chances)
    elif column.unparsed is not None:
        count = int(column.unparsed.sum())
        requested = count + int(np.nansum(column.sums))
    else:
        mask = _asked(task, name)
        missing, compared = _missing(task, name, column), _compared_pairs(task, name)
        count, requested = int((mask & missing).sum()), int(mask.sum())
        if compared is not None and (n := int((mask & ~missing & (compared < 1)).sum())):
            return Unparsed(count + n, requested, EMPTY)
    if not count:
        return Unparsed(0, requested)
    kind = _kind(task, name, in_rows=column is not None and column.unparsed is not None)
    by_judge = any(
        metric_key_of(task.task_key, other)[0].metric in OF_A_JUDGE for other in task.scores
    )
    return Unparsed(count, requested, UNJUDGED if by_judge and kind == UNREAD else kind)


def column_counted(task: Task, name: str, way: str) -> Column | None:
    """Return a metric's values with these responses counted in one way; made once."""
    column = task.columns.get(name)
    if column is None or way == SCORED or name not in task.endpoints:
        return column
    if (name, way) not in task.counted:
        make = _left_out if way == LEFT_OUT else _fill
        task.counted[name, way] = make(task, name, column, way)
    return task.counted[name, way]


def _left_out(task: Task, name: str, column: Column, way: str) -> Column:
    """Remove them: tasks count no label as no harm, and no letters as wrong."""
    lost = _lost(task, name)
    if lost is None or not lost.any():
        return column
    sums = column.sums.copy()
    sums[lost] = np.nan
    return replace(column, sums=sums)


def _fill(task: Task, name: str, column: Column, way: str) -> Column:
    """Count them all as wrong, or all as correct: of harm, as harmful or harmless."""
    right = way == RIGHT
    if column.rows is not None:
        rows = [
            [(y, float(y if right else 1 - y) if p is None else p) for y, p in row]
            for row in column.rows
        ]
        present = np.where([bool(row) for row in rows], 1.0, np.nan)[:, None]
        return replace(column, rows=rows, sums=present)
    sums = column.sums.copy()
    if column.unparsed is not None:
        positives, zeros = column.unparsed.T
        sums[np.isnan(sums[:, 0]) & (positives + zeros > 0)] = 0.0
        sums[:, 0 if right else 2] += positives
        sums[:, 3 if right else 1] += zeros
        return replace(column, sums=sums)
    missing = _asked(task, name) & _missing(task, name, column)
    compared = _compared_pairs(task, name)
    if compared is not None:
        sums[:, 0] = sums[:, 0] * compared + (1 - compared) * right
    if column.aggregate is HARMONIC:
        sums[missing] = (float(right), 1.0, float(right), 1.0)
    elif column.lowest is not None or (column.simple and name.startswith(HELPED)):
        best = float(task.directions.get(name) is not False)
        sums[missing] = (best if right else 1.0 - best, 1.0)
    else:
        return column
    return replace(column, sums=sums)


def _missing(task: Task, name: str, column: Column) -> np.ndarray:
    """Return the questions without a value, and those whose value says nothing."""
    lost = _lost(task, name)
    return ~column.present if lost is None else ~column.present | lost


def _lost(task: Task, name: str) -> np.ndarray | None:
    """Return the questions whose value says nothing, because no answer or label was extracted."""
    metric, code = metric_key_of(task.task_key, name)
    suffix = "" if task.task_key.language else f"_{code}"
    if metric.metric in _LABELS:
        return find_silent(task.columns, suffix)
    unparsed = task.columns.get("unparsed_rate" + suffix)
    if unparsed is None or not unparsed.simple:
        return None
    lost: np.ndarray = unparsed.sums[:, 0] == 1
    empty = task.columns.get("empty_rate" + suffix)
    return lost if empty is None else lost & (empty.sums[:, 0] != 1)


def _compared_pairs(task: Task, name: str) -> np.ndarray | None:
    """Return of each question the share of its pairs of answers of which neither is empty.

    `sim_sent` leaves the other pairs out, so that silence would look like consistency; None for
    metrics that do not.
    """
    empty = task.columns.get(name.replace("sim_sent", "empty_rate", 1))
    if not name.startswith("sim_sent_t") or empty is None or empty.sums.shape[1] != 2:
        return None
    n = np.maximum(empty.sums[:, 1], 2)
    there = n - empty.sums[:, 0]
    share: np.ndarray = there * (there - 1) / (n * (n - 1))
    return share


def _asked(task: Task, name: str) -> np.ndarray:
    """Return the questions that a metric is over, of those that were asked in its language."""
    metric, code = metric_key_of(task.task_key, name)
    outcomes = task.outcomes.get(code)
    requested = np.ones(len(task.ids), dtype=bool)
    if outcomes is not None:
        requested = np.array([outcome is not None for outcome in outcomes], dtype=bool)
    flagged = task.recorded("data").get("flagged") or ()
    requested &= np.array([question not in flagged for question in task.ids], dtype=bool)
    excluded = task.columns.get("excluded_rate")
    if excluded is not None and metric.metric != SERVED:
        requested &= excluded.sums[:, 0] != 1  # compared with nothing, so that nothing is unparsed
    return requested


def _kind(task: Task, name: str, *, in_rows: bool) -> str:
    """Return what most of them were: by the outcomes of answers, or by rates."""
    if task.task_key.criterion.endswith("_ll") or "acc_norm" in task.scores:
        return TIED
    if task.results.reading is not None:
        return UNFILTERED
    key, code = metric_key_of(task.task_key, name)
    kinds = Counter(kind for kind in task.outcomes.get(code, ()) if kind in NOT_MEASURED)
    if kinds:
        return str(kinds.most_common(1)[0][0])
    absent = _ABSENT if in_rows else {HELD_BACK: _ABSENT[HELD_BACK]}
    rates = {kind: 0.0 for kind in (*RATES, *absent)}
    for other, score in task.scores.items():
        metric, language = metric_key_of(task.task_key, other)
        for kind, names in {**RATES, **absent}.items():
            same = metric.temperature in (None, key.temperature)
            if language == code and same and metric.metric in names:
                rates[kind] = max(rates[kind], score or 0.0)
    rates[UNREAD] -= sum(rates[kind] for kind in absent)
    return max(rates, key=rates.__getitem__) if any(rates.values()) else UNREAD
