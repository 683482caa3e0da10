"""Read xlsx, parquet, CSV and JSONL files into plain rows, with errors that name the place."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.safe_json import json_objects

_LARGEST_WORKBOOK = 200 * 2**20
_LARGEST_PARQUET = 8 * 2**30


@dataclass(frozen=True)
class Table:
    """One sheet or file.

    Attributes:
        path: The file.
        sheet: The sheet's name; None for formats without sheets.
        columns: Column names in order.
        rows: One mapping per row, column to cell.
        numbers: The number of each row as a person would count it in the file.
    """

    path: Path
    sheet: str | None
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    numbers: list[int]

    def place(self, index: int | None = None, column: str | None = None) -> str:
        """Where something is, for an error message."""
        parts = [str(self.path)]
        if self.sheet is not None:
            parts.append(f"sheet {self.sheet!r}")
        if index is not None:
            parts.append(f"row {self.numbers[index]}")
        if column is not None:
            parts.append(f"column {column!r}")
        return ", ".join(parts)

    def require(self, columns: Iterable[str]) -> None:
        """Check that all `columns` are there.

        Raises:
            DataError: Naming the missing columns and the nearest ones present.
        """
        missing = [name for name in columns if name not in self.columns]
        if missing:
            hints = " ".join(
                f"{name!r} is missing.{did_you_mean(name, self.columns)}" for name in missing
            )
            raise DataError(f"{self.place()}: wrong columns: {hints}")


def read_tables(path: Path) -> list[Table]:
    """All tables of a file: one per sheet of a workbook, else one.

    Raises:
        DataError: If the file is missing, unreadable, of an unknown kind, or without rows.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}; use one of {', '.join(READERS)}"
        )
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")
    try:
        tables = list(reader(path))
    except DataError:
        raise
    except Exception as error:  # a damaged file fails in as many ways as there are libraries
        raise DataError(
            f"{path}: cannot be read as {path.suffix.lower()} ({type(error).__name__}: {error}); "
            "download it again or convert it"
        ) from error
    filled = [table for table in tables if table.rows]
    if not filled:
        raise DataError(f"{path}: the file has no rows")
    return filled


def _read_xlsx(path: Path) -> Iterator[Table]:
    import openpyxl

    _refuse_bomb(path)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            # What a sheet says of its own size may be wrong, and fills every row up to it.
            sheet.reset_dimensions()
            yield _from_grid(path, sheet.title, sheet.iter_rows(values_only=True))
    finally:
        book.close()


def _refuse_bomb(path: Path) -> None:
    """Refuse a workbook that unpacks to more than any data set of ours holds."""
    with zipfile.ZipFile(path) as archive:
        size = sum(item.file_size for item in archive.infolist())
    if size > _LARGEST_WORKBOOK:
        raise DataError(
            f"{path}: unpacks to {size / 2**20:,.0f} MiB, and more than "
            f"{_LARGEST_WORKBOOK / 2**20:,.0f} are not read; save it as CSV or parquet"
        )


def _from_grid(path: Path, sheet: str | None, grid: Iterable[tuple[Any, ...]]) -> Table:
    """Make a table of a header row and cells; wholly empty rows are no rows."""
    lines = iter(grid)
    header = [str(cell).strip() if cell is not None else "" for cell in next(lines, ())]
    _unique(path, sheet, [name for name in header if name])
    rows, numbers = [], []
    for number, cells in enumerate(lines, start=2):
        if any(cell is not None and str(cell).strip() for cell in cells):
            _refuse_stray(path, sheet, number, cells[len(header) :])
            rows.append({k: v for k, v in zip(header, cells, strict=False) if k})
            numbers.append(number)
    return Table(path, sheet, tuple(name for name in header if name), rows, numbers)


def _refuse_stray(path: Path, sheet: str | None, number: int, cells: tuple[Any, ...]) -> None:
    """A cell to the right of the header belongs to no column: data that would be lost."""
    for cell in cells:
        if cell is not None and str(cell).strip():
            place = f"{path}, sheet {sheet!r}" if sheet else str(path)
            raise DataError(
                f"{place}, row {number}: a cell to the right of the header's last column "
                f"({cell!r:.40}); delete it, or give its column a name"
            )


def _read_csv(path: Path) -> Iterator[Table]:
    csv.field_size_limit(2**31 - 1)
    text = decoded(path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter(text))
    grid: list[tuple[str, ...]] = []
    try:
        grid += (tuple(cells) for cells in reader)
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: not valid CSV ({error}); is a quotation mark not "
            "closed, or not doubled inside a text?"
        ) from error
    for number, cells in enumerate(grid, start=1):
        if cells and len(cells) != len(grid[0]):
            raise DataError(
                f"{path}, row {number}: {len(cells)} fields, but the header has {len(grid[0])}"
            )
    yield _from_grid(path, None, grid)


_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(path: Path) -> str:
    """The text of a CSV file: UTF-8 with or without a mark, or UTF-16 with one (Excel's 'Unicode').

    Raises:
        DataError: If it is in another encoding, naming the line.
    """
    content = path.read_bytes()
    encoding = _codec(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = content[error.start : error.start + 1].hex()
        raise DataError(
            f"{path}, line {line}: not {encoding.upper().removesuffix('-SIG')} (byte 0x{byte}); "
            "save it as 'CSV UTF-8', or as XLSX"
        ) from error


def _codec(content: bytes) -> str:
    return next((name for bom, name in _BOMS.items() if content.startswith(bom)), "utf-8")


def encoding_of(path: Path) -> str:
    """The encoding of a CSV file, in words."""
    with path.open("rb") as file:
        codec = _codec(file.read(4))
    return {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a byte order mark"}.get(codec, "UTF-16")


def delimiter(text: str) -> str:
    """What parts the fields of a CSV file's header: commas, or semicolons or tabs if more."""
    header = text.partition("\n")[0]
    counts = {mark: header.count(mark) for mark in ",;\t"}
    return max(counts, key=lambda mark: counts[mark])


def _read_jsonl(path: Path) -> Iterator[Table]:
    rows, numbers = [], []
    columns: dict[str, None] = {}
    for number, row in json_objects(path, unit="row"):
        rows.append(row)
        numbers.append(number)
        columns.update(dict.fromkeys(row))
    yield Table(path, None, tuple(columns), rows, numbers)


def _read_parquet(path: Path) -> Iterator[Table]:
    import pyarrow.parquet

    about = pyarrow.parquet.ParquetFile(path).metadata
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    if size > _LARGEST_PARQUET:
        raise DataError(f"{path}: unpacks to {size / 2**30:,.0f} GiB, which is not read")
    content = pyarrow.parquet.read_table(path)
    rows = content.to_pylist()
    yield Table(path, None, tuple(content.column_names), rows, list(range(1, len(rows) + 1)))


def _unique(path: Path, sheet: str | None, header: list[str]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        place = f"{path}, sheet {sheet!r}" if sheet else str(path)
        raise DataError(f"{place}: column {twice[0]!r} appears twice in the header")


READERS: dict[str, Callable[[Path], Iterator[Table]]] = {
    ".xlsx": _read_xlsx,
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
}
"""Readers by file ending."""
