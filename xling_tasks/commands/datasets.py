"""`xling data`: the datasets, and what in them cannot be used."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from xling_tasks.commands.options import add_json, add_metadata, read_metadata
from xling_tasks.commands.own_data import check_own, new_own
from xling_tasks.commands.table import table
from xling_tasks.data import mmedbench as mmedbench_data
from xling_tasks.data import xlinghealth as xlinghealth_data
from xling_tasks.data.dataset_info import MMEDBENCH, PROMPT_SETS, XLINGHEALTH
from xling_tasks.data.prompt_sets import STATUSES, load_prompts, statuses
from xling_tasks.data.sources import refuse_missing
from xling_tasks.errors import DataError, user_path
from xling_tasks.settings import Settings


def data(options: argparse.Namespace) -> str:
    """`xling data`: every dataset with licence, counts and unusable rows per language."""
    settings = Settings.parse(read_metadata(options.metadata), {})
    refuse_missing(settings.data_dir)
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for key, licence, load in counted_datasets(settings):
        try:
            rows.append({"dataset": key, "licence": licence, **load()})
        except DataError as error:
            rows.append({"dataset": key, "licence": licence})
            problems.append(f"{key}: {error}")
    checked = checked_texts()
    if options.json:
        shown = {"datasets": rows, "texts": checked, "problems": problems}
        return json.dumps(shown, indent=2)
    return "\n\n".join([table(rows), _said_of_texts(checked), *problems])


def checked_texts() -> list[dict[str, Any]]:
    """The bundled sets of prompts: texts of each language by how far they were checked."""
    rows = []
    for key, record in PROMPT_SETS.items():
        data = load_prompts(record)
        rows += [
            {"dataset": key, "set_version": record.version, "language": code}
            | {name: counts[name] for name in STATUSES}
            for code, counts in statuses(data).items()
        ]
    return rows


def _said_of_texts(checked: list[dict[str, Any]]) -> str:
    """The same as a table, with one row for languages that are alike."""
    alike: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for row in checked:
        rest = {key: value for key, value in row.items() if key != "language"}
        alike.setdefault(str(rest), (rest, []))[1].append(row["language"])
    rows = [{**rest, "languages": " ".join(codes)} for rest, codes in alike.values()]
    return (
        f"Our prompts, texts by how far each language was checked:\n{table(rows)}\n"
        "author: as written; back_translated: compared with a blind translation back to English; "
        "native_read: read by a native speaker."
    )


def counted_datasets(settings: Settings) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Each dataset's key and licence, and what counts its rows."""
    place = (settings.data_dir, settings.dataset)

    def xlinghealth(record: Any) -> dict[str, Any]:
        data = xlinghealth_data.load(record, *place)
        counts = {"rows": data.n_rows, "questions": len(data.questions)}
        return counts | {f"unusable_{c}": len(data.unusable(c)) for c in record.languages}

    def mmedbench(record: Any) -> dict[str, Any]:
        files = [mmedbench_data.load(record, code, "test", *place) for code in record.languages]
        counts = {"rows": sum(data.n_rows for data in files)}
        counts["questions"] = sum(len(data.questions) for data in files)
        return counts | {f"unusable_{data.language}": len(data.left_out) for data in files}

    for record in XLINGHEALTH.values():
        yield record.key, record.licence, partial(xlinghealth, record)
    for mmed in MMEDBENCH.values():
        yield mmed.key, mmed.licence, partial(mmedbench, mmed)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling data`, `xling data check` and `xling data new`."""
    add_metadata(parser)
    add_json(parser)
    parser.set_defaults(run=data)
    kinds = parser.add_subparsers(title="your own questions", metavar="{check,new}")
    about = "list what is understood of a file, and what is odd"
    check = kinds.add_parser("check", help=about, description=about)
    text = "CSV, XLSX, Parquet or JSONL; or a folder"
    check.add_argument("file", type=user_path, metavar="FILE", help=text)
    add_metadata(check)
    add_json(check)
    check.set_defaults(run=check_own)
    about = "write an example to fill in"
    new = kinds.add_parser("new", help=about, description=about)
    text = "the new file; its ending names the format"
    new.add_argument("file", type=user_path, metavar="FILE", help=text)
    shape = new.add_mutually_exclusive_group()
    shape.add_argument("--long", action="store_true", help="one row per question and language")
    shape.add_argument("--rubric", action="store_true", help="conversations with criteria (JSONL)")
    new.set_defaults(run=new_own)
