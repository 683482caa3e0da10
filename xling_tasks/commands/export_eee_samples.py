"""The questions behind documents of Every Eval Ever, a row for each question and endpoint.

Only what is right or wrong per question has rows: a score over several replies has no value of one
question, and a reply that was not read has none either.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xling_tasks.criteria import Panel, panel_of
from xling_tasks.output import file_name
from xling_tasks.report.model import Cell
from xling_tasks.report.runs import answers_of
from xling_tasks.report.unread import measured


def rows_of(document: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """The lines of a document's file of samples.

    Args:
        document: Of one model and language.
        cells: What its results are made of, in their order.
    """
    for result, cell in zip(document["evaluation_results"], cells, strict=True):
        values = _values(cell)
        if not values:
            continue
        for sample in answers_of(cell.task.results):
            if (score := values.get(sample["question_id"])) is not None:
                row = _row(document, result, sample, score, lower=cell.better is False)
                yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _values(cell: Cell) -> dict[str, float]:
    """Question -> 0 or 1, of those that were read; nothing where it is not one of the two."""
    task = measured(cell.task)
    name = next((own for own in task.columns if panel_of(task.place, own) == _place(cell)), "")
    column = task.columns.get(name)
    if column is None or not column.simple:
        return {}
    known = {key: sums[0] for key, sums in column.by_question(task.ids).items() if sums}
    return known if set(known.values()) <= {0.0, 1.0} else {}


def _place(cell: Cell) -> tuple[Panel, str]:
    return cell.panel, cell.language


def _row(
    document: Mapping[str, Any], result: Mapping[str, Any], sample: Mapping[str, Any],
    score: float, *, lower: bool,
) -> dict[str, Any]:  # fmt: skip
    """One question's row."""
    return {
        "schema_version": document["schema_version"],
        "evaluation_id": document["evaluation_id"],
        "model_id": document["model_info"]["id"],
        "evaluation_name": result["evaluation_name"],
        "evaluation_result_id": result["evaluation_result_id"],
        "sample_id": str(sample["question_id"]),
        "interaction_type": "single_turn",
        "input": {
            "raw": str(sample["question"] or ""),
            "reference": [str(sample["right"])] if sample["right"] not in (None, "") else [],
        },
        "output": {"raw": sample["answers"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == (0.0 if lower else 1.0)},
    }


def named(document: dict[str, Any], rows: Sequence[str]) -> tuple[str, str]:
    """The names of a document and of its file of samples, as the datastore has them.

    The document is told of the file.
    """
    own = uuid.uuid4()
    folder = f"data/xling-tasks/{_part(document['source_metadata']['source_organization_name'])}"
    text = "".join(rows).encode("utf-8")
    document["detailed_evaluation_results"] = {
        "format": "jsonl",
        "file_path": f"{folder}/{_part(document['model_info']['id'])}/{own}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(text).hexdigest(),
        "total_rows": len(rows),
    }
    return f"{own}.json", f"{own}_samples.jsonl"


def _part(name: str) -> str:
    return file_name(name.rpartition("/")[2])
