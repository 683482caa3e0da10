"""The kinds of pictures, from plain numbers; which ones a report has, `all` decides.

Each function gives a panel: rows of languages from top to bottom, values from left to right.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from xling_tasks.report.pictures.drawing import Entry, Panel
from xling_tasks.report.pictures.style import (
    LABEL_KINDS,
    series_mark,
    series_sign,
    swatch,
)
from xling_tasks.report.pictures.svg import (
    Scale,
    box,
    join,
    label,
    line,
    percent,
    placed,
    signed,
    tag,
)
from xling_tasks.report.pictures.words import Facet, Point, number, row_label
from xling_tasks.report.tables.grid import is_language

_LEFT, _WIDE = 0.34, 0.48
_PITCH = 17
_CLOSE = 12.5
_LEAST_PRINTED = 0.12
_LINES_HEIGHT = 170


def dots(facet: Facet, every: Sequence[str], alt: str) -> Panel:
    """Values with their intervals: model -> language -> value, each model with its own mark.

    Of `every` model of the report, so that each looks the same in every picture.
    """
    pitch = _pitch(len(facet.series))
    scale = Scale.over(end for point in facet.points for end in point if end is not None)
    largest = max(abs(point.value) for point in facet.points)
    inside, numbers = [], []
    for model, row, y in _places(facet, pitch):
        point = facet.series[model].get(row)
        if point is None:
            inside.append(label("no value", 0.02, y, "small soft"))
            continue
        inside.append(_dot(point, scale, y, every.index(model), row_label(row)))
        numbers.append(label(number(point.value, largest), 1, y, "end"))
    return _rows_panel(facet, scale, inside, numbers, pitch, alt)


def _dot(point: Point, scale: Scale, y: float, index: int, name: str) -> Markup:
    told, drawn = f"{name}: {signed(point.value, 3)}", []
    if point.interval:
        low, high = point.interval
        told += f", interval {signed(low, 3)} to {signed(high, 3)}"
        drawn = [line(scale.at(low), y, scale.at(high), y, "interval")]
    return tag(
        "g", tag("title", told), *drawn, placed(series_mark(index), scale.at(point.value), y)
    )


def stacks(facet: Facet, alt: str) -> Panel:
    """Shares that make up a whole: a bar for each language."""
    inside = []
    for y, row in enumerate(facet.rows):
        reached = 0.0
        for name, by_row in facet.series.items():
            if row in by_row:
                share = by_row[row].value
                inside.append(_segment(name, share, reached, _PITCH * (y + 0.5), row_label(row)))
                reached += share
    ticks, below = ((0.0, "0%"), (0.5, "50%"), (1.0, "100%")), _PITCH * len(facet.rows) + 10
    axis = [label(text, at, below, "small soft middle") for at, text in ticks]
    return _rows_panel(facet, Scale(0.0, 1.0), inside, [], _PITCH, alt, axis)


def _segment(name: str, share: float, start: float, y: float, row: str) -> Markup:
    kind, ink = LABEL_KINDS[name]
    parts = [
        tag("title", f"{row}: {share:.0%} {name}"),
        box(start, y - 7, share, 14, f"{kind} edge"),
    ]
    if share >= _LEAST_PRINTED:
        parts.append(label(f"{share:.0%}", start + share / 2, y, f"small middle {ink}"))
    return tag("g", *parts)


def lines(facet: Facet, columns: Sequence[float], scale: Scale, alt: str) -> Panel:
    """Temperature -> language -> value, a line for each language with its own mark.

    The scale, from bottom to top, is the same for all panels of a picture.
    """
    across = Scale.over(columns, room=0.06)
    ticks = scale.ticks(5)
    parts = [line(0, _up(scale, tick), 1, _up(scale, tick), "rule") for tick in ticks]
    for tau in columns:
        parts.append(label(f"{tau:g}", across.at(tau), _LINES_HEIGHT + 10, "small soft middle"))
    for index, row in enumerate(facet.rows):
        shift = 0.008 * (index - (len(facet.rows) - 1) / 2)
        places = [across.at(tau) + shift for tau in columns]
        points = [by_row.get(row) for by_row in facet.series.values()]
        parts += _line_of(points, places, scale, index)
    largest = max(map(abs, ticks), default=1.0)
    left = [
        label(number(tick, largest), 0.085, _up(scale, tick), "small soft end") for tick in ticks
    ]
    left.append(label("temperature", 0.085, _LINES_HEIGHT + 24, "small soft"))
    field = tag("svg", *parts, x="10%", width="89%", height=_LINES_HEIGHT + 20, overflow="visible")
    return Panel(facet.title, facet.axis, join([field, *left]), _LINES_HEIGHT + 32, alt)


def _up(scale: Scale, value: float) -> float:
    return round(_LINES_HEIGHT * (1 - scale.at(value)), 2)


def _line_of(
    points: Sequence[Point | None], places: Sequence[float], scale: Scale, index: int
) -> Iterable[Markup]:
    """One language: its line, intervals and marks; a gap where a value is missing."""
    color = f"l{index % 8 + 1}"
    known = list(zip(points, places, strict=True))
    for (one, x1), (two, x2) in itertools.pairwise(known):
        if one is not None and two is not None:
            yield line(x1, _up(scale, one.value), x2, _up(scale, two.value), color)
    for point, x in known:
        if point is None:
            continue
        if point.interval:
            low, high = (_up(scale, end) for end in point.interval)
            yield line(x, low, x, high, "interval")
        yield placed(series_mark(index), x, _up(scale, point.value))


# Legends


def models_legend(models: Iterable[str], every: Sequence[str]) -> list[Entry]:
    """Each model's mark."""
    return [Entry(series_sign(every.index(model)), model) for model in models]


def rows_legend(rows: Sequence[str]) -> list[Entry]:
    """Each language's mark, where languages are lines."""
    return [Entry(series_sign(index), row_label(row)) for index, row in enumerate(rows)]


def labels_legend(labels: Iterable[str]) -> list[Entry]:
    """Each label's colour, in the order of the bars."""
    return [Entry(swatch(f"{LABEL_KINDS[name][0]} edge"), name) for name in labels]


# Rows of languages


def _pitch(series: int) -> float:
    return _PITCH if series == 1 else _CLOSE * series + 6


def _places(facet: Facet, pitch: float) -> Iterable[tuple[str, str, float]]:
    """Model, row and y of every value that may be there."""
    for i, row in enumerate(facet.rows):
        for j, model in enumerate(facet.series):
            own = (j - (len(facet.series) - 1) / 2) * _CLOSE
            yield model, row, pitch * (i + 0.5) + own


def _row_name(row: str, index: int, pitch: float) -> Markup:
    kind = "end" if is_language(row) else "end small bold"
    name = row_label(row)
    mean, sign, group = name.partition(": ")
    if sign and ":" in row:
        # Where there is little room the group's name has it; that it is a mean its weight says.
        name = tag("tspan", Markup(mean + sign), kind="ample") + group
    return label(name, _LEFT - 0.02, pitch * (index + 0.5), kind)


def _rows_panel(
    facet: Facet, scale: Scale, inside: Sequence[Markup], numbers: Sequence[Markup],
    pitch: float, alt: str, axis: Sequence[Markup] = (),
) -> Panel:  # fmt: skip
    """Languages at the left, what is inside, numbers at the right, an axis below."""
    bottom = pitch * len(facet.rows)
    names = [_row_name(row, i, pitch) for i, row in enumerate(facet.rows)]
    back = [] if axis else _ticks(scale, bottom)
    wide = _WIDE if numbers else 1 - _LEFT - 0.04
    field = tag(
        "svg", *back, *axis, *inside, x=percent(_LEFT), width=percent(wide), height=bottom + 18,
        overflow="visible",
    )  # fmt: skip
    return Panel(facet.title, facet.axis, join([field, *names, *numbers]), bottom + 20, alt)


def _ticks(scale: Scale, bottom: float) -> list[Markup]:
    ticks = scale.ticks(5)
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=1.0)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    drawn = []
    for tick in ticks:
        at = scale.at(tick)
        drawn.append(line(at, 0, at, bottom + 2, "zero" if tick == 0 else "rule"))
        drawn.append(label(signed(tick, digits), at, bottom + 10, "small soft middle"))
    return drawn
