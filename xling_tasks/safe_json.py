"""JSON of files that anybody may have written: values, or errors that name file and line."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.errors import DataError, unreadable


class Line(NamedTuple):
    """A line of a file: its number from 1, the byte at which it begins, and its bytes."""

    number: int
    offset: int
    content: bytes


def loads(text: str | bytes, *, unique: bool = False, **options: Any) -> Any:
    """Parse JSON as `json.loads` with OPTIONS; UNIQUE refuses a key that appears twice.

    Raises:
        ValueError: If it is not valid JSON, not UTF-8, or nested deeper than can be read.
    """
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(text, object_pairs_hook=_refuse_repeated if unique else None, **options)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeDecodeError as error:  # its own message holds the whole text
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()):
            raise ValueError("it ends too early") from None
        line = f"line {error.lineno}, " if "\n" in error.doc.rstrip() else ""
        raise ValueError(f"{error.msg}: {line}character {error.colno}") from None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in pairs:
        if name in row:
            raise ValueError(f"the key {name!r:.40} appears twice; keep one")
        row[name] = value
    return row


def read_json(path: Path, advice: str) -> Any:
    """Read a file of JSON; raise a DataError with ADVICE if it cannot be read or parsed."""
    try:
        return loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error
    except ValueError as error:
        raise DataError(f"{path}: not valid JSON ({error}); {advice}") from error


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that are not blank; they end at a line feed alone.

    Of a file that ends in `.gz`, the lines of what was compressed.

    Raises:
        DataError: If the file cannot be read.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from _number_lines(file)
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error


def _number_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    offset = 0
    for number, content in enumerate(lines, start=1):
        text = content.removeprefix(codecs.BOM_UTF8) if number == 1 else content
        if text.strip():
            yield Line(number, offset, text)
        offset += len(content)


def json_objects(
    path: Path | str,
    content: bytes | None = None,
    *,
    expected: str = "an object",
    unit: str = "line",
    whole: bool = False,
    **options: Any,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with the numbers of its lines, each a UNIT.

    Args:
        path: The file.
        content: What is in it, if it was read already.
        expected: What each object is, for the error message.
        unit: What the error message calls a line.
        whole: Whether to refuse keys that appear twice, of which one would be lost, and lone
            surrogates, with which no model can be asked.
        options: More of `json.loads`.

    Raises:
        DataError: If the file cannot be read; naming the line, if it holds no object.
    """
    lines = read_lines(Path(path)) if content is None else _number_lines(content.split(b"\n"))
    for number, _, text in lines:
        location, advice = f"{path}, {unit} {number}", f"every {unit} is one whole object of JSON"
        try:
            row = loads(text, unique=whole, **options)
            if whole and b"\\u" in text:
                json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DataError(f"{location}: holds half of a character, as \\ud800 alone") from None
        except ValueError as error:
            raise DataError(f"{location}: not valid JSON ({error}); {advice}") from error
        if not isinstance(row, dict):
            raise DataError(f"{location}: expected {expected}, got {row!r:.40}; {advice}")
        yield number, row
