"""`xling leaderboard`: a page of many models by many languages, also a Space on the Hub."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, SettingError
from xling_tasks.output import many, writing
from xling_tasks.pages.offline import offline_page
from xling_tasks.report.board.content import as_csv, content_of
from xling_tasks.report.board.entries import entries
from xling_tasks.report.board.make import make_board
from xling_tasks.report.documents import filled
from xling_tasks.report.model import checked
from xling_tasks.report.pictures.style import LOOKS
from xling_tasks.report.unused import unused_runs

PAGE, DATA, TABLE, SPACE = "index.html", "board.json", "board.csv", "README.md"


def run(options: argparse.Namespace) -> str:
    """Write the board; returns what was written and what to know first."""
    statistics = checked(options)
    _refuse_other_files(options.to)
    board = make_board(entries(options.folders, statistics, options.family), statistics)
    if not board.squares:
        raise DataError(
            f"{', '.join(options.folders)}: no result that models are compared by (an endpoint); "
            "runs without a judge or translator have none of some criteria"
        )
    content = content_of(board)
    kept = _write(options.to, content, as_csv(content))
    notes = [*content["notes"], *unused_runs(options.folders, options.family)]
    kinds = {"model": "models", "language": "languages", "measure": "endpoints"}
    counts = [many(len(content[key]), noun) for noun, key in kinds.items()]
    return "\n".join([
        *(f"Note: {line}" for line in notes),
        f"{options.to / PAGE}: {', '.join(counts)}. {DATA} and {TABLE} hold the numbers.",
        f"{options.to / SPACE} was there and is kept." if kept else
        f"The folder is a static Space of the Hugging Face Hub ({SPACE} has its settings).",
    ])  # fmt: skip


def _refuse_other_files(folder: Path) -> None:
    there = [name for name in (PAGE, TABLE) if (folder / name).exists()]
    if there and not _is_board(folder):
        raise SettingError(
            f"--to {folder}: {', '.join(there)} there is of no board; name another folder"
        )


def _is_board(folder: Path) -> bool:
    """Whether an earlier board lies there, which may be replaced."""
    try:
        content = json.loads((folder / DATA).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("made_by", "")).startswith("xling-tasks")


def _write(folder: Path, content: Mapping[str, Any], table: str) -> bool:
    """Write all files; whether a README.md was there, which is kept."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    page = offline_page(
        "board", {**content, "looks": _looks()}, title="Models by language", digest=digest,
        styles=("pictures",),
    )  # fmt: skip
    kept = (folder / SPACE).exists()
    files = {PAGE: page, TABLE: table, DATA: text}
    if not kept:
        files[SPACE] = filled("board_space.j2", **content) + "\n"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, each in files.items():
            (folder / name).write_text(each, encoding="utf-8", errors="replace", newline="\n")
    return kept


def _looks() -> dict[str, dict[str, str]]:
    """Signs, classes and words of verdicts, as in every picture and table."""
    return {
        verdict: look._replace(words=look.words.format("English"))._asdict()
        for verdict, look in LOOKS.items()
    }
