"""`xling report`: from the harness's own output files to tables, pictures and one page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from xling_tasks.criteria import ENGLISH
from xling_tasks.data.topics import read_topics
from xling_tasks.errors import SettingError
from xling_tasks.languages import LANGUAGES, in_order
from xling_tasks.output import file_names, refuse_others
from xling_tasks.pages.door import write_door
from xling_tasks.report.data import read_models
from xling_tasks.report.human_pages import read_human
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Cell, Comparison, Report, checked
from xling_tasks.report.page.first import answers
from xling_tasks.report.page.page import markdown, page
from xling_tasks.report.page.samples import samples_to_read
from xling_tasks.report.pictures.all import Picture, pictures, summary
from xling_tasks.report.pictures.png import INSTALL, as_png, available, numbered
from xling_tasks.report.tables.all import conclusions_in_words, differences, tables
from xling_tasks.report.tables.grid import is_language
from xling_tasks.report.tables.table import Table, as_csv, as_markdown
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
    every = made
    if options.languages is not None:
        made = _only(made, _wanted_languages(made, options.languages))
    told = [] if human is None else human.notes
    unused = unused_runs(options.folders, options.family)
    others = list(dict.fromkeys(line for model in models for line in model.about_others))
    banner = [*told, *differences(made), *unused, *others]
    shown = tables(made, published=not options.no_published, topics=named)
    if made.languages:
        shown = [_only_of_table(table, made.languages) for table in shown]
    first, drawn = ([], []) if options.no_pictures else _pictures(made)
    read = samples_to_read(made, n=options.samples) if options.samples else []
    created = max(task.results.run.stamp for model in made.models for task in model.tasks)
    _clear(options.to)
    said = [*answers(made), *conclusions_in_words(made)]
    html = page(made, shown, drawn, read, banner, created)
    (options.to / "report.html").write_text(without_hosts(html), encoding="utf-8")
    write_door(options.to)
    _write_tables(options.to, shown)
    text = markdown(made, shown, banner)
    (options.to / "report.md").write_text(without_hosts(text), encoding="utf-8")
    notes = _write_pictures(options.to, [*first, *drawn], [model.name for model in made.models])
    numbers = _as_json(every, [*told, *differences(every), *unused, *others])
    (options.to / "report.json").write_text(numbers, encoding="utf-8")
    lines = [f"{options.to / 'report.html'}: {len(shown)} tables, {len(drawn)} pictures."]
    return "\n".join([*said, *(f"Note: {line}" for line in [*banner, *notes]), *lines])


# The report of some languages (`--for es,hi`): all was computed before, so that no number,
# correction or verdict depends on what is shown


def _wanted_languages(report: Report, codes: str) -> tuple[str, ...]:
    """The languages of `--for`, in order; English is always there and need not be named."""
    known = in_order({c.language for c in report.cells if is_language(c.language)} - {ENGLISH})
    wanted = {code.strip().lower() for code in codes.split(",") if code.strip()} - {ENGLISH}
    unknown = sorted(wanted - set(known))
    if unknown or not wanted:
        why = (
            f"there are no results in {', '.join(unknown)}"
            if unknown
            else "English is always there"
        )
        raise SettingError(
            f"--for {codes}: {why}; this report has {', '.join(known) or 'no other language'}"
        )
    return tuple(in_order(wanted))


def _only(report: Report, languages: Sequence[str]) -> Report:
    """The part of a report that is about some languages and English."""
    kept = {ENGLISH, *languages}
    models = tuple(
        replace(model, tasks=[task for task in model.tasks if task.place.language in ("", *kept)])
        for model in report.models
    )
    return replace(
        report,
        models=models,
        cells=tuple(cell for cell in report.cells if cell.language in kept),
        comparisons=tuple(item for item in report.comparisons if item.side in kept),
        conclusions=tuple(item for item in report.conclusions if item.language in kept),
        corrected=tuple(item for item in report.corrected if item.language in kept),
        # The papers' tests are over all languages at once.
        classic=(),
        languages=tuple(languages),
    )


def _only_of_table(table: Table, languages: Sequence[str]) -> Table:
    """A table without the rows and columns of other languages, such as those of published rows."""
    others = set(LANGUAGES) - {ENGLISH, *languages}
    place = table.columns.index("language") if "language" in table.columns else None
    rows = [
        index for index, row in enumerate(table.rows) if place is None or row[place] not in others
    ]
    columns = [
        index
        for index, name in enumerate(table.columns)
        if name.partition(" ")[0].removesuffix(":") not in others
    ]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in columns),
        rows=tuple(tuple(table.rows[row][i] for i in columns) for row in rows),
        published=frozenset(at for at, row in enumerate(rows) if row in table.published),
    )


# What is written


def _clear(folder: Path) -> None:
    """Make the folder; of an earlier report in it, remove what the new one may not have.

    If it holds other things, but no report, that is an error.
    """
    refuse_others(folder, "report.json", "report")
    folder.mkdir(parents=True, exist_ok=True)
    for part, endings in (("tables", (".csv", ".md")), ("pictures", (".png", ".svg"))):
        for path in (folder / part).glob("*"):
            if path.suffix in endings:
                path.unlink()


def _pictures(made: Report) -> tuple[list[Picture], list[Picture]]:
    """That of all conclusions, which the page draws by itself, and those of criteria."""
    first = summary(made)
    return ([] if first is None else [first]), pictures(made)


def _write_tables(folder: Path, tables: Sequence[Table]) -> None:
    place = folder / "tables"
    place.mkdir(exist_ok=True)
    for table, name in zip(tables, file_names(table.key for table in tables), strict=True):
        (place / f"{name}.csv").write_text(without_hosts(as_csv(table)), encoding="utf-8")
        (place / f"{name}.md").write_text(without_hosts(as_markdown(table)), encoding="utf-8")


def _write_pictures(folder: Path, pictures: Sequence[Picture], models: Sequence[str]) -> list[str]:
    """Every picture as SVG, and as PNG where that is installed; returns what to know of them."""
    if not pictures:
        return []
    place = folder / "pictures"
    place.mkdir(exist_ok=True)
    called = list(zip(pictures, file_names(picture.key for picture in pictures), strict=True))
    for picture, name in called:
        (place / f"{name}.svg").write_text(without_hosts(picture.svg()), encoding="utf-8")
    if not available():
        return [f"{place}: pictures as SVG only; for PNG: {INSTALL}"]
    names = numbered(models)
    for picture, name in called:
        (place / f"{name}.png").write_bytes(as_png(without_hosts(picture.svg(names))))
    if not names:
        return []
    told = ", ".join(f"{number} for {name}" for name, number in names.items())
    return [
        f"some names cannot be drawn as PNG here: those pictures write {told}; the page and the "
        "pictures as SVG have the names"
    ]


def _as_json(made: Report, banner: Sequence[str]) -> str:
    """All numbers, for programs."""
    content = {
        "options": asdict(made.options),
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
