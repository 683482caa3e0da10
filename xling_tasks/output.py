"""Files that are written: their names, nothing overwritten unasked, a full disk is one line.

And what stands in them: counts with their nouns, one way to write Markdown, and CSV whose cells no
spreadsheet runs.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, SettingError
from xling_tasks.secrets import public

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9_])?")
_MARKED = re.compile(r".*-[0-9a-f]{12}")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d")


def file_name(text: str) -> str:
    """A part of a file's name for any text: whatever comes from a user, a file or a model.

    It has letters a to z, digits, `-` and `_`, at most 100 of them, begins with a letter or digit
    and means the same on every system: no folder, no hidden file, no option, no device of Windows.
    A text that is such a name stays as it is; any other gets a mark made of all of it, so that
    different texts have different names, also where systems ignore case.
    """
    if _PLAIN.fullmatch(text) and not _DEVICE.fullmatch(text) and not _MARKED.fullmatch(text):
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    kept = re.sub(r"[^a-z0-9]+", "_", text.lower())[:80].strip("_")
    return f"{kept or 'x'}-{mark}"


def file_names(texts: Iterable[str]) -> list[str]:
    """As `file_name`, for files of one folder: texts that are equal get names of their own."""
    names: list[str] = []
    for text in texts:
        name, count = file_name(text), 1
        while name in names:
            count += 1
            name = file_name(f"{text} #{count}")
        names.append(name)
    return names


def refuse_file(path: Path, option: str = "--to ") -> None:
    """Refuse to write over a file.

    Args:
        path: The file.
        option: What names it, for the message.

    Raises:
        DataError: If it is there.
    """
    if path.exists():
        raise DataError(f"{option}{path}: is there already; name a new file")


def refuse_others(folder: Path, own: str, what: str) -> None:
    """Refuse to write into a folder with other things; what is ours in it may be replaced.

    Args:
        folder: To write into; may be missing.
        own: A file that shows that the folder is ours.
        what: What it then holds, in words.

    Raises:
        SettingError: If it holds other things.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / own).is_file():
        raise SettingError(f"--to {folder}: is not empty and holds no {what}; name a new folder")


def refuse_full(folder: Path) -> None:
    """Refuse to write into a folder with anything in it.

    Raises:
        SettingError: If there is something, or it is a file.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        what = "is a file" if folder.is_file() else "is not empty"
        raise SettingError(f"--to {folder}: {what}; name a new folder")


def refuse_files(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write over files of a folder.

    Raises:
        DataError: If one is there, or the folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(f"--to {folder}: is a file; name a folder")
    there = [name for name in names if (folder / name).exists()]
    if there:
        raise DataError(f"--to {folder}: {', '.join(there)} already there; name another folder")


@contextlib.contextmanager
def writing(place: Path, option: str = "--to ") -> Iterator[None]:
    """What goes wrong while a file, or a folder's files, are written is one line.

    Args:
        place: The file or folder.
        option: What names it, for the message.

    Raises:
        DataError: Naming the file.
    """
    try:
        yield
    except FileExistsError:
        raise DataError(f"{option}{place}: is there already; name a new file") from None
    except OSError as error:
        raise DataError(f"{option}{error.filename or place}: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{option}{place}: {error}") from error


@contextlib.contextmanager
def all_or_none(to: Path, names: Iterable[str]) -> Iterator[Path]:
    """A folder to write NAMES in, which go to TO once all are there: a refusal leaves nothing.

    Raises:
        DataError: Naming the file that cannot be written.
    """
    with writing(to):
        to.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to, prefix=".xling-") as scratch:
            yield Path(scratch)
            for name in names:
                (to / name).parent.mkdir(exist_ok=True)
                os.replace(Path(scratch, name), to / name)


def write_new(path: Path, lines: Iterable[str]) -> None:
    """Write a new file, with the folders that it is in.

    Raises:
        DataError: If it is there already, or cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)


def jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def many(count: int, noun: str) -> str:
    """A count with its noun: `1 reply`, `1,200 replies`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: object) -> str:
    """A noun as it stands behind a count, which may be a text: `question` behind 1, or `1`."""
    if str(count) == "1":
        return noun
    stem = re.sub("(?<=[^aeiou])y$", "ie", noun)
    return f"{stem}{'e' * stem.endswith(('s', 'x', 'ch', 'sh'))}s"


_SIGNS = re.compile(
    r"[\\`*|]|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=[#\w])|^[>#]|^[+-](?=\s)|(?<![^\W_])_|_(?![^\W_])"
)
"""What Markdown takes for more than a character; no `_` within a word."""


def plain(text: str) -> str:
    """A line, or a cell, that Markdown takes for nothing else, whatever names stand in it."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return _SIGNS.sub(r"\\\g<0>", line)


def markdown_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], right: Collection[int] = ()
) -> str:
    """A table whose cells are escaped and whose columns are not padded.

    Args:
        columns: The head.
        rows: As many cells each; None is empty.
        right: The columns set to the right, by index.
    """
    rule = ["---:" if index in right else "---" for index in range(len(columns))]
    cells = [["" if cell is None else plain(str(cell)) for cell in row] for row in rows]
    lines = [[plain(column) for column in columns], rule, *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    """A cell as it may be written: an apostrophe before a text that would be a formula.

    Numbers, also as text, stay as they are. Files that programs read get their texts exactly and
    do not use this.
    """
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_BEGINS):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Rows as CSV: numbers in full, None as an empty cell, and no cell that would be a formula.

    Args:
        rows: Name of a column -> its cell.
        columns: Those that are written; without them, those of the first row.
    """
    made = [{name: harmless(public(value)) for name, value in row.items()} for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(
        out, columns or list(made[0]), extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue()
