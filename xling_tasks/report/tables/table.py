"""Tables of a report, as data; and as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from xling_tasks.output import harmless, markdown_table
from xling_tasks.pages import texts

Value = str | int | float | None
"""What a cell holds; None is undefined or unknown, and never shown as a number."""

UNDEFINED = "–"


@dataclass(frozen=True)
class Table:
    """A table with a heading."""

    key: str  # Its name in file names and anchors: letters, digits, underscores.
    section: str  # A key of `places.CRITERIA`, or `coverage`, `summary`, `statistics`.
    title: str  # Its heading.
    columns: tuple[str, ...]  # Their names.
    rows: tuple[tuple[Value, ...], ...]  # As many values as columns each.
    notes: tuple[str, ...] = ()  # What a reader must know to read it rightly.
    published: frozenset[int] = frozenset()  # Which rows are published figures, by index.
    digits: int = 3  # Behind the point of numbers that are not integers.

    def __post_init__(self) -> None:
        for index, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.key}: row {index} has {len(row)} values for "
                    f"{len(self.columns)} columns"
                )

    @property
    def note(self) -> str:
        """All notes as one text."""
        return " ".join(self.notes)

    @property
    def numeric(self) -> list[bool]:
        """Of each column, whether it has a number."""
        return [any(isinstance(row[i], (int, float)) for row in self.rows)
                for i in range(len(self.columns))]  # fmt: skip

    def shown(self, value: Value) -> str:
        """A value as text."""
        if value is None:
            return UNDEFINED
        if not isinstance(value, float):
            return str(value)
        smallest = 10.0**-self.digits
        if 0 < value < smallest / 2:
            return f"<{smallest:.{self.digits}f}"
        shown = f"{value:.{self.digits}f}"
        return shown if float(shown) else shown.removeprefix("-")


def as_markdown(table: Table) -> str:
    """The table with its heading and note; vertical bars and line breaks in cells are escaped."""
    cells = [[table.shown(value) for value in row] for row in table.rows]
    right = [index for index, numeric in enumerate(table.numeric) if numeric]
    parts = [f"### {table.title}", markdown_table(table.columns, cells, right)]
    return "\n\n".join([*parts, table.note] if table.note else parts) + "\n"


def as_csv(table: Table) -> str:
    """The table with numbers in full; undefined values are empty, published rows are marked."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.columns, "published"])
    for index, row in enumerate(table.rows):
        marked = "yes" if index in table.published else "no"
        writer.writerow([*("" if value is None else harmless(value) for value in row), marked])
    return out.getvalue()


def note(name: str, **values: str) -> str:
    """How to read a table, as `pages/texts.yaml` has it under `tables`, with its places filled."""
    text = str(texts()["tables"][name])
    return text.format(**values) if values else text
