"""What people said on pages of `xling annotate`: rows and a report, alike for both forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.commands.table import table
from xling_tasks.logs.annotations import AnyExport, Page
from xling_tasks.pages import texts
from xling_tasks.report.documents import cell, filled

Row = dict[str, Any]


class Form(NamedTuple):
    """What is said of the answers to one form of the page.

    Attributes:
        name: Its key under `agreement` in `pages/texts.yaml`: the report's title, what the tables
            of figures and of single items are called, and notes on how to read the figures.
        rows: Page, annotators' names, and of each item what everybody said -> the rows under
            `figures`, `settled`, `annotators` and `remarks`.
    """

    name: str
    rows: Callable[[Page[Any], Sequence[str], Sequence[Sequence[Any]]], dict[str, list[Row]]]

    @property
    def texts(self) -> dict[str, Any]:
        """What is said of it."""
        return dict(texts()["agreement"][self.name])


def summarise(form: Form, pages: Mapping[str, Page[Any]]) -> dict[str, Any]:
    """Batches, figures, annotators, and what was remarked on single items, as plain rows."""
    said = form.texts
    keys = ("batches", said["figures"], "settled", "annotators", said["remarks"])
    report: dict[str, Any] = {key: [] for key in keys}
    for batch, page in pages.items():
        people: Sequence[AnyExport] = page.people
        first, names = people[0], [export.annotator for export in people]
        units = [[export.items[name] for export in people] for name in first.items]
        about = {key: value for key, value in first.settings.items() if key != "strata"}
        about |= {"items": len(units), "annotators": names}
        about["files"] = [export.path.name for export in people]
        for key, rows in {"batches": [about], **form.rows(page, names, units)}.items():
            report[key] += [{"batch": batch, **row} for row in rows]
    return {**report, "notes": said["notes"]}


def as_markdown(form: Form, report: Mapping[str, Any]) -> str:
    """The report to read: figures first, with the notes on them, then what was remarked."""
    made = filled("agreement.j2", form=form.texts, report=report, table=_table)
    return made.rstrip()


def _table(rows: Sequence[Row]) -> str:
    return table([{name: cell(value) for name, value in row.items()} for row in rows], marked=True)
