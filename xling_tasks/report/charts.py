"""Numbers of the charts; `pages/charts.html` draws them, x in percent of the width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria import ENGLISH, DisplayText
from xling_tasks.report import words
from xling_tasks.report.words import Row, Telling


class Scale:
    """Numbers in percent of a width, with up to seven round ticks."""

    def __init__(self, numbers: Iterable[float | None], include: Sequence[float] = ()) -> None:
        present = [x for x in numbers if x is not None and math.isfinite(x)] + list(include)
        present = present or [0.0, 1.0]
        padding = 0.06 * (max(present) - min(present)) or 0.5
        self.low, self.high = min(present) - padding, max(present) + padding
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        self.ticks = [k * step for k in range(first, last + 1)]

    def __call__(self, value: float) -> float:
        """Return the place of a number in percent of the width."""
        return self.span(value - self.low)

    def span(self, size: float) -> float:
        """Return a distance in percent of the width."""
        return round(100 * size / (self.high - self.low), 2)


class ForestRow(NamedTuple):
    """A verdict in a forest plot, worse to the left."""

    v: Row
    told: Telling
    at: float | None
    low: float | None
    high: float | None
    difference: str
    interval: str
    both: str


class Forest(NamedTuple):
    """The differences of one metric, languages in the page's order."""

    text: DisplayText
    fewer: bool
    unit: str
    base: str
    rows: list[ForestRow]
    margin: tuple[float, float]
    zero: float
    ticks: list[tuple[float, str]]


def make_forest(verdicts: Sequence[Row], order: Sequence[str]) -> Forest:
    """Return a forest plot of the verdicts on one metric."""
    first, text = verdicts[0], words.display(verdicts[0])
    sign = 1 if first["higher_is_better"] else -1
    ends = [_turn(v, sign) for v in verdicts]
    edge = first["margin"]
    scale = Scale((x for element in ends for x in element), (-edge, edge))
    times = 100 if text.in_percent else 1
    position: Callable[[float | None], float | None] = lambda x: None if x is None else scale(x)  # noqa: E731
    rows = []
    for v, (at, low, high) in sorted(
        zip(verdicts, ends, strict=True), key=lambda item: order.index(item[0]["language"])
    ):
        difference = words.format_signed(v["estimate"], text, v["n"])
        rows.append(ForestRow(
            v, words.tell(v), position(at), position(low), position(high), difference,
            _interval(v, text), _both(v),
        ))  # fmt: skip
    ticks = [(scale(t), f"{abs(t) * times:.3g}") for t in scale.ticks]
    unit = words.words()["units"][text.unit][3]
    return Forest(
        text, sign < 0, unit, words.base_name(first), rows, (scale(-edge), scale.span(2 * edge)),
        scale(0.0), ticks,
    )  # fmt: skip


def _turn(v: Row, sign: int) -> tuple[float | None, float | None, float | None]:
    """Return estimate and interval, below 0 where worse."""
    ends = [None if v[key] is None else sign * v[key] for key in ("ci_low", "ci_high")]
    low, high = ends if None in ends else sorted(ends)  # type: ignore[type-var]
    return None if v["estimate"] is None else sign * v["estimate"], low, high


def _interval(v: Row, text: DisplayText) -> str:
    if v["ci_low"] is None or v["ci_high"] is None:
        return ""
    low, high = (words.format_signed(v[key], text, v["n"]) for key in ("ci_low", "ci_high"))
    return f"{low} to {high}"


def _both(v: Row) -> str:
    """Return the values of both sides: '64% / 100%'."""
    if v["value"] is None:
        return "–"
    if v["comparison"] == "gap":
        return " / ".join(words.format_signed(v[k], words.display(v)) for k in ("value", "english"))
    return " / ".join(words.format_value(v, key) for key in ("value", "english"))


class Point(NamedTuple):
    """A score at one temperature, in percent of width and height."""

    x: float
    y: float
    low: float | None
    high: float | None
    said: str


class Sweep(NamedTuple):
    """A metric over temperature: a metric_key for each language, with English in each."""

    text: DisplayText
    model: str
    english: list[Point]
    panels: list[tuple[str, list[Point]]]
    taus: list[tuple[float, str]]
    ticks: list[tuple[float, str]]


def make_sweep(scores: Sequence[Row], order: Sequence[str]) -> Sweep | None:
    """Return one metric of one model over temperature; None for a single temperature."""
    chosen = [s for s in scores if s["temperature"] is not None and s["value"] is not None]
    chosen = [s for s in chosen if ":" not in s["language"] and s["language"] != "avg"]
    taus = sorted({s["temperature"] for s in chosen})
    if len(taus) < 2:
        return None
    text = words.display(chosen[0])
    xs = Scale(taus)
    ys = Scale(x for s in chosen for x in (s["value"], s["ci_low"], s["ci_high"]))

    def line(code: str) -> list[Point]:
        rows = sorted((s for s in chosen if s["language"] == code), key=lambda s: s["temperature"])
        down: Any = lambda x: None if x is None else round(100 - ys(x), 2)  # noqa: E731
        return [
            Point(xs(s["temperature"]), down(s["value"]), down(s["ci_low"]), down(s["ci_high"]),
                  f"{words.format_number(s['value'], text)} at temperature {s['temperature']:g}")
            for s in rows
        ]  # fmt: skip

    present = {s["language"] for s in chosen}
    codes = [code for code in order if code in present] or ([ENGLISH] if ENGLISH in present else [])
    ticks = [(round(100 - ys(t), 2), words.format_number(t, text)) for t in ys.ticks]
    return Sweep(
        text, chosen[0]["model"], line(ENGLISH), [(code, line(code)) for code in codes],
        [(xs(tau), f"{tau:g}") for tau in taus], ticks,
    )  # fmt: skip
