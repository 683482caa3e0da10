"""Intervals and comparisons of a report: per panel, each language beside English.

Where the questions are the same in every language they are paired: differences, intervals and
permutations work on whole questions. MMedBench's questions differ between languages; there the
comparison is unpaired, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xling_metrics.stats.anova import GroupComparison, compare_groups, complete_cases
from xling_metrics.stats.intervals import Interval
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.resampling import ResamplerPool

from xling_tasks.criteria import AVERAGE, ENGLISH, Panel, panel_of
from xling_tasks.report import inference
from xling_tasks.report.data import Column, Model, Task
from xling_tasks.report.inference import Draws, column_interval, paired_rows, rows_interval
from xling_tasks.report.model import COVERAGE, Cell, Classic, Comparison, Options, Report, Sides

AUC = "auc"
_CLASSIC = frozenset({"consistency", "correctness"})

_OF_WORDING = ("chrf", "bleu", "sacrebleu", "rouge", "auc_hard")
"""Overlap with a reference depends on script and tokenizer, so it compares models, not languages.

`auc_hard` equals macro recall, which is compared.
"""


class Statistics:
    """Makes the numbers of a report; draws are shared between calls."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.draws = Draws(options, ResamplerPool())

    def cells(self, model: Model) -> list[Cell]:
        """Every metric of a model with its interval."""
        return [cell for task in model.tasks for cell in self._of_task(model, task)]

    def _of_task(self, model: Model, task: Task) -> Iterable[Cell]:
        signatures = task.results.xling.get("signatures") or {}
        for name, value in task.scores.items():
            panel, language = panel_of(task.place, name)
            yield Cell(
                model.name,
                panel,
                language,
                value,
                self._interval(task, name),
                task.directions.get(name),
                str(signatures.get(name, "")),
                task,
            )

    def _interval(self, task: Task, name: str) -> Interval | None:
        if name == AUC and task.rows:
            return rows_interval(task.rows, len(task.ids) - len(task.rows), self.options.level)
        column = task.columns.get(name)
        return None if column is None else column_interval(name, column, self.draws)

    def against_english(self, model: Model) -> list[Comparison]:
        """Each language of a model against English, on every metric that has a direction."""
        found = []
        for english, other, name, base_name in _language_pairs(model):
            panel, language = panel_of(other.place, name)
            if not _compared(panel, other.directions.get(name)):
                continue
            sides = Sides((other, name), (english, base_name), language, ENGLISH, model.name)
            found.append(self.compare(panel, sides, paired=other.place.parallel))
        return found

    def compare(self, panel: Panel, sides: Sides, *, paired: bool) -> Comparison:
        """One comparison of a metric between two tasks."""
        (task, name), (base, base_name) = sides.side, sides.baseline
        if name == AUC and task.rows and base.rows:
            found = paired_rows(task.rows, base.rows, self.draws)
            return _from(panel, sides, found, len(task.rows.keys() | base.rows.keys()))
        column, base_column = task.columns.get(name), base.columns.get(base_name)
        if column is None or base_column is None:
            return _values_only(panel, sides, paired)
        if not paired:
            return _unpaired(panel, sides, column, base_column, self.options.level)
        return self._paired(panel, sides, column, base_column)

    def _paired(self, panel: Panel, sides: Sides, own: Column, other: Column) -> Comparison:
        (task, _), (base, _) = sides.side, sides.baseline
        both = own.by_question(task.ids), other.by_question(base.ids)
        found = inference.paired(panel.metric, own, other, both, self.draws)
        return _from(panel, sides, found, len(both[0].keys() | both[1].keys()))

    def classic(self, model: Model) -> list[Classic]:
        """ANOVA, Tukey's HSD and unpaired t tests over the languages of each metric.

        As in XLingEval, over the questions that have a value in every language.
        """
        groups: dict[Panel, dict[str, dict[str, float | None]]] = {}
        for task in model.tasks:
            for name, column in task.columns.items():
                panel, language = panel_of(task.place, name)
                tested = panel.criterion in _CLASSIC and column.simple
                if tested and panel.metric not in COVERAGE and not _of_wording(panel.metric):
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


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected over all of them."""
    adjusted = holm([item.p for item in comparisons])
    return [replace(item, p_holm=p) for item, p in zip(comparisons, adjusted, strict=True)]


def _language_pairs(model: Model) -> Iterable[tuple[Task, Task, str, str]]:
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
            base = task
            names = [
                (name, twin)
                for name in task.scores
                if (twin := _english_twin(task, name)) is not None
            ]
        if base is not None:
            yield from ((base, task, name, twin) for name, twin in names)


def _english_twin(task: Task, name: str) -> str | None:
    """The English metric beside a metric of a task with all languages; English has no gap."""
    panel, language = panel_of(task.place, name)
    twin = f"{panel.metric}_{ENGLISH}"
    if language in (ENGLISH, AVERAGE) or ":" in language or twin not in task.scores:
        return None
    return twin


def _compared(panel: Panel, better: bool | None) -> bool:
    """Metrics with a direction that mean the same in every language; none about coverage."""
    return better is not None and panel.metric not in COVERAGE and not _of_wording(panel.metric)


def _of_wording(metric: str) -> bool:
    return metric.startswith(_OF_WORDING)


def _from(panel: Panel, sides: Sides, found: inference.Found, asked: int) -> Comparison:
    """A comparison over the same questions, of `asked` that one side or the other has."""
    own = found.range
    return Comparison(
        panel=panel,
        side=sides.side_name,
        baseline=sides.baseline_name,
        context=sides.context,
        paired=True,
        difference=own.value,
        low=own.low,
        high=own.high,
        value=found.value,
        base=found.base,
        relative=relative(own.value, found.base),
        p=own.p,
        n=own.n,
        left_out=asked - own.n,
        n_permutations=found.n_permutations,
        se=own.se,
        method=own.method,
        detail=found.detail,
    )


def _unpaired(panel: Panel, sides: Sides, own: Column, other: Column, level: float) -> Comparison:
    """Different questions."""
    task, base = sides.side[0], sides.baseline[0]
    a = [value for value in own.values(task.ids).values() if value is not None]
    b = [value for value in other.values(base.ids).values() if value is not None]
    made = replace(_values_only(panel, sides, paired=False), n=len(a))
    if not own.simple:
        return made
    found = inference.unpaired(a, b, level)
    return replace(
        made, low=found.low, high=found.high, p=found.p, se=found.se, method=found.method
    )


def _values_only(panel: Panel, sides: Sides, paired: bool) -> Comparison:
    """No samples were logged, or the metric has no parts: the harness's numbers, untested."""
    (task, name), (base, base_name) = sides.side, sides.baseline
    value, reference = task.scores.get(name), base.scores.get(base_name)
    known = value is not None and reference is not None
    difference = value - reference if known else None  # type: ignore[operator]
    return Comparison(
        panel=panel,
        side=sides.side_name,
        baseline=sides.baseline_name,
        context=sides.context,
        paired=paired,
        difference=difference,
        low=None,
        high=None,
        value=value,
        base=reference,
        relative=relative(difference, reference),
        p=None,
        n=0,
        left_out=0,
    )


def relative(difference: float | None, base: float | None) -> float | None:
    """A difference as a share of the baseline; None unless that is above 0.

    Rescaled BERTScore can be negative, and the share would have the wrong sign.
    """
    return difference / base if difference is not None and base is not None and base > 0 else None


def make_report(models: Sequence[Model], options: Options) -> Report:
    """All numbers of a report."""
    statistics = Statistics(options)
    compared = [item for model in models for item in statistics.against_english(model)]
    return Report(
        models=tuple(models),
        cells=tuple(cell for model in models for cell in statistics.cells(model)),
        comparisons=tuple(with_holm(compared)),
        classic=tuple(item for model in models for item in statistics.classic(model)),
        options=options,
    )
