"""Scores with intervals, and contrasts of groups over the same questions.

| values | interval of a score | interval and p of a difference |
|---|---|---|
| 0 or 1 per question | Wilson | Bonett & Price, McNemar's mid-p |
| bounded scores per question | Student | Gaffke |
| numbers without bounds, counts | Student | Student |
| hits of rows | Wilson, effective rows | jackknife |
| balanced accuracy, F1, ... of rows; F1 of claims; Brier score | Wilson, jackknife | jackknife |
| ROC AUC | DeLong over questions, logit | DeLong over questions |
| means over languages, others | jackknife | jackknife |
| calibration error | none | none |

Different questions in both groups: Agresti & Caffo for 0 or 1, by Welch where chance differs
within a group; else Welch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.aggregate import HARMONIC
from xling_metrics.stats.bounded_means import gaffke, gaffke_p, unseen
from xling_metrics.stats.estimate import (
    Estimate,
    Floats,
    clip,
    none_if_nan,
    ratio,
    score_of,
    suppress_warnings,
)
from xling_metrics.stats.jackknife import (
    jackknife_contrast,
    mean_estimate,
    minimum_width,
    score_estimate,
)
from xling_metrics.stats.probabilities import auc_contrast, auc_interval, ece_of_sums, rows_of
from xling_metrics.stats.proportions import (
    clustered_proportion,
    paired_proportions,
    unpaired_proportions,
    wilson,
)
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.report.columns import Column
from xling_tasks.report.data import Task
from xling_tasks.report.unscored import SCORED, column_counted

_HALF_A_ROW = np.eye(4) / 2
"""Half a row in each cell of a table of labels and answers."""


# One score


def estimate_score(column: Column, level: float) -> Estimate | None:
    """Return a metric with its interval over questions, clipped where the metric is."""
    if column.aggregate.score is ece_of_sums:
        return None
    if column.rows is not None:
        return auc_interval(rows_of(column.rows), level)
    estimate = _estimate(column, column.sums[column.present], level)
    value, low, high = (
        None if end is None else column.aggregate.limited(float(end)) for end in estimate[:3]
    )
    return estimate._replace(value=value, ci_low=low, ci_high=high)


def _estimate(column: Column, sums: Floats, level: float) -> Estimate:
    n, score = len(sums), column.aggregate.score
    if column.simple and column.binary and not column.counted:
        hits = float(sums[:, 0].sum())
        low, high = wilson(hits, n, level) if n > 1 else (None, None)
        return Estimate(hits / n, low, high, n=n, method="wilson")
    if column.simple:
        estimate = mean_estimate(sums[:, 0], level)
        return minimum_width(estimate, level, difference=False) if _in_unit(column) else estimate
    if score is ratio and n > 1 and _are_counts(sums):
        ends = clustered_proportion(sums[:, 0], sums[:, 1], level)
        return Estimate(score_of(score, sums), *ends, n=n, method="wilson")
    added = _HALF_A_ROW if score in VERDICT_SCORES.values() else None
    return score_estimate(sums, score, level, added=added, bounded=_is_bounded(column))


def _in_unit(column: Column) -> bool:
    return column.lowest == 0


def _are_counts(sums: Floats) -> bool:
    """Return whether hits and rows are counts."""
    return bool((sums == np.floor(sums)).all() and (sums[:, 0] <= sums[:, 1]).all())


def _is_bounded(column: Column) -> bool:
    """Return whether a score of sums lies in [0, 1]."""
    score = column.aggregate.score
    present = score in VERDICT_SCORES.values() or column.aggregate is HARMONIC or score is ratio
    return present and not column.counted


# Groups


class Group(NamedTuple):
    """A metric of a task in a signed sum, with unparsed responses counted in some way."""

    sign: int
    task: Task
    name: str
    way: str = SCORED

    @property
    def column(self) -> Column | None:
        """Its values; None without any per question."""
        return column_counted(self.task, self.name, self.way)


class Contrast(NamedTuple):
    """A signed sum of a metric over groups.

    Attributes:
        estimate: The sum with interval and p.
        values: Each group's score over the questions compared.
        ids: The questions compared; with different questions those of the first group.
        n_asked: Questions that at least one group has.
        wide: The interval that allows for breakdowns that were not seen; None without an interval.
        totals: Each group's sums over these questions; empty where there are none.
        binary: Whether each question's value is 0 or 1.
    """

    estimate: Estimate
    values: tuple[float | None, ...]
    ids: Sequence[str] = ()
    n_asked: int = 0
    wide: tuple[float, float] | None = None
    totals: tuple[Floats, ...] = ()
    binary: bool = False


def contrast(groups: Sequence[Group], level: float) -> Contrast:
    """Return a signed sum over the questions that all groups have a value for."""
    found = [group.column for group in groups]
    columns = [column for column in found if column is not None]
    if len(columns) < len(groups) or len({column.sums.shape[1] for column in columns}) > 1:
        return _values_only(groups)
    columns, ids, n_asked = _align(groups, columns)
    estimate, wide = Estimate(None), None
    values: tuple[float | None, ...] = (None,) * len(groups)
    if ids:
        clustered = _merge_texts(columns, ids, groups[-1].task)
        values = tuple(_score(column) for column in clustered)
        if None not in values:
            signs = [group.sign for group in groups]
            estimate, wide = _contrast(signs, clustered, found, values, level)
            estimate = estimate._replace(n=len(ids))
    totals = tuple(column.sums.sum(axis=0) for column in columns)
    return Contrast(estimate, values, ids, n_asked, wide, totals, _are_binary(found))


def _are_binary(columns: Sequence[Column | None]) -> bool:
    return all(
        column is not None and column.simple and column.binary and not column.counted
        for column in columns
    )


def _values_only(groups: Sequence[Group]) -> Contrast:
    """Return lm_eval's numbers, untested: there is nothing per question."""
    values = tuple(group.task.scores.get(group.name) for group in groups)
    total = None
    if None not in values:
        total = sum(group.sign * (x or 0.0) for group, x in zip(groups, values, strict=True))
    return Contrast(Estimate(total), values)


def _align(
    groups: Sequence[Group], columns: Sequence[Column]
) -> tuple[list[Column], list[str], int]:
    """Return the values over the shared questions, these, and how many any group has."""
    tasks = [group.task for group in groups]
    ids, n_asked = tasks[-1].ids, len(tasks[-1].ids)
    if any(task.ids != ids for task in tasks):
        positions = [{key: index for index, key in enumerate(task.ids)} for task in tasks]
        n_asked = len(set().union(*positions))
        ids = [key for key in ids if all(key in position for position in positions)]
        columns = [
            column.select([position[key] for key in ids])
            for column, position in zip(columns, positions, strict=True)
        ]
    valid = np.logical_and.reduce([column.present for column in columns])
    if not valid.all():
        keep = np.flatnonzero(valid).tolist()
        columns, ids = [column.select(keep) for column in columns], [ids[index] for index in keep]
    return list(columns), ids, n_asked


def _merge_texts(columns: Sequence[Column], ids: Sequence[str], task: Task) -> list[Column]:
    """Add up the questions that have one text: they count as one."""
    if not task.repeats_texts:
        return list(columns)
    texts = dict(zip(task.ids, task.texts, strict=True))
    _, first, position = np.unique(
        [texts[key] for key in ids], return_index=True, return_inverse=True
    )
    if len(first) == len(ids):
        return list(columns)
    merged = []
    for column in columns:
        sums = np.zeros((len(first), column.sums.shape[1]))
        np.add.at(sums, position, column.sums)
        rows: list[list[tuple[int, float | None]]] | None = None
        if column.rows is not None:
            rows = [[] for _ in first]
            for index, item in zip(position, column.rows, strict=True):
                rows[index] += item
        merged.append(Column(column.aggregate, sums, column.counted, None, rows))
    return merged


def _score(column: Column) -> float | None:
    if column.rows is not None:
        return column.score()
    return score_of(column.aggregate.score, column.sums)


def _contrast(
    signs: Sequence[int],
    columns: Sequence[Column],
    whole: Sequence[Column | None],
    values: Sequence[float | None],
    level: float,
) -> tuple[Estimate, tuple[float, float] | None]:
    """Return the estimate, and the interval that allows for breakdowns that were not seen."""
    first, n_pairs = columns[0], len(columns) // 2
    score, n = first.aggregate.score, len(first.sums)
    total = float(sum(sign * (x or 0.0) for sign, x in zip(signs, values, strict=True)))
    if score is ece_of_sums:
        return Estimate(total), None
    if first.rows is not None:
        signed_rows = [
            (sign, rows_of(column.rows or ())) for sign, column in zip(signs, columns, strict=True)
        ]
        return _bounded(auc_contrast(signed_rows, level), n_pairs, level)
    if first.simple:
        lowest = [None if column is None else column.lowest for column in whole]
        sums = np.sum(
            [sign * column.sums[:, 0] for sign, column in zip(signs, columns, strict=True)], axis=0
        )
        sizes = first.sums[:, 1]
        if None in lowest:
            estimate = mean_estimate(sums, level)
            if sizes.max() > 1:
                groups = [(s, c.sums) for s, c in zip(signs, columns, strict=True)]
                estimate = jackknife_contrast(groups, ratio, level)
            return estimate, _widen(estimate, n_pairs * unseen(n, level))
        bound = n_pairs * (1 - min(x or 0.0 for x in lowest))
        ends = gaffke(sums, -bound, bound, sizes=sizes, level=level)
        if n_pairs == 1 and sizes.max() == 1 and _are_binary(whole):
            plus, minus = (
                next(c.sums[:, 0] for s, c in zip(signs, columns, strict=True) if s == sign)
                for sign in (1, -1)
            )
            estimate = paired_proportions(plus, minus, level)
            return estimate, _hull(estimate, *ends)
        p = gaffke_p(sums, -bound, bound, sizes=sizes)
        se = mean_estimate(sums * n / sizes.sum(), level).se
        return Estimate(total, *ends, p, se, n, "gaffke"), ends
    groups = [(sign, column.sums) for sign, column in zip(signs, columns, strict=True)]
    estimate = jackknife_contrast(groups, score, level)
    if _is_bounded(first):
        return _bounded(estimate, n_pairs, level)
    return estimate, _widen(estimate, n_pairs * unseen(n, level))


def _bounded(
    estimate: Estimate, most: int, level: float
) -> tuple[Estimate, tuple[float, float] | None]:
    """Return the estimate of scores in [0, 1]: no point, and within what is possible."""
    estimate = clip(minimum_width(estimate, level, difference=True), most)
    return estimate, _widen(estimate, most * unseen(estimate.n, level))


def _widen(estimate: Estimate, bound: float) -> tuple[float, float] | None:
    """Return the interval as wide at least as what could stay hidden on either side of 0."""
    return _hull(estimate, -bound, bound)


def _hull(estimate: Estimate, low: float, high: float) -> tuple[float, float] | None:
    if estimate.ci_low is None or estimate.ci_high is None:
        return None
    return min(estimate.ci_low, low), max(estimate.ci_high, high)


# Different questions


def unpaired_contrast(
    groups: Sequence[Group], level: float, *, above_chance: bool = False
) -> Contrast:
    """Return the difference of two groups with different questions.

    `above_chance` takes `(x - chance) / (1 - chance)` per question: 0 is guessing and 1 all
    correct, however many options a language's questions have.
    """
    columns = [group.column for group in groups]
    result = _values_only(groups)
    if any(column is None or not column.simple for column in columns):
        return result
    values = [
        {key: x for key, x in column.values(group.task.ids).items() if x is not None}
        for column, group in zip(columns, groups, strict=True)
        if column is not None
    ]
    ids, totals = list(values[0]), tuple(np.array([sum(v.values()), len(v)]) for v in values)
    if above_chance:
        estimate, means = _above_chance(values, [group.task.chances for group in groups], level)
    else:
        estimate = _unpaired([list(item.values()) for item in values], level)
        means = list(result.values)
    estimate = estimate._replace(n=len(ids))
    wide = _widen(estimate, unseen(min(map(len, values)), level))
    return Contrast(estimate, tuple(means), ids, len(ids), wide, totals, _are_binary(columns))


def _above_chance(
    values: Sequence[Mapping[str, float]], chances: Sequence[Mapping[str, float]], level: float
) -> tuple[Estimate, list[float | None]]:
    plain, corrected, misses, constants = [], [], [], []
    for by_id, chance in zip(values, chances, strict=True):
        pairs = [(x, chance.get(key, 0.0)) for key, x in by_id.items()]
        present = {c for _, c in pairs}
        constants.append(present.pop() if len(present) == 1 else 1.0)
        plain.append(list(by_id.values()))
        corrected.append([(x - c) / (1 - c) for x, c in pairs if c < 1])
        misses.append([-c / (1 - c) for _, c in pairs if c < 1])
    means = [float(np.mean(item)) if item else None for item in corrected]
    is_binary = {x for item in plain for x in item} <= {0.0, 1.0}
    if is_binary and max(constants) < 1:
        estimate = _unpaired(plain, level, (constants[0], constants[1]))
    else:
        estimate = _welch(corrected[0], corrected[1], level)
        if is_binary and min(map(len, corrected)) > 1:
            # Agresti & Caffo's hit and miss in each group: all correct has no spread, but no proof.
            added = [[*x, 1.0, float(np.mean(y))] for x, y in zip(corrected, misses, strict=True)]
            estimate = _welch(added[0], added[1], level)._replace(value=estimate.value)
    # How far below 0 it is that none are correct.
    least = max((-x for item in misses for x in item), default=0.0)
    return clip(estimate, 1 + least), means


def _unpaired(
    values: Sequence[Sequence[float]], level: float, chance: tuple[float, float] = (0.0, 0.0)
) -> Estimate:
    a, b = values
    if len(a) > 1 and len(b) > 1 and set(a) | set(b) <= {0.0, 1.0}:
        return unpaired_proportions(a, b, chance=chance, level=level)
    return _welch(a, b, level)


def _welch(a: Sequence[float], b: Sequence[float], level: float) -> Estimate:
    """Return a difference of means with Welch's test; without one where nothing varies."""
    from scipy.stats import ttest_ind  # type: ignore[import-untyped]

    if not len(a) or not len(b):
        return Estimate(None)
    difference = float(np.mean(a) - np.mean(b))
    if len(a) < 2 or len(b) < 2 or (len(set(a)) == 1 and len(set(b)) == 1):
        return Estimate(difference, n=len(a))
    test = suppress_warnings(ttest_ind, a, b, equal_var=False)  # one group may be constant
    ends = suppress_warnings(test.confidence_interval, level)
    se = none_if_nan(abs(difference / test.statistic)) if test.statistic else None
    return Estimate(
        difference, float(ends.low), float(ends.high), float(test.pvalue), se, len(a), "welch"
    )


def change_of_gap(groups: Sequence[Group], level: float, *, above_chance: bool = False) -> Contrast:
    """Return (B - A in a language) - (B - A in English), where these have different questions.

    Args:
        groups: B's language and English, then A's.
        level: Coverage.
        above_chance: As of `unpaired_contrast`, so that both gaps are what a report calls so.
    """
    values, differences = [], []
    for pair in (groups[::2], groups[1::2]):
        found = [group.column for group in pair]
        columns = [column for column in found if column is not None and column.simple]
        if len(columns) < len(pair):
            return _values_only(groups)
        columns, ids, _ = _align(pair, columns)
        chances = pair[0].task.chances if above_chance else {}
        guessed = np.array([chances.get(key, 0.0) for key in ids])
        ids = [key for key, chance in zip(ids, guessed, strict=True) if chance < 1]
        b, a = (((column.sums[:, 0] - guessed) / (1 - guessed))[guessed < 1] for column in columns)
        values.append([float(x.mean()) if len(x) else None for x in (b, a)])
        differences.append((ids, (b - a).tolist()))
    (ids, rows), (_, english) = differences
    estimate = _welch(rows, english, level)
    four = (values[0][0], values[1][0], values[0][1], values[1][1])
    wide = _widen(estimate, 2 * unseen(min(len(rows), len(english)), level))
    return Contrast(estimate, four, ids, len(ids), wide)
