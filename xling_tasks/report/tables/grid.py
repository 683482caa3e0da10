"""A report's numbers by where they stand, and the papers' figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from xling_tasks.criteria import AVERAGE, CRITERIA
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.languages import in_order
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Report
from xling_tasks.report.tables.table import note

_DATASETS = {
    "healthqa": "HealthQA",
    "liveqa": "LiveQA",
    "medicationqa": "MedicationQA",
    "mmedbench": "MMedBench",
    "xling": "prompts of this project",
    "demo": "bundled sample",
    "close": "bundled sample, close wrong answers",
}

_PUBLISHED_MODELS = {"gpt-3.5-turbo": "GPT-3.5", "medalpaca-30b": "MedAlpaca-30b"}


class Bounded(NamedTuple):
    """A value with the ends of its interval; None where undefined or unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


Lookup = Callable[[str, str], Bounded]
"""From metric and language to a number of one model at one temperature."""


class Source(NamedTuple):
    """Whose numbers stand in a row: those of a model of the report, or a paper's."""

    name: str  # As the table has it.
    find: Lookup  # Its numbers.
    published: bool = False  # Whether they are a paper's.
    setting: str = ""  # Of a paper's model, what distinguishes it.


class Grid:
    """A report's numbers of one criterion over one dataset.

    `panels` has them by (metric, temperature), model and language, `cells` in the report's order.
    `notes` are what keeps them from being compared as they stand. Where `shown`, the papers'
    figures stand beside them.
    """

    def __init__(
        self, report: Report, criterion: str, dataset: str, notes: Sequence[str] = (),
        *, shown: bool = False,
    ) -> None:  # fmt: skip
        self.report, self.criterion, self.dataset = report, criterion, dataset
        self.known, self.key = CRITERIA[criterion], f"{criterion}_{dataset}"
        self.heading = heading(criterion, dataset)
        self.notes, self.shown = notes, shown
        self.panels = {
            (panel.metric, panel.temperature): by_model
            for panel, by_model in report.by_panel.items()
            if (panel.criterion, panel.dataset) == (criterion, dataset)
        }
        self.cells = [
            cell
            for cell in report.cells
            if (cell.panel.criterion, cell.panel.dataset) == (criterion, dataset)
        ]

    @cached_property
    def models(self) -> list[str]:
        """The models that have it, in the report's order."""
        return list(dict.fromkeys(cell.model for cell in self.cells))

    @cached_property
    def languages(self) -> list[str]:
        """The languages that any model has; no means over languages."""
        return in_order({cell.language for cell in self.cells if is_language(cell.language)})

    @cached_property
    def taus(self) -> list[float]:
        """The temperatures of its metrics, rising."""
        return sorted({tau for _, tau in self.panels if tau is not None})

    @cached_property
    def metrics(self) -> list[str]:
        """Its metrics' names, in the order in which tasks give them."""
        return list(dict.fromkeys(cell.panel.metric for cell in self.cells))

    @cached_property
    def tasks(self) -> dict[str, list[Task]]:
        """Model -> its tasks, in the order of languages."""
        return grouped(self.report.models)[self.criterion, self.dataset]

    def task(self, model: str) -> dict[str, Task]:
        """Language -> the task of one model."""
        return {cell.language: cell.task for cell in self.cells if cell.model == model}

    def lookup(self, model: str, tau: float | None = None, scale: float = 1.0) -> Lookup:
        """The numbers of one model at one temperature, each times `scale`."""

        def find(metric: str, language: str) -> Bounded:
            cell = self.panels.get((metric, tau), {}).get(model, {}).get(language)
            if cell is None:
                return Bounded()
            ends = cell.interval
            low, high = (None, None) if ends is None else (ends.low, ends.high)
            return Bounded(times(cell.value, scale), times(low, scale), times(high, scale))

        return find

    def sources(self, tau: float | None = None, scale: float = 1.0) -> list[Source]:
        """Every model with its numbers at one temperature."""
        return [Source(model, self.lookup(model, tau, scale)) for model in self.models]

    def figures(self, **fields: str) -> list[PublishedScore]:
        """The papers' figures with these fields, if they are shown; in the file's order."""
        return list(published(**fields)) if self.shown else []


Grids = Mapping[str, Sequence[Grid]]
"""Criterion -> its numbers by dataset; none for a criterion that a report has not."""


def grids_of(
    report: Report, notes: Mapping[tuple[str, str], Sequence[str]], *, shown: bool
) -> Grids:
    """A report's numbers; datasets of the papers first, samples last, then others."""
    found: dict[str, list[Grid]] = {criterion: [] for criterion in CRITERIA}
    order = {name: place for place, name in enumerate(_DATASETS)}
    places = {(cell.panel.criterion, cell.panel.dataset) for cell in report.cells}
    for key in sorted(places, key=lambda place: (order.get(place[1], len(order)), place)):
        found[key[0]].append(Grid(report, *key, notes.get(key, ()), shown=shown))
    return found


def grouped(models: Iterable[Model]) -> dict[tuple[str, str], dict[str, list[Task]]]:
    """(Criterion, dataset) -> model -> its tasks, in the report's order."""
    tasks_by_place: dict[tuple[str, str], dict[str, list[Task]]] = {}
    for model in models:
        for task in model.tasks:
            about = (task.place.criterion, task.place.dataset)
            tasks_by_place.setdefault(about, {}).setdefault(model.name, []).append(task)
    for tasks in tasks_by_place.values():
        for own in tasks.values():
            order = in_order({task.place.language for task in own})
            own.sort(key=lambda task: order.index(task.place.language))
    return tasks_by_place


def task_languages(task: Task) -> list[str]:
    """The languages that a task has answers in."""
    if task.place.language:
        return [task.place.language]
    return list(recorded(task, "data").get("languages") or [])


def recorded(task: Task, name: str) -> Mapping[str, Any]:
    """A part of what a task records of itself; empty where it does not."""
    part: Mapping[str, Any] = task.results.xling.get(name) or {}
    return part


# Numbers


def decrease_points(value: float | None, base: float | None) -> float | None:
    """By how many percentage points of all questions a share is below English's.

    What XLingEval calls relative decrease (section 3.1): HealthQA in Hindi, 575 and 1013 of 1,134
    questions, is 38.62.
    """
    return None if value is None or base is None else 100 * (base - value)


def drop(value: float | None, base: float | None) -> float | None:
    """By how many percent of the baseline a value is below it; None unless that is above 0."""
    return None if value is None or base is None or base <= 0 else 100 * (base - value) / base


def multiple(value: float | None, base: float | None) -> float | None:
    """A value over the baseline; None unless that is above 0."""
    return None if value is None or base is None or base <= 0 else value / base


def mean_of(values: Sequence[float | None]) -> float | None:
    """The unweighted mean; None if one is missing: a mean over the others would look like it."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def times(value: float | None, scale: float) -> float | None:
    """A number scaled; None stays None."""
    return value if value is None or scale == 1 else value * scale


# Names


def is_language(name: str) -> bool:
    """Whether a cell's language is one, not a mean over several."""
    return name != AVERAGE and ":" not in name


def dataset_title(dataset: str) -> str:
    """A dataset's name for headings."""
    return _DATASETS.get(dataset, dataset)


def heading(criterion: str, dataset: str) -> str:
    """A criterion's heading with the dataset."""
    return f"{CRITERIA[criterion].title}, {dataset_title(dataset)}"


def shown_temperature(tau: float | None) -> str | None:
    """A temperature as text."""
    return None if tau is None else f"{tau:g}"


def published_model(name: str) -> str:
    """The marked name of a paper's model."""
    name = " ".join(name.replace("\xa0", " ").split())
    return f"{_PUBLISHED_MODELS.get(name, name)} (published)"


_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def lookup_of(
    figures: Iterable[PublishedScore], names: Mapping[str, str] = _NO_NAMES, scale: float = 1.0
) -> Lookup:
    """Published figures of one model and setting by our metric's name and language.

    `names` are the papers' by ours, where they differ; each figure is multiplied with `scale`.
    """
    figure_values = {(item.metric, item.language): item.value for item in figures}

    def find(metric: str, language: str) -> Bounded:
        return Bounded(times(figure_values.get((names.get(metric, metric), language)), scale))

    return find


def printed(
    figures: Sequence[PublishedScore], names: Mapping[str, str] = _NO_NAMES, scale: float = 1.0
) -> list[Source]:
    """The papers' models, each with its figures; see `lookup_of`. In the file's order."""
    return [
        Source(
            published_model(model),
            lookup_of(
                (f for f in figures if (f.model, f.setting) == (model, setting)), names, scale
            ),
            True,
            setting,
        )
        for model, setting in dict.fromkeys((item.model, item.setting) for item in figures)
    ]


def paper_note(figures: Iterable[PublishedScore], template: str = "paper") -> str:
    """Where published rows come from and why they differ, by a note's name; empty without any."""
    figures = list(figures)
    sources = dict.fromkeys(item.citation for item in figures)
    worked_out = [
        f"{item.metric} {item.dataset} {item.language} = {item.value:g}"
        for item in figures
        if item.derived
    ]
    said = f" Derived from printed numbers, not printed: {', '.join(worked_out)}."
    text = note(template, sources="; ".join(sources))
    return text + said * bool(worked_out) if sources else ""
