"""`xling report`: from lm_eval's output files to one page, one JSON file and CSV tables."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.data.topics import read_topics
from xling_tasks.errors import SettingError
from xling_tasks.output import refuse_others, write_files, writing
from xling_tasks.report import lists, paper_tests
from xling_tasks.report.annotations import read_annotations
from xling_tasks.report.costs import parse_price
from xling_tasks.report.data import read_models
from xling_tasks.report.page import make_page
from xling_tasks.report.paper_tables import make_tables
from xling_tasks.report.summary import Record, summarize
from xling_tasks.report.table import Table, as_csv, rows_csv
from xling_tasks.report.words import tell
from xling_tasks.secrets import public

SAMPLES = "index.html"
"""The page of `xling samples` in its folder."""


def report(options: argparse.Namespace) -> str:
    """Write the report; return its finding in a few lines."""
    record = make_record(options)
    samples = find_samples(options.samples, options.to)
    published = not options.no_published
    refuse_others(options.to, "report.json", "report")
    lines = [public(line) for line in summarize(record)]
    files = {
        "report.html": make_page(record, published=published, samples=samples),
        "report.md": "\n".join(["# " + lines[0], "", *lines[1:]]) + "\n",
        "report.json": json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        **csv_files(record, published=published),
    }
    with writing(options.to):
        for path in (options.to / "tables").glob("*.csv"):
            path.unlink()  # of an earlier report
    write_files(options.to, files)
    return "\n".join([*lines, f"{options.to / 'report.html'}"])


def make_record(options: argparse.Namespace) -> Record:
    """Return the content of `report.json`."""
    chosen = lists.check_options(options)
    topics = None if options.topics is None else read_topics(options.topics)
    models = read_models(options.folders, options.family)
    tasks = [task for model in models for task in model.tasks]
    requested = ((name, key) for task in tasks for key in task.ids
                 for name in ("", task.task_key.dataset))  # fmt: skip
    if topics is not None and topics.keys().isdisjoint(requested):
        raise SettingError(f"--topics {options.topics}: has none of these questions")
    prices = dict(map(parse_price, getattr(options, "price", ())))
    if unknown := prices.keys() - {model.name for model in models}:
        names = ", ".join(model.name for model in models)
        raise SettingError(f"--price {unknown.pop()}: no such model here; there are {names}")
    people = None if options.human is None else read_annotations(options.human, models)
    return lists.make_record(models, chosen, people=people, topics=topics, prices=prices).rows()


def find_samples(folder: Path | None, to: Path) -> str:
    """Return the address of a page of samples from the report's folder; empty where none is."""
    page = (folder or Path("samples")) / SAMPLES
    if folder is not None and not page.is_file():
        raise SettingError(f"--samples {folder}: has no page of `xling samples`")
    return Path(os.path.relpath(page, to)).as_posix() if page.is_file() else ""


def csv_files(record: Record, *, published: bool) -> dict[str, str]:
    """Return every table as CSV, by its name."""
    remarks = record["remarks"]
    by_key: dict[str, list[Table]] = {}
    for table in make_tables(record, published=published):
        by_key.setdefault(table.key, []).append(table)
    verdicts, tellings = record["verdicts"], map(tell, record["verdicts"])
    lines = [f"{t.word}: {t.name}. {' '.join(filter(None, t[4:]))}" for t in tellings]
    rows: dict[str, Sequence[Mapping[str, Any]]] = {
        "scores": record["scores"],
        "verdicts": [{**v, "in_words": line} for v, line in zip(verdicts, lines, strict=True)],
        "differences": paper_tests.difference_rows(remarks),
        "anova": paper_tests.anova_rows(remarks, with_published=published),
        "pairs": paper_tests.pair_rows(remarks, with_published=published),
    }
    texts = {name: rows_csv(group) for name, group in rows.items()}
    texts |= {key: as_csv(tables) for key, tables in by_key.items()}
    return {f"tables/{name}.csv": text for name, text in texts.items() if text}
