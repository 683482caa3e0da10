"""An example of a user's own file: six questions in three languages, written for this project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.data.tables import READERS
from xling_tasks.errors import DataError
from xling_tasks.output import jsonl, refuse_file, writing
from xling_tasks.safe_json import json_objects


def example_rows(*, long: bool = False) -> list[dict[str, str]]:
    """Return the example: a row per question, or per question and language."""
    rows = [row for _, row in json_objects(SAMPLE_FOLDER / "own_example.jsonl")]
    if not long:
        return rows
    return [
        {
            "id": row["id"], "language": code, "question": row[f"question_{code}"],
            "answer": row[f"answer_{code}"], "notes": row["notes"] if code == "en" else "",
        }
        for row in rows
        for code in ("en", "pt", "sw")
    ]  # fmt: skip


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows in the format that the file's ending names; never over another file."""
    ending = path.suffix.lower()
    if ending not in READERS:
        raise DataError(f"{path}: name a file that ends in {', '.join(READERS)}")
    refuse_file(path, "")
    frame = pd.DataFrame(rows)
    with writing(path, ""):
        path.parent.mkdir(parents=True, exist_ok=True)
        if ending == ".csv":  # with a mark, without which Excel takes UTF-8 for another encoding
            frame.to_csv(path, index=False, encoding="utf-8-sig")
        elif ending == ".xlsx":
            frame.to_excel(path, index=False, sheet_name="questions")
        elif ending == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            path.write_text("".join(jsonl(rows)), encoding="utf-8")
