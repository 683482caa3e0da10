"""`xling report --for es,hi`: the report of some languages beside English.

Everything was computed before, so that no number, correction or verdict depends on what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xling_tasks.criteria import ENGLISH
from xling_tasks.errors import SettingError
from xling_tasks.languages import LANGUAGES, in_order
from xling_tasks.report.model import Report
from xling_tasks.report.tables.grid import is_language
from xling_tasks.report.tables.table import Table


def wanted_languages(report: Report, codes: str) -> tuple[str, ...]:
    """The languages of `--for`, in order.

    Args:
        report: Which languages there are.
        codes: Codes with commas between; English is always there and need not be named.

    Raises:
        SettingError: If the report has nothing in one of them.
    """
    known = in_order({c.language for c in report.cells if is_language(c.language)} - {ENGLISH})
    wanted = {code.strip().lower() for code in codes.split(",") if code.strip()} - {ENGLISH}
    unknown = sorted(wanted - set(known))
    if unknown or not wanted:
        raise SettingError(
            f"--for {codes}: there are no results in {', '.join(unknown) or 'no language'}; "
            f"this report has {', '.join(known) or 'no language beside English'}"
        )
    return tuple(in_order(wanted))


def only(report: Report, languages: Sequence[str]) -> Report:
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


def only_of_table(table: Table, languages: Sequence[str]) -> Table:
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
