"""Native speakers read our prompts and posts: the page that they read them on, and what they said.

`python -m tests.tools.texts page --languages hi --to hi.html` makes the page: of each text they say
whether it is right, unnatural or wrong, and write a better one. `python -m tests.tools.texts review
FILE.json ...` reads what they export.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands.annotate.page import RATING, TEXTS, page_data, page_path, write_page
from xling_tasks.commands.options import chosen
from xling_tasks.commands.table import table
from xling_tasks.data.dataset_info import PROMPT_SETS
from xling_tasks.data.prompt_sets import STATUSES, load_prompts, text_digest
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, SettingError, XlingError
from xling_tasks.languages import LANGUAGES
from xling_tasks.logs.annotations import read_content, read_head, read_rows
from xling_tasks.output import jsonl, writing
from xling_tasks.safe_json import json_objects

_NONE = "no texts of it"
VERDICTS = ("wrong", "unnatural", "right")
"""What 1, 2 and 3 on the page mean."""


def main(words: Sequence[str] | None = None) -> int:
    """Carry out one of the two; an error is one line and status 2."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.texts", description=__doc__)
    kinds = parser.add_subparsers(required=True)
    page = kinds.add_parser("page", help="write the page")
    page.add_argument("--languages", required=True, help="with commas: es,hi")
    page.add_argument("--datasets", help="only these, with commas: information")
    page.add_argument("--n", type=int, help="the first N texts of each set; all without it")
    page.add_argument("--to", type=Path, required=True, metavar="FILE.html", help="the page")
    page.set_defaults(run=write)
    read = kinds.add_parser("review", help="what readers said")
    read.add_argument("files", type=Path, nargs="+", metavar="FILE.json", help="their exports")
    read.add_argument(
        "--to", type=Path, metavar="FILE",
        help="append the texts that all call right, as native_read",
    )  # fmt: skip
    read.add_argument("--json", action="store_true", help="JSON instead of text")
    read.set_defaults(run=review)
    options = parser.parse_args(words)
    try:
        print(options.run(options))
    except XlingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def write(options: argparse.Namespace) -> str:
    """Write the page, and say what is on it.

    Raises:
        SettingError: For an option that cannot be.
    """
    to = page_path(options.to)
    known = [code for code in LANGUAGES if code != "en"]
    codes = chosen("--languages", options.languages, known, _NONE)
    keys = chosen("--datasets", options.datasets, PROMPT_SETS, _NONE)
    if options.n is not None and options.n < 1:
        raise SettingError(f"--n {options.n}: at least 1")
    items = [
        item for code in codes for key in keys for item in islice(_items(key, code), options.n)
    ]
    texts = {item["id"]: text_digest(item["translation"]) for item in items}
    version = PROMPT_SETS[keys[0]].version
    made = {
        **RATING,
        "of": TEXTS,
        "seed": 0,
        "n": options.n,
        "set_version": version,
        "texts": texts,
    }
    data = page_data(items, made)
    write_page(to, data, [])
    return (
        f"{to} (page {data['digest']}): {len(items)} texts in {', '.join(codes)}. Send it to "
        "native speakers; then: python -m tests.tools.texts review FILE.json ..."
    )


def _items(key: str, code: str) -> Iterator[dict[str, Any]]:
    """A set's texts in a language as the page has them."""
    cards = {row["id"]: row for _, row in json_objects(SAMPLE_FOLDER / "prompt_cards.jsonl")}
    for prompt in load_prompts(PROMPT_SETS[key]).prompts:
        card, source = cards.get(prompt["id"], {}), prompt["text"]["en"]
        notes = [card[name] for name in ("writer", "card") if card.get(name)]
        if notes:
            source += "\n\nMust not change: " + "; ".join(notes)
        yield {
            "id": f"{key}_{code}/{prompt['id']}", "dataset": key, "language": code,
            "question_id": prompt["id"], "source": source, "translation": prompt["text"][code],
        }  # fmt: skip


class Reading(NamedTuple):
    """What one reader said of one text."""

    reader: str
    dataset: str
    language: str
    id: str
    verdict: str
    better: str
    comment: str
    text: str


def review(options: argparse.Namespace) -> str:
    """Verdicts per language, proposed changes, and whom to believe when.

    Raises:
        DataError: If a file is no export of such a page.
    """
    readings, old = _read(options.files)
    by_text: dict[tuple[str, str, str], list[Reading]] = {}
    for reading in readings:
        by_text.setdefault((reading.dataset, reading.language, reading.id), []).append(reading)
    counts: dict[tuple[str, str], dict[str, Any]] = {}
    right: dict[str, dict[str, str]] = {}
    for (dataset, language, key), own in by_text.items():
        start = {"language": language, "dataset": dataset, "texts": 0, **dict.fromkeys(VERDICTS, 0)}
        row = counts.setdefault((language, dataset), start)
        worst = min((reading.verdict for reading in own), key=VERDICTS.index)
        row["texts"] += 1
        row[worst] += 1
        if worst == VERDICTS[-1]:
            right.setdefault(language, {})[key] = text_digest(own[0].text)
    proposed = (own for readings in by_text.values() for own in readings)
    changes = [own._asdict() for own in proposed if own.verdict != VERDICTS[-1] or own.better]
    if options.to is not None:
        _append(options.to, right)
    rows = list(counts.values())
    if options.json:
        return json.dumps({"texts": rows, "changes": changes, "changed_since": old}, indent=2)
    said = [table(rows), "A text counts by its worst verdict.", *map(_line, changes)]
    if old:
        said.append(f"Left out: {old} readings of texts that were changed since the page was made.")
    if options.to is not None:
        n = sum(map(len, right.values()))
        said.append(f"{options.to}: {n} texts that every reader calls right, as {STATUSES[-1]}.")
    return "\n".join(said)


def _line(change: dict[str, Any]) -> str:
    """A proposed change in words."""
    place = f"{change['language']} {change['dataset']}/{change['id']}"
    lines = [f"{place}: {change['verdict']} ({change['reader']})", f"  now:    {change['text']}"]
    lines += [f"  better: {change['better']}"] if change["better"] else []
    lines += [f"  says:   {change['comment']}"] if change["comment"] else []
    return "\n".join(lines)


def _read(files: Sequence[Path]) -> tuple[list[Reading], int]:
    """The readings, and how many are of texts that have been changed since."""
    readings: dict[tuple[str, str, str, str], Reading] = {}
    old = 0
    for path in files:
        for reading in _of_file(path):
            if reading is None:
                old += 1
                continue
            key = reading[:4]
            if key in readings:
                raise DataError(
                    f"{path}: {reading.reader!r} has read {reading.language} {reading.id} in "
                    "another file, too; give one file of each reader"
                )
            readings[key] = reading
    return list(readings.values()), old


def _of_file(path: Path) -> Iterator[Reading | None]:
    """A file's readings; None for one of a text that was changed."""
    content = read_content(path)
    digests = content.get("texts")
    if content.get("of") != "texts" or not isinstance(digests, dict):
        raise DataError(f"{path}: no export of a page of texts")
    reader, _ = read_head(path, content)
    texts = {
        f"{key}_{code}/{prompt['id']}": (key, code, prompt["id"], text)
        for key, record in PROMPT_SETS.items()
        for prompt in load_prompts(record).prompts
        for code, text in prompt["text"].items()
    }
    for name, (place, row) in read_rows(path, content).items():
        verdict = row.get("verdict")
        if verdict is None:
            continue
        if type(verdict) is not int or not 1 <= verdict <= len(VERDICTS):
            raise DataError(f"{place}, field 'verdict': 1, 2, 3 or null is expected")
        if name not in texts or digests.get(name) != text_digest(texts[name][3]):
            yield None
            continue
        remarks = [row.get(key) for key in ("better", "comment")]
        better, comment = (said.strip() if isinstance(said, str) else "" for said in remarks)
        key, code, prompt_id, text = texts[name]
        yield Reading(reader, key, code, prompt_id, VERDICTS[verdict - 1], better, comment, text)


def _append(path: Path, right: dict[str, dict[str, str]]) -> None:
    rows = ({"language": code, "status": STATUSES[-1], "texts": own} for code, own in right.items())
    with writing(path), path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(jsonl(rows))


if __name__ == "__main__":
    sys.exit(main())
