"""A table of a page and of a CSV file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from xling_tasks.output import csv_text

UNDEFINED, MINUS = "–", "\u2212"


class Estimate(NamedTuple):
    """A score with its interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    percent: bool = False


Cell = Estimate | str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        key: The CSV file that it goes into.
        title: Its heading.
        rows: Of each its cells by the name of the column.
        published: Which rows are a paper's.
        csv_only: Columns that the page leaves out.
        note: What a reader must know to read it rightly.
        dataset: What it is over; a column of the CSV file.
        criterion: In whose section it stands; empty for the end of the page.
    """

    key: str
    title: str
    rows: list[dict[str, Cell]]
    published: Collection[int] = field(default_factory=set)
    csv_only: Collection[str] = ()
    note: str = ""
    dataset: str = ""
    criterion: str = ""

    @cached_property
    def columns(self) -> list[str]:
        """The columns that have any value, in their order."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        empty = (None, "", Estimate(None), Estimate(None, percent=True))
        return [name for name in names if any(row.get(name) not in empty for row in self.rows)]

    @cached_property
    def shown(self) -> list[tuple[str, bool]]:
        """The columns of the page, each with whether it has numbers."""
        numeric = (int, float, Estimate)
        return [
            (name, any(isinstance(row.get(name), numeric) for row in self.rows))
            for name in self.columns
            if name not in self.csv_only
        ]


def format_cell(cell: Cell) -> str:
    """Format a cell for the page."""
    if isinstance(cell, Estimate):
        if cell.value is None:
            return UNDEFINED
        times, digits, sign = (100, 1, "%") if cell.percent else (1, 3, "")
        text = [f"{times * x:.{digits}f}" for x in cell[:3] if x is not None]
        ends = f" ({text[1]} to {text[2]})" if len(text) == 3 else ""
        return f"{text[0]}{sign}{ends}".replace("-", MINUS)
    if isinstance(cell, float):
        if 0 < cell < 0.0005:
            return "<0.001"
        return f"{cell:.3f}".replace("-", MINUS)
    return UNDEFINED if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def as_csv(tables: Sequence[Table]) -> str:
    """Format tables with one key as CSV: numbers in full, an undefined value is empty."""
    rows = [row for table in tables for row in _csv_rows(table)]
    columns = sorted({n: 0 for row in rows for n in row}, key=lambda name: name == "published")
    return csv_text([{name: row.get(name) for name in columns} for row in rows])


def _csv_rows(table: Table) -> Iterator[dict[str, Any]]:
    for index, row in enumerate(table.rows):
        result: dict[str, Any] = {"dataset": table.dataset} if table.dataset else {}
        for name in table.columns:
            cell = row.get(name)
            result[name] = cell.value if isinstance(cell, Estimate) else cell
            if isinstance(cell, Estimate) and cell.low is not None:
                result |= {f"{name} low": cell.low, f"{name} high": cell.high}
        if table.published:
            result["published"] = "yes" if index in table.published else "no"
        yield result


def rows_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Format rows as CSV; a value of several parts stands in one cell."""
    result = [{name: _flatten(value) for name, value in row.items()} for row in rows]
    return as_csv([Table("", "", result)]) if result else ""


def _flatten(value: Any) -> Any:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_flatten(group)}" for name, group in value.items())
    if isinstance(value, (list, tuple)):
        between = " of " if value and all(isinstance(x, int) for x in value) else "; "
        return between.join(map(str, value))
    return value
