"""Read CSV, Excel, Parquet and JSONL files as tables of texts, with rows as people count them."""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet

from xling_tasks.errors import DataError, meant, no_such, unreadable
from xling_tasks.output import jsonl, many, refuse_file, writing
from xling_tasks.safe_json import json_objects


class Unreadable(NamedTuple):
    """A cell whose text is not what a person sees in it; `reason` says why, and what to do."""

    reason: str


@dataclass(frozen=True)
class Table:
    """One sheet or file.

    Attributes:
        path: The file.
        columns: Their names.
        rows: Number of a row -> column -> cell: a text (in NFC, without outer white space), None
            if empty, `Unreadable`, or a list, mapping or truth value.
        sheet: The name of a workbook's sheet.
        form: The kind of file, for people.
        notes: What a spreadsheet does not show of what is read: hidden rows, columns and sheets.
    """

    path: Path
    columns: list[str]
    rows: dict[int, dict[str, Any]]
    sheet: str | None = None
    form: str = ""
    notes: tuple[str, ...] = ()

    def location(self, row: object = None, column: str | None = None) -> str:
        """Return where something is, for messages."""
        parts = {"sheet": self.sheet, "row": row, "column": column}
        named = (f"{name} {part!r}" for name, part in parts.items() if part is not None)
        return ", ".join([str(self.path), *named])

    def require(self, columns: Iterable[str]) -> None:
        """Raise a `DataError` if a column is missing."""
        missing = [name for name in columns if name not in self.columns]
        if missing:
            hints = " ".join(f"{name!r} is missing.{meant(name, self.columns)}" for name in missing)
            names = ", ".join(sorted(self.columns))
            raise DataError(f"{self.location()}: wrong columns: {hints} Known: {names}.")

    def text(self, row: int, column: str) -> str | None:
        """Return the text of a cell of a row, None if it is empty."""
        try:
            return read_text(self.rows[row][column])
        except DataError as error:
            raise DataError(f"{self.location(row, column)}: {error}") from None

    def id(self, row: int, column: str) -> str:
        """Return the text of a cell of a row, which must have one."""
        if (text := self.text(row, column)) is None:
            raise DataError(f"{self.location(row, column)}: the id is missing")
        return text


def read_tables(path: Path) -> list[Table]:
    """Read the tables of a file that have rows: one per sheet of a workbook, else one."""
    if not path.is_file():
        raise DataError(f"{path}: {no_such(path)}")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}; save it as one of {', '.join(READERS)}"
        )
    try:
        tables = [table for table in reader(path) if table.rows]
    except DataError:
        raise
    except Exception as error:  # a damaged file fails in as many ways as there are libraries
        raise DataError(
            f"{path}: cannot be read as {path.suffix.lower()} ({type(error).__name__}: {error}); "
            "download it again, or open it in Excel or LibreOffice and save it anew, without a "
            "password"
        ) from error
    if not tables:
        raise DataError(f"{path}: the file has no rows")
    return tables


def read_text(cell: Any) -> str | None:
    """Return the text of a cell, None if it is empty; raise a `DataError` for anything else."""
    if cell is None or isinstance(cell, str):
        return cell
    reason = f"a text is expected, not {cell!r:.40}"
    raise DataError(cell.reason if isinstance(cell, Unreadable) else reason)


def clean_text(text: str) -> str:
    """Return a text in NFC, without white space and unseen signs around it."""
    return _AROUND.sub("", unicodedata.normalize("NFC", text))


def clean_cell(cell: Any) -> Any:
    """Return a cell as tables have it; numbers as spreadsheets show them (5 and not 5.0)."""
    if isinstance(cell, str):
        text = clean_text(cell)
        if _ERROR.fullmatch(text):
            return Unreadable(f"the cell shows the error {text}; correct its formula, or empty it")
        return text or None
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return str(cell) if isinstance(cell, int) else f"{cell:.15g}"
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        return Unreadable(
            f"the cell holds a date or time ({cell}), not a text; format the column as text and "
            "write what is meant"
        )
    return cell


# White space, and what stands around a text unseen: marks of byte order and direction, joiners.
_AROUND = re.compile(r"^[\s\u200b-\u200f\u2060\ufeff]+|[\s\u200b\u200e\u200f\u2060\ufeff]+$")
# What spreadsheets show in a cell that could not be computed: #N/A, in other languages #N/D,
# #VALOR! or #¿NOMBRE?, and ##### where it is too narrow.
_ERROR = re.compile(r"#(?:N/[AD]|NV|[¡¿]?[^\W\d_]{2,}(?:/0)?[!?]|#{2,})")


def natural_key(key: str) -> tuple[int, str]:
    """Return what ids are sorted by: numbers as numbers, then the others."""
    return (int(key), "") if key.isdecimal() and len(key) < 19 else (2**62, key)


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not blank, without white space around them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); save it as UTF-8") from error
    return [line.strip() for line in lines if line.strip()]


def _from_grid(
    path: Path, grid: Mapping[int, Mapping[int, Any]], **fields: Any
) -> tuple[Table, dict[int, str]]:
    """Make a table of cells by row and column; the header is the first row that is not empty.

    Returns:
        The table, and the names of its columns by their numbers.
    """
    cells = {n: {c: clean_cell(cell) for c, cell in row.items()} for n, row in grid.items()}
    cells = {n: {c: x for c, x in row.items() if x is not None} for n, row in cells.items()}
    rows = {n: row for n, row in sorted(cells.items()) if row}
    table = Table(path, [], {}, **fields)
    if not rows:
        return table, {}
    header = {column: str(name) for column, name in rows.pop(min(rows)).items()}
    names = list(header.values())
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{table.location()}: column {twice[0]!r} appears twice in the header")
    for number, row in rows.items():
        for column in row.keys() - header.keys():
            title = f" (is {names[0]!r:.40} a title? delete the rows above the header)"
            raise DataError(
                f"{table.location(number)}: a cell in a column without a name "
                f"({row[column]!r:.40}); delete it, or give its column a name"
                f"{title * (len(names) == 1)}"
            )
    cells_of = {
        number: {name: row.get(column) for column, name in header.items()}
        for number, row in rows.items()
    }
    return replace(table, columns=names, rows=cells_of), header


def _read_xlsx(path: Path) -> Iterator[Table]:
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        if b"http://purl.oclc.org/ooxml" in archive.read("xl/workbook.xml"):
            raise DataError(
                f"{path}: is saved as Strict Open XML; save it as an ordinary workbook (.xlsx)"
            )
    book = openpyxl.load_workbook(path)
    # By cells that are there: a sheet may be a million rows high because of one space.
    cells = {sheet.title: list(sheet._cells.values()) for sheet in book.worksheets}
    has_formulas = any(cell.data_type == "f" for sheet in cells.values() for cell in sheet)
    values = openpyxl.load_workbook(path, data_only=True) if has_formulas else book
    for sheet in book.worksheets:
        grid: dict[int, dict[int, Any]] = {}
        for cell in cells[sheet.title]:
            grid.setdefault(cell.row, {})[cell.column] = _read_cell(cell, values[sheet.title])
        header_row = min((n for n, row in grid.items() if any(row.values())), default=0)
        for block in sheet.merged_cells.ranges:  # a category or id for the rows that it spans
            if block.min_row > header_row and block.min_col == block.max_col:
                for row in range(block.min_row, block.max_row + 1):
                    grid[row][block.min_col] = grid[block.min_row][block.min_col]
        form = f"XLSX, sheet {sheet.title!r}"
        table, header = _from_grid(path, grid, sheet=sheet.title, form=form)
        yield replace(table, notes=tuple(_find_hidden(table, header, sheet)))


def _read_cell(cell: Any, values: Any) -> Any:
    """Return what a cell shows; of a formula its stored value."""
    value = cell.value if cell.data_type != "f" else values[cell.coordinate].value
    if cell.data_type == "f" and value is None:
        return Unreadable(
            "a formula without a stored value; open the file in Excel or LibreOffice and save it, "
            "or write the value"
        )
    if isinstance(value, (int, float)) and "%" in str(cell.number_format):
        return Unreadable(
            f"the cell is shown as a percentage and stored as {value!r}; format the column as "
            "text and write what is meant"
        )
    if isinstance(value, str):  # `_x000D_` stands for the line end of a pasted text
        from openpyxl.utils.escape import unescape

        text = unescape(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text.replace("\r\n", "\n").replace("\0", "")
    return value


def _find_hidden(table: Table, header: Mapping[int, str], sheet: Any) -> Iterator[str]:
    """Yield what a spreadsheet does not show of a sheet."""
    if sheet.sheet_state != "visible":
        yield f"{table.location()}: the sheet is hidden, and is read"
    rows = [n for n in table.rows if sheet.row_dimensions[n].hidden]
    if rows:
        by_filter = " by a filter" if sheet.auto_filter.filterColumn else ""
        text = ", ".join(map(str, rows[:12])) + (" and more" if len(rows) > 12 else "")
        yield (
            f"{table.location()}: {many(len(rows), 'hidden row')} read and asked "
            f"(hidden{by_filter}: {text}); delete what is not meant"
        )
    hidden = [part for part in sheet.column_dimensions.values() if part.hidden]
    columns = [name for n, name in header.items() if any(p.min <= n <= p.max for p in hidden)]
    if columns:
        yield f"{table.location()}: hidden columns are read: {', '.join(columns)}"


# CSV

_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def _read_csv(path: Path) -> Iterator[Table]:
    content = path.read_bytes()
    encoding = next((name for bom, name in _BOMS.items() if content.startswith(bom)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: not {encoding.upper()} (byte 0x{content[error.start]:02x}); "
            "save it as 'CSV UTF-8', or as XLSX"
        ) from error
    text = re.sub(r"\Asep=[,;\t]", "", text, flags=re.I)  # Excel's line; rows keep their numbers
    header = re.sub(r'"[^"]*"', "", text).lstrip().partition("\n")[0]
    mark = max(",;\t", key=header.count)
    csv.field_size_limit(2**30)
    grid: list[list[str]] = []
    try:
        grid += csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    except csv.Error as error:
        raise DataError(
            f"{path}, after row {len(grid)}: not valid CSV ({error}); is a quotation mark not "
            "closed, or not doubled inside a text?"
        ) from error
    width = len(next(filter(any, grid), ()))
    for number, cells in enumerate(grid, 1):
        if any(cells) and len(cells) != width:
            raise DataError(
                f"{path}, row {number}: {len(cells)} fields, but the header has {width}; put a "
                f"text with {mark!r} in it in quotation marks, and delete rows above the header"
            )
    rows = {number: dict(enumerate(cells, 1)) for number, cells in enumerate(grid, 1)}
    form = f"CSV, {encoding.upper()}, fields separated by {mark!r}"
    yield _from_grid(path, rows, form=form)[0]


def _read_jsonl(path: Path) -> Iterator[Table]:
    yield _from_rows(path, dict(json_objects(path, unit="row", whole=True)), "JSONL")


def _read_parquet(path: Path) -> Iterator[Table]:
    rows = pyarrow.parquet.read_table(path).to_pylist()
    yield _from_rows(path, dict(enumerate(rows, 1)), "Parquet")


def _from_rows(path: Path, rows: dict[int, dict[str, Any]], form: str) -> Table:
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = {n: {name: clean_cell(row.get(name)) for name in columns} for n, row in rows.items()}
    return Table(path, columns, cells, form=form)


READERS: dict[str, Callable[[Path], Iterator[Table]]] = {
    ".xlsx": _read_xlsx,
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
}
"""Readers by file ending."""


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows in the format that the file's ending names; never over another file."""
    ending = path.suffix.lower()
    if ending not in READERS:
        raise DataError(f"{path}: name a file that ends in {', '.join(READERS)}")
    refuse_file(path, "")
    frame = pd.DataFrame(rows)
    with writing(path, ""):
        path.parent.mkdir(parents=True, exist_ok=True)
        if ending == ".csv":  # with a mark, without which Excel takes UTF-8 for another encoding
            frame.to_csv(path, index=False, encoding="utf-8-sig", lineterminator="\r\n")
        elif ending == ".xlsx":  # no cell can hold Word's line break within a paragraph
            frame = frame.replace("[\0-\x08\x0b\x0c\x0e-\x1f]", "\n", regex=True)
            frame.to_excel(path, index=False, sheet_name="questions")
        elif ending == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            path.write_text("".join(jsonl(rows)), encoding="utf-8")
