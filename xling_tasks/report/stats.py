"""Intervals and comparisons of a report: per panel, each language beside English.

Where the questions are the same in every language they are paired: differences, intervals and
permutations work on whole questions. MMedBench's questions differ between languages; there the
comparison is unpaired, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xling_metrics.stats.anova import GroupComparison, compare_groups, complete_cases
from xling_metrics.stats.intervals import Interval
from xling_metrics.stats.resampling import ResamplerPool
from xling_metrics.stats.roc import shared_questions
from xling_metrics.stats.shares import normal_quantile
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH, Panel, panel_of
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.report import inference
from xling_tasks.report.columns import Column, Row
from xling_tasks.report.data import Model, Task
from xling_tasks.report.human import Human
from xling_tasks.report.inference import (
    Draws,
    column_interval,
    paired_rows,
    reported_interval,
    rows_interval,
)
from xling_tasks.report.model import Cell, Classic, Comparison, Options, Sides
from xling_tasks.report.outcomes import counted
from xling_tasks.report.paired import Ends, Paired, bounded_difference, shared_sums

AUC = "auc"


class Statistics:
    """Makes the numbers of a report; draws are shared between calls."""

    def __init__(self, options: Options, human: Human | None = None) -> None:
        self.options = options
        self.human = human
        self.draws = Draws(options, ResamplerPool())
        self._made: dict[tuple[Any, ...], tuple[Sides, Comparison]] = {}
        self._changed: dict[tuple[int, str], tuple[Task, Task]] = {}

    def untested(self) -> Statistics:
        """The same without p-values, for sensitivity analyses."""
        return self._without(tested=False, described=False)

    def undescribed(self) -> Statistics:
        """The same without effect sizes, where only intervals and tests are asked for."""
        return self._without(described=False)

    def _without(self, **asked: Any) -> Statistics:
        other = Statistics(self.options, self.human)
        other.draws = self.draws._replace(**asked)
        return other

    def cells(self, model: Model) -> list[Cell]:
        """Every metric of a model with its interval."""
        return [self.cell(task, name) for task in model.tasks for name in task.scores]

    def cell(self, task: Task, name: str) -> Cell:
        """One metric of a task with its interval."""
        signatures = task.results.xling.get("signatures") or {}
        panel, language = panel_of(task.place, name)
        interval, sign = self._interval(task, name), str(signatures.get(name, ""))
        value, better = task.scores.get(name), task.directions.get(name)
        return Cell(task.model, panel, language, value, interval, better, sign, task)

    def _interval(self, task: Task, name: str) -> Interval | None:
        if name == AUC and task.rows:
            return rows_interval(task.rows, len(task.ids) - len(task.rows), self.options.level)
        column = task.columns.get(name)
        return None if column is None else reported_interval(column, self.draws)

    def against_english(self, model: Model) -> list[Comparison]:
        """Each language of a model against English, on every metric that has a direction."""
        comparisons = []
        for english, other, name, base_name in english_pairs(model):
            panel, language = panel_of(other.place, name)
            if not across_languages(panel, other.directions.get(name)):
                continue
            sides = Sides((other, name), (english, base_name), language, ENGLISH, model.name)
            comparisons.append(self.compare(panel, sides, paired=other.place.parallel))
        return comparisons

    def compare(self, panel: Panel, sides: Sides, *, paired: bool) -> Comparison:
        """One comparison of a metric between two tasks; made once."""
        names = (sides.side[1], sides.baseline[1], sides.side_name, sides.context)
        key = (id(sides.side[0]), id(sides.baseline[0]), *names)
        if key not in self._made:  # The tasks are kept with it, so that no other gets their id.
            self._made[key] = sides, self._compare(panel, sides, paired=paired)
        return self._made[key][1]

    def _compare(self, panel: Panel, sides: Sides, *, paired: bool) -> Comparison:
        (task, name), (base, _) = sides.side, sides.baseline
        if name == AUC and task.rows and base.rows:
            keys = shared_questions(task.rows, base.rows)
            texts = texts_of(base)
            own, other = (rows_by_text(side.rows, keys, texts) for side in (task, base))
            difference = paired_rows(own, other, self.draws)
            asked = len(task.rows.keys() | base.rows.keys())
            return _from(panel, sides, difference, asked, len(keys))
        if paired and self.human is not None:
            corrected = self.human.contrast(name, [(1, task), (-1, base)], self.options.level)
            if corrected is not None:
                value, other_value = corrected.means
                tested = inference.ScoreDifference(corrected.range, value, other_value)
                return _from(panel, sides, tested, corrected.asked)
        if sides.columns is None:
            return _values_only(panel, sides, paired=paired)
        if not paired:
            return _unpaired(panel, sides, *sides.columns, self.options.level)
        both, asked = _both(sides, *sides.columns)
        difference = inference.paired(*sides.columns, both, self.draws)
        return _from(panel, sides, difference, asked, both.n)

    def changed(self, task: Task, change: Callable[[Task], Task]) -> Task:
        """A task with what was not read counted otherwise; made once."""
        key = id(task), change.__name__
        if key not in self._changed:
            self._changed[key] = task, change(task)
        return self._changed[key][1]

    def bounded(self, sides: Sides) -> tuple[Ends, float] | None:
        """Gaffke's interval and p, for scores per question from 0 to 1."""
        if sides.columns is None:
            return None
        both, _ = _both(sides, *sides.columns)
        return bounded_difference(*sides.columns, both, self.options.level)

    def recalls(self, sides: Sides) -> tuple[int, ...]:
        """What `Conclusion.recalls` is, of macro recall over questions of both; else nothing."""
        columns = sides.columns
        if columns is None or columns[0].score is not VERDICT_SCORES["macro_recall"]:
            return ()
        both, _ = _both(sides, *columns)
        counts: list[int] = []
        for sums in (both.a, both.b):
            tp, fp, fn, tn = (round(count) for count in sums.sum(axis=0))
            counts += [tp, tp + fn, tn, tn + fp]
        return tuple(counts)

    def outcomes(self, sides: Sides) -> dict[str, int]:
        """How many of the questions of both had each outcome in the language."""
        (task, name), (base, _) = sides.side, sides.baseline
        own = task.outcomes.get(panel_of(task.place, name)[1])
        if own is None or sides.columns is None:
            return {}
        known, there = (x.values(t.ids) for x, t in zip(sides.columns, (task, base), strict=True))
        return counted([
            outcome
            for key, outcome in zip(task.ids, own, strict=True)
            if known.get(key) is not None and there.get(key) is not None
        ])  # fmt: skip

    def below_one(
        self, model: Model, task: Task, panel: Panel, language: str, name: str
    ) -> Comparison:
        """An agreement with English, as its difference from 1; nothing is tested."""
        column, n = task.columns.get(name), 0
        interval = None if column is None else column_interval(column, self.draws)
        value, low, high, se = task.scores.get(name), None, None, None
        if interval is not None:
            n, low, high = interval.n, interval.low, interval.high
        if low is not None and high is not None:
            se = (high - low) / (2 * normal_quantile(self.options.level))
        return Comparison(
            panel, language, ENGLISH, model.name, True,
            difference=None if value is None else value - 1, low=None if low is None else low - 1,
            high=None if high is None else high - 1, value=value, base=1.0, n=n, se=se,
            method="" if interval is None else interval.method,
        )  # fmt: skip

    def classic(self, model: Model) -> list[Classic]:
        """ANOVA, Tukey's HSD and unpaired t tests over the languages of each metric.

        As in XLingEval, over the questions that have a value in every language.
        """
        groups: dict[Panel, dict[str, dict[str, float | None]]] = {}
        for task in model.tasks:
            for name, column in task.columns.items():
                panel, language = panel_of(task.place, name)
                tested = CRITERIA[panel.criterion].classic and column.simple
                if tested and across_languages(panel, True):
                    groups.setdefault(panel, {})[language] = column.values(task.ids)
        return [
            Classic(model.name, panel, self._tests(own))
            for panel, own in groups.items()
            if len(own) > 1
        ]

    def _tests(self, groups: Mapping[str, Mapping[str, float | None]]) -> GroupComparison:
        order = sorted(groups, key=lambda code: (code != ENGLISH, code))
        questions = list(dict.fromkeys(key for code in order for key in groups[code]))
        aligned = {code: [groups[code].get(key) for key in questions] for code in order}
        return compare_groups(complete_cases(aligned), level=self.options.level)


def english_pairs(model: Model) -> Iterable[tuple[Task, Task, str, str]]:
    """(English task, other task, metric, English metric) of everything English has too."""
    english = {
        (task.place.criterion, task.place.dataset): task
        for task in model.tasks
        if task.place.language == ENGLISH
    }
    for task in model.tasks:
        if task.place.language == ENGLISH:
            continue
        if task.place.language:
            base = english.get((task.place.criterion, task.place.dataset))
            names = [(name, name) for name in task.scores if base and name in base.scores]
        else:
            base, scores = task, task.scores
            names = [
                (name, twin)
                for name in scores
                if (twin := _english_twin(task, name, scores)) is not None
            ]
        if base is not None:
            yield from ((base, task, name, twin) for name, twin in names)


def _english_twin(task: Task, name: str, scores: Mapping[str, float | None]) -> str | None:
    """The English metric beside a metric of a task with all languages; English has no gap.

    Of agreement with the English answers it is what two English answers share, where that is known.
    """
    panel, language = panel_of(task.place, name)
    twin = f"{panel.metric}_{ENGLISH}"
    if language in (ENGLISH, AVERAGE) or ":" in language or scores.get(twin) is None:
        return None
    return twin


def across_languages(panel: Panel, better: bool | None) -> bool:
    """Whether a metric's values in two languages may be compared.

    Metrics with a direction that mean the same in every language; none about coverage, and none
    that depends on a language's words, script or encoder (`_src`, chrF).
    """
    known = CRITERIA[panel.criterion].metric(panel.metric)
    if known.chance and not known.known_chance:
        return False
    return better is not None and panel.metric not in COVERAGE and known.across_languages


def _both(sides: Sides, own: Column, other: Column) -> tuple[Paired, int]:
    """The sums of both over the questions that both have, and how many one or the other has."""
    (task, _), (base, _) = sides.side, sides.baseline
    return shared_sums(
        (task.ids, own.sums), (base.ids, other.sums), texts_of(base) if base.twins else {}
    )


def texts_of(task: Task) -> dict[str, int]:
    """Question -> number of its text: in every language the baseline's text tells which are one."""
    return dict(zip(task.ids, task.texts, strict=True)) if len(task.texts) else {}


def rows_by_text(
    rows: Mapping[str, Sequence[Row]], keys: Sequence[str], texts: Mapping[str, int]
) -> Mapping[str, Sequence[Row]]:
    """The rows of the questions that both sides have, those of questions with one text together."""
    together: dict[str, list[Row]] = {}
    for key in keys:
        together.setdefault(str(texts.get(key, key)), []).extend(rows[key])
    return together


def _from(
    panel: Panel, sides: Sides, tested: inference.ScoreDifference, asked: int, n: int | None = None
) -> Comparison:
    """A comparison over the same n questions, of `asked` that one side or the other has."""
    found = tested.range
    n = found.n if n is None else n
    return sides.nothing(panel).over(
        found, value=tested.value, base=tested.base, n=n, left_out=asked - n,
        detail=tested.detail and replace(tested.detail, left_out=asked - n),
        n_permutations=tested.n_permutations, binary=tested.binary,
    )  # fmt: skip


def _unpaired(panel: Panel, sides: Sides, own: Column, other: Column, level: float) -> Comparison:
    """Different questions."""
    task, base = sides.side[0], sides.baseline[0]
    a, b = own.values(task.ids), other.values(base.ids)
    made = _values_only(panel, sides, paired=False)
    n = sum(value is not None for value in a.values())
    if not own.simple:
        return replace(made, n=n)
    if CRITERIA[panel.criterion].metrics[panel.metric].chance:
        found, value, reference = inference.above_chance(a, b, (task.chances, base.chances), level)
    else:
        own_values, others = ([v for v in s.values() if v is not None] for s in (a, b))
        found = inference.unpaired(own_values, others, level)
        value, reference = made.value, made.base
    return made.over(found, value=value, base=reference, n=n)


def _values_only(panel: Panel, sides: Sides, *, paired: bool) -> Comparison:
    """No samples were logged, or the metric has no parts: the harness's numbers, untested."""
    value, base = (task.scores.get(name) for task, name in (sides.side, sides.baseline))
    difference = None if value is None or base is None else value - base
    return replace(
        sides.nothing(panel, paired=paired), difference=difference, value=value, base=base
    )
