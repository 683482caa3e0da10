"""`xling data check` and `xling data new`: users' own questions."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import read_metadata
from xling_tasks.commands.table import Screen, table
from xling_tasks.data.custom import example
from xling_tasks.data.custom.check import check, check_conversations, holds_conversations, usable
from xling_tasks.data.custom.dataset import CustomDataset
from xling_tasks.data.custom.turns import SAMPLE
from xling_tasks.data.custom.written import (
    KINDS,
    Texts,
    foreign_script,
    texts_of,
)
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.output import many, write_new
from xling_tasks.settings import Settings


def new_own(options: argparse.Namespace) -> str:
    """`xling data new`: write the example.

    Raises:
        DataError: If the file is there, or of an unknown kind.
    """
    to = options.file
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
    path = options.file
    scripts = settings.scripts or {}
    conversations = holds_conversations(path)
    checked = check_conversations(path, scripts) if conversations else check(path, scripts)
    data = checked.data
    errors, odd = list(checked.errors), list(checked.look)
    counts = usable(data) if data else {}
    if options.json:
        told = {
            "file": str(path), "form": checked.form, "shape": checked.shape,
            "dataset": data.info.key if data else None,
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
            f"{path}: {checked.form}; a row per {row}; {many(len(data.questions), 'question')}. "
            f"In results it is called {data.info.key!r}, sha256 {data.provenance['sha256'][:12]}."
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


_MOST = 60  # lines on a screen


def _bullets(lines: list[str]) -> str:
    shown = [f"- {line}" for line in lines[:_MOST]]
    if len(lines) > _MOST:
        shown.append(f"- and {len(lines) - _MOST} more (--json lists all)")
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
                    any(key.startswith(kind) for key in item.said(code))
                    for item in data.questions
                )
                for title, kind in kinds.items()
            },
        }
        for code, own in data.languages.items()
    ]  # fmt: skip


# What is said of the texts


def described(data: CustomDataset) -> list[dict[str, Any]]:
    """A row per language and kind of text, with its script."""
    return [
        {
            "language": language_name(own.code),
            "texts": KINDS[own.kind],
            "count": len(own.of),
            "script": _script(data, own),
        }
        for own in texts_of(data)
    ]


def _script(data: CustomDataset, texts: Texts) -> str:
    found = [foreign_script(data, texts.code, text) for text in texts.of.values()]
    stated, other = data.languages[texts.code].script, sorted({name for name in found if name})
    wrong = sum(map(bool, found))
    return stated if not wrong else f"{stated}; {', '.join(other)} in {wrong} of {len(found)}"


# The next step

_TASKS = (
    ("xling_custom_rubric", "a judge grades the answers by your criteria"),
    ("xling_custom_mcqa", "letters are read from the answers; no judge is needed"),
    ("xling_custom_correctness", "a judge compares the answers with yours"),
    ("xling_custom_verifiability", "the model says which answers are right; no judge is needed"),
    ("xling_custom_consistency", "answers to one question are compared; no judge is needed"),
)  # fmt: skip
_JUDGE = {"model": "local-chat-completions", "model_args": {"model": "...", "base_url": "..."}}


def next_steps(path: Path, counts: Mapping[str, Mapping[str, int]], refused: bool) -> Iterator[str]:
    """What to do now, by what the file can be used for."""
    if refused:
        yield f"Next: mend what the tasks refuse, then: xling data check {shlex.quote(str(path))}"
        return
    used = [task for task, _ in _TASKS if any(counts.get(task, {}).values())]
    if used and used[0] == "xling_custom_mcqa":
        used = used[:1]  # the other tasks ask its questions without their options
    for task, says in _TASKS:
        if task in used[:2]:
            given = f"data_dir={path}"
            if "a judge " in says:
                given = json.dumps({"data_dir": str(path), "judge": _JUDGE}, ensure_ascii=False)
            words = f"lm_eval --model ... --tasks {task} --metadata {shlex.quote(given)}"
            yield f"{'Next' if task == used[0] else 'or'}: {words} ({says})"
