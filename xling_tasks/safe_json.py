"""JSON from files that anybody may have written: whatever is in them, a clear error at most."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.errors import DataError, unreadable

LONGEST = 20_000_000
"""Bytes of a line in a user's file: far above any text, far below what fills a memory."""


class Line(NamedTuple):
    """A line of a file.

    Attributes:
        number: Counted from 1, blank lines too.
        offset: The byte at which it begins.
        content: Its bytes.
    """

    number: int
    offset: int
    content: bytes


def loads(text: str | bytes, *, unique: bool = False, **how: Any) -> Any:
    """As `json.loads`.

    Args:
        text: JSON.
        unique: Whether a key that appears twice is an error; else the last one counts.
        how: More of `json.loads`.

    Raises:
        ValueError: If it is not valid JSON, not UTF-8, or nested deeper than can be read.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, object_pairs_hook=_once_each if unique else None, **how)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(wrong_in(error)) from None
    except UnicodeDecodeError as error:
        # Its own form holds the whole text, which may be megabytes.
        raise ValueError(f"not UTF-8: {error}") from None


def wrong_in(error: json.JSONDecodeError) -> str:
    """What is wrong with some JSON, and where; a text of one line has no lines to count."""
    text = error.doc.rstrip()
    if error.pos >= len(text):
        return "it ends too early"
    line = f"line {error.lineno}, " if "\n" in text else ""
    return f"{error.msg}: {line}character {error.colno}"


def read_json(path: Path, mend: str) -> Any:
    """What is in a file of JSON.

    Raises:
        DataError: If it cannot be read or is none; MEND says what to do about that.
    """
    try:
        return loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error
    except ValueError as error:
        raise DataError(f"{path}: not valid JSON ({error}); {mend}") from error


def numbered(lines: Iterable[bytes]) -> Iterator[Line]:
    """Lines with their numbers and places; blank ones are skipped."""
    offset = 0
    for number, content in enumerate(lines, start=1):
        text = content.removeprefix(codecs.BOM_UTF8) if number == 1 else content
        if text.strip():
            yield Line(number, offset, text)
        offset += len(content)


def read_lines(path: Path, longest: int = -1) -> Iterator[Line]:
    """The lines of a file that are not blank.

    They end at a line feed alone: a text in JSON may hold the other separators of lines.

    Args:
        path: The file.
        longest: The most bytes of a line; negative for any number.

    Raises:
        DataError: If the file cannot be read, or a line is longer.
    """
    try:
        with path.open("rb") as file:
            for line in numbered(iter(lambda: file.readline(longest + 1 or -1), b"")):
                if 0 <= longest < len(line.content):
                    raise DataError(
                        f"{path}, line {line.number}: longer than {longest // 10**6} MB, which is "
                        "no single question or conversation; are line breaks missing?"
                    )
                yield line
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error


def json_objects(
    path: Path | str,
    content: bytes | None = None,
    *,
    expected: str = "an object",
    unit: str = "line",
    whole: bool = False,
    **how: Any,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with the numbers of their lines.

    Args:
        path: The file.
        content: What is in it, if it was read already.
        expected: What each object is, for the error message.
        unit: What the error message calls a line.
        how: More of `json.loads`.
        whole: Whether halves of characters (lone surrogates) are refused, with which no model can
            be asked and no log be written; and keys that appear twice, of which one would be lost.

    Raises:
        DataError: If the file cannot be read; naming the line, if it holds no object.
    """
    mend = f"every {unit} is one whole object of JSON"
    if content is None:
        lines = read_lines(Path(path), LONGEST if whole else -1)
    else:
        lines = numbered(content.split(b"\n"))
    for line in lines:
        where = f"{path}, {unit} {line.number}"
        try:
            row = loads(line.content, unique=whole, **how)
        except ValueError as error:
            raise DataError(f"{where}: not valid JSON ({error}); {mend}") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected {expected}, got {row!r:.40}; {mend}")
        if whole and b"\\u" in line.content and _has_half(row):
            raise DataError(
                f"{where}: holds half of a character, as \\ud800 alone; write the text again"
            )
        yield line.number, row


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.40} appears twice; keep one")
    return row


def _has_half(row: dict[str, Any]) -> bool:
    """Whether some text cannot be written as UTF-8."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
