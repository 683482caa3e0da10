"""Numbers of the charts; `pages/charts.html` draws them, x in percent of the width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
    note: str


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
    edge, sign = first["margin"], 1 if first["higher_is_better"] else -1
    keys = ("estimate", "ci_low", "ci_high")
    scale = Scale((None if v[key] is None else sign * v[key] for v in verdicts for key in keys),
                  (-edge, edge))  # fmt: skip
    rows = []
    for v in sorted(verdicts, key=lambda v: order.index(v["language"])):
        at, *ends = (None if v[key] is None else scale(sign * v[key]) for key in keys)
        low, high = ends if None in ends else sorted(ends)  # type: ignore[type-var]
        estimate, *shown = (words.format_signed(v[key], text) for key in keys)
        is_gap = v["comparison"] == "gap"
        both = " / ".join(
            words.format_signed(v[key], text)
            if is_gap
            else words.format_number(v[key], text)
            if "above_chance" in v["tags"]
            else words.format_value(v, key)
            for key in ("value", "english")
        )
        rows.append(ForestRow(
            v, words.tell(v), at, low, high, estimate, "" if None in ends else " to ".join(shown),
            "–" if v["value"] is None else both, words.note_temperature(v, verdicts),
        ))  # fmt: skip
    times, unit = 100 if text.in_percent else 1, words.words()["units"][text.unit][3]
    if "above_chance" in first["tags"]:
        unit += f", {words.words()['tags']['above_chance']}"
    return Forest(
        text, sign < 0, unit, words.base_name(first), rows,
        (scale(-edge), scale.span(2 * edge)), scale(0.0),
        [(scale(tick), f"{abs(tick) * times:.3g}") for tick in scale.ticks],
    )  # fmt: skip


class Point(NamedTuple):
    """A score at one temperature, in percent of width and height."""

    x: float
    y: float
    low: float | None
    high: float | None
    said: str


class Sweep(NamedTuple):
    """A metric over temperature: a panel for each language, with English in each."""

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
