"""Conclusions as pictures, the report's first among them, and in words.

Worse than English is always to the left, whichever direction the metric has; units are
the hundredths of a share or score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from xling_tasks.languages import language_name
from xling_tasks.report.lines import worst_first
from xling_tasks.report.model import Conclusion
from xling_tasks.report.pictures.drawing import Drawing, Entry, Panel
from xling_tasks.report.pictures.style import LOOKS, alone, mark, verdict_mark
from xling_tasks.report.pictures.svg import (
    Scale,
    box,
    clean,
    join,
    label,
    line,
    percent,
    placed,
    signed,
    tag,
)
from xling_tasks.report.pictures.words import joined, questions
from xling_tasks.report.sentences import against_one, metric_of
from xling_tasks.report.tables.grid import dataset_title, times

_LEFT = 0.32  # Share of a panel's width that names of languages take.
_WIDE = 0.42
_MOST_NAMED = 4
_ENDPOINT = ("criterion", "metric")
ENGLISH = "English"
"""What conclusions are beside, where nothing else is said."""

MOST_MODELS = 3
"""With more, the first picture shows signs alone: a column for each model."""


def overview(
    conclusions: Sequence[Conclusion], level: float = 0.95, beside: str = ENGLISH
) -> Markup:
    """The report's first picture, as HTML for a page that has `style.css()`.

    A figure with a text alternative; empty if there is nothing to show.
    """
    drawing = overview_drawing(conclusions, level, beside)
    if drawing is None:
        return Markup("")
    return Markup('<figure class="overview">{}</figure>').format(drawing.html())


def overview_drawing(
    conclusions: Sequence[Conclusion], level: float = 0.95, beside: str = ENGLISH
) -> Drawing | None:
    """The same as a drawing; None if there is nothing to show."""
    if not conclusions:
        return None
    models = list(dict.fromkeys(item.model for item in conclusions))
    signs = len(models) > MOST_MODELS
    panels = _signs(conclusions, models) if signs else gap_panels(conclusions, beside)
    entries = legend(conclusions, level, signs=signs, beside=beside)
    if signs:
        for number, name in enumerate(models, start=1):
            shown = tag("text", str(number), kind="small soft middle", dy="0.35em")
            entries.append(Entry(alone(shown), name))
    return Drawing(panels, entries, columns=2)


def legend(
    conclusions: Iterable[Conclusion], level: float, *, signs: bool = False, beside: str = ENGLISH
) -> list[Entry]:
    """What the marks stand for, of verdicts that there are; and what line and shade are."""
    used = {item.verdict for item in conclusions}
    entries = [Entry(mark(name), look.name) for name, look in LOOKS.items() if name in used]
    if signs or used <= {"not_comparable"}:
        return entries
    rule = tag("line", x1=-7, x2=7, y1=0, y2=0, kind="interval")
    shade = tag("rect", x=-7, y=-5, width=14, height=10, kind="margin")
    sides = f"the language vs {ENGLISH}" if beside == ENGLISH else f"B vs {beside}"
    others = (
        (rule, f"{level:.0%} interval"),
        (shade, "counts as the same"),
        (Markup(""), f"numbers at the right-hand edge: {sides}, per 100 or as a score"),
    )
    return entries + [Entry(alone(what) if what else what, words) for what, words in others]


# Estimates with their intervals


def gap_panels(conclusions: Sequence[Conclusion], beside: str = ENGLISH) -> list[Panel]:
    """A panel per model, dataset and endpoint; models are groups if there are several.

    Languages stand in one order in all of them, the worst first, to be compared by eye.
    """
    codes = worst_first(conclusions)
    several = len({item.model for item in conclusions}) > 1
    panels = []
    for group in _in_groups(conclusions, "model", "dataset", *_ENDPOINT):
        own = sorted(group, key=lambda item: codes.index(item.language))
        endpoint = own[0].criterion, own[0].metric
        alike = [item for item in conclusions if (item.criterion, item.metric) == endpoint]
        model = clean(own[0].model) if several else ""
        panels.append(_panel(own, _scale(alike), model, beside))
    return panels


def _in_groups(conclusions: Sequence[Conclusion], *fields: str) -> list[list[Conclusion]]:
    """Conclusions that agree in these fields, in the order in which each field's values come."""
    first = [list(dict.fromkeys(getattr(item, field) for item in conclusions)) for field in fields]

    def place(item: Conclusion) -> tuple[int, ...]:
        named = zip(fields, first, strict=True)
        return tuple(values.index(getattr(item, field)) for field, values in named)

    return [list(group) for _, group in groupby(sorted(conclusions, key=place), key=place)]


def _scale(own: Sequence[Conclusion]) -> Scale:
    """One for all models and datasets of an endpoint; it holds the margins and 0."""
    ends = [end for item in own for end in oriented(item) if end is not None]
    margins = [100 * item.margin for item in own]
    # Room enough for a mark and a number at the outermost.
    return Scale.over([*ends, *margins, *(-margin for margin in margins)], room=0.1)


def _panel(own: Sequence[Conclusion], scale: Scale, group: str, beside: str) -> Panel:
    pitch = 16 if len(own) <= 14 else 15
    bottom = pitch * len(own)
    inside = [_row(item, scale, pitch * (i + 0.5), beside) for i, item in enumerate(own)]
    measured = any(item.estimate is not None for item in own)
    back, axis = _axis(own, scale, bottom) if measured else ([], [])
    field = tag(
        "svg", *back, *inside, x=percent(_LEFT), width=percent(_WIDE), height=bottom + 16,
        overflow="visible",
    )  # fmt: skip
    names = [
        label(language_name(item.language), _LEFT - 0.02, pitch * (i + 0.5), "end")
        for i, item in enumerate(own)
    ]
    values = [_value_label(item, pitch * (i + 0.5)) for i, item in enumerate(own)]
    title = metric_of(own[0]).heading
    height = bottom + (18 if measured else 2)
    body = join([field, *names, *values, *axis])
    return Panel(title, note(own), body, height, told(own, beside), group)


def _axis(
    own: Sequence[Conclusion], scale: Scale, bottom: float
) -> tuple[list[Markup], list[Markup]]:
    """Margin, zero and ticks behind the rows; and the words at both ends of the axis."""
    margin = 100 * own[0].margin
    alike = against_one(own[0])  # With English: there is no better than all.
    per_100 = metric_of(own[0]).per_100
    start, end = scale.at(-margin), scale.at(0 if alike else margin)
    back = [box(start, 0, end - start, bottom, "margin")]
    for tick in scale.ticks(4):
        if alike and tick > 0:
            continue
        at = scale.at(tick)
        back.append(line(at, 0, at, bottom + 2, "rule" if tick else "zero"))
        # At the very ends a number would run into the words beside it.
        if 0.04 < at < 0.93:
            shown = abs(tick) if per_100 else abs(tick) / 100
            back.append(label(f"{shown:g}", at, bottom + 10, "small soft middle"))
    unit = Markup('<tspan class="roomy">per 100: </tspan>') if per_100 else ""
    less = Markup("{}{}").format(unit, "less" if alike else "worse")
    words = [label(less, _LEFT - 0.02, bottom + 10, "small soft end")]
    if not alike:
        words.append(label("better", _LEFT + _WIDE + 0.02, bottom + 10, "small soft"))
    return back, words


def _row(item: Conclusion, scale: Scale, y: float, beside: str) -> Markup:
    estimate, low, high = oriented(item)
    parts = [tag("title", said(item, beside))]
    if estimate is None:
        parts += [
            placed(verdict_mark(item.verdict), 0.06, y),
            label(called(item.verdict, beside), 0.14, y, "small halo"),
        ]
        return tag("g", *parts)
    if low is not None and high is not None:
        dashed = " dashed" if item.verdict == "inconclusive" else ""
        parts.append(line(scale.at(low), y, scale.at(high), y, f"interval{dashed}"))
    parts.append(placed(verdict_mark(item.verdict), scale.at(estimate), y))
    return tag("g", *parts)


def _value_label(item: Conclusion, y: float) -> Markup:
    """Both sides at the right end; English's goes where there is no room for it."""
    own, versus, english = values_of(item).partition(" vs ")
    # As markup: a space at a text's start would be cleaned away.
    rest = [tag("tspan", escape(f"\u00a0vs {english}"), kind="roomy")] if versus else []
    return label(join([escape(own), *rest]), 1, y, "end")


# Signs alone


def _signs(conclusions: Sequence[Conclusion], models: Sequence[str]) -> list[Panel]:
    """A panel per dataset and endpoint: a row for each language, a column for each model."""
    codes = worst_first(conclusions)
    panels = []
    for own in _in_groups(conclusions, "dataset", *_ENDPOINT):
        there = {item.language for item in own}
        panels.append(_sign_panel(own, models, [code for code in codes if code in there]))
    return panels


def _sign_panel(own: Sequence[Conclusion], models: Sequence[str], codes: Sequence[str]) -> Panel:
    step = (1 - _LEFT) / len(models)
    parts = [
        label(str(number), _LEFT + step * (number - 0.5), 8, "small soft middle")
        for number in range(1, len(models) + 1)
    ]
    for i, code in enumerate(codes):
        y = 16 + 16 * (i + 0.5)
        parts.append(label(language_name(code), _LEFT - 0.02, y, "end"))
        parts.append(line(_LEFT, y + 8, 1, y + 8, "rule"))
    for item in own:
        at = _LEFT + step * (models.index(item.model) + 0.5)
        y = 16 + 16 * (codes.index(item.language) + 0.5)
        told_of = tag("title", f"{item.model}, {said(item)}")
        parts.append(tag("g", told_of, placed(verdict_mark(item.verdict), at, y)))
    found = Counter((item.model, item.verdict) for item in own)
    counts = [
        f"{name}: "
        + ", ".join(f"{found[name, kind]} {called(kind)}" for kind in LOOKS if found[name, kind])
        for name in models
    ]
    title = metric_of(own[0]).heading
    alt = clean(f"{title}, {note(own)}. Languages by verdict: {'; '.join(counts)}.")
    return Panel(title, note(own), join(parts), 18 + 16 * len(codes), alt)


# In words, for those who hear a picture or point at a part of it


def oriented(item: Conclusion) -> tuple[float | None, float | None, float | None]:
    """Estimate and the interval's ends in hundredths, negative where worse than English."""
    ends = (item.low, item.high) if item.higher_is_better else (item.high, item.low)
    sign = 100 if item.higher_is_better else -100
    estimate, low, high = (times(end, sign) for end in (item.estimate, *ends))
    return estimate, low, high


def values_of(item: Conclusion) -> str:
    """The language, then English: of a hundred, or as the score is."""
    if item.verdict == "not_comparable" or item.value is None or item.english is None:
        return ""
    own, english = _shown(item.value, item.english, metric_of(item).per_100)
    return own if against_one(item) else f"{own} vs {english}"


def _shown(value: float, english: float, per_100: bool) -> tuple[str, str]:
    """As sentences have them: with a decimal more where the two would look the same."""
    digits = 0 if abs(value - english) >= 0.01 or value == english else 1
    if per_100:
        return signed(100 * value, digits), signed(100 * english, digits)
    return signed(value, digits + 2), signed(english, digits + 2)


def note(own: Sequence[Conclusion]) -> str:
    """Data, questions, and what the numbers at the right are."""
    return joined(dataset_title(own[0].dataset), questions(item.n for item in own if item.n))


def called(verdict: str, beside: str = ENGLISH) -> str:
    """A verdict by itself, against English or what else it is beside."""
    return LOOKS[verdict].words.format(beside)


def said(item: Conclusion, beside: str = ENGLISH) -> str:
    """One language in words, for those who point at it."""
    name, words = language_name(item.language), called(item.verdict, beside)
    if item.estimate is None:
        return clean(f"{name}: {words}: {item.reason}")
    start = f"{name} {_with_unit(item)}" if values_of(item) else name
    return clean(f"{joined(start, _difference(item), words)}: {item.reason}")


def _with_unit(item: Conclusion) -> str:
    return f"{values_of(item)}{' per 100' if metric_of(item).per_100 else ''}"


def _difference(item: Conclusion) -> str:
    estimate, low, high = oriented(item)
    if estimate is None:
        return ""
    per_100 = metric_of(item).per_100
    side = "less" if against_one(item) else "worse" if estimate < 0 else "better"
    shown = _points(abs(estimate), per_100)
    unit = " per 100" if per_100 else ""
    text = f"{shown}{unit} {side}" if float(shown) else "no difference"
    if low is None or high is None:
        return text
    return f"{text}, interval {_points(low, per_100)} to {_points(high, per_100)}"


def _points(number: float, per_100: bool) -> str:
    """A difference in hundredths, or in the score's own unit."""
    return signed(number, 1) if per_100 else signed(number / 100, 3)


def told(own: Sequence[Conclusion], beside: str = ENGLISH) -> str:
    """A panel in two sentences: what is worse or better by how much, and what of the others."""
    parts = []
    for verdict in LOOKS:
        items = [item for item in own if item.verdict == verdict]
        if not items:
            continue
        names = [language_name(item.language) for item in items]
        if verdict in ("worse", "better"):
            items.sort(key=lambda item: -abs(item.estimate or 0.0))
            names = [
                f"{language_name(c.language)} ({_with_unit(c)}; {_difference(c)})" for c in items
            ]
        more = len(names) - _MOST_NAMED
        listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        parts.append(f"{called(verdict, beside)}: {listed}")
    place = f"{metric_of(own[0]).heading}, {note(own)}"
    said = "; ".join(parts)
    return clean(f"{place}. {said[:1].upper()}{said[1:]}.")
