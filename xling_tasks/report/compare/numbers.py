"""The numbers of `xling compare`: B minus A per metric and language, and how the gap changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from xling_metrics.stats.intervals import scored
from xling_metrics.stats.jackknife import never_without_width, student
from xling_metrics.stats.paired import wins_ties_losses
from xling_metrics.stats.probability_intervals import ece_of_sums
from xling_metrics.stats.resampling import Floats, number
from xling_metrics.stats.roc import influences, rows_of, shared_questions
from xling_metrics.stats.shares import Range, cut

from xling_tasks.criteria import CRITERIA, ENGLISH, Panel, panel_of
from xling_tasks.report.columns import Column
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.data import Task
from xling_tasks.report.human import Contrast
from xling_tasks.report.inference import kind_of
from xling_tasks.report.model import Comparison, Conclusion, Sides
from xling_tasks.report.paired import by_text, outside
from xling_tasks.report.stats import AUC, Statistics, rows_by_text, texts_of


@dataclass(frozen=True)
class Line:
    """One comparison of B with A.

    Attributes:
        kind: `difference` of a score, or change of the `gap` to English.
        made: Its numbers, B's as `value` and A's as `base`; of a gap these are the language minus
            English in either model, and the difference is their change.
        language: A code, or `avg`, `script:...`, `family:...`.
        better: Whether higher is better; None where neither is.
        wins: Questions on which B's own value is better (higher, where neither is better), those
            with equal values, and the others; None of a gap.
        n_english: Questions of English where they are others than the language's; else None.
        said: Of an endpoint, what is concluded of these numbers: B against A, or of the shortfall
            how it changed; None of what is exploratory.
        non_inferior: Of an endpoint, whether B worse by more than the margin is excluded.
    """

    kind: str
    made: Comparison
    language: str
    better: bool | None
    wins: tuple[int, int, int] | None = None
    n_english: int | None = None
    said: Conclusion | None = None
    non_inferior: bool | None = None

    @property
    def panel(self) -> Panel:
        """The metric."""
        return self.made.panel


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
            # English, the other languages, means over languages.
            *(line.language != ENGLISH, len(line.language) > 2, line.language),
        ),
    )


def _difference(statistics: Statistics, pair: Pair, name: str) -> Line:
    panel, language = panel_of(pair.a.place, name)
    better, columns = pair.better(name), [task.columns.get(name) for task in pair[:2]]
    same = len({column.sums.shape[1] for column in columns if column is not None}) < 2
    sides = pair.sides(name, language)
    line = Line("difference", sides.nothing(panel), language, better)
    if not same:  # Means over different languages.
        return line
    made = statistics.compare(panel, sides, paired=True)
    if columns[0] is None or columns[1] is None:
        return replace(line, made=made) if made.n else line
    wins = wins_ties_losses(_each(columns[1], pair.b), _each(columns[0], pair.a))
    return replace(line, made=made, wins=wins[::-1] if wins and better is False else wins)


def _each(column: Column, task: Task) -> dict[str, float | None]:
    """Each question's own value of a metric: the metric over that question alone."""
    values = scored(column.score, column.sums).tolist()
    return {
        key: value if math.isfinite(value) else None
        for key, value in zip(task.ids, values, strict=True)
    }


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
            compared = CRITERIA[panel.criterion].metric(panel.metric).across_languages
            if panel in english and len(language) == 2 and language != ENGLISH and compared:
                yield (pair, name), english[panel]


def gap_change(statistics: Statistics, own: Side, english: Side) -> Line:
    """(B's language - B's English) - (A's language - A's English).

    Where all languages have the same questions, only those with all four values count, and the
    four scores vary together over them. Where they differ (MMedBench), each language's questions
    vary by themselves.
    """
    (pair, name), texts = own, texts_of(english[0].a)
    panel, language = panel_of(pair.a.place, name)
    parallel = pair.a.place.parallel
    sides = Sides((pair.b, name), (pair.a, name), language, ENGLISH, "B - A")
    line = Line("gap", sides.nothing(panel, paired=parallel), language, pair.better(name))
    first, second = _changes(own, texts), _changes(english, texts)
    if parallel and first is not None and second is not None:
        others = set(second.keys)
        both = [key for key in first.keys if key in others]
        first, second = _changes(own, texts, both), _changes(english, texts, both)
    if first is None or second is None or not first.keys or not second.keys:
        return line
    line = replace(line, n_english=None if parallel else len(second.keys))
    made = replace(line.made, n=len(first.keys), left_out=len(pair.a.ids) - len(first.keys))
    a, b = first.a - second.a, first.b - second.b
    if not parallel:
        change = _apart(statistics.options.level, first, second)
    else:
        made = replace(made, left_out=len({*pair.a.ids, *english[0].a.ids}) - made.n)
        change = _parallel(statistics, first, second, pair.a.columns.get(name))
    if corrected := _corrected(statistics, own, english):
        change = corrected.range
        b_own, b_english, a_own, a_english = (mean or 0.0 for mean in corrected.means)
        a, b, made = a_own - a_english, b_own - b_english, replace(made, n=corrected.n)
    elif np.isfinite(b - a):
        change = _in_reach(change, own, english, statistics.options.level)
    return replace(line, made=made.over(change, value=number(b), base=number(a)))


def _in_reach(change: Range, own: Side, english: Side, level: float) -> Range:
    """A gap's change with an interval that is no point and not beyond 2, where values are shares.

    Those that only happen to lie in [0, 1] (a cosine) are not cut, counts have no such width.
    """
    four = [task.columns.get(name) for pair, name in (own, english) for task in (pair.a, pair.b)]
    columns = [column for column in four if column is not None]
    kind = kind_of(*columns) if columns else "share"  # of verdicts
    alike = kind == "mean"
    if kind in ("count", "resampled") or (alike and any(outside(x.sums[:, 0]) for x in columns)):
        return change
    wide = never_without_width(change, level, difference=True)
    return wide if alike else cut(wide, 2)


def _corrected(statistics: Statistics, own: Side, english: Side) -> Contrast | None:
    """The change of a gap of labels, corrected by people's labels of all four sides."""
    (pair, name), (base, _) = own, english
    if statistics.human is None:
        return None
    four = [(1, pair.b), (-1, base.b), (-1, pair.a), (1, base.a)]
    return statistics.human.contrast(name, four, statistics.options.level)


class _Change(NamedTuple):
    """How a score changes from A to B in one language.

    Attributes:
        keys: Questions with a value in both models.
        a: A's score over them.
        b: B's.
        parts: What each question, or text that several share, adds to the deviation of B - A from
            the true change, so that the sum of squares is its variance.
    """

    keys: list[str]
    a: float
    b: float
    parts: Floats


def _changes(
    side: Side, texts: Mapping[str, int], only: Sequence[str] | None = None
) -> _Change | None:
    """The change in one language, over some questions only; None for a metric without parts."""
    pair, name = side
    if name == AUC and pair.a.rows and pair.b.rows:
        keys = shared_questions(pair.b.rows, pair.a.rows) if only is None else list(only)
        rows = [rows_by_text(task.rows, keys, texts) for task in (pair.a, pair.b)]
        (a, own), (b, other) = (influences(rows_of(one, list(one))) for one in rows)
        if a is None or b is None:
            return None
        n = len(rows[0])
        return _Change(keys, a, b, (other - own) * np.sqrt(n / max(n - 1, 1)))
    first, second = pair.a.columns.get(name), pair.b.columns.get(name)
    if first is None or second is None or first.score is ece_of_sums:
        return None
    if first.sums.shape[1] != second.sums.shape[1]:
        return None
    known = ~np.isnan(first.sums[:, 0]) & ~np.isnan(second.sums[:, 0])
    place = {key: at for at, key in enumerate(pair.a.ids) if known[at]}
    keys = list(place) if only is None else list(only)
    if not keys:
        return None
    where = [place[key] for key in keys]
    scores, without = [], []
    for sums in by_text([first.sums[where], second.sums[where]], keys, texts):
        total = sums.sum(axis=0, keepdims=True)
        scores.append(float(scored(first.score, total)[0]))
        without.append(scored(first.score, total - sums))
    left = without[1] - without[0]
    n = len(left)
    return _Change(keys, scores[0], scores[1], (left - left.mean()) * np.sqrt((n - 1) / n))


def _parallel(
    statistics: Statistics, own: _Change, english: _Change, column: Column | None
) -> Range:
    """The interval over shared questions: Student's on the jackknife's standard error."""
    n, level = len(own.parts), statistics.options.level
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
        square**2 / max(len(side.parts) - 1, 1)
        for square, side in zip(squares, (own, english), strict=True)
    )
    df = sum(squares) ** 2 / spread if spread else 1.0
    if min(len(own.parts), len(english.parts)) < 2:
        df = 0
    return student(change, np.concatenate([own.parts, english.parts]), df, level)
