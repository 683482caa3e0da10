"""The command `xling`: what the harness has no place for."""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xling_tasks import __version__
from xling_tasks.errors import DataError, SettingError, XlingError

if TYPE_CHECKING:
    from xling_tasks.settings import Settings


_ELSEWHERE = {
    "commands.rank.command": "rank",
    "commands.submit.command": "submit",
    "commands.translate_prompts": "translate_prompts",
    "commands.check_translator": "check_translator",
    "commands.train_empathy": "train_empathy",
    "commands.annotate.command": "annotate",
    "commands.annotate.agreement": "agreement",
    "report.compare.command": "compare",
    "commands.doctor.command": "doctor",
    "report.command": "report",
}
"""Modules with a subcommand of their own: module -> name of its builder after `add_`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; an error that the user can mend is one line on stderr and status 2."""
    parser = argparse.ArgumentParser(prog="xling", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True)
    for add in (_add_cost, _add_data, _add_path):
        add(commands)
    for module, name in _ELSEWHERE.items():
        getattr(import_module(f".{module}", __package__), f"add_{name}")(commands)
    chosen = parser.parse_args(arguments)
    try:
        shown = chosen.run(chosen)
    except XlingError as error:
        print(f"xling: {error}", file=sys.stderr)
        return 2
    print(shown)
    return int(getattr(shown, "status", 0))


def _add_cost(commands: Any) -> None:
    parser = commands.add_parser("cost", help="requests and tokens of tasks, before running them")
    parser.add_argument("--tasks", required=True, help="names, groups or patterns, with commas")
    parser.add_argument("--limit", type=int, help="as for lm_eval: questions per task")
    parser.add_argument("--tokenizer", help="count with this Hugging Face tokenizer (extra hf)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    add_metadata(parser)
    parser.set_defaults(run=cost)


def _add_data(commands: Any) -> None:
    parser = commands.add_parser("data", help="the datasets, and what in them cannot be used")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    add_metadata(parser)
    parser.set_defaults(run=data)


def _add_path(commands: Any) -> None:
    parser = commands.add_parser("path", help="the folder of the task files, for --include_path")
    parser.set_defaults(run=path)


def add_metadata(parser: argparse.ArgumentParser) -> None:
    """Settings as `lm_eval` takes them."""
    parser.add_argument(
        "--metadata", nargs="+", default=[], help="settings as for lm_eval: JSON or key=value"
    )


def cost(options: argparse.Namespace) -> str:
    """`xling cost`: a table of requests and tokens per task, with totals per model."""
    from xling_tasks.commands.cost import as_rows, costs, tokenizer_count, totals

    if options.limit is not None and options.limit < 1:
        raise SettingError(f"--limit {options.limit}: must be at least 1")
    count = tokenizer_count(options.tokenizer) if options.tokenizer else None
    tasks = _load(options.tasks, read_metadata(options.metadata))
    entries = costs(tasks, limit=options.limit, count=count)
    rows = as_rows([*entries, *totals(entries)])
    if options.json:
        return json.dumps(rows, indent=2)
    note = options.tokenizer or "estimated from characters; --tokenizer NAME counts exactly"
    return f"{table(rows)}\n\nTokens: {note}. max_output_tokens is a limit, not a forecast."


def data(options: argparse.Namespace) -> str:
    """`xling data`: every dataset with licence, counts and unusable rows per language."""
    from xling_tasks.settings import Settings

    settings = Settings.parse(read_metadata(options.metadata), {})
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for key, licence, load in _datasets(settings):
        try:
            rows.append({"dataset": key, "licence": licence, **load()})
        except DataError as error:
            rows.append({"dataset": key, "licence": licence})
            problems.append(f"{key}: {error}")
    if options.json:
        return json.dumps({"datasets": rows, "problems": problems}, indent=2)
    return "\n\n".join([table(rows), *problems])


def _datasets(settings: Settings) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Each dataset's key and licence, and what counts its rows."""
    from xling_tasks.data import mmedbench as mmedbench_data
    from xling_tasks.data import xlinghealth as xlinghealth_data
    from xling_tasks.data.records import RECORDS

    place = (settings.data_dir, settings.dataset)

    def xlinghealth(record: Any) -> dict[str, Any]:
        found = xlinghealth_data.load(record, *place)
        counts = {"rows": found.n_rows, "questions": len(found.questions)}
        return counts | {f"unusable_{c}": len(found.unusable(c)) for c in record.languages}

    def mmedbench(record: Any) -> dict[str, Any]:
        found = [mmedbench_data.load(record, code, "test", *place) for code in record.languages]
        counts = {"rows": sum(data.n_rows for data in found)}
        counts["questions"] = sum(len(data.questions) for data in found)
        return counts | {f"unusable_{data.language}": len(data.left_out) for data in found}

    for record in RECORDS.values():
        yield record.key, record.licence, partial(xlinghealth, record)
    for mmed in mmedbench_data.RECORDS.values():
        yield mmed.key, mmed.licence, partial(mmedbench, mmed)


def path(options: argparse.Namespace) -> str:
    """`xling path`: where the task files are."""
    from xling_tasks.discovery import task_folder

    return str(task_folder())


def read_metadata(words: Sequence[str]) -> dict[str, Any]:
    """Settings as `lm_eval --metadata` reads them: JSON objects and key=value words.

    Raises:
        SettingError: If a word is neither.
    """
    settings: dict[str, Any] = {}
    for word in _words(words):
        if word.lstrip().startswith("{"):
            try:
                settings |= json.loads(word)
            except json.JSONDecodeError as error:
                raise SettingError(f"--metadata: not valid JSON ({error}): {word!r:.80}") from error
            continue
        key, found, value = word.partition("=")
        if not found:
            raise SettingError(f"--metadata: expected JSON or key=value, got {word!r:.80}")
        settings[key] = _literal(value)
    return settings


def _words(words: Sequence[str]) -> Iterator[str]:
    """`a=1,b=2` is two words to `lm_eval`; commas of a list or of a path are none."""
    for word in words:
        if word.lstrip().startswith("{"):
            yield word
        else:
            yield from re.split(r",(?=[a-z_]+=)", word)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table, numbers with thousands separated."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [columns, ["-" * width for width in widths], *cells]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def _load(names: str, metadata: dict[str, Any]) -> list[Any]:
    import difflib
    import fnmatch

    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder
    from xling_tasks.tasks.base import XlingTask

    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    wanted: list[str] = []
    for pattern in filter(None, names.split(",")):
        matches = fnmatch.filter(manager.all_tasks, pattern)
        if not matches:
            nearest = difflib.get_close_matches(pattern, manager.all_tasks, n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise SettingError(
                f"--tasks {pattern}: not one of ours.{hint} Groups: "
                f"{', '.join(sorted(manager.all_groups))}. `lm_eval ls tasks` lists every task."
            )
        wanted += matches
    loaded = manager.load(list(dict.fromkeys(wanted)))["tasks"]
    return [task for task in loaded.values() if isinstance(task, XlingTask)]


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(value.lower(), value)


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
