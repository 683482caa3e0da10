"""Files that commands write: nothing is overwritten unasked, and a full disk is one line."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError


def refuse_file(path: Path) -> None:
    """Refuse to write over a file.

    Raises:
        DataError: If it is there.
    """
    if path.expanduser().exists():
        raise DataError(f"--to {path}: is there already; name a new file")


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
def writing(place: Path) -> Iterator[None]:
    """What goes wrong while a file, or a folder's files, are written is one line.

    Raises:
        DataError: Naming the file.
    """
    try:
        yield
    except FileExistsError:
        raise DataError(f"--to {place}: is there already; name a new file") from None
    except OSError as error:
        raise DataError(f"--to {error.filename or place}: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise DataError(f"--to {place}: {error}") from error


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
    path = path.expanduser()
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)


def jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
