"""What stands together: a section per criterion, with its tables, pictures and answers to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rates import GLOSSARY as SHARED
from xling_tasks.pages import texts
from xling_tasks.report.model import Report
from xling_tasks.report.page.samples import SampleToRead
from xling_tasks.report.pictures.all import Picture
from xling_tasks.report.tables.table import Table

_OTHER = {"statistics": "Statistics", "coverage": "Coverage", "other": "Other"}
"""Sections of what belongs to no criterion."""


class Section(NamedTuple):
    """A criterion on the page."""

    key: str  # Its anchor.
    title: str  # Its heading.
    meaning: str  # What it asks; empty for what is no criterion.
    pictures: Sequence[Picture]  # The first is shown, others are folded.
    tables: Sequence[Table]  # Tables that are shown.
    more: Sequence[Table]  # Further tables, then what was measured at all, then tests; folded.
    notes: Sequence[str]  # What must be known to read all these, each once.
    samples: Mapping[str, Sequence[SampleToRead]]  # Model -> what to read, last.


def sections_of(
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    samples: Sequence[SampleToRead],
    banner: Sequence[str],
) -> Iterator[Section]:
    """A section per criterion; last what belongs to none.

    Args:
        tables: All but those with the conclusions, which stand before.
        pictures: All pictures.
        samples: What to read.
        banner: Notes on the runs, which notes of tables do not repeat.
    """
    titles = {key: known.title for key, known in CRITERIA.items()}
    for key, title in {**titles, **_OTHER}.items():
        own = [item for item in tables if _place(item) == key]
        drawn = [item for item in pictures if _known(item.section) == key]
        read: dict[str, list[SampleToRead]] = {}
        for item in samples:
            if item.criterion == key:
                read.setdefault(item.model, []).append(item)
        if own or drawn or read:
            shown, more = _split(key, own)
            notes = dict.fromkeys(note for item in own for note in item.notes)
            untold = [note for note in notes if not _told(note, banner)]
            yield Section(
                key,
                title,
                CRITERIA[key].asks if key in CRITERIA else "",
                drawn,
                shown,
                more,
                untold,
                read,
            )


def _split(key: str, own: Sequence[Table]) -> tuple[list[Table], list[Table]]:
    """The tables that are shown, and the others: values, then coverage, then tests."""
    if key not in CRITERIA:
        return list(own), []
    values = [item for item in own if item.section not in ("coverage", "statistics")]
    named = re.compile(rf"{key}_(?!means|by_people)[a-z]+")
    shown = [item for item in values if named.fullmatch(item.key)] or values[:1]
    order = {"coverage": 1, "statistics": 2}
    rest = [item for item in own if item not in shown]
    return shown, sorted(rest, key=lambda item: order.get(item.section, 0))


def _told(note: str, banner: Sequence[str]) -> bool:
    """Whether the notes on the runs say it already."""
    text = re.sub(r"^\[\w+\] ", "", note).removesuffix(".")
    return any(line.endswith(f": {text}") for line in banner)


def _place(item: Table) -> str:
    """Where a table stands: coverage and statistics with the criterion that their key names."""
    if item.section not in ("statistics", "coverage"):
        return _known(item.section)
    named = [key for key in CRITERIA if f"_{key}_" in f"_{item.key}_"]
    return max(named, key=len, default=item.section)


def _known(section: str) -> str:
    return section if section in CRITERIA or section in _OTHER else "other"


def glossary(report: Report) -> dict[str, str]:
    """The terms of a report's tables and pictures, those of a criterion together.

    Args:
        report: Its criteria's own terms are given, no others.
    """
    used, said = {cell.panel.criterion for cell in report.cells}, texts()["glossary"]
    own = {
        key: text
        for name, one in CRITERIA.items()
        if name in used
        for key, text in (one.glossary or {}).items()
    }
    return {**said["terms"], **own, **SHARED, **said["tests"]}
