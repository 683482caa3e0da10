"""The pictures of a report: which are drawn and what they say; `charts` draws them.

Of each criterion and dataset a few, of its headline metrics; the tables have everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from xling_tasks.criteria import AVERAGE, CRITERIA
from xling_tasks.criteria.labels import IN_WORDS as LABELS
from xling_tasks.report.model import Report
from xling_tasks.report.pictures import charts, words
from xling_tasks.report.pictures.board import (
    Board,
    label_shares,
    ordered,
    split,
    with_means,
)
from xling_tasks.report.pictures.drawing import Drawing, Entry, Panel
from xling_tasks.report.pictures.svg import Scale, clean
from xling_tasks.report.pictures.verdicts import gap_panels, legend, overview_drawing
from xling_tasks.report.pictures.words import Facet

_KINDS = {
    "dots": "Dots",
    "lines": "Lines over temperature",
    "labels": "Stacked bars",
}
_MOST_LINES = 8
_SAME = 0.0005


class Picture(NamedTuple):
    """A picture of a report."""

    key: str  # Its name in file names and anchors: letters, digits, underscores.
    section: str  # A key of `CRITERIA`; `summary` for that of all conclusions.
    title: str  # What it shows, and of how many questions.
    alt: str  # Its main finding in words.
    drawing: Drawing  # What it is made of.

    @property
    def html(self) -> Markup:
        """The picture for a page that has `style.css()`; its title stands outside of it."""
        return self.drawing.html()


def summary(report: Report) -> Picture | None:
    """The picture of all conclusions; None if there is none."""
    level = report.options.level
    drawing = overview_drawing(report.conclusions, level)
    if drawing is None:
        return None
    title = f"Difference from English; {level:.0%} intervals; left is worse than English"
    return Picture("summary", "summary", title, _told(drawing.panels), drawing)


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
    for drawn in board.known.pictures:
        if drawn.kinds == "labels":
            yield _stacks(board)
        there = [metric for metric in drawn.metrics if board.temperatures(metric)]
        for metric in {"first": there[:1], "last": there[-1:], "each": there}[drawn.pick]:
            if (drawn.kinds, metric) not in seen:
                seen.add((drawn.kinds, metric))
                made = (_DRAW[kind](board, metric) for kind in drawn.kinds.split())
                yield next((picture for picture in made if picture is not None), None)


def _picture(
    board: Board, kind: str, metric: str, title: str, alt: str, drawing: Drawing
) -> Picture:
    key = "_".join(filter(None, (board.key, kind, metric)))
    return Picture(key, board.criterion, title, alt, drawing)


def _of_models(
    board: Board, kind: str, metric: str, title: str, without: Sequence[str],
    facets: Mapping[str, Facet], told: Mapping[str, str], panel: Callable[[Facet, str], Panel],
    legend: Sequence[Entry] = (),
) -> Picture:  # fmt: skip
    """A picture with a panel for each model, and what is to say of it."""
    alt = board.alt(_KINDS[kind], title, words.per_model(told), without)
    panels = [
        panel(facet, clean(f"{board.name}, {metric or kind}, {model}: {told[model]}."))
        for model, facet in facets.items()
    ]
    return _picture(board, kind, metric, title, alt, Drawing(panels, legend))


def _gaps(board: Board) -> Picture | None:
    """The criterion's conclusions: difference from English, interval, margin and verdict."""
    place = (board.criterion, board.dataset)
    own = [item for item in board.report.conclusions if (item.criterion, item.dataset) == place]
    if not own:
        return None
    panels = gap_panels(own)
    title = words.joined(
        f"{board.name}: difference from English, left is worse than English",
        words.questions(item.n for item in own if item.n),
        f"{board.level:.0%} intervals",
    )
    alt = board.alt(_KINDS["dots"], title, _told(panels), ())
    drawing = Drawing(panels, legend(own, board.level), columns=2)
    return _picture(board, "gaps", "", title, alt, drawing)


def _told(panels: Sequence[Panel]) -> str:
    return " ".join(f"{panel.group}: {panel.alt}".removeprefix(": ") for panel in panels)


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
    told = {model: words.extremes(own, board.level, better) for model, own in series.items()}
    alt = board.alt(_KINDS["dots"], title, words.per_model(told), without)
    panel = charts.dots(Facet("", board.axis(metric), rows, series), board.everyone, alt)
    drawing = Drawing([panel], charts.models_legend(series, board.everyone))
    return _picture(board, "dots", metric, title, alt, drawing)


def _says_nothing(values: Iterable[float | None]) -> bool:
    """Whether a picture would show one value alone, or the same everywhere."""
    known = [value for value in map(words.finite, values) if value is not None]
    return len(known) < 2 or max(known) - min(known) < _SAME


def _lines(board: Board, metric: str) -> Picture | None:
    """Lines over temperature; dots for many languages or one temperature."""
    shown = board.over_temperature(metric)
    if shown is None or len(next(iter(shown.facets.values())).rows) > _MOST_LINES:
        return _dots(board, metric)
    columns, rows = shown.columns, next(iter(shown.facets.values())).rows
    scale = Scale.over(end for point in shown.points for end in point if end is not None)
    title = board.title(metric, None, shown.cells, shown.without)
    told = {model: words.over_temperature(facet, columns) for model, facet in shown.facets.items()}
    return _of_models(
        board, "lines", metric, title, shown.without, shown.facets, told,
        lambda facet, alt: charts.lines(facet, columns, scale, alt), charts.rows_legend(rows),
    )  # fmt: skip


def _stacks(board: Board) -> Picture | None:
    """Shares of the judge's labels per language and model."""
    facets: dict[str, Facet] = {}
    # Only juries have a share without a majority, and only they need a place in the legend.
    shown = [label for label in LABELS if label != "no_majority" or board.at(label, None)]
    for model in board.models:
        cells = {label: board.panels.get((label, None), {}).get(model, {}) for label in shown}
        by_label = {LABELS[label]: own for label, own in label_shares(cells).items()}
        if rows := ordered({row for own in by_label.values() for row in own}):
            facets[model] = Facet(clean(model), "share of all questions, %", rows, by_label)
    if not facets:
        return None
    every = [cell for label in LABELS for cell in board.at(label, None)]
    used = {row for facet in facets.values() for row in facet.rows}
    without = ordered({cell.language for cell in every} - used)
    title = words.joined(
        f"{board.name}: the judge's labels, each answer compared with the reference",
        words.questions(board.counts(board.at("judge_failed_rate", None) or every)),
        words.absent(without),
    )
    told = {model: words.shares(facet) for model, facet in facets.items()}
    entries = charts.labels_legend(LABELS[label] for label in shown)
    return _of_models(board, "labels", "", title, without, facets, told, charts.stacks, entries)


_DRAW = {"dots": _dots, "lines": _lines}
