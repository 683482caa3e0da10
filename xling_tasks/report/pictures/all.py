"""The pictures of a report: which are drawn and what they say; `charts` draws them.

Of each criterion and dataset a few, of its headline metrics; the tables have everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from markupsafe import Markup

from xling_tasks.criteria import AVERAGE, CRITERIA
from xling_tasks.criteria.labels import IN_WORDS as LABELS
from xling_tasks.report.model import Report
from xling_tasks.report.pictures import charts
from xling_tasks.report.pictures.board import (
    Board,
    Temperatures,
    label_shares,
    ordered,
    own_values,
    split,
    with_means,
)
from xling_tasks.report.pictures.drawing import Drawing, Panel
from xling_tasks.report.pictures.overview import legend, overview_drawing
from xling_tasks.report.pictures.series import Facet, Point
from xling_tasks.report.pictures.svg import Scale, clean
from xling_tasks.report.pictures.verdicts import gap_panels
from xling_tasks.report.pictures.words import (
    absent,
    axis_words,
    extremes,
    finite,
    joined,
    middles,
    over_temperature,
    per_model,
    questions,
    shares,
)

_MOST_LINES = 8
_SAME = 0.0005


class Picture(NamedTuple):
    """A picture of a report.

    Attributes:
        key: Its name in file names and anchors: letters, digits, underscores.
        section: A key of `CRITERIA`; `summary` for that of all conclusions.
        title: What it shows, and of how many questions.
        alt: Its main finding in words.
        drawing: What it is made of.
    """

    key: str
    section: str
    title: str
    alt: str
    drawing: Drawing

    @property
    def html(self) -> Markup:
        """The picture for a page that has `style.css()`; its title stands outside of it."""
        return self.drawing.html()

    def svg(self, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """The picture by itself, as a file; `names` are written in place of models' names."""
        return self.drawing.svg(self.title, self.alt, names)


def summary(report: Report) -> Picture | None:
    """The picture of all conclusions; None if there is none."""
    level = report.options.level
    drawing = overview_drawing(report.conclusions, level)
    if drawing is None:
        return None
    title = f"Difference from English; {level:.0%} intervals; left is worse than English"
    alt = " ".join(f"{panel.group}: {panel.alt}".removeprefix(": ") for panel in drawing.panels)
    return Picture("summary", "summary", title, alt, drawing)


def pictures(report: Report) -> list[Picture]:
    """All pictures of a report's criteria, in its order; none for what has no values."""
    places = {(cell.panel.criterion, cell.panel.dataset) for cell in report.cells}
    order = {criterion: index for index, criterion in enumerate(CRITERIA)}
    made: list[Picture | None] = []
    for criterion, dataset in sorted(places, key=lambda place: (order[place[0]], place[1])):
        made += _of_board(Board(report, criterion, dataset))
    return [picture for picture in made if picture is not None]


def _of_board(board: Board) -> Iterator[Picture | None]:
    """Every picture, the most important first; None where there is nothing to show."""
    seen: set[tuple[str, str]] = set()
    yield _gaps(board)
    for drawn in CRITERIA[board.criterion].pictures:
        if drawn.kinds == "labels":
            yield _stacks(board)
        there = [metric for metric in drawn.metrics if board.temperatures(metric)]
        own = {"first": there[:1], "last": there[-1:], "each": there}[drawn.pick]
        for metric in own:
            key = drawn.kinds, metric
            if key not in seen:
                seen.add(key)
                yield _first_of(board, *key)


def _first_of(board: Board, kinds: str, metric: str) -> Picture | None:
    """The first kind of picture that there are values for."""
    made = (_DRAW[kind](board, metric) for kind in kinds.split())
    return next((picture for picture in made if picture is not None), None)


def _picture(
    board: Board, kind: str, metric: str, title: str, alt: str, drawing: Drawing
) -> Picture:
    key = "_".join(filter(None, (*board.prefix, kind, metric)))
    return Picture(key, board.criterion, title, alt, drawing)


def _gaps(board: Board) -> Picture | None:
    """The criterion's conclusions: difference from English, interval, margin and verdict."""
    own = [
        item for item in board.report.conclusions if (item.criterion, item.dataset) == board.prefix
    ]
    if not own:
        return None
    panels = gap_panels(own)
    title = joined(
        f"{board.name}: difference from English, left is worse than English",
        questions(item.n for item in own if item.n),
        f"{board.level:.0%} intervals",
    )
    told = " ".join(f"{panel.group}: {panel.alt}".removeprefix(": ") for panel in panels)
    alt = board.alt("Dots", title, told, ())
    return _picture(
        board, "gaps", "", title, alt, Drawing(panels, legend(own, board.level), columns=2)
    )


def _dots(board: Board, metric: str) -> Picture | None:
    """A metric by language, models below each other; means over languages last."""
    temperature = board.shown_temperature(metric)
    cells = board.at(metric, temperature)
    rows, without = split(cells)
    if _says_nothing(cell.value for cell in cells):
        return None
    if any(cell.language == AVERAGE for cell in cells):
        rows = with_means(rows, cells)
    better = board.better(metric)
    series = board.series(metric, temperature, rows)
    title = board.title(metric, temperature, cells, without)
    told = {model: extremes(own, board.level, better) for model, own in series.items()}
    alt = board.alt("Dots", title, per_model(told), without)
    facet = Facet("", axis_words(board.about(metric), better), rows, series)
    drawing = Drawing(
        [charts.dots(facet, board.models, alt)], charts.models_legend(series, board.models)
    )
    return _picture(board, "dots", metric, title, alt, drawing)


def _says_nothing(values: Iterable[float | None]) -> bool:
    """Whether a picture would show one value alone, or the same everywhere."""
    known = [value for value in map(finite, values) if value is not None]
    return len(known) < 2 or max(known) - min(known) < _SAME


def _over_temperature(
    board: Board, metric: str, shown: Temperatures
) -> tuple[dict[str, Facet], dict[str, str]]:
    """Per model its part of the picture, and what is to say of it."""
    axis = axis_words(board.about(metric), board.better(metric))
    facets = {
        model: Facet(clean(model), axis, facet.rows, facet.series)
        for model, facet in shown.facets.items()
    }
    return facets, {model: over_temperature(f, shown.columns) for model, f in facets.items()}


def _heat(board: Board, metric: str) -> Picture | None:
    """A metric by language and temperature; None for fewer than two temperatures."""
    shown = board.over_temperature(metric)
    if shown is None:
        return None
    title = board.title(metric, None, shown.cells, shown.without, intervals=False)
    facets, told = _over_temperature(board, metric, shown)
    alt = board.alt("Map of language by temperature", title, per_model(told), shown.without)
    values = [
        point.value for f in facets.values() for row in f.series.values() for point in row.values()
    ]
    if _says_nothing(values):
        return None
    span = min(values), max(values)
    panels = [
        charts.heat(facet, shown.columns, span, _part(board, metric, model, told[model]))
        for model, facet in facets.items()
    ]
    return _picture(board, "heat", metric, title, alt, Drawing(panels))


def _lines(board: Board, metric: str) -> Picture | None:
    """Lines over temperature; a map for many languages, dots for one temperature."""
    shown = board.over_temperature(metric)
    if shown is None or len(next(iter(shown.facets.values())).rows) > _MOST_LINES:
        return _heat(board, metric) or _dots(board, metric)
    title = board.title(metric, None, shown.cells, shown.without)
    facets, told = _over_temperature(board, metric, shown)
    alt = board.alt("Lines over temperature", title, per_model(told), shown.without)
    scale = Scale.over(_values(list(facets.values())))
    panels = [
        charts.lines(facet, shown.columns, scale, _part(board, metric, model, told[model]))
        for model, facet in facets.items()
    ]
    rows = next(iter(facets.values())).rows
    return _picture(board, "lines", metric, title, alt, Drawing(panels, charts.rows_legend(rows)))


def _part(board: Board, metric: str, model: str, told: str) -> str:
    """The text alternative of one model's part."""
    return clean(f"{board.name}, {metric}, {model}: {told}.")


def _values(facets: Sequence[Facet]) -> list[float]:
    """All values with the ends of their intervals."""
    return [
        end
        for facet in facets
        for by_row in facet.series.values()
        for point in by_row.values()
        for end in point
        if end is not None
    ]


def _boxes(board: Board, metric: str) -> Picture | None:
    """The questions' own values by language; none for metrics that are yes or no."""
    temperature = board.shown_temperature(metric)
    cells = [cell for cell in board.at(metric, temperature) if ordered([cell.language])]
    series: dict[str, dict[str, list[float]]] = {}
    for cell in cells:
        if values := own_values(cell):
            series.setdefault(cell.model, {})[cell.language] = values
    every = {v for by_row in series.values() for values in by_row.values() for v in values}
    if every <= {0.0, 1.0} or sum(map(len, series.values())) < 2:
        return None
    rows = ordered({row for by_row in series.values() for row in by_row})
    without = ordered({cell.language for cell in cells} - set(rows))
    shown = [cell for cell in cells if cell.language in rows]
    title = board.title(metric, temperature, shown, without, intervals=False)
    title = f"Question by question: {title}"
    alt = board.alt("Box plots", title, middles(series), without)
    points: dict[str, dict[str, Point]] = {model: {} for model in series}
    facet = Facet("", axis_words(board.about(metric), board.better(metric)), rows, points)
    drawing = Drawing(
        [charts.boxes(facet, series, board.models, alt)], charts.boxes_legend(series, board.models)
    )
    return _picture(board, "boxes", metric, title, alt, drawing)


def _stacks(board: Board) -> Picture | None:
    """Shares of the judge's labels per language and model."""
    facets: dict[str, Facet] = {}
    # Only juries have a share without a majority, and only they need a place in the legend.
    shown = [label for label in LABELS if label != "no_majority" or board.at(label, None)]
    for model in board.models:
        cells = {label: board.cells.get((label, None), {}).get(model, {}) for label in shown}
        by_label = {LABELS[label]: own for label, own in label_shares(cells).items()}
        if rows := ordered({row for own in by_label.values() for row in own}):
            facets[model] = Facet(clean(model), "share of all questions, %", rows, by_label)
    if not facets:
        return None
    every = [cell for label in LABELS for cell in board.at(label, None)]
    used = {row for facet in facets.values() for row in facet.rows}
    without = ordered({cell.language for cell in every} - used)
    title = joined(
        f"{board.name}: the judge's labels, each answer compared with the reference",
        questions(board.counts(board.at("judge_failed_rate", None) or every)),
        absent(without),
    )
    told = {model: shares(facet) for model, facet in facets.items()}
    alt = board.alt("Stacked bars", title, per_model(told), without)
    panels: list[Panel] = [
        charts.stacks(facet, _part(board, "labels", model, told[model]))
        for model, facet in facets.items()
    ]
    legend_of = charts.labels_legend(LABELS[label] for label in shown)
    return _picture(board, "labels", "", title, alt, Drawing(panels, legend_of))


_DRAW = {"dots": _dots, "heat": _heat, "lines": _lines, "boxes": _boxes}
