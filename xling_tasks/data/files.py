"""Read xlsx, parquet, CSV and JSONL files into plain rows, with errors that name the place."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, meant, no_such, unreadable
from xling_tasks.safe_json import LONGEST, json_objects, read_lines

_LARGEST_WORKBOOK = 200 * 2**20
_LARGEST_PARQUET = 8 * 2**30


@dataclass(frozen=True)
class Table:
    """One sheet or file: `rows` map columns to cells.

    `sheet` is None for formats without sheets, `numbers` are the rows' as a person would count
    them, `nameless` columns have cells and no name in the header (`column C`), and spreadsheets do
    not show a `hidden` sheet.
    """

    path: Path
    sheet: str | None
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    numbers: list[int]
    nameless: tuple[str, ...] = ()
    hidden: bool = False

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

    def only(self, indexes: Sequence[int]) -> Table:
        """The same with some of its rows."""
        rows = [self.rows[index] for index in indexes]
        return replace(self, rows=rows, numbers=[self.numbers[index] for index in indexes])

    def require(self, columns: Iterable[str]) -> None:
        """Check that all `columns` are there; of a missing one the nearest are named."""
        missing = [name for name in columns if name not in self.columns]
        if missing:
            hints = " ".join(f"{name!r} is missing.{meant(name, self.columns)}" for name in missing)
            known = ", ".join(sorted(self.columns))
            raise DataError(f"{self.place()}: wrong columns: {hints} Known: {known}.")


def read_tables(path: Path) -> list[Table]:
    """All tables of a file that have rows: one per sheet of a workbook, else one."""
    if not path.is_file():
        raise DataError(f"{path}: {no_such(path)}")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}; save it as one of {', '.join(READERS)}"
        )
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


def text_lines(path: Path) -> list[str]:
    """The lines of a text file that are not blank, without white space around them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); save it as UTF-8") from error
    return [line.strip() for line in lines if line.strip()]


def _read_xlsx(path: Path) -> Iterator[Table]:
    import openpyxl

    _refuse_bomb(path)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            # What a sheet says of its own size may be wrong, and fills every row up to it.
            sheet.reset_dimensions()
            grid = (tuple(map(_unescaped, row)) for row in sheet.iter_rows(values_only=True))
            table = _from_grid(path, sheet.title, grid)
            yield replace(table, hidden=sheet.sheet_state != "visible")
    finally:
        book.close()


_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


def _unescaped(cell: Any) -> Any:
    """A cell's text without the escapes that workbooks have for characters XML cannot hold.

    Such as `_x000D_`, the carriage return of a text that was pasted (ECMA-376, ST_Xstring).
    """
    if not isinstance(cell, str) or "_x" not in cell:
        return cell
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), cell)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").replace("\0", "")


def _refuse_bomb(path: Path) -> None:
    """Refuse what is no workbook, and one that unpacks to more than any data set of ours holds."""
    if not zipfile.is_zipfile(path):
        raise DataError(
            f"{path}: is no XLSX workbook (cut, old XLS, CSV, or with a password?); open it in "
            "Excel or LibreOffice and save it as XLSX without a password"
        )
    with zipfile.ZipFile(path) as archive:
        size = sum(item.file_size for item in archive.infolist())
    if size > _LARGEST_WORKBOOK:
        raise DataError(
            f"{path}: unpacks to {size / 2**20:,.0f} MiB, and more than "
            f"{_LARGEST_WORKBOOK / 2**20:,.0f} are not read; save it as CSV or parquet"
        )


def header_in(lines: Iterator[tuple[Any, ...]]) -> tuple[int, list[str]]:
    """The number of the first row that is not empty, and its cells as names of columns."""
    for number, cells in enumerate(lines, start=1):
        if any(_filled(cell) for cell in cells):
            return number, [str(cell).strip() if cell is not None else "" for cell in cells]
    return 1, []


def _from_grid(path: Path, sheet: str | None, grid: Iterable[tuple[Any, ...]]) -> Table:
    """Make a table of a header row and cells; wholly empty rows are no rows."""
    lines = iter(grid)
    first, header = header_in(lines)
    named = tuple(name for name in header if name)
    unnamed = [place for place, name in enumerate(header) if not name]
    rows, numbers, nameless = [], [], dict[str, None]()
    where = f"{path}, sheet {sheet!r}" if sheet else str(path)
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise DataError(f"{where}: column {twice[0]!r} appears twice in the header")
    for number, cells in enumerate(lines, start=first + 1):
        if any(_filled(cell) for cell in cells):
            _refuse_stray(f"{where}, row {number}", cells[len(header) :], header)
            rows.append({k: v for k, v in zip(header, cells, strict=False) if k})
            numbers.append(number)
            nameless |= {
                _column(sheet, n): None for n in unnamed if n < len(cells) and _filled(cells[n])
            }
    return Table(path, sheet, named, rows, numbers, tuple(nameless))


def _filled(cell: Any) -> bool:
    return cell is not None and bool(str(cell).strip())


def _column(sheet: str | None, index: int) -> str:
    """A column without a name, as a person would point to it."""
    if sheet is None:
        return f"column {index + 1}, which has no name"
    from openpyxl.utils import get_column_letter

    return f"column {get_column_letter(index + 1)}, which has no name"


def _refuse_stray(where: str, cells: tuple[Any, ...], header: list[str]) -> None:
    """A cell to the right of the header belongs to no column: data that would be lost."""
    for cell in cells:
        if _filled(cell):
            raise DataError(
                f"{where}: a cell to the right of the header's last column "
                f"({cell!r:.40}); delete it, or give its column a name{_is_title(header)}"
            )


def _is_title(header: list[str]) -> str:
    """What to do where the header has one name alone, as the title of a sheet has."""
    named = [name for name in header if name]
    if len(named) > 1:
        return ""
    return f" (is {named[0]!r:.40} a title? delete the rows above the header)" if named else ""


def _read_csv(path: Path) -> Iterator[Table]:
    csv.field_size_limit(LONGEST)
    text = decoded(path)
    lines = io.StringIO(text, newline="")
    grid: list[tuple[str, ...]] = []
    if _SEPARATOR.match(text):
        lines.readline()
        grid.append(())
    before = len(grid)
    reader = csv.reader(lines, strict=True, delimiter=delimiter(text))
    try:
        grid += (tuple(cells) for cells in reader)
    except csv.Error as error:
        why = f"a text longer than {LONGEST // 10**6} MB" if "limit" in str(error) else error
        raise DataError(
            f"{path}, line {before + reader.line_num}: not valid CSV ({why}); is a quotation "
            "mark not closed, or not doubled inside a text?"
        ) from error
    first, header = header_in(iter(grid))
    for number, cells in enumerate(grid[first:], start=first + 1):
        if cells and len(cells) != len(header):
            raise DataError(
                f"{path}, row {number}: {len(cells)} fields, but the header has {len(header)}; a "
                f"text with {delimiter(text)!r} in it stands in quotation marks"
                f"{_is_title(header)}"
            )
    yield _from_grid(path, None, grid)


_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def decoded(path: Path) -> str:
    """The text of a CSV file: UTF-8, or UTF-16 with a byte order mark (Excel's 'Unicode')."""
    for _ in read_lines(path, LONGEST):
        pass  # a line that is too long ends it here, before it is taken in several times
    content = path.read_bytes()
    encoding = _codec(content)
    what_to_do = "save it as 'CSV UTF-8', or as XLSX"
    if content.startswith(b"PK\x03\x04"):
        raise DataError(f"{path}: is a workbook or another zip file, not CSV; name it .xlsx")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = content[error.start : error.start + 1].hex()
        raise DataError(
            f"{path}, line {line}: not {encoding.upper().removesuffix('-SIG')} (byte 0x{byte}); "
            f"{what_to_do}"
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(
            f"{path}, line {line}: holds a NUL character, as UTF-16 without a byte order mark "
            f"does; {what_to_do}"
        )
    return text


def _codec(content: bytes) -> str:
    return next((name for bom, name in _BOMS.items() if content.startswith(bom)), "utf-8")


def encoding_of(path: Path) -> str:
    """The encoding of a CSV file, in words."""
    with path.open("rb") as file:
        codec = _codec(file.read(4))
    return {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a byte order mark"}.get(codec, "UTF-16")


_QUOTED = re.compile(r'"[^"]*"')
_SEPARATOR = re.compile(r"sep=([,;\t])[\r\n]", re.I)
"""A first line that tells Excel what parts the fields."""


def delimiter(text: str) -> str:
    """What parts the fields of a CSV file: as its first line says (`sep=;`), else by its header.

    There it is commas, or semicolons or tabs if more stand outside of quotation marks.
    """
    stated = _SEPARATOR.match(text)
    if stated:
        return stated[1]
    header = re.split(r"[\r\n]", _QUOTED.sub("", text[: 2**20]).lstrip(), maxsplit=1)[0]
    counts = {mark: header.count(mark) for mark in ",;\t"}
    return max(counts, key=lambda mark: counts[mark])


def _read_jsonl(path: Path) -> Iterator[Table]:
    rows, numbers = [], []
    columns: dict[str, None] = {}
    for number, row in json_objects(path, unit="row", whole=True):
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


READERS: dict[str, Callable[[Path], Iterator[Table]]] = {
    ".xlsx": _read_xlsx,
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
}
"""Readers by file ending."""
