"""`xling compare`: is one model better than another, and did its gap to English grow?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from xling_tasks.errors import DataError
from xling_tasks.output import csv_text, refuse_others, write_files
from xling_tasks.report.annotations import key_of, read_annotations
from xling_tasks.report.compare.page import Record, make_page, summarize
from xling_tasks.report.compare.pairs import (
    align,
    differences,
    find_remarks,
    one_model,
    shared_tasks,
)
from xling_tasks.report.compare.verdicts import compare_models, comparison_rows
from xling_tasks.report.lists import check_options, find_notes, judge_remarks
from xling_tasks.report.record import Remark
from xling_tasks.secrets import public

WORSE, OPEN = 1, 3
"""Exit statuses of `--fail-if worse`: B is worse somewhere; it cannot be told."""


class Answer(str):
    """What is printed, with the exit status."""

    status = 0


def compare(options: argparse.Namespace) -> str:
    """Compare two models' runs; return the findings in a few lines, or all as JSON."""
    if options.to is None and not options.json:
        options.to = Path("compare")
    if options.to is not None:
        refuse_others(options.to, "compare.json", "comparison")
    record = make_record(options)
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    lines = list(summarize(record))
    if options.to is not None:
        files = {
            "compare.html": make_page(record),
            "compare.json": text,
            "compare.csv": csv_text(record["comparisons"]),
        }
        write_files(options.to, files)
        lines.append(str(options.to / "compare.html"))
    answer = Answer(text if options.json else "\n".join(lines))
    answer.status = exit_status(record) if options.fail_if == "worse" else 0
    return answer


def exit_status(record: Record) -> int:
    """Return 1 if model B is shown to be worse, 3 if that cannot be told, else 0.

    It cannot be told either where B has no score or no samples of what A has.
    """
    models = [v for v in record["verdicts"] if v["comparison"] == "models"]
    if any(v["verdict"] == "worse" for v in record["verdicts"]):
        return WORSE
    decided = ("better", "equivalent")
    fine = all(v["verdict"] in decided or v["not_worse"] for v in models)
    lacks = {"only_in": record["a"], "no_samples": record["b"]}
    lost = any(lacks.get(row["kind"]) == row.get("model", "") for row in record["remarks"])
    return 0 if models and fine and not lost else OPEN


def make_record(options: argparse.Namespace) -> Record:
    """Return the content of `compare.json`."""
    chosen = check_options(options)
    a, b = (one_model(folder, options.family) for folder in (options.a, options.b))
    names = a.name, b.name
    if a.name == b.name:
        names = f"{a.name} ({options.a})", f"{b.name} ({options.b})"
    pair = shared_tasks(a, b, options.metrics)
    pairs, changed, about_questions = align(pair)
    unlike = []
    for found in differences(pair):
        extra = len(found.tasks) - 1
        tasks = found.tasks[0] + (f" and {extra} more" if extra else "")
        unlike.append(f"{found.what}: {found.first} (A), {found.other} (B) in {tasks}")
    unlike += changed
    if unlike and not options.force:
        raise DataError(
            f"A ({options.a}) and B ({options.b}) were run with different settings: "
            f"{'; '.join(unlike)}. Run one of them again with the settings of the other, or use "
            "--force"
        )
    if not pairs:
        raise DataError("nothing to compare: A and B have no question with a metric in common")
    remarks = [*find_remarks(a, b, names), *about_questions, *find_notes([a, b])]
    people = None
    if options.human is not None:
        people = read_annotations(options.human, [a, b])
        remarks += people.remarks
        for item in pairs:  # nothing is corrected where people labelled one model's answers only
            is_labelled = [key_of(task) in people.labels for task in item[:2]]
            if sum(is_labelled) == 1:
                values = {"model": names[is_labelled[0]], "task": item.a.results.task}
                remarks.append(Remark("people_one_model", values))
    remarks += [Remark("made_differently", {"what": text}) for text in unlike]
    full = [a.full, b.full]
    del a, b, pair  # `pairs` has their questions: half of the memory
    verdicts = compare_models(pairs, names, chosen, people, options.metrics)
    judged = [v for v in verdicts if "judge" in v.tags and v.ci_low is not None]
    remarks += judge_remarks(list(dict.fromkeys(f"{v.criterion}.{v.metric}" for v in judged)), {})
    record: Record = public({
        "a": names[0], "b": names[1], "full": full, "folders": [options.a, options.b],
        "verdicts": [asdict(verdict) for verdict in verdicts],
        "comparisons": list(comparison_rows(pairs, verdicts, chosen)),
        "remarks": [remark.row() for remark in remarks],
        "options": asdict(chosen),
    })  # fmt: skip
    return record
