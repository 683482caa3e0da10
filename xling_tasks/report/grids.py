"""Tables of verdicts: languages by metrics, or by models, shared by all pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA, DisplayText
from xling_tasks.languages import language_name
from xling_tasks.report import lead, words
from xling_tasks.report.words import Row, unique

ByLanguage = Sequence[tuple[str, list[Row]]]
"""Languages with their verdicts, in the order of a page."""


class Column(NamedTuple):
    """What a verdict is about: a metric over a dataset."""

    dataset: str
    criterion: str
    metric: str

    @property
    def text(self) -> DisplayText:
        """What is said of the metric."""
        return CRITERIA[self.criterion].display(self.metric)


class Head(NamedTuple):
    """The head of a column: its text, a link, small lines, and why it was not measured."""

    text: str
    href: str = ""
    notes: Sequence[str] = ()
    missing: str = ""


class Square(NamedTuple):
    """A cell: a verdict (empty for none), a value, a small line, and a link."""

    look: str
    value: str = ""
    small: str = ""
    href: str = ""


class GridRow(NamedTuple):
    """A language with its cells; None below a column that was not measured."""

    name: str
    href: str
    cells: list[Square | None]


class Grid(NamedTuple):
    """A table of verdicts; `base` has English's values, `groups` datasets with their columns."""

    title: str
    heads: list[Head]
    rows: list[GridRow]
    base: list[str] | None = None
    groups: list[tuple[str, int]] | None = None
    is_pair: bool = False


def anchor_of(*parts: str) -> str:
    """Return an anchor for texts: letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9_.]+", "-", "-".join(parts).lower()).strip("-")


def verdict_anchor(v: Row) -> str:
    """Return the anchor of a verdict."""
    names = ("language", "model", "dataset", "criterion", "metric", "comparison")
    return anchor_of(*(v[name] for name in names))


def column_of(row: Row) -> Column:
    """Return what a verdict or score is about."""
    return Column(row["dataset"], row["criterion"], row["metric"])


def columns_of(verdicts: Iterable[Row], missing: Iterable[Column] = ()) -> list[Column]:
    """Return what verdicts are about, then what was not measured: harm first in a dataset."""
    result, lost = unique([*map(column_of, verdicts), *missing]), set(missing)
    datasets, criteria = unique(column.dataset for column in result), list(CRITERIA)
    return sorted(result, key=lambda c: (
        datasets.index(c.dataset), c in lost, CRITERIA[c.criterion].urgency(c.metric),
        criteria.index(c.criterion),
    ))  # fmt: skip


def head_notes(column: Column, verdicts: Iterable[Row]) -> list[str]:
    """Return what stands below a heading: direction, scale, number of questions."""
    text, table, notes = column.text, words.words(), []
    if CRITERIA[column.criterion].metric(column.metric).higher_is_better is False:
        notes.append(table["fewer" if text.unit == "share" else "lower"])
    if text.unit == "score":
        guessing = table["guessing"].format(chance=f"{text.chance:g}") if text.chance else ""
        notes.append(", ".join(filter(None, ["0 to 1", guessing])))
    rows = [v for v in verdicts if column_of(v) == column]
    if any("above_chance" in v["tags"] for v in rows):
        notes.append(table["above"])
    if taus := words.temperatures_of(rows):
        notes.append(table["temperature"].format(tau=words.join(f"{tau:g}" for tau in taus)))
    if counts := sorted({v["n"] for v in rows if v["n"]}):
        n = " to ".join(unique(f"{count:,}" for count in (counts[0], counts[-1])))
        notes.append(table["questions"][n != "1"].format(n=n))
    return notes


def make_square(
    v: Row | None, value: Callable[[Row], str] = words.format_value, related: Iterable[Row] = ()
) -> Square:
    """Return the cell of a verdict, which links to what is said of it."""
    if v is None:
        return Square("not_measured")
    display = "" if v["value"] is None else value(v)
    small = words.note_temperature(v, related)
    return Square(words.look(v), display, small, f"#{verdict_anchor(v)}")


def grid_by_metric(
    rows: ByLanguage, columns: Sequence[Column], title: str, *,
    missing: Mapping[Column, str] | None = None, value: Callable[[Row], str] = words.format_value,
    is_pair: bool = False,
) -> Grid:  # fmt: skip
    """Return languages by metrics, of one model or of a pair; English's values on top."""
    missing, every = missing or {}, [v for _, group in rows for v in group]
    heads, lines = [], []
    for column in columns:
        name = column.text.heading
        if [(c.dataset, c.text.heading) for c in columns].count((column.dataset, name)) > 1:
            name += f": {CRITERIA[column.criterion].title}"
        link = "" if column in missing else f"#{column.criterion}"
        heads.append(Head(name, link, head_notes(column, every), missing.get(column, "")))
    of_column = {c: [v for v in every if column_of(v) == c] for c in columns}
    for code, group in rows:
        by = {column_of(v): v for v in group}
        cells = [
            None if c in missing else make_square(by.get(c), value, of_column[c]) for c in columns
        ]
        lines.append(GridRow(language_name(code), f"#{code}", cells))
    datasets = unique(column.dataset for column in columns)
    groups = [
        (words.capitalize(words.dataset_name(name)), sum(c.dataset == name for c in columns))
        for name in datasets
    ]
    base = None if is_pair else [_base_value(every, column) for column in columns]
    return Grid(title, heads, lines, base, groups if len(groups) > 1 else None, is_pair)


def _base_value(verdicts: Iterable[Row], column: Column) -> str:
    """Return English's value, or its range where languages share different questions with it."""
    seen = [v for v in verdicts if column_of(v) == column and v["english"] is not None]
    ordered = sorted(seen, key=lambda v: float(v["english"]))
    display = unique(words.format_value(v, "english") for v in ordered)
    return " to ".join(unique([display[0], display[-1]])) if display else "–"


def grid_by_model(
    rows: ByLanguage, models: Sequence[str], title: str, *, is_linked: bool = True
) -> Grid:
    """Return languages by models: the most urgent verdict, and in how many metrics it is so."""
    lines = []
    for code, verdicts in rows:
        href, cells = f"#{code}" if is_linked else "", list[Square | None]()
        for model in models:
            chosen = [v for v in verdicts if v["model"] == model]
            kind = lead.overall(chosen)
            n = sum(words.look(v) == kind for v in chosen)
            cells.append(Square(kind, f"{n} of {len(chosen)}" if chosen else "", href=href))
        lines.append(GridRow(language_name(code), href, cells))
    return Grid(title, [Head(model) for model in models], lines)


def grid_of_metric(
    column: Column, verdicts: Sequence[Row], order: Sequence[str], models: Sequence[str], *,
    with_dataset: bool,
) -> Grid:  # fmt: skip
    """Return languages by models on one metric; English's values on top."""
    by = {(v["language"], v["model"]): v for v in verdicts}
    lines = [
        GridRow(
            language_name(code),
            f"#{code}",
            [make_square(by.get((code, m)), related=verdicts) for m in models],
        )
        for code in order
        if any((code, model) in by for model in models)
    ]
    base = [_base_value([v for v in verdicts if v["model"] == m], column) for m in models]
    data = f", {words.dataset_name(column.dataset)}" if with_dataset else ""
    notes = ", ".join(head_notes(column, verdicts))
    title = f"{column.text.name}{data}{f' ({notes})' if notes else ''}"
    return Grid(title, [Head(model) for model in models], lines, base)
