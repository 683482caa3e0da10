"""An example of a user's own file: six questions in three languages, written for this project."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError
from xling_tasks.output import jsonl, refuse_file, writing
from xling_tasks.safe_json import json_objects


def rows() -> list[dict[str, str]]:
    """Return the example in the wide shape."""
    return [row for _, row in json_objects(SAMPLE_FOLDER / "own_example.jsonl")]


def long_rows() -> list[dict[str, str]]:
    """Return the example in the long shape: a row per question and language."""
    return [
        {
            "id": row["id"], "language": code, "question": row[f"question_{code}"],
            "answer": row[f"answer_{code}"], "notes": row["notes"] if code == "en" else "",
        }
        for row in rows()
        for code in ("en", "pt", "sw")
    ]  # fmt: skip


def write(path: Path, content: Sequence[dict[str, str]]) -> None:
    """Write rows in the format that the file's ending names; never over another file."""
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise DataError(f"{path}: name a file that ends in {', '.join(_WRITERS)}")
    refuse_file(path, "")
    with writing(path, ""):
        path.parent.mkdir(parents=True, exist_ok=True)
        _WRITERS[ending](path, content)


def _csv(path: Path, content: Sequence[dict[str, str]]) -> None:
    # With a mark, without which Excel takes UTF-8 for another encoding.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(content[0]))
        writer.writeheader()
        writer.writerows(content)


def _xlsx(path: Path, content: Sequence[dict[str, str]]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "questions"
    sheet.append(list(content[0]))
    for row in content:
        sheet.append(list(row.values()))
    book.save(path)


def _parquet(path: Path, content: Sequence[dict[str, str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(content)), path)


def _jsonl(path: Path, content: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(jsonl(content)), encoding="utf-8")


_WRITERS = {".csv": _csv, ".xlsx": _xlsx, ".parquet": _parquet, ".jsonl": _jsonl}
