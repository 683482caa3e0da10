"""The report's first picture: all conclusions, of one model or of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup

from xling_tasks.languages import language_name
from xling_tasks.pages.door import behind
from xling_tasks.report.lines import worst_first
from xling_tasks.report.model import Conclusion
from xling_tasks.report.pictures.drawing import Drawing, Entry, Panel
from xling_tasks.report.pictures.style import LOOKS, alone, mark, verdict_mark
from xling_tasks.report.pictures.svg import clean, join, label, line, placed, tag
from xling_tasks.report.pictures.verdicts import (
    ENGLISH,
    LEFT,
    called,
    endpoint_of,
    gap_panels,
    in_report_order,
    note,
    said,
)
from xling_tasks.report.sentences import metric_of

MOST_MODELS = 3
"""With more, the first picture shows signs alone: a column for each model."""


def overview(
    conclusions: Sequence[Conclusion], level: float = 0.95, beside: str = ENGLISH
) -> Markup:
    """The report's first picture, as HTML for a page that has `style.css()`.

    Args:
        conclusions: Those to show: of a report, or of one language.
        level: Coverage of their intervals.
        beside: What they are against.

    Returns:
        A figure with a text alternative; empty if there is nothing to show.
    """
    drawing = overview_drawing(conclusions, level, beside)
    return Markup("") if drawing is None else _figure(drawing)


def _figure(drawing: Drawing) -> Markup:
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
        entries += [Entry(alone(_number(i)), name) for i, name in enumerate(models, start=1)]
    return Drawing(panels, entries, columns=2)


def _number(number: int) -> Markup:
    """A model's number in place of its name."""
    return tag("text", str(number), kind="small soft middle", dy="0.35em")


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
    said = (
        (rule, f"{level:.0%} interval"),
        (shade, "counts as the same"),
        (Markup(""), f"numbers at the right-hand edge: {sides}, per 100 or as a score"),
    )
    return entries + [Entry(alone(what) if what else what, words) for what, words in said]


# Signs alone


def _signs(conclusions: Sequence[Conclusion], models: Sequence[str]) -> list[Panel]:
    """A panel per dataset and endpoint: a row for each language, a column for each model."""
    ordered = in_report_order(conclusions, by_model=False)
    codes = worst_first(conclusions)
    panels = []
    for _, group in groupby(ordered, key=lambda c: (c.dataset, *endpoint_of(c))):
        own = list(group)
        there = {item.language for item in own}
        panels.append(_sign_panel(own, models, [code for code in codes if code in there]))
    return panels


def _sign_panel(own: Sequence[Conclusion], models: Sequence[str], codes: Sequence[str]) -> Panel:
    step = (1 - LEFT) / len(models)
    parts = [
        label(str(number), LEFT + step * (number - 0.5), 8, "small soft middle")
        for number in range(1, len(models) + 1)
    ]
    for i, code in enumerate(codes):
        y = 16 + 16 * (i + 0.5)
        parts.append(label(language_name(code), LEFT - 0.02, y, "end"))
        parts.append(line(LEFT, y + 8, 1, y + 8, "rule"))
    for item in own:
        at = LEFT + step * (models.index(item.model) + 0.5)
        y = 16 + 16 * (codes.index(item.language) + 0.5)
        told_of = tag("title", f"{item.model}, {said(item)}")
        parts.append(tag("g", told_of, placed(verdict_mark(item.verdict), at, y)))
    counts = [
        f"{name}: "
        + ", ".join(
            f"{sum(c.verdict == verdict for c in own if c.model == name)} {called(verdict)}"
            for verdict in LOOKS
            if any(c.verdict == verdict for c in own if c.model == name)
        )
        for name in models
    ]
    title = metric_of(own[0]).heading
    alt = clean(f"{title}, {note(own)}. Languages by verdict: {'; '.join(counts)}.")
    address = behind(criterion=own[0].criterion, dataset=own[0].dataset)
    return Panel(title, note(own), join(parts), 18 + 16 * len(codes), alt, address=address)
