"""The numbers of `xling compare`: B minus A per metric and language, and how the gap changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from xling_metrics.stats.intervals import Score, scored
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.paired import paired_difference
from xling_metrics.stats.probability_intervals import auc_sums
from xling_metrics.stats.resampling import (
    EXACT_UP_TO,
    Floats,
    ResamplerPool,
    number,
    percentile_bounds,
    permutation_p,
)

from xling_tasks.criteria import CRITERIA, ENGLISH, Panel, panel_of
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.data import Column, Task
from xling_tasks.report.model import Options, Sides
from xling_tasks.report.stats import AUC, AUC_RESAMPLES, REFINED, Statistics

_REFINED_CELLS = 200_000_000


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
        low: Lower end of its bootstrap interval over questions.
        high: Upper end.
        p: Two-sided p of a permutation test in which whole questions change sides.
        n: Questions compared; of a gap of different questions, those of the language.
        n_english: Those of English where they are different questions; else None.
        left_out: Questions of both runs without a value on every side.
        least_p: The smallest p that the test could have given; None without a test.
        wins: Questions on which B's own value is better (higher, where neither is better).
        ties: Questions with equal values.
        losses: The others.
        d_z: Mean over standard deviation of the differences; None unless a question has a value.
        p_holm: p after Holm's correction over all comparisons made.
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
    least_p: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    d_z: float | None = None
    p_holm: float | None = None


Side: TypeAlias = tuple[Pair, str]
"""A metric of a pair of tasks."""


def all_lines(pairs: Sequence[Pair], options: Options) -> list[Line]:
    """Every comparison, in a report's order, with p-values corrected over all of them."""
    statistics = Statistics(options)
    lines = [_difference(statistics, pair, name) for pair in pairs for name in pair.names]
    gaps = _Gaps(statistics)
    lines += [gaps.change(own, english) for own, english in _with_english(pairs)]
    adjusted = holm([line.p for line in lines])
    lines = [replace(line, p_holm=p) for line, p in zip(lines, adjusted, strict=True)]
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
    found = statistics.compare(panel, sides, paired=True)
    line = Line(
        "difference", panel, language, better, found.base, found.value, found.difference,
        found.low, found.high, found.p, found.n, left_out=found.left_out,
        least_p=None if found.p is None else least_p(found.n, found.n_permutations),
        d_z=None if found.detail is None else found.detail.d_z,
    )  # fmt: skip
    if columns[0] is None or columns[1] is None:
        return line if found.n else replace(line, a=None, b=None, difference=None)
    return _with_wins(line, _own(columns[0], pair.a), _own(columns[1], pair.b))


def least_p(n: int, n_permutations: int) -> float:
    """The smallest p that a permutation test can give."""
    return 2.0 / 2**n if n <= EXACT_UP_TO else 1 / (1 + n_permutations)


def _own(column: Column, task: Task) -> dict[str, float | None]:
    """Each question's own value of a metric: the metric over that question alone."""
    values = scored(column.score, column.sums)
    return {key: number(value) for key, value in zip(task.ids, values, strict=True)}


def _with_wins(line: Line, a: Mapping[str, float | None], b: Mapping[str, float | None]) -> Line:
    found = paired_difference(b, a, seed=0, n_resamples=1)
    if found.wins is None or found.ties is None or found.losses is None:
        return line
    more, ties, less = (round(s * found.n) for s in (found.wins, found.ties, found.losses))
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
            if panel in english and len(language) == 2 and language != ENGLISH:
                yield (pair, name), english[panel]


class _Sums(NamedTuple):
    """Both models' sums per question of one language; rows of A and B are the same questions."""

    a: Floats
    b: Floats
    score: Score

    def differences(self, totals: Floats) -> tuple[Floats, Floats]:
        """Scores of A and B from rows of sums, A's first."""
        width = self.a.shape[1]
        return scored(self.score, totals[:, :width]), scored(self.score, totals[:, width:])

    @property
    def both(self) -> Floats:
        """A's columns and then B's."""
        return np.hstack([self.a, self.b])

    @property
    def exchange(self) -> Floats:
        """What a question adds to these columns if its answers change sides."""
        return np.hstack([self.b - self.a, self.a - self.b])


class _Gaps:
    """How gaps to English differ between two models; draws are shared between calls."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics, self._options = statistics, statistics.options
        self._pool = ResamplerPool()

    def change(self, own: Side, english: Side) -> Line:
        """(B's language - B's English) - (A's language - A's English).

        Where all languages have the same questions, only those with all four values count, and
        one draw of questions serves all four scores. Where they differ (MMedBench), each
        language's questions are drawn by themselves.
        """
        pair, name = own
        panel, language = panel_of(pair.a.place, name)
        parallel = pair.a.place.parallel
        tables = [_by_question(*side) for side in (own, english)]
        line = Line("gap", panel, language, pair.better(name), None, None, None)
        if any(table is None for table in tables):
            return line
        (first, score), (second, _) = tables  # type: ignore[misc]
        known = [
            [key for key, row in table.items() if all(own is not None for own in row)]
            for table in (first, second)
        ]
        if parallel:
            known = [sorted(set(known[0]) & set(known[1]))] * 2
        if not all(known):
            return line
        asked = set(first) | set(second) if parallel else set(first)
        counted = replace(
            line,
            n=len(known[0]),
            n_english=None if parallel else len(known[1]),
            left_out=len(asked) - len(known[0]),
        )
        sums = _sums(first, known[0], score), _sums(second, known[1], score)
        return self._tested(counted, *sums, AUC_RESAMPLES if name == AUC else None)

    def _tested(self, line: Line, own: _Sums, english: _Sums, times: int | None) -> Line:
        n = line.n + (line.n_english or 0)
        draws = min(times or self._options.n_resamples, self._statistics.resamples_for(n))
        observed = [
            side.differences(side.both.sum(axis=0, keepdims=True)) for side in (own, english)
        ]
        a, b = (float(observed[0][i][0] - observed[1][i][0]) for i in (0, 1))
        low, high, _ = percentile_bounds(
            self._resampled(line, own, english, draws), self._options.level
        )
        scale = max(abs(float(value[0])) for side in observed for value in side)
        if not np.isfinite(b - a):
            return replace(line, a=number(a), b=number(b))
        p = self._p(line, own, english, draws, b - a, scale)
        exact = n <= EXACT_UP_TO
        more = min(REFINED, _REFINED_CELLS // n)
        if not exact and times is None and p <= 5 / draws and more > draws:
            draws = more
            p = self._p(line, own, english, draws, b - a, scale)
        return replace(
            line, a=a, b=b, difference=b - a, low=low, high=high, p=p, least_p=least_p(n, draws)
        )

    def _resampled(self, line: Line, own: _Sums, english: _Sums, times: int) -> Floats:
        """The change in every resample of questions; none of a single question."""
        if min(line.n, line.n if line.n_english is None else line.n_english) < 2:
            return np.empty(0)
        seed = self._options.seed
        changes = []
        for side, shift in ((own, 0), (english, int(line.n_english is not None))):
            totals = self._pool.get(len(side.a), seed + shift, times).totals(side.both)
            a, b = side.differences(totals)
            changes.append(b - a)
        return changes[0] - changes[1]

    def _p(
        self, line: Line, own: _Sums, english: _Sums, times: int, observed: float, scale: float
    ) -> float:
        """Permutation p: whole questions change sides between A and B, in both languages."""
        n, changes = line.n + (line.n_english or 0), []
        draws = self._pool.get(n, self._options.seed, times)
        for side, start in ((own, 0), (english, 0 if line.n_english is None else line.n)):
            rows = np.zeros((n, side.both.shape[1]))
            rows[start : start + len(side.a)] = side.exchange
            a, b = side.differences(side.both.sum(axis=0) + draws.swapped_totals(rows))
            changes.append(b - a)
        return permutation_p(observed, changes[0] - changes[1], exact=draws.exact, scale=scale)


_Table: TypeAlias = dict[str, tuple[Any, Any]]


def _by_question(pair: Pair, name: str) -> tuple[_Table, Score] | None:
    """Question -> sums of A and of B, and the score; None for a metric without any."""
    a: Mapping[str, Sequence[float] | None]
    b: Mapping[str, Sequence[float] | None]
    if name == AUC and pair.a.rows and pair.b.rows:
        (a, b), score = auc_sums(pair.a.rows, pair.b.rows)
    else:
        columns = [task.columns.get(name) for task in pair[:2]]
        if columns[0] is None or columns[1] is None:
            return None
        if columns[0].sums.shape[1] != columns[1].sums.shape[1]:
            return None
        a, b = columns[0].by_question(pair.a.ids), columns[1].by_question(pair.b.ids)
        score = columns[0].score
    return {key: (a.get(key), b.get(key)) for key in pair.a.ids}, score


def _sums(table: _Table, keys: Sequence[str], score: Score) -> _Sums:
    a, b = (np.array([table[key][i] for key in keys], dtype=np.float64) for i in (0, 1))
    return _Sums(a, b, score)
