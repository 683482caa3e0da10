"""Text that is printed or written (counts, tables, CSV), and files that are not overwritten."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, SettingError
from xling_tasks.secrets import public

# Files


def refuse_file(path: Path, option: str = "--to ") -> None:
    """Refuse to write over a file; raise a DataError if it exists."""
    if path.exists():
        raise DataError(f"{option}{path}: is there already; name a new file")


def refuse_files(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write over files of a folder; raise a DataError if one exists."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"--to {folder}: is a file; name a folder")
    if existing := [name for name in names if (folder / name).exists()]:
        raise DataError(f"--to {folder}: {', '.join(existing)} already there; name another folder")


def refuse_others(folder: Path, marker: str = "", content: str = "") -> None:
    """Raise a SettingError for a folder with things other than ours, which has MARKER in it."""
    if folder.is_file():
        raise SettingError(f"--to {folder}: is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (marker and (folder / marker).is_file()):
        holds = f" and holds no {content}" if content else ""
        raise SettingError(f"--to {folder}: is not empty{holds}; name a new folder")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their names below a folder; a lone half of a character becomes `?`."""
    with writing(folder):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def write_new(path: Path, lines: Iterable[str]) -> None:
    """Write a new file, with the folders that it is in; raise a DataError if it exists."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)


@contextlib.contextmanager
def writing(path: Path, option: str = "--to ") -> Iterator[None]:
    """Make a DataError of what goes wrong while a file, or files of a folder, are written."""
    try:
        yield
    except FileExistsError:
        raise DataError(f"{option}{path}: is there already; name a new file") from None
    except OSError as error:
        raise DataError(f"{option}{error.filename or path}: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{option}{path}: {error}") from error


# Words


def many(count: int, noun: str) -> str:
    """Format a count with its noun: `1 question`, `1,200 questions`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: object) -> str:
    """Return a noun as it stands behind a count: `question` behind 1, or `1`."""
    if str(count) == "1":
        return noun
    stem = re.sub("(?<=[^aeiou])y$", "ie", noun)
    return f"{stem}{'e' * stem.endswith(('s', 'x', 'ch', 'sh'))}s"


# Tables


class Screen(str):
    """What a command prints, with its exit status."""

    status: int = 0

    def __new__(cls, text: str, status: int = 0) -> Screen:
        """Make a text with a status."""
        screen = super().__new__(cls, text)
        screen.status = status
        return screen


_MARKUP = re.compile(
    r"[\\`*|]|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=[#\w])|^[>#]|^[+-](?=\s)|(?<![^\W_])_|_(?![^\W_])"
)
"""What Markdown takes for more than a character; no `_` within a word."""


def plain(text: str) -> str:
    """Escape a line, or a cell, so that Markdown takes it for nothing else."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return _MARKUP.sub(r"\\\g<0>", line)


def table(rows: Sequence[Mapping[str, Any]], *, digits: int = 3, missing: str = "-") -> str:
    """Format rows (column -> cell) as a Markdown table, numbers with thousands separated.

    None is MISSING; a column that a row lacks is empty there.
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))

    def cell(value: Any) -> str:
        if value is None:
            return missing
        if isinstance(value, float):
            return f"{value:.{digits}f}"
        return f"{value:,}" if isinstance(value, int) else plain(str(value))

    cells = [[cell(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [columns, ["-" * width for width in widths], *cells]
    return "\n".join(
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |"
        for line in lines
    )


def jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_FORMULA = re.compile(r" *(?![-+]?[\d.]+(?:e[-+]?\d+)?$)[=+\-@\t\r\n＝＋－＠]")
"""The beginning of what a spreadsheet runs; a number with its sign is none."""


def harmless(value: Any) -> Any:
    """Return a cell that no spreadsheet runs: an apostrophe before a text that begins a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Format rows of the same columns as CSV for others: `public`, no formulas, None as empty."""
    cells = [{name: harmless(public(value)) for name, value in row.items()} for row in rows]
    out = io.StringIO()
    if not cells:  # a table without rows, whose columns nobody knows
        return ""
    writer = csv.DictWriter(out, [*cells[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    return out.getvalue()
