"""The numbers of one criterion over one dataset, as a report's pictures need them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import AVERAGE, CRITERIA, Metric, panel_of
from xling_tasks.languages import SCRIPT_GROUPS, in_order
from xling_tasks.report.model import Cell, Report
from xling_tasks.report.pictures.series import Facet, Point
from xling_tasks.report.pictures.svg import clean
from xling_tasks.report.pictures.words import (
    absent,
    count_of,
    finite,
    is_mean,
    joined,
    metric_label,
    questions,
    title_of,
)

UNLABELLED = ("no_majority", "judge_failed_rate")
"""Shares of questions without a label, which no share of a label is over."""


class Temperatures(NamedTuple):
    """A metric over temperature.

    Attributes:
        columns: The temperatures, rising.
        cells: All cells.
        facets: Model -> languages by temperature.
        without: Languages that have no value at any.
    """

    columns: list[float]
    cells: list[Cell]
    facets: dict[str, Facet]
    without: tuple[str, ...]


class Board:
    """The numbers of one criterion over one dataset.

    Attributes:
        report: The report.
        criterion: A key of `places.CRITERIA`.
        prefix: Criterion and dataset.
        models: The models' names in the report's order.
        cells: Metric and temperature -> model -> language -> cell.
    """

    def __init__(self, report: Report, criterion: str, dataset: str) -> None:
        self.report = report
        self.criterion = criterion
        self.name = title_of(criterion, dataset)
        self.prefix = (criterion, dataset)
        self.models = [model.name for model in report.models]
        self.level = report.options.level
        self.cells = {
            (panel.metric, panel.temperature): by_model
            for panel, by_model in report.by_panel.items()
            if (panel.criterion, panel.dataset) == self.prefix
        }

    def at(self, metric: str, temperature: float | None) -> list[Cell]:
        """A metric's cells, all models and languages."""
        by_model = self.cells.get((metric, temperature), {})
        return [cell for model in self.models for cell in by_model.get(model, {}).values()]

    def temperatures(self, metric: str) -> list[float | None]:
        """At which a metric has a value, rising."""
        temperatures = [
            t for name, t in self.cells if name == metric and split(self.at(name, t))[0]
        ]
        return sorted(temperatures, key=lambda t: -math.inf if t is None else t)

    def shown_temperature(self, metric: str) -> float | None:
        """The one that pictures without room for all show: where sampling matters the highest."""
        temperatures = self.temperatures(metric)
        at = -1 if CRITERIA[self.criterion].highest else 0
        return temperatures[at] if temperatures else None

    def about(self, metric: str) -> Metric:
        """What is known of a metric."""
        return CRITERIA[self.criterion].metric(metric)

    def better(self, metric: str) -> bool | None:
        """Whether higher is better, as the first task that says so has it."""
        directions = (
            cell.better
            for (name, _), by_model in self.cells.items()
            if name == metric
            for own in by_model.values()
            for cell in own.values()
        )
        return next((better for better in directions if better is not None), None)

    def series(
        self, metric: str, temperature: float | None, rows: Sequence[str]
    ) -> dict[str, dict[str, Point]]:
        """Model -> row -> value, of the models that have the metric."""
        have = self.cells.get((metric, temperature), {})
        return {m: self.points(metric, temperature, m, rows) for m in self.models if m in have}

    def points(
        self, metric: str, temperature: float | None, model: str, rows: Iterable[str]
    ) -> dict[str, Point]:
        """Row -> value with its interval; undefined ones are left out."""
        cells = self.cells.get((metric, temperature), {}).get(model, {})
        return {row: p for row in rows if row in cells and (p := point_of(cells[row])) is not None}

    def over_temperature(self, metric: str) -> Temperatures | None:
        """A metric over temperature; None for fewer than two temperatures."""
        columns = [t for t in self.temperatures(metric) if t is not None]
        if len(columns) < 2:
            return None
        cells = [cell for t in columns for cell in self.at(metric, t)]
        rows, without = split(cells)
        facets = {}
        for model in self.models:
            series = {f"{t:g}": self.points(metric, t, model, rows) for t in columns}
            if any(series.values()):
                facets[model] = Facet(clean(model), "", rows, series)
        return Temperatures(columns, cells, facets, without)

    def counts(self, cells: Iterable[Cell]) -> list[int]:
        """Questions behind values that are defined."""
        numbers = (count_of(cell) for cell in cells if finite(cell.value) is not None)
        return [n for n in numbers if n is not None]

    # Words

    def title(
        self, metric: str, temperature: float | None, cells: Sequence[Cell],
        without: Sequence[str], intervals: bool = True,
    ) -> str:  # fmt: skip
        """What a picture shows, of how many questions, and what it lacks."""
        name = metric_label(self.about(metric)) + (
            "" if temperature is None else f" at temperature {temperature:g}"
        )
        bounded = any(cell.interval and cell.interval.low is not None for cell in cells)
        return joined(
            f"{self.name}: {name}",
            questions(self.counts(cells)),
            f"{self.level:.0%} intervals" if intervals and bounded else "",
            absent(without),
        )

    def alt(self, kind: str, title: str, finding: str, without: Sequence[str]) -> str:
        """The kind of picture, its title, what it shows, and every language it lacks."""
        listed = absent(without, most=None)
        tail = f" {listed[0].upper()}{listed[1:]}." if listed else ""
        return clean(f"{kind}. {title}. {finding}{tail}")


def point_of(cell: Cell) -> Point | None:
    """A cell's value with its interval; None if it is undefined."""
    value = finite(cell.value)
    if value is None:
        return None
    if cell.interval is None:
        return Point(value)
    return Point(value, finite(cell.interval.low), finite(cell.interval.high))


def split(cells: Iterable[Cell]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Languages that have a value somewhere, and those that have none."""
    cells = list(cells)
    present = {cell.language for cell in cells if finite(cell.value) is not None}
    return ordered(present), ordered({cell.language for cell in cells} - present)


def ordered(codes: Iterable[str]) -> tuple[str, ...]:
    """Languages in the report's one order; means over languages are left out."""
    return tuple(in_order(code for code in codes if not is_mean(code)))


def with_means(rows: Sequence[str], cells: Iterable[Cell]) -> tuple[str, ...]:
    """The same rows, and after them the means over languages: of all, and of each script."""
    known = {cell.language for cell in cells if finite(cell.value) is not None}
    means = (AVERAGE, *(f"script:{name}" for name in SCRIPT_GROUPS))
    return (*rows, *(mean for mean in means if mean in known))


def own_values(cell: Cell) -> list[float]:
    """The questions' own values; none for a metric that has no value per question."""
    task = cell.task
    for name, column in task.columns.items():
        if column.simple and panel_of(task.place, name) == (cell.panel, cell.language):
            values = column.values(task.ids).values()
            return [value for value in values if finite(value) is not None and value is not None]
    return []


def label_shares(cells: Mapping[str, Mapping[str, Cell]]) -> dict[str, dict[str, Point]]:
    """Label -> language -> share of all questions, those without a label among them.

    Labels are shares of what was labelled. A language with a label missing is left out, unless
    nothing was labelled.
    """
    known = {
        label: {
            code: v for code, cell in by_language.items() if (v := finite(cell.value)) is not None
        }
        for label, by_language in cells.items()
    }
    labels = [label for label in cells if label not in UNLABELLED]
    shares: dict[str, dict[str, Point]] = {label: {} for label in cells}
    for code in {code for own in known.values() for code in own}:
        without = {name: known[name][code] for name in UNLABELLED if code in known.get(name, {})}
        judged = max(0.0, 1.0 - sum(without.values()))
        if judged and any(code not in known[label] for label in labels):
            continue
        if judged:
            for label in labels:
                shares[label][code] = Point(known[label][code] * judged)
        for name, share in without.items():
            shares[name][code] = Point(share)
    return shares
