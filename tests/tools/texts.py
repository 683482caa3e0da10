"""Native speakers read our prompts and posts: the page on which they read, and what they said.

`python -m tests.tools.texts page --languages hi --to hi.html` writes the page of `xling annotate`
with our texts: right, unnatural or wrong, and a better text in the comment. `python -m
tests.tools.texts review FILE.csv ...` reads what they export.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.annotate import Item, page_data, write_page
from xling_tasks.commands.options import chosen, integer
from xling_tasks.data.dataset_info import PROMPT_SETS
from xling_tasks.data.prompt_sets import STATUSES, load_prompts, text_digest
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import XlingError
from xling_tasks.languages import LANGUAGES
from xling_tasks.output import jsonl, refuse_file, table
from xling_tasks.report.annotation_files import Annotation, read_annotations
from xling_tasks.safe_json import json_objects

FORM = "text"
VERDICTS = {"1": "wrong", "2": "unnatural", "3": "right"}


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the two commands; an error is one line and status 2."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.texts", description=__doc__)
    kinds = parser.add_subparsers(required=True)
    page = kinds.add_parser("page", help="write the page")
    page.add_argument("--languages", required=True, help="separated by commas: es,hi")
    page.add_argument("--datasets", help="only these, separated by commas: information")
    page.add_argument("--n", type=integer(1), help="first N texts of each set; all without it")
    page.add_argument("--to", type=Path, required=True, metavar="FILE.html", help="page to write")
    page.set_defaults(run=write)
    read = kinds.add_parser("review", help="list what readers said")
    read.add_argument("files", type=Path, nargs="+", metavar="FILE.csv", help="their exports")
    read.add_argument(
        "--to", type=Path, metavar="FILE",
        help="append the texts that all call right, as native_read",
    )  # fmt: skip
    read.set_defaults(run=review)
    options = parser.parse_args(words)
    try:
        print(options.run(options))
    except XlingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def write(options: argparse.Namespace) -> str:
    """Write the page, and say what is on it."""
    known = [code for code in LANGUAGES if code != "en"]
    codes = chosen("--languages", options.languages, known, "no texts of it")
    keys = chosen("--datasets", options.datasets, PROMPT_SETS, "no texts of it")
    refuse_file(options.to)
    items = [item for code in codes for key in keys for item in _items(key, code)[: options.n]]
    write_page(options.to, page_data(FORM, {"form": FORM, "model": ""}, items))
    return (
        f"{options.to}: {len(items)} texts in {', '.join(codes)}. Send it to native speakers; "
        "then: python -m tests.tools.texts review FILE.csv ..."
    )


def _items(key: str, code: str) -> list[Item]:
    """Return a set's texts in a language; the digest is the text's."""
    cards = {row["id"]: row for _, row in json_objects(SAMPLE_FOLDER / "prompt_cards.jsonl")}
    items = []
    for prompt in load_prompts(PROMPT_SETS[key]).prompts:
        card, source = cards.get(prompt["id"], {}), prompt["text"]["en"]
        notes = [card[name] for name in ("writer", "card") if card.get(name)]
        if notes:
            source += "\n\nMust not change: " + "; ".join(notes)
        text = prompt["text"][code]
        shown = [("English", source, "en"), ("Text", text, code)]
        items.append(Item(f"{key}_{code}", code, prompt["id"], key, shown, text_digest(text)))
    return items


def review(options: argparse.Namespace) -> str:
    """List the verdicts per language and the proposed changes; append the texts read as right."""
    texts = {
        (f"{key}_{code}", prompt["id"]): text
        for key, info in PROMPT_SETS.items()
        for prompt in load_prompts(info).prompts
        for code, text in prompt["text"].items()
    }
    readings: dict[tuple[str, str], list[Annotation]] = {}
    changed = 0
    for a in read_annotations(options.files, {FORM: [*VERDICTS]}):
        key = (a.task, a.question_id)
        if key not in texts or text_digest(texts[key]) != a.answer:
            changed += 1
        elif a.label or a.comment:
            readings.setdefault(key, []).append(a)
    rows: dict[str, dict[str, Any]] = {}
    right: dict[str, dict[str, str]] = {}
    for (task, question), own in readings.items():
        row = rows.setdefault(
            task, {"set": task, "texts": 0, **dict.fromkeys(VERDICTS.values(), 0)}
        )
        worst = min((a.label for a in own if a.label), default="1")
        row["texts"] += 1
        row[VERDICTS[worst]] += 1
        if worst == "3":
            right.setdefault(own[0].language, {})[question] = own[0].answer
    said = [table([*rows.values()]), "A text counts by its worst verdict."]
    said += [line for key, own in readings.items() for line in _changes(own, texts[key])]
    if changed:
        said.append(f"Left out: {changed} readings of texts that were changed since.")
    if options.to is not None:
        lines = (
            {"language": code, "status": STATUSES[-1], "texts": own} for code, own in right.items()
        )
        with options.to.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(jsonl(lines))
        n = sum(map(len, right.values()))
        said.append(f"{options.to}: {n} texts that every reader calls right, as {STATUSES[-1]}.")
    return "\n".join(said)


def _changes(readings: Sequence[Annotation], text: str) -> Iterator[str]:
    for a in readings:
        if a.label != "3" or a.comment:
            verdict = VERDICTS.get(a.label, "no verdict")
            yield f"{a.task}/{a.question_id}: {verdict} ({a.annotator})\n  now:  {text}\n  says: {a.comment}"


if __name__ == "__main__":
    sys.exit(main())
