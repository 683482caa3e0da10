"""What the tests of users' own questions share."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
from builders import write_lines

from xling_tasks.data.custom.dataset import CustomDataset, load_custom_dataset

_FEW = (
    ("1", "What helps against a cold?", "Rest and plenty of fluids help the body to recover.",
     "O que ajuda contra um resfriado?", "Repouso e muitos líquidos ajudam o corpo a se recuperar.",
     "Nini husaidia dhidi ya mafua?", "Kupumzika na kunywa maji mengi husaidia mwili kupona."),
    ("2", "How long should I sleep?", "Most adults need seven to nine hours of sleep.",
     "Quanto tempo devo dormir?", "A maioria dos adultos precisa de sete a nove horas de sono.",
     "Ninapaswa kulala kwa muda gani?", "Watu wazima wengi wanahitaji saa saba hadi tisa za usingizi."),
    ("3", "Is much salt bad for me?", "Too much salt raises blood pressure.",
     "Muito sal me faz mal?", "Sal em excesso aumenta a pressão arterial.", "", ""),
)  # fmt: skip
_COLUMNS = [f"{kind}_{code}" for code in ("en", "pt", "sw") for kind in ("question", "answer")]
FEW = [dict(zip(["id", *_COLUMNS], row, strict=True)) for row in _FEW]
"""Three questions in English, Portuguese and Swahili; the last without Swahili."""


def write_csv(path: Path, rows: Sequence[Mapping[str, object]], **options: str) -> Path:
    """Write a table; `delimiter` and `encoding` as for the standard library."""
    encoding = options.pop("encoding", "utf-8")
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), **options)  # type: ignore[arg-type]
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_book(path: Path, *lines: Iterable[Any]) -> Path:
    """Write a workbook with one sheet: its lines from the top."""
    book = openpyxl.Workbook()
    for cells in lines:
        book.active.append(list(cells))
    book.save(path)
    return path


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], **options: str) -> Path:
    """Write a table in the format that the file's ending names; options are of `write_csv`."""
    if path.suffix == ".csv":
        return write_csv(path, rows, **options)
    if path.suffix == ".jsonl":
        return write_lines(path, rows)
    if path.suffix == ".xlsx":
        return write_book(path, rows[0], *(row.values() for row in rows))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def loaded(folder: Path, rows: Sequence[Mapping[str, Any]], ending: str = "csv") -> CustomDataset:
    """What is read of a table."""
    return load_custom_dataset(str(write_table(folder / f"f.{ending}", rows)))
