"""`xling report`: from the harness's own output files to tables, pictures and one page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling_tasks.data.topics import read_topics
from xling_tasks.errors import SettingError
from xling_tasks.output import file_names, refuse_others
from xling_tasks.report.data import read_models
from xling_tasks.report.human_pages import read_human
from xling_tasks.report.lists import record_of, unused
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Cell, Comparison, Report, checked
from xling_tasks.report.page.first import answers
from xling_tasks.report.page.page import markdown, page
from xling_tasks.report.page.samples import samples_to_read
from xling_tasks.report.pictures.all import pictures
from xling_tasks.report.tables.all import conclusions_in_words, differences, tables
from xling_tasks.report.tables.table import Table, as_csv
from xling_tasks.report.unused import unused_runs
from xling_tasks.secrets import without_hosts


def report(options: argparse.Namespace) -> str:
    """Write the report; returns what was written and what to know first."""
    statistics = checked(options)
    named = None if options.topics is None else read_topics(options.topics)
    models = read_models(options.folders, options.family)
    asked = (key for model in models for task in model.tasks for key in task.ids)
    if named is not None and named.keys().isdisjoint(asked):
        raise SettingError(f"--topics {options.topics}: has none of these questions")
    human = None if options.human is None else read_human(options.human, models)
    made = make_report(models, statistics, human)
    told = [] if human is None else human.notes
    unused_lines = unused_runs(options.folders, options.family)
    others = list(dict.fromkeys(line for model in models for line in model.about_others))
    banner = [*told, *differences(made), *unused_lines, *others]
    shown = tables(made, published=not options.no_published, topics=named)
    drawn = [] if options.no_pictures else pictures(made)
    read = samples_to_read(made, n=options.samples) if options.samples else []
    created = max(task.results.run.stamp for model in made.models for task in model.tasks)
    _clear(options.to)
    said = [*answers(made), *conclusions_in_words(made)]
    html = page(made, shown, drawn, read, banner, created)
    (options.to / "report.html").write_text(without_hosts(html), encoding="utf-8")
    _write_tables(options.to, shown)
    text = markdown(made, shown, banner)
    (options.to / "report.md").write_text(without_hosts(text), encoding="utf-8")
    numbers = _as_json(made, banner, [*told, *unused_lines, *others])
    (options.to / "report.json").write_text(numbers, encoding="utf-8")
    lines = [f"{options.to / 'report.html'}: {len(shown)} tables, {len(drawn)} pictures."]
    return "\n".join([*said, *(f"Note: {line}" for line in banner), *lines])


# What is written


def _clear(folder: Path) -> None:
    """Make the folder; of an earlier report in it, remove what the new one may not have.

    If it holds other things, but no report, that is an error.
    """
    refuse_others(folder, "report.json", "report")
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / "tables").glob("*.csv"):
        path.unlink()


def _write_tables(folder: Path, tables: Sequence[Table]) -> None:
    place = folder / "tables"
    place.mkdir(exist_ok=True)
    for table, name in zip(tables, file_names(table.key for table in tables), strict=True):
        (place / f"{name}.csv").write_text(without_hosts(as_csv(table)), encoding="utf-8")


def _as_json(made: Report, banner: Sequence[str], others: Sequence[str]) -> str:
    """All numbers, for programs: three lists, and until the page is made of them the old ones."""
    rows = record_of(made).rows()
    rows["remarks"] += [item.row() for item in unused(others)]
    content = {
        **rows,
        "notes": list(banner),
        "models": {model.name: model.full for model in made.models},
        "values": [_value(cell) for cell in made.cells],
        "conclusions": [asdict(item) for item in made.conclusions],
        "corrected_by_people": [asdict(item) for item in made.corrected],
        "against_english": [_comparison(item) for item in made.comparisons],
    }
    return json.dumps(without_hosts(content), ensure_ascii=False, indent=1) + "\n"


def _value(cell: Cell) -> dict[str, Any]:
    interval = None if cell.interval is None else cell.interval._asdict()
    return {
        "model": cell.model,
        **cell.panel._asdict(),
        "language": cell.language,
        "value": cell.value,
        "interval": interval,
        "higher_is_better": cell.better,
        "signature": cell.signature,
    }


def _comparison(item: Comparison) -> dict[str, Any]:
    plain = asdict(item)
    del plain["panel"]
    return {"model": plain.pop("context"), **item.panel._asdict(), **plain}
