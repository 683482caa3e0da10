"""`xling data check` and `xling data new`: users' own questions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import add_metadata, read_metadata
from xling_tasks.commands.own_texts import described, next_steps, odd_texts
from xling_tasks.commands.table import Screen, table
from xling_tasks.data.own import example
from xling_tasks.data.own.check import ERROR, check
from xling_tasks.data.own.check_rubrics import (
    check_conversations,
    criteria_problems,
    holds_conversations,
    usable_by_all,
)
from xling_tasks.data.own.turns import SAMPLE
from xling_tasks.errors import DataError
from xling_tasks.output import write_new
from xling_tasks.settings import Settings


def add_own(parser: argparse.ArgumentParser) -> None:
    """Add `check` and `new` to `xling data`."""
    kinds = parser.add_subparsers(title="more", metavar="{check,new}")
    check = kinds.add_parser("check", help="what is understood of a file of yours, and what is odd")
    check.add_argument(
        "file", type=Path, metavar="FILE", help="CSV, XLSX, Parquet or JSONL; or a folder"
    )
    check.add_argument("--json", action="store_true", help="JSON instead of text")
    add_metadata(check)
    check.set_defaults(run=check_own)
    new = kinds.add_parser("new", help="write an example to fill in, with notes")
    new.add_argument("file", type=Path, metavar="FILE", help="its ending says the format")
    new.add_argument("--long", action="store_true", help="a row per question and language")
    new.add_argument("--rubric", action="store_true", help="conversations with criteria (JSONL)")
    new.set_defaults(run=new_own)


def new_own(options: argparse.Namespace) -> str:
    """`xling data new`: write the example.

    Raises:
        DataError: If the file is there, or of an unknown kind.
    """
    to = options.file.expanduser()
    if options.rubric:
        return _new_conversations(to)
    example.write(to, example.long_rows() if options.long else example.rows())
    return (
        f"{to}: 6 questions in English, Portuguese and Swahili; the column 'notes' says what is "
        f"what. Next: xling data check {to}"
    )


def _new_conversations(to: Path) -> str:
    if to.suffix.lower() != ".jsonl":
        raise DataError(f"{to}: conversations are written as .jsonl")
    write_new(to, [SAMPLE.read_text(encoding="utf-8")])
    return (
        f"{to}: 6 conversations in English, Spanish, Chinese, Hindi, French and Arabic, with "
        f"criteria, in HealthBench's form. Next: xling data check {to}"
    )


def check_own(options: argparse.Namespace) -> Screen:
    """`xling data check`: what was understood, what is odd, and what each task can use.

    Raises:
        DataError: If the file is no table at all.
    """
    settings = Settings.parse(read_metadata(options.metadata), {})
    path = options.file.expanduser()
    scripts = settings.scripts or {}
    conversations = holds_conversations(path)
    checked = check_conversations(path, scripts) if conversations else check(path, scripts)
    data = checked.data
    problems = [*checked.problems, *(criteria_problems(data) if data else ())]
    errors = [problem.text for problem in problems if problem.kind == ERROR]
    odd = [problem.text for problem in problems if problem.kind != ERROR]
    odd += odd_texts(data) if data else ()
    counts = usable_by_all(data) if data else {}
    if options.json:
        told = {
            "file": str(path), "form": checked.form, "shape": checked.shape,
            "dataset": data.record.key if data else None,
            "sha256": data.provenance["sha256"] if data else None,
            "languages": _languages(data), "texts": described(data) if data else [],
            "errors": errors, "look": odd, "usable": counts,
        }  # fmt: skip
        screen = Screen(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        screen = Screen("\n\n".join(_sections(path, checked, errors, odd, counts)))
    screen.status = int(bool(errors))
    return screen


def _sections(path: Path, checked: Any, errors: list[str], odd: list[str], counts: Any) -> Any:
    data = checked.data
    if data is not None:
        row = _ROWS[checked.shape]
        yield (
            f"{path}: {checked.form}; a row per {row}; {len(data.items)} questions. In results it "
            f"is called {data.record.key!r}, sha256 {data.provenance['sha256'][:12]}."
        )
        yield table(_languages(data))
        yield "What the texts are, column by column:\n" + table(described(data))
    else:
        yield f"{path}: {checked.form}"
    if errors:
        yield "The tasks refuse the file until this is mended:\n" + _bullets(errors)
    if odd:
        yield "Look at this:\n" + _bullets(odd)
    if not errors and not odd:
        yield "Nothing is odd."
    if counts:
        yield "Questions that each task can use:\n" + table(
            [{"task": task, **own} for task, own in counts.items()]
        )
    yield "\n".join(next_steps(path, counts, bool(errors)))


_ROWS = {
    "wide": "question",
    "long": "question and language",
    "conversations": "conversation, or conversation and language",
}
"""What a row is, by the file's shape."""


def _bullets(lines: list[str], most: int = 60) -> str:
    shown = [f"- {line}" for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"- and {len(lines) - most} more (--json lists all)")
    return "\n".join(shown)


def _languages(data: Any) -> list[dict[str, Any]]:
    """A row per language: what it is called, and how many texts it has of each kind."""
    kinds = {"questions": "question", "answers": "answer", "wrong answers": "wrong_answer_",
             "options": "option_"}  # fmt: skip
    return [] if data is None else [
        {
            "language": own.name,
            "code": code,
            "script": own.script + ("" if own.known else " (stated)"),
            **{
                title: sum(
                    any(key.startswith(kind) for key in item.texts.get(code, {}))
                    for item in data.items
                )
                for title, kind in kinds.items()
            },
        }
        for code, own in data.tongues.items()
    ]  # fmt: skip
