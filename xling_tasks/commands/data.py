"""`xling data`: list the datasets; write an example of a user's own file; check such a file."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import add_json, add_metadata, read_metadata
from xling_tasks.data import mmedbench as mmedbench_data
from xling_tasks.data import xlinghealth as xlinghealth_data
from xling_tasks.data.custom.data_checks import (
    count_texts,
    count_usable,
    find_oddities,
)
from xling_tasks.data.custom.dataset import (
    RUBRIC_SAMPLE,
    find_files,
    read_custom_dataset,
)
from xling_tasks.data.dataset_info import MMEDBENCH, PROMPT_SETS, XLINGHEALTH
from xling_tasks.data.prompt_sets import STATUSES, load_prompts, statuses
from xling_tasks.data.sources import SAMPLE_FOLDER, local_path
from xling_tasks.data.tables import write_rows
from xling_tasks.errors import DataError, user_path
from xling_tasks.output import Screen, many, table, write_new
from xling_tasks.safe_json import json_objects
from xling_tasks.settings import Settings

# The datasets


def list_datasets(options: argparse.Namespace) -> str:
    """List every dataset with licence, counts and unusable rows per language."""
    settings = Settings.parse(read_metadata(options.metadata), {})
    local_path(settings.data_dir)
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for key, licence, load in counted_datasets(settings):
        try:
            rows.append({"dataset": key, "licence": licence, **load()})
        except DataError as error:
            rows.append({"dataset": key, "licence": licence})
            problems.append(f"{key}: {error}")
    texts: list[dict[str, Any]] = [
        {"dataset": key, "set_version": info.version, "language": code}
        | {name: counts[name] for name in STATUSES}
        for key, info in PROMPT_SETS.items()
        for code, counts in statuses(load_prompts(info)).items()
    ]
    if options.json:
        return json.dumps({"datasets": rows, "texts": texts, "problems": problems}, indent=2)
    totals = ", ".join(f"{sum(row[name] for row in texts):,} {name}" for name in STATUSES)
    note = (
        f"Texts of our prompts: {totals} (--json: by language). author: as written; "
        "back_translated: compared with a blind translation back to English; native_read: read "
        "by a native speaker."
    )
    return "\n\n".join([table(rows), note, *problems])


def counted_datasets(settings: Settings) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Yield each dataset's key and licence, and what counts its rows."""

    def xlinghealth(info: Any) -> dict[str, Any]:
        data = xlinghealth_data.load(info, settings.data_dir)
        counts = {"rows": data.n_rows, "questions": len(data.questions)}
        return counts | {f"unusable_{c}": len(data.unusable(c)) for c in info.languages}

    def mmedbench(info: Any) -> dict[str, Any]:
        files = [
            mmedbench_data.load(info, code, "test", settings.data_dir) for code in info.languages
        ]
        counts = {"rows": sum(data.n_rows for data in files)}
        counts["questions"] = sum(len(data.questions) for data in files)
        return counts | {f"unusable_{data.language}": len(data.left_out) for data in files}

    for info in XLINGHEALTH.values():
        yield info.key, info.licence, partial(xlinghealth, info)
    for info in MMEDBENCH.values():
        yield info.key, info.licence, partial(mmedbench, info)


def new_dataset(options: argparse.Namespace) -> str:
    """Write an example of a user's own file."""
    to = options.file
    if options.rubric:
        if to.suffix.lower() != ".jsonl":
            raise DataError(f"{to}: conversations are written as .jsonl")
        write_new(to, [RUBRIC_SAMPLE.read_text(encoding="utf-8")])
        content = (
            "6 conversations in English, Spanish, Chinese, Hindi, French and Arabic, with "
            "criteria, in HealthBench's form"
        )
    else:
        write_rows(to, example_rows(long=options.long))
        content = "6 questions in English, Portuguese and Swahili; the column 'notes' explains them"
    return f"{to}: {content}. Next: xling data check {shlex.quote(str(to))}"


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


def check_dataset(options: argparse.Namespace) -> Screen:
    """Show what was understood of a file, what is odd, and what each task can use."""
    path = options.file
    dataset, problems = read_custom_dataset(find_files(str(path)))
    warnings, languages, usable = [], [], {}
    if dataset is not None:
        warnings, languages = [*find_oddities(dataset)], count_texts(dataset)
        usable = count_usable(dataset)
    if options.json:
        content = {
            "file": str(path),
            "form": dataset.form if dataset else None,
            "shape": dataset.shape if dataset else None,
            "dataset": dataset.info.key if dataset else None,
            "sha256": dataset.provenance["sha256"] if dataset else None,
            "languages": languages,
            "problems": problems,
            "oddities": warnings,
            "usable": usable,
        }
        return Screen(json.dumps(content, indent=2, ensure_ascii=False), int(bool(problems)))
    parts = []
    if dataset is not None:
        rows = {"wide": "question", "long": "question and language"}
        row = rows.get(dataset.shape, "conversation")
        parts.append(
            f"{path}: {dataset.form}; a row per {row}; {many(len(dataset.questions), 'question')}. "
            f"In results it is called {dataset.info.key!r}, sha256 "
            f"{dataset.provenance['sha256'][:12]}."
        )
        parts.append(table(languages))
    if problems:
        text = _list_lines(problems)
        parts.append(f"{path}: the tasks refuse the file until this is corrected:\n{text}")
    if warnings:
        parts.append(f"Look at this:\n{_list_lines(warnings)}")
    if not problems and not warnings:
        parts.append("Nothing is odd.")
    if usable:
        counts = [{"task": task, **by_language} for task, by_language in usable.items()]
        parts.append(f"Questions that each task can use:\n{table(counts)}")
    parts.append("\n".join(next_steps(path, usable, bool(problems))))
    return Screen("\n\n".join(parts), int(bool(problems)))


def _list_lines(lines: Sequence[str], maximum: int = 60) -> str:
    remaining = (
        [f"and {len(lines) - maximum} more (--json lists all)"] if len(lines) > maximum else []
    )
    return "\n".join(f"- {line}" for line in [*lines[:maximum], *remaining])


_TASKS = (
    ("xling_custom_rubric", "a judge grades the answers by your criteria"),
    ("xling_custom_mcqa", "letters are read from the answers; no judge is needed"),
    ("xling_custom_correctness", "a judge compares the answers with yours"),
    ("xling_custom_verifiability", "the model says which answers are right; no judge is needed"),
    ("xling_custom_consistency", "answers to one question are compared; no judge is needed"),
)  # fmt: skip
_SAVE = "--apply_chat_template --output_path out --log_samples"
_JUDGE = {"model": "local-chat-completions", "model_args": {"model": "...", "base_url": "..."}}


def next_steps(path: Path, counts: Mapping[str, Mapping[str, int]], refused: bool) -> Iterator[str]:
    """Yield what to do now, by what the file can be used for."""
    if refused:
        yield f"Next: correct the file, then: xling data check {shlex.quote(str(path))}"
        return
    used = [task for task, _ in _TASKS if any(counts.get(task, {}).values())]
    if used and used[0] == "xling_custom_mcqa":
        used = used[:1]  # the other tasks ask its questions without their options
    for task, description in _TASKS:
        if task in used[:2]:
            argument = f"data_dir={path}"
            if "a judge " in description:
                argument = json.dumps({"data_dir": str(path), "judge": _JUDGE}, ensure_ascii=False)
            command = (
                f"lm_eval --model ... --tasks {task} --metadata {shlex.quote(argument)} {_SAVE}"
            )
            yield f"{'Next' if task == used[0] else 'or'}: {command} ({description})"
    if used:
        yield "Then: xling report out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling data`, `data list`, `data new` and `data check`."""
    kinds = parser.add_subparsers(title="more", metavar="{list,new,check}")
    summary = "list the datasets, with the rows that cannot be used"
    for listing in (parser, kinds.add_parser("list", help=summary, description=summary)):
        add_metadata(listing)
        add_json(listing)
        listing.set_defaults(run=list_datasets)
    summary = "write an example of your own questions to fill in"
    new = kinds.add_parser("new", help=summary, description=summary)
    text = "the new file; its ending names the format"
    new.add_argument("file", type=user_path, metavar="FILE", help=text)
    shape = new.add_mutually_exclusive_group()
    shape.add_argument("--long", action="store_true", help="one row per question and language")
    shape.add_argument("--rubric", action="store_true", help="conversations with criteria (JSONL)")
    new.set_defaults(run=new_dataset)
    summary = "list what is understood of a file of your own, what is wrong and what is odd"
    check = kinds.add_parser("check", help=summary, description=summary)
    text = "CSV, XLSX, Parquet or JSONL; or a folder of conversations"
    check.add_argument("file", type=user_path, metavar="FILE", help=text)
    add_json(check)
    check.set_defaults(run=check_dataset)
