"""The report as Markdown: the same order as the page, without pictures and answers to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xling_tasks.report.lines import lines
from xling_tasks.report.model import Report
from xling_tasks.report.page.first import answers
from xling_tasks.report.page.sections import sections_of
from xling_tasks.report.page.words import glossary
from xling_tasks.report.tables.all import conclusions_in_words
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.report.tables.table import Table, as_markdown


def markdown(report: Report, tables: Sequence[Table], banner: Sequence[str]) -> str:
    """The whole report; notes that several tables share stand once, below them.

    Args:
        report: The numbers, for the first lines.
        tables: All tables.
        banner: Notes on the runs.
    """
    return "\n".join(_parts(report, tables, banner))


def _parts(report: Report, tables: Sequence[Table], banner: Sequence[str]) -> Iterator[str]:
    yield f"# Health answers by language: {', '.join(model.name for model in report.models)}\n"
    for text in answers(report):
        yield f"**{text}**\n"
    titles = {item.dataset: dataset_title(item.dataset) for item in report.conclusions}
    several = len(report.models) > 1
    first = lines(report.conclusions, titles)
    if first:
        yield _listed([f"{x.model}, {x.text}" if several else x.text for x in first])
    if banner:
        yield "## Notes on these runs\n\n" + _listed(banner)
    numbers = [item for item in tables if item.section == "summary"]
    if numbers:
        yield "## Every conclusion\n\n" + _listed(conclusions_in_words(report))
        yield "\n".join(map(as_markdown, numbers))
    rest = [item for item in tables if item not in numbers]
    for section in sections_of(rest, (), (), banner):
        yield f"## {section.title}\n"
        if section.meaning:
            yield f"{section.meaning}\n"
        for item in (*section.tables, *section.more):
            yield as_markdown(replace(item, notes=()))
        if section.notes:
            yield "Notes:\n\n" + _listed(section.notes)
    terms = [f"**{term}**: {text}" for term, text in glossary(report).items()]
    yield "## Glossary\n\n" + _listed(terms)


def _listed(items: Sequence[str]) -> str:
    return "".join(f"- {' '.join(item.split())}\n" for item in items)
