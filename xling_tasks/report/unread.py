"""Replies of which the instrument learnt nothing: left out, counted, and given other odds.

A judge that is silent, a verdict that nobody can read, a call that failed: none says anything of
the model. What a verdict rests on is over the others, and has to stand if these were right with
other odds (`xling_metrics.stats.odds`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from xling_metrics.stats.odds import AtOdds, share_at_odds, tilted

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

_ABSENT = {EMPTY: ("empty_rate",), HELD_BACK: ("refused_rate",)}
"""Answers that are not there, where the rates of unread replies count them too; of letters an
empty one is wrong, and not unread."""

_OF_LABELS = ("contradictory", "more_comprehensive")


@dataclass(frozen=True)
class Unread:
    """What was not read of one side.

    Attributes:
        count: Questions, or rows of questions.
        moves: How the side's score moves if they have k times the odds of those that were read.
        why: What it was, mostly: one of `outcomes.REMEDIES`; empty where all was read.
    """

    count: int
    moves: AtOdds
    why: str = ""


def measured(task: Task) -> Task:
    """A task whose endpoints have no value where the instrument learnt nothing.

    Tasks count an answer without a label as no contradiction, and letters that nobody could read as
    wrong; here they are missing.
    """
    columns = {}
    for name in task.endpoints:
        column, lost = task.columns.get(name), _lost(task, name)
        if column is not None and lost is not None and lost.any():
            sums = column.sums.copy()
            sums[lost] = np.nan
            columns[name] = replace(column, sums=sums)
    return replace(task, columns={**task.columns, **columns}) if columns else task


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
    """What was not read behind a metric of a task that `measured` made."""
    found = _unread(task, name)
    if not found.count:
        return found
    why = _why(task, name)
    judged = any(panel_of(task.place, own)[0].metric in OF_A_JUDGE for own in task.scores)
    return replace(found, why=UNJUDGED if judged and why == UNREAD else why)


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


def _unread(task: Task, name: str) -> Unread:
    column = task.columns.get(name)
    if name == "auc" and task.rows:
        rows = [row for own in task.rows.values() for row in own]
        missing = sum(chance is None for _, chance in rows)
        return _of_score(task.scores.get(name), len(rows) - missing, missing)
    if column is None:
        return Unread(len(task.ids), lambda k: 0.0)
    if name in task.unread:
        return _of_verdicts(column, task.unread[name])
    asked = _asked(task, name)
    known = ~np.isnan(column.sums[:, 0])
    missing = int((asked & ~known).sum())
    score = column.score(column.sums[known].sum(axis=0, keepdims=True))[0] if known.any() else 0.0
    return _of_score(float(score), int(known.sum()), missing)


def _of_score(score: float | None, read: int, missing: int) -> Unread:
    """Of a score within 0 and 1, which has odds like a share."""
    if not missing or score is None or not 0 <= score <= 1:
        return Unread(missing, lambda k: 0.0)
    return Unread(missing, share_at_odds(score * read, read, missing))


def _asked(task: Task, name: str) -> np.ndarray:
    """The questions that a metric is over, of those that were asked in its language."""
    metric, code = panel_of(task.place, name)
    own = task.outcomes.get(code)
    asked = np.ones(len(task.ids), dtype=bool)
    if own is not None:
        asked = np.array([outcome is not None for outcome in own], dtype=bool)
    flagged = (task.results.xling.get("data") or {}).get("flagged") or ()
    asked &= np.array([question not in flagged for question in task.ids], dtype=bool)
    kept_out = task.columns.get("not_compared")
    if kept_out is not None and metric.metric != SERVED:
        asked &= kept_out.sums[:, 0] != 1  # compared with nothing, so that nothing is unread
    return asked


def _of_verdicts(column: Column, rows: np.ndarray) -> Unread:
    """Rows without a verdict join the counts (tp, fp, fn, tn) of their label at some odds."""
    counts = np.nan_to_num(column.sums).sum(axis=0)
    yes, no = rows.sum(axis=0)
    if not yes + no:
        return Unread(0, lambda k: 0.0)
    base = float(column.score(counts[None, :])[0])

    def moved(k: float) -> float:
        filled = counts.copy()
        for right, wrong, lost in ((0, 2, yes), (3, 1, no)):
            read = counts[right] + counts[wrong]
            share = tilted((counts[right] + 0.5) / (read + 1), k)
            filled[right] += lost * share
            filled[wrong] += lost * (1 - share)
        return float(column.score(filled[None, :])[0]) - base

    return Unread(int(yes + no), moved)
