"""`xling export eee`: results as documents of Every Eval Ever, one per model and language."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA, Panel, panel_of
from xling_tasks.data.records import RECORDS
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.output import all_or_none, file_name, refuse_files
from xling_tasks.report.data import Model, Task, read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Cell, Options, Report
from xling_tasks.report.runs import answers_of
from xling_tasks.report.tables.grid import is_language
from xling_tasks.report.unread import measured
from xling_tasks.secrets import publishable

SCHEMA = "0.3.0"
"""The version of the published schema (arXiv:2606.14516) that the documents follow."""


def export_eee(options: argparse.Namespace) -> str:
    """Write a document per model and language.

    Raises:
        DataError: If there are no results, or one model's id is given for several.
    """
    models = read_models(options.folders, options.family)
    if options.model_id and len(models) > 1:
        raise DataError(f"--model-id {options.model_id}: these are {len(models)} models; name one")
    report = make_report(models, Options())
    written: dict[str, str] = {}
    made = 0
    for model in models:
        for language, cells in _by_language(report, model).items():
            document = _document(model, language, cells, report.options, options)
            name = f"{file_name(model.name)}_{file_name(language)}.json"
            rows = [*_sample_rows(document, cells)] if options.with_samples else []
            if rows:
                name, samples = _named(document, rows)
                written[samples] = "".join(rows)
            text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
            written[name], made = f"{text}\n", made + 1
    if not written:
        raise DataError("no endpoint has a value in these results, so there is nothing to export")
    refuse_files(options.to, written)
    with all_or_none(options.to, written) as folder:
        for name, text in written.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return f"{options.to}: {made} documents of Every Eval Ever, schema {SCHEMA}"


def _by_language(report: Report, model: Model) -> dict[str, list[Cell]]:
    """Language -> the endpoints of all criteria, as far as they have a value."""
    by_language: dict[str, list[Cell]] = {}
    for cell in report.cells:
        if cell.model != model.name or not is_language(cell.language) or cell.value is None:
            continue
        place = cell.task.place
        if cell.panel.metric in {panel_of(place, name)[0].metric for name in cell.task.endpoints}:
            by_language.setdefault(cell.language, []).append(cell)
    return by_language


def _document(
    model: Model, language: str, cells: Sequence[Cell], how: Options, options: argparse.Namespace
) -> dict[str, Any]:
    newest = max((cell.task.results.run for cell in cells), key=lambda run: run.stamp)
    now = str(int(time.time()))
    name = options.model_id or model.name
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"xling-tasks-{language}/{name}/{now}",
        "retrieved_timestamp": now,
        "evaluation_timestamp": _seconds(newest.stamp),
        "source_metadata": {
            "source_name": "xling-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": options.organization,
            "evaluator_relationship": options.relationship,
        },
        "eval_library": {
            "name": "lm_eval",
            "version": str(newest.content.get("lm_eval_version") or "unknown"),
            "additional_details": {"plugin": f"xling-tasks {__version__}"},
        },
        "model_info": {
            "name": model.name,
            "id": name,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "backend": str(newest.config.get("model")),
                "model_args": json.dumps(
                    publishable(newest.model_args), sort_keys=True, default=str
                ),
            },
        },
        "evaluation_results": [_result(cell, how) for cell in cells],
    }


def _seconds(stamp: str) -> str:
    """A run's time in its file's name, as Unix time; the name as it is where it says none."""
    try:
        read = datetime.strptime(stamp.partition(".")[0], "%Y-%m-%dT%H-%M-%S")
    except ValueError:
        return stamp
    return str(int(read.replace(tzinfo=timezone.utc).timestamp()))


def _result(cell: Cell, how: Options) -> dict[str, Any]:
    """One endpoint: what it is, its direction, its value and interval."""
    panel, task = cell.panel, cell.task
    known = CRITERIA[panel.criterion]
    metric = known.metrics[panel.metric]
    details = {
        "criterion": panel.criterion,
        "language": cell.language,
        "language_name": language_name(cell.language),
        "task": task.results.task,
        "task_version": str((task.results.config.get("metadata") or {}).get("version")),
        "signature": str(publishable(cell.signature)),
        **({} if panel.temperature is None else {"temperature": f"{panel.temperature:g}"}),
    }
    score: dict[str, Any] = {"score": cell.value, "details": details}
    if cell.interval is not None:
        score["uncertainty"] = {
            "confidence_interval": {
                "lower": cell.interval.low,
                "upper": cell.interval.high,
                "confidence_level": how.level,
                "method": "over questions",
            },
            "num_samples": int(task.results.count["effective"]),
        }
    at = "" if panel.temperature is None else f"_t{panel.temperature:g}"
    return {
        "evaluation_result_id": f"{task.results.task}/{panel.metric}{at}/{cell.language}",
        "evaluation_name": f"{known.title}, {panel.dataset}, {language_name(cell.language)}",
        "source_data": _source(task, panel.dataset),
        "metric_config": {
            "evaluation_description": known.asks,
            "metric_id": panel.metric,
            "metric_name": metric.label or panel.metric,
            "metric_unit": "proportion" if metric.share else "points",
            "lower_is_better": cell.better is False,
        },
        "score_details": score,
    }


def _source(task: Task, dataset: str) -> dict[str, Any]:
    """Where the questions are from: the Hub, or elsewhere."""
    data = task.results.xling.get("data") or {}
    name = str(publishable(data.get("dataset") or dataset))
    record = RECORDS.get(dataset)
    if record is not None and record.hub_id:
        return {"dataset_name": name, "source_type": "hf_dataset", "hf_repo": record.hub_id}
    details = {"sha256": str(data["sha256"])} if data.get("sha256") else {}
    return {"dataset_name": name, "source_type": "other", "additional_details": details}


# Samples


def _sample_rows(document: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """The lines of a document's file of samples; CELLS are what its results are made of.

    Only what is right or wrong per question has rows: a score over several replies has no value of
    one question, and a reply that was not read has none either.
    """
    for result, cell in zip(document["evaluation_results"], cells, strict=True):
        values = _values(cell)
        if not values:
            continue
        for sample in answers_of(cell.task.results):
            if (score := values.get(sample["question_id"])) is not None:
                row = _sample_row(document, result, sample, score, lower=cell.better is False)
                yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _values(cell: Cell) -> dict[str, float]:
    """Question -> 0 or 1, of those that were read; nothing where it is not one of the two."""
    task = measured(cell.task)
    name = next(
        (metric for metric in task.columns if panel_of(task.place, metric) == _place(cell)), ""
    )
    column = task.columns.get(name)
    if column is None or not column.simple:
        return {}
    known = {key: sums[0] for key, sums in column.by_question(task.ids).items() if sums}
    return known if set(known.values()) <= {0.0, 1.0} else {}


def _place(cell: Cell) -> tuple[Panel, str]:
    return cell.panel, cell.language


def _sample_row(
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


def _named(document: dict[str, Any], rows: Sequence[str]) -> tuple[str, str]:
    """The names of a document, which is told of its file of samples, and of that file."""
    mark = uuid.uuid4()
    folder = f"data/xling-tasks/{_part(document['source_metadata']['source_organization_name'])}"
    text = "".join(rows).encode("utf-8")
    document["detailed_evaluation_results"] = {
        "format": "jsonl",
        "file_path": f"{folder}/{_part(document['model_info']['id'])}/{mark}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(text).hexdigest(),
        "total_rows": len(rows),
    }
    return f"{mark}.json", f"{mark}_samples.jsonl"


def _part(name: str) -> str:
    return file_name(name.rpartition("/")[2])
