"""`xling leaderboard`: a page of many models by many languages, for a folder or a Space."""

from __future__ import annotations

import argparse
import json

from xling_tasks.errors import DataError, SettingError
from xling_tasks.output import plain, write_files
from xling_tasks.pages import read_page_file
from xling_tasks.report.command import find_samples
from xling_tasks.report.leaderboard.entries import read_entries
from xling_tasks.report.leaderboard.page import (
    Record,
    language_lines,
    make_page,
    summarize,
)
from xling_tasks.report.leaderboard.ranks import make_record
from xling_tasks.report.lists import check_options
from xling_tasks.report.table import rows_csv
from xling_tasks.report.words import words

PAGE, DATA, TABLE, SPACE = "index.html", "leaderboard.json", "leaderboard.csv", "README.md"


def run(options: argparse.Namespace) -> str:
    """Write the leaderboard; return its finding in a few lines."""
    chosen = check_options(options)
    if (options.to / PAGE).exists() and not (options.to / DATA).is_file():
        raise SettingError(f"--to {options.to}: {PAGE} there is no leaderboard; name another")
    record = make_record(read_entries(options.folders, chosen, options.family), chosen)
    if not record["ranks"]:
        raise DataError(
            f"{', '.join(options.folders)}: no primary metric in it; runs without a judge or "
            "translator have none of some criteria"
        )
    stored = (options.to / SPACE).exists()
    files = {
        PAGE: make_page(record, find_samples(options.samples, options.to)),
        DATA: json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        TABLE: rows_csv(csv_rows(record)),
    }
    if not stored:  # a Space's own
        texts = words()["leaderboard"]
        files[SPACE] = read_page_file("space.md").format(
            languages="\n".join(f"- {plain(line)}" for line in language_lines(record)),
            ranks=texts["ranks"].format(level=f"{chosen.confidence:.0%}"),
            not_evidence=texts["not_evidence"],
        )
    write_files(options.to, files)
    return "\n".join([
        *summarize(record), f"{options.to / PAGE}",
        f"{options.to / SPACE} was there and stays as it is." if stored else
        f"The folder is a static Space of the Hugging Face Hub ({SPACE} has its settings).",
    ])  # fmt: skip


def csv_rows(record: Record) -> list[dict[str, object]]:
    """Return a row for each model, metric and language: score, places, verdict."""
    names = ("model", "criterion", "dataset", "metric", "temperature", "language")
    scores = {tuple(s[name] for name in names): s for s in record["scores"]}
    verdicts = {tuple(v[name] for name in names): v for v in record["verdicts"]}
    positions = ("group", "rank_low", "rank_high", "ranked", "unranked")
    chosen = ("verdict", "estimate", "ci_low", "ci_high", "p_adjusted", "reason", "next")
    rows: list[dict[str, object]] = []
    for rank in record["ranks"]:
        key = tuple(rank[name] for name in names)
        score, verdict = scores.get(key, {}), verdicts.get(key, {})
        rows.append({
            **dict(zip(names, key, strict=True)), "value": score.get("value"),
            "value_low": score.get("ci_low"), "value_high": score.get("ci_high"),
            "n": score.get("n"), **{name: rank[name] for name in positions},
            "better": "; ".join(rank["better"]), "worse": "; ".join(rank["worse"]),
            **{name: verdict.get(name) for name in chosen},
        })  # fmt: skip
    return rows
