"""What charts draw, and what they say: labels, numbers, and the finding for those who hear it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH, Metric
from xling_tasks.criteria.labels import IN_WORDS as LABELS
from xling_tasks.languages import language_name
from xling_tasks.output import many
from xling_tasks.report.model import Cell
from xling_tasks.report.pictures.svg import clean, signed
from xling_tasks.report.tables.grid import heading, is_language

_GROUPS = {"other": "other", "perso_arabic": "Perso-Arabic", "indic": "Indic", "latin": "Latin"}
_MOST_NAMED = 3
_MOST_MODELS = 4


class Point(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends; None where one is not known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class Facet:
    """One of a picture's axes: rows of languages, in each a value per series."""

    title: str  # Above it; empty for none.
    axis: str  # What its numbers are.
    rows: tuple[str, ...]  # Languages (or means over some) from top to bottom.
    # Model (or label) -> row -> value; what is undefined is absent.
    series: Mapping[str, Mapping[str, Point]]

    @property
    def points(self) -> list[Point]:
        """All its values."""
        return [point for by_row in self.series.values() for point in by_row.values()]


def metric_label(metric: Metric) -> str:
    """A metric in words, with the name that tables use."""
    return f"{metric.label} ({metric.name})" if metric.label else metric.name


def axis_words(metric: Metric, better: bool | None) -> str:
    """A metric with its unit and direction, for an axis."""
    unit = metric.range.replace("-", "\u2212")
    towards = "" if better is None else f"{'higher' if better else 'lower'} is better"
    return joined(f"{metric_label(metric)}{unit and ', '}{unit}", towards)


def row_label(row: str) -> str:
    """A language as `Hindi (hi)`; a mean over languages as one."""
    kind, _, name = row.partition(":")
    if name:
        return f"Mean: {_GROUPS.get(name, name)}"
    if row == AVERAGE:
        return "Mean: all"
    name = language_name(kind)
    return f"{name} ({kind})" if name != kind else kind


def title_of(criterion: str, dataset: str) -> str:
    """Criterion and dataset; the criterion alone where its name says enough."""
    return CRITERIA[criterion].title if dataset == "mmedbench" else heading(criterion, dataset)


def questions(counts: Iterable[int]) -> str:
    """`24 questions`, or from the fewest to the most; empty if unknown."""
    known = sorted(set(counts))
    if not known:
        return ""
    start = f"{known[0]:,} to " if len(known) > 1 else ""
    return start + many(known[-1], "question")


def number(value: float, scale: float) -> str:
    """A number with decimals for the largest beside it; a minus sign, and no negative zero."""
    digits = 1 if scale >= 10 else 3 if 0 < scale < 0.1 else 2
    return signed(value, digits)


def absent(rows: Sequence[str], *, most: int | None = _MOST_NAMED) -> str:
    """Which languages have no value; empty if all have."""
    if not rows:
        return ""
    shown = [row_label(row) for row in rows[:most]]
    more = len(rows) - len(shown)
    return f"no value for {', '.join(shown)}" + (f" and {more} more" if more else "")


def joined(*parts: str) -> str:
    """Those parts that are not empty."""
    return "; ".join(part for part in parts if part)


def per_model(findings: Mapping[str, str]) -> str:
    """A sentence per model, for the first few."""
    shown = [f"{clean(model)}: {text}." for model, text in findings.items() if text]
    more = len(shown) - _MOST_MODELS
    others = [f"{many(more, 'more model')}."] if more > 0 else []
    return " ".join([*shown[:_MOST_MODELS], *others])


def extremes(points: Mapping[str, Point], level: float, better: bool | None) -> str:
    """The best and the worst language; each with its interval."""
    own = {row: point for row, point in points.items() if is_language(row)}
    if not own:
        return ""
    scale = max(abs(point.value) for point in own.values())
    low = min(own, key=lambda row: own[row].value)
    high = max(own, key=lambda row: own[row].value)
    if own[low].value == own[high].value:
        every = "all languages" if len(own) > 1 else row_label(low)
        return f"{every} {number(own[low].value, scale)}"
    names = {True: ("worst", "best"), False: ("best", "worst"), None: ("lowest", "highest")}[better]
    ends = [
        f"{name} {row_label(row)} {_valued(own[row], scale, level)}"
        for name, row in zip(names, (low, high), strict=True)
    ]
    parts = ends if better is not False else ends[::-1]
    if ENGLISH in own and ENGLISH not in (low, high):
        parts.append(f"English {number(own[ENGLISH].value, scale)}")
    if AVERAGE in points:
        parts.append(f"mean of all {number(points[AVERAGE].value, scale)}")
    return "; ".join(parts)


def _valued(point: Point, scale: float, level: float) -> str:
    text = number(point.value, scale)
    if point.interval is None:
        return text
    low, high = (number(end, scale) for end in point.interval)
    return f"{text} ({level:.0%} interval {low} to {high})"


def over_temperature(facet: Facet, columns: Sequence[float]) -> str:
    """The language that changes most from the lowest to the highest temperature it has."""
    changes: dict[str, list[tuple[float, float]]] = {}
    for t, points in zip(columns, facet.series.values(), strict=True):
        for row, point in points.items():
            changes.setdefault(row, []).append((t, point.value))
    if not changes:
        return ""
    row = max(changes, key=lambda r: abs(changes[r][-1][1] - changes[r][0][1]))
    (t0, first), (t1, last) = changes[row][0], changes[row][-1]
    values = [point.value for point in facet.points]
    scale = max(map(abs, values))
    span = f"values from {number(min(values), scale)} to {number(max(values), scale)}"
    if t0 == t1:
        return span
    if first == last:
        return f"{span}; every language as high at its highest temperature as at its lowest"
    start, end = number(first, scale), number(last, scale)
    ends = f"from {start} at temperature {t0:g} to {end} at temperature {t1:g}"
    return f"{span}; largest change: {row_label(row)} {ends}"


def shares(facet: Facet) -> str:
    """Per language the commonest label, and how often the judge or the model gave none."""
    parts = []
    for row in facet.rows:
        own = {label: points[row].value for label, points in facet.series.items() if row in points}
        most = max(own, key=lambda label: own[label])
        none = [LABELS[key] for key in ("no_response", "no_majority", "judge_failed_rate")]
        said = [most, *(label for label in none if label != most and own.get(label))]
        listed = ", ".join(f"{own[label]:.0%} {label}" for label in said)
        parts.append(f"{row_label(row)} {listed}")
    return "; ".join(parts)


def count_of(cell: Cell) -> int | None:
    """Questions behind a value."""
    if cell.interval is not None:
        return cell.interval.n
    return len(cell.task.ids) or None


def finite(value: float | None) -> float | None:
    """The value; None for one that is not finite."""
    return value if value is not None and math.isfinite(value) else None
