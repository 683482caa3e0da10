"""Rows of a report's tables: a metric beside its interval and its gap to English."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xling_tasks.criteria import AVERAGE, ENGLISH, Column
from xling_tasks.report.tables.grid import (
    Grid,
    Lookup,
    Source,
    decrease_points,
    drop,
    mean_of,
    multiple,
)
from xling_tasks.report.tables.table import Table, Value


@dataclass
class Rows:
    """Rows of a table that is being made, and which of them are published figures."""

    columns: Sequence[str]
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    published: set[int] = field(default_factory=set)

    def add(self, *values: Value, published: bool = False) -> None:
        """Append a row."""
        if published:
            self.published.add(len(self.rows))
        self.rows.append(values)

    def measured(
        self, start: Sequence[Value], cells: Sequence[Value], published: bool = False
    ) -> bool:
        """Append a row that begins with `start`; none where no cell has a value."""
        if any(cell is not None for cell in cells):
            self.add(*start, *cells, published=published)
            return True
        return False

    def wide(
        self, start: Sequence[Value], sources: Iterable[Source], metric: str,
        languages: Sequence[str], *, drops: bool = True,
    ) -> None:  # fmt: skip
        """Append a row per source that has a value: a metric by language, below `wide_heads`."""
        for source in sources:
            cells = wide_cells(source.find, metric, languages, average=False, drops=drops)
            self.measured((*start, source.name), cells, source.published)

    def table(
        self, key: str, section: str, title: str, notes: Iterable[str], digits: int = 3
    ) -> Table:
        """The table; columns without a single value are left out."""
        keep = [i for i in range(len(self.columns)) if any(row[i] is not None for row in self.rows)]
        return Table(
            key=key,
            section=section,
            title=title,
            columns=tuple(self.columns[i] for i in keep),
            rows=tuple(tuple(row[i] for i in keep) for row in self.rows),
            notes=tuple(dict.fromkeys(note for note in notes if note)),
            published=frozenset(self.published),
            digits=digits,
        )


# A language in a row, metrics in columns


def heads_of(columns: Iterable[Column]) -> list[str]:
    """The headings of metrics."""
    return [head for item in columns for head in _heads(item)]


def _heads(column: Column) -> list[str]:
    title = column.title
    heads = [title] + [f"{title} {end}" for end in ("low", "high") if column.bounds]
    heads += [f"{title}: decrease vs English, percentage points"] if column.points else []
    heads += [f"{title}: relative drop vs English, %"] if column.drop else []
    return heads + ([f"{title}: multiple of English"] if column.multiple else [])


def cells_of(columns: Iterable[Column], lookup: Lookup, language: str) -> list[Value]:
    """What stands below them for one language."""
    return [value for item in columns for value in _cells(item, lookup, language)]


def _cells(column: Column, lookup: Lookup, language: str) -> list[Value]:
    """What stands below one; English is not compared with itself."""
    own = lookup(column.metric, language)
    base = None if language == ENGLISH else lookup(column.metric, ENGLISH).value
    cells: list[Value] = [own.value, *((own.low, own.high) if column.bounds else ())]
    cells += [decrease_points(own.value, base)] if column.points else []
    cells += [drop(own.value, base)] if column.drop else []
    return cells + ([multiple(own.value, base)] if column.multiple else [])


def by_language(
    grid: Grid, columns: Sequence[Column], key: str, title: str, notes: Iterable[str]
) -> Table:
    """A table with a row per language and model."""
    rows = Rows(("language", "model", *heads_of(columns)))
    for code in grid.languages:
        for source in grid.sources():
            rows.measured((code, source.name), cells_of(columns, source.find, code))
    return rows.table(key, grid.criterion, title, notes)


# A metric in a row, languages in columns


def wide_heads(languages: Sequence[str], *, average: bool) -> list[str]:
    """Headings: value per language, their mean or drops, then the intervals' ends."""
    others = (
        [] if average else [f"{code}: relative drop vs English, %" for code in _others(languages)]
    )
    ends = [f"{code} {end}" for code in languages for end in ("low", "high")]
    return [*languages, *(["Avg."] if average else []), *others, *ends]


def wide_cells(
    lookup: Lookup, metric: str, languages: Sequence[str], *, average: bool, drops: bool = True
) -> list[Value]:
    """What stands below them; the mean as `average` or the source itself gives it."""
    by_language = {code: lookup(metric, code) for code in languages}
    cells: list[Value] = [by_language[code].value for code in languages]
    if average:
        given = lookup(metric, AVERAGE).value
        cells.append(
            mean_of([item.value for item in by_language.values()]) if given is None else given
        )
    else:
        base = by_language[ENGLISH].value if ENGLISH in by_language else None
        cells += [drop(by_language[c].value, base) if drops else None for c in _others(languages)]
    return cells + [end for item in by_language.values() for end in (item.low, item.high)]


def _others(languages: Sequence[str]) -> list[str]:
    return [code for code in languages if code != ENGLISH]
