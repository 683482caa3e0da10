"""The numbers of one criterion over one dataset, as a report's pictures need them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import AVERAGE
from xling_tasks.languages import SCRIPT_GROUPS, in_order
from xling_tasks.report.model import Cell, Report
from xling_tasks.report.pictures import words
from xling_tasks.report.pictures.svg import clean
from xling_tasks.report.pictures.words import Facet, Point
from xling_tasks.report.tables.grid import Grid, is_language

UNLABELLED = ("no_majority", "judge_failed_rate")
"""Shares of questions without a label, which no share of a label is over."""


class Temperatures(NamedTuple):
    """A metric over rising temperatures: its cells, and model -> languages by temperature."""

    columns: list[float]
    cells: list[Cell]
    facets: dict[str, Facet]
    without: tuple[str, ...]

    @property
    def points(self) -> list[Point]:
        """All values of all models."""
        return [point for facet in self.facets.values() for point in facet.points]


class Board(Grid):
    """The numbers of one criterion over one dataset, as pictures show them."""

    def __init__(self, report: Report, criterion: str, dataset: str) -> None:
        super().__init__(report, criterion, dataset)
        self.name = words.title_of(criterion, dataset)
        self.everyone = [model.name for model in report.models]
        self.level = report.options.level

    def at(self, metric: str, temperature: float | None) -> list[Cell]:
        """A metric's cells, all models and languages."""
        by_model = self.panels.get((metric, temperature), {})
        return [cell for own in by_model.values() for cell in own.values()]

    def temperatures(self, metric: str) -> list[float | None]:
        """At which a metric has a value, rising."""
        temperatures = [
            t for name, t in self.panels if name == metric and split(self.at(name, t))[0]
        ]
        return sorted(temperatures, key=lambda t: -math.inf if t is None else t)

    def shown_temperature(self, metric: str) -> float | None:
        """The one that pictures without room for all show: where sampling matters the highest."""
        temperatures = self.temperatures(metric)
        at = -1 if self.known.highest else 0
        return temperatures[at] if temperatures else None

    def better(self, metric: str) -> bool | None:
        """Whether higher is better, as the first task that says so has it."""
        directions = (cell.better for cell in self.cells if cell.panel.metric == metric)
        return next((better for better in directions if better is not None), None)

    def axis(self, metric: str) -> str:
        """A metric with its unit and direction."""
        return words.axis_words(self.known.metric(metric), self.better(metric))

    def series(
        self, metric: str, temperature: float | None, rows: Sequence[str]
    ) -> dict[str, dict[str, Point]]:
        """Model -> row -> value, of the models that have the metric."""
        have = self.panels.get((metric, temperature), {})
        return {model: self.points(metric, temperature, model, rows) for model in have}

    def points(
        self, metric: str, temperature: float | None, model: str, rows: Iterable[str]
    ) -> dict[str, Point]:
        """Row -> value with its interval; undefined ones are left out."""
        cells = self.panels.get((metric, temperature), {}).get(model, {})
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
                facets[model] = Facet(clean(model), self.axis(metric), rows, series)
        return Temperatures(columns, cells, facets, without)

    def counts(self, cells: Iterable[Cell]) -> list[int]:
        """Questions behind values that are defined."""
        numbers = (words.count_of(cell) for cell in cells if words.finite(cell.value) is not None)
        return [n for n in numbers if n is not None]

    # Words

    def title(
        self, metric: str, temperature: float | None, cells: Sequence[Cell],
        without: Sequence[str], intervals: bool = True,
    ) -> str:  # fmt: skip
        """What a picture shows, of how many questions, and what it lacks."""
        name = words.metric_label(self.known.metric(metric)) + (
            "" if temperature is None else f" at temperature {temperature:g}"
        )
        bounded = any(cell.interval and cell.interval.low is not None for cell in cells)
        return words.joined(
            f"{self.name}: {name}",
            words.questions(self.counts(cells)),
            f"{self.level:.0%} intervals" if intervals and bounded else "",
            words.absent(without),
        )

    def alt(self, kind: str, title: str, finding: str, without: Sequence[str]) -> str:
        """The kind of picture, its title, what it shows, and every language it lacks."""
        listed = words.absent(without, most=None)
        tail = f" {listed[0].upper()}{listed[1:]}." if listed else ""
        return clean(f"{kind}. {title}. {finding}{tail}")


def point_of(cell: Cell) -> Point | None:
    """A cell's value with its interval; None if it is undefined."""
    value = words.finite(cell.value)
    if value is None:
        return None
    if cell.interval is None:
        return Point(value)
    return Point(value, words.finite(cell.interval.low), words.finite(cell.interval.high))


def split(cells: Iterable[Cell]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Languages that have a value somewhere, and those that have none."""
    cells = list(cells)
    present = {cell.language for cell in cells if words.finite(cell.value) is not None}
    return ordered(present), ordered({cell.language for cell in cells} - present)


def ordered(codes: Iterable[str]) -> tuple[str, ...]:
    """Languages in the report's one order; means over languages are left out."""
    return tuple(in_order(code for code in codes if is_language(code)))


def with_means(rows: Sequence[str], cells: Iterable[Cell]) -> tuple[str, ...]:
    """The same rows, and after them the means over languages: of all, and of each script."""
    known = {cell.language for cell in cells if words.finite(cell.value) is not None}
    means = (AVERAGE, *(f"script:{name}" for name in SCRIPT_GROUPS))
    return (*rows, *(mean for mean in means if mean in known))


def label_shares(cells: Mapping[str, Mapping[str, Cell]]) -> dict[str, dict[str, Point]]:
    """Label -> language -> share of all questions, those without a label among them.

    Labels are shares of what was labelled. A language with a label missing is left out, unless
    nothing was labelled.
    """
    known = {
        label: {code: point.value for code, cell in own.items() if (point := point_of(cell))}
        for label, own in cells.items()
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
