"""What a workbook holds beside its cells' values: formulas, formats, merged cells."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from xling_tasks.data.cells import number_text
from xling_tasks.data.files import Table, header_in

_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]+\d+:[A-Z]+\d+)"')
_FORMULA = re.compile(rb"<f[ >]")


def merged_cells(path: Path) -> list[str]:
    """The ranges of merged cells, such as `A2:A4`: only the first cell of each has a value."""
    return [merged.decode() for content in _sheets(path) for merged in _MERGED.findall(content)]


def formulas_without_value(table: Table) -> Iterator[tuple[int, str]]:
    """(row's number, column) of cells whose formula was never computed: they read as empty.

    Programs that write workbooks store formulas without values; Excel and LibreOffice store both.
    """
    if not any(_FORMULA.search(content) for content in _sheets(table.path)):
        return
    rows = dict(zip(table.numbers, table.rows, strict=True))
    for number, name, cell in _cells(table, data_only=False):
        text = getattr(cell.value, "text", cell.value)  # of an array formula
        formula = isinstance(text, str) and text.startswith("=")
        if formula and rows.get(number, {}).get(name) is None:
            yield number, name


def numbers_shown_otherwise(
    table: Table, columns: Collection[str]
) -> Iterator[tuple[int, str, str]]:
    """(row's number, column, value and format) of numbers that a sheet shows as another text.

    Such as 0.05 that is shown as 5%, 500 as '500 mg', or 37.46 as 37.5: who wrote the file meant
    what is shown, and what is stored would be asked. Separators, and zeros at the end, are no other
    text.
    """
    if table.path.suffix.lower() != ".xlsx" or not any(
        isinstance(row.get(name), (int, float)) for row in table.rows for name in columns
    ):
        return
    for number, name, cell in _cells(table, data_only=True):
        value, form = cell.value, cell.number_format or ""
        if name not in columns or isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if _adds(form) or _rounds(form, value):
            yield number, name, f"{number_text(value)}, format {form!r}"


_PLAIN = re.compile(
    r'General|@|\[(?:[A-Za-z]+\d*|\$-[0-9A-Fa-f]+)\]|_.|\*\s|"\s*"|[#0?.,;() +\-\\]'
)
"""What a number's format may hold without adding a word, a sign or a factor.

`_x` is a space as wide as x, `* ` fills with spaces, `[$-409]` is a language.
"""

_DASH_FOR_ZERO = re.compile(r'(;[^;]*;[^;]*?)"-"')
"""The third part of a format, as accounts have it: a dash that stands for 0."""

_THOUSANDS = re.compile(r"[0#?],+(?:;|$|\.)")
"""Commas that divide by a thousand instead of grouping digits."""


def _adds(form: str) -> bool:
    """Whether a format adds a word or a sign, or shows a multiple."""
    return bool(_PLAIN.sub("", _DASH_FOR_ZERO.sub(r"\1", form)) or _THOUSANDS.search(form))


def _rounds(form: str, value: float) -> bool:
    """Whether a format shows fewer decimals than a number has."""
    if "General" in form or "@" in form or not form:
        return False
    decimals = re.search(r"\.([0#?]+)", form.split(";")[0])
    return abs(value - round(value, len(decimals[1]) if decimals else 0)) > 1e-9


def _cells(table: Table, *, data_only: bool) -> Iterator[tuple[int, str, Any]]:
    """(row's number, column, cell) of the named columns below the header."""
    import openpyxl

    book = openpyxl.load_workbook(table.path, read_only=True, data_only=data_only)
    try:
        sheet = book[str(table.sheet)]
        sheet.reset_dimensions()
        lines = sheet.iter_rows()
        first, header = header_in(tuple(cell.value for cell in cells) for cells in lines)
        for number, cells in enumerate(lines, start=first + 1):
            for name, cell in zip(header, cells, strict=False):
                if name:
                    yield number, name, cell
    finally:
        book.close()


def _sheets(path: Path) -> Iterator[bytes]:
    if path.suffix.lower() != ".xlsx":
        return
    with zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            if _SHEET.fullmatch(item.filename):
                yield archive.read(item)
