"""The numbers of `xling compare`: B minus A per metric and language, and how the gap changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from xling_metrics.stats.intervals import scored
from xling_metrics.stats.jackknife import never_without_width, student
from xling_metrics.stats.paired import wins_ties_losses
from xling_metrics.stats.probability_intervals import ece_of_sums
from xling_metrics.stats.resampling import Floats, number
from xling_metrics.stats.roc import influences, rows_of, shared_questions
from xling_metrics.stats.shares import Range

from xling_tasks.criteria import CRITERIA, ENGLISH, Panel, panel_of
from xling_tasks.report.columns import Column
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.data import Task
from xling_tasks.report.model import Conclusion, Sides
from xling_tasks.report.stats import AUC, Statistics


@dataclass(frozen=True)
class Line:
    """One comparison of B with A.

    Attributes:
        kind: `difference` of a score, or change of the `gap` to English.
        panel: The metric.
        language: A code, or `avg`, `script:...`, `family:...`.
        better: Whether higher is better; None where neither is.
        a: A's score, or its gap (language minus English), over the questions compared.
        b: B's.
        difference: B minus A.
        low: Lower end of its interval over questions.
        high: Upper end.
        p: Two-sided p of a permutation test in which whole questions change sides.
        n: Questions compared; of a gap of different questions, those of the language.
        n_english: Those of English where they are different questions; else None.
        left_out: Questions of both runs without a value on every side.
        se: Standard error that the interval is made with.
        wins: Questions on which B's own value is better (higher, where neither is better).
        ties: Questions with equal values.
        losses: The others.
        d_z: Mean over standard deviation of the differences; None unless a question has a value.
        said: Of an endpoint, what is concluded: B against A, or of the shortfall how it changed
            (`value` and `english` are then B's and A's); None of what is exploratory.
        method: How the interval is made; `ppi` where people's labels correct a judge's.
        non_inferior: Of an endpoint, whether B worse by more than the margin is excluded.
    """

    kind: str
    panel: Panel
    language: str
    better: bool | None
    a: float | None
    b: float | None
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    n: int = 0
    n_english: int | None = None
    left_out: int = 0
    se: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    d_z: float | None = None
    said: Conclusion | None = None
    method: str = ""
    non_inferior: bool | None = None


Side: TypeAlias = tuple[Pair, str]
"""A metric of a pair of tasks."""


def all_lines(pairs: Sequence[Pair], statistics: Statistics) -> list[Line]:
    """Every comparison, in a report's order, with nothing concluded yet (`with_verdicts`)."""
    lines = [_difference(statistics, pair, name) for pair in pairs for name in pair.names]
    lines += [gap_change(statistics, own, english) for own, english in _with_english(pairs)]
    criteria, panels = list(CRITERIA), list(dict.fromkeys(line.panel for line in lines))
    return sorted(
        lines,
        key=lambda line: (
            criteria.index(line.panel.criterion),
            line.panel.dataset,
            line.kind,
            panels.index(line.panel),
            *language_order(line.language),
        ),
    )


def language_order(code: str) -> tuple[bool, bool, str]:
    """English, the other languages, means over languages."""
    return code != ENGLISH, len(code) > 2, code


def _difference(statistics: Statistics, pair: Pair, name: str) -> Line:
    panel, language = panel_of(pair.a.place, name)
    better, columns = pair.better(name), [task.columns.get(name) for task in pair[:2]]
    same = len({column.sums.shape[1] for column in columns if column is not None}) < 2
    if not same:  # Means over different languages.
        return Line("difference", panel, language, better, None, None, None)
    sides = Sides((pair.b, name), (pair.a, name), "B", "A", language)
    tested = statistics.compare(panel, sides, paired=True)
    line = Line(
        "difference", panel, language, better, tested.base, tested.value, tested.difference,
        tested.low, tested.high, tested.p, tested.n, left_out=tested.left_out,
        se=tested.se, method=tested.method,
        d_z=None if tested.detail is None else tested.detail.d_z,
    )  # fmt: skip
    if columns[0] is None or columns[1] is None:
        return line if tested.n else replace(line, a=None, b=None, difference=None)
    return _with_wins(line, _own(columns[0], pair.a), _own(columns[1], pair.b))


def _own(column: Column, task: Task) -> dict[str, float | None]:
    """Each question's own value of a metric: the metric over that question alone."""
    values = scored(column.score, column.sums).tolist()
    return {
        key: value if math.isfinite(value) else None
        for key, value in zip(task.ids, values, strict=True)
    }


def _with_wins(line: Line, a: Mapping[str, float | None], b: Mapping[str, float | None]) -> Line:
    counts = wins_ties_losses(b, a)
    if counts is None:
        return line
    more, ties, less = counts
    wins, losses = (less, more) if line.better is False else (more, less)
    return replace(line, wins=wins, ties=ties, losses=losses)


# Gaps to English


def _with_english(pairs: Sequence[Pair]) -> Iterable[tuple[Side, Side]]:
    """Each metric in another language, with the same metric in English."""
    english: dict[Panel, Side] = {}
    for pair in pairs:
        for name in pair.names:
            panel, language = panel_of(pair.a.place, name)
            if language == ENGLISH:
                english[panel] = (pair, name)
    for pair in pairs:
        for name in pair.names:
            panel, language = panel_of(pair.a.place, name)
            record = CRITERIA[panel.criterion].metrics.get(panel.metric)
            compared = record is None or record.across_languages
            if panel in english and len(language) == 2 and language != ENGLISH and compared:
                yield (pair, name), english[panel]


def gap_change(statistics: Statistics, own: Side, english: Side) -> Line:
    """(B's language - B's English) - (A's language - A's English).

    Where all languages have the same questions, only those with all four values count, and the
    four scores vary together over them. Where they differ (MMedBench), each language's questions
    vary by themselves.
    """
    pair, name = own
    panel, language = panel_of(pair.a.place, name)
    line = Line("gap", panel, language, pair.better(name), None, None, None)
    first, second = _changes(own), _changes(english)
    if first is None or second is None:
        return line
    if pair.a.place.parallel:
        shared = set(second.keys)
        both = [key for key in first.keys if key in shared]
        first, second = _changes(own, both), _changes(english, both)
        if not both or first is None or second is None:
            return line
        left_out = len({*pair.a.ids, *english[0].a.ids}) - len(both)
        change = _parallel(statistics, first, second, pair.a.columns.get(name))
        sizes: dict[str, Any] = {"n": len(both), "left_out": left_out}
    else:
        if not first.keys or not second.keys:
            return line
        change = _apart(statistics.options.level, first, second)
        sizes = {"n": len(first.keys), "n_english": len(second.keys)}
        sizes["left_out"] = len(pair.a.ids) - len(first.keys)
    corrected = _corrected_change(statistics, line, own, english, sizes)
    if corrected is not None:
        return corrected
    change = never_without_width(change, statistics.options.level, difference=True)
    a, b = first.a - second.a, first.b - second.b
    if not np.isfinite(b - a):
        return replace(line, a=number(a), b=number(b), **sizes)
    return replace(
        line, a=a, b=b, difference=b - a, low=change.low, high=change.high, p=change.p,
        se=change.se, method=change.method, **sizes,
    )  # fmt: skip


def _corrected_change(
    statistics: Statistics, line: Line, own: Side, english: Side, sizes: dict[str, Any]
) -> Line | None:
    """The change of a gap of labels, corrected by people's labels of all four sides."""
    (pair, name), (base, _) = own, english
    if statistics.human is None or line.panel.criterion != "correctness":
        return None
    four = [(1, pair.b), (-1, base.b), (-1, pair.a), (1, base.a)]
    corrected = statistics.human.contrast(name, four, statistics.options.level)
    if corrected is None:
        return None
    b, b_english, a, a_english = (mean or 0.0 for mean in corrected.means)
    interval = corrected.range
    return replace(
        line, a=a - a_english, b=b - b_english, difference=interval.value, low=interval.low,
        high=interval.high, p=interval.p, se=interval.se, method=interval.method,
        **{**sizes, "n": corrected.n},
    )  # fmt: skip


class _Change(NamedTuple):
    """How a score changes from A to B in one language.

    Attributes:
        keys: Questions with a value in both models.
        a: A's score over them.
        b: B's.
        parts: What each question adds to the deviation of B - A from the true change, so that
            the sum of squares is its variance.
    """

    keys: list[str]
    a: float
    b: float
    parts: Floats


def _changes(side: Side, only: Sequence[str] | None = None) -> _Change | None:
    """The change in one language, over some questions only; None for a metric without parts."""
    pair, name = side
    if name == AUC and pair.a.rows and pair.b.rows:
        keys = shared_questions(pair.b.rows, pair.a.rows) if only is None else list(only)
        influence = [influences(rows_of(task.rows, keys)) for task in (pair.a, pair.b)]
        (a, own), (b, other) = influence
        if a is None or b is None:
            return None
        n = len(keys)
        return _Change(keys, a, b, (other - own) * np.sqrt(n / max(n - 1, 1)))
    first, second = pair.a.columns.get(name), pair.b.columns.get(name)
    if first is None or second is None or first.score is ece_of_sums:
        return None
    if first.sums.shape[1] != second.sums.shape[1]:
        return None
    known = ~np.isnan(first.sums[:, 0]) & ~np.isnan(second.sums[:, 0])
    place = {key: at for at, key in enumerate(pair.a.ids) if known[at]}
    keys = list(place) if only is None else list(only)
    rows = [place[key] for key in keys]
    scores, without = [], []
    for column in (first, second):
        sums = column.sums[rows]
        total = sums.sum(axis=0, keepdims=True)
        scores.append(float(scored(column.score, total)[0]) if keys else np.nan)
        without.append(scored(column.score, total - sums))
    left = without[1] - without[0]
    n = len(keys)
    return _Change(
        keys, scores[0], scores[1], (left - left.mean()) * np.sqrt((n - 1) / n) if n else left
    )


def _parallel(
    statistics: Statistics, own: _Change, english: _Change, column: Column | None
) -> Range:
    """The interval over shared questions: Student's on the jackknife's standard error."""
    n, level = len(own.keys), statistics.options.level
    change = (own.b - own.a) - (english.b - english.a)
    interval = student(change, own.parts - english.parts, n - 1, level)
    if column is None or not column.simple or n < 2:
        return interval
    # A question's own double difference, back from the jackknife: p of sign flips.
    values = change - (own.parts - english.parts) * np.sqrt((n - 1) * n)
    return interval._replace(p=statistics.draws.sign_flips(values))


def _apart(level: float, own: _Change, english: _Change) -> Range:
    """The interval over different questions: Welch's degrees of freedom (1947)."""
    change = (own.b - own.a) - (english.b - english.a)
    squares = [float((side.parts**2).sum()) for side in (own, english)]
    spread = sum(
        square**2 / max(len(side.keys) - 1, 1)
        for square, side in zip(squares, (own, english), strict=True)
    )
    df = sum(squares) ** 2 / spread if spread else 1.0
    if min(len(own.keys), len(english.keys)) < 2:
        df = 0
    return student(change, np.concatenate([own.parts, english.parts]), df, level)
