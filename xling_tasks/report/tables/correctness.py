"""Correctness as XLingEval's Table 1 has it: labels by language, drop and multiple of English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xling_tasks.data.published import Figure, published
from xling_tasks.data.records import RECORDS
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import (
    DROP_NOTE,
    Bounded,
    Grid,
    Lookup,
    Rows,
    Shown,
    heading,
    in_order,
    lookup_of,
    paper_note,
    published_model,
)
from xling_tasks.report.tables.table import Table

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory")
"""Labels of correctness in the order of Table 1."""

_COUNTED = (*LABELS, "no_response")
_CORRECTNESS = (
    Shown("more_comprehensive", "more comprehensive", bounds=True, drop=True),
    Shown("less_comprehensive", "less comprehensive"),
    Shown("neither", "neither"),
    Shown("contradictory", "contradictory", bounds=True, multiple=True),
    Shown("no_response", "no response"),
    Shown("chrf", "chrF", bounds=True),
    Shown("length_words", "words"),
)


def correctness_tables(grid: Grid, found: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Counts, and shares with drop and multiple, per dataset; published rows if `shown`."""
    for dataset in grid.datasets("correctness"):
        figures = [
            item
            for item in published(source="xlingeval", dataset=dataset)
            if shown and item.metric.startswith("correctness_")
        ]
        notes = [
            paper_note(figures)
            + (" Their judge was GPT-3.5." if figures else ""),
            *notes_about(found, "correctness", dataset),
        ]  # fmt: skip
        if any(label in grid.metrics("correctness", dataset) for label in LABELS):
            yield _counts(grid, dataset, figures, notes)
        yield _shares(grid, dataset, figures, notes)


def _counts(grid: Grid, dataset: str, figures: list[Figure], notes: list[str]) -> Table:
    found = {item.language for item in figures} | set(grid.languages("correctness", dataset))
    languages = in_order(found, "correctness")
    rows = Rows(("label", "model", *languages))
    for label in _COUNTED:
        for model in grid.models("correctness", dataset):
            lookup = counts_of(grid, model, dataset)
            rows.add(label, model, *(_count(lookup(label, code)) for code in languages))
        for name, own in _correctness_models(figures).items():
            numbers = lookup_of(own, {label: f"correctness_{label}_count"})
            cells = [_count(numbers(label, code)) for code in languages]
            if any(cell is not None for cell in cells):
                rows.add(label, published_model(name), *cells, published=True)
    note = "Questions with each label, of those whose judge call did not fail."
    title = f"{heading('correctness', dataset)}: labels"
    return rows.table(f"correctness_counts_{dataset}", "correctness", title, [note, *notes])


def counts_of(grid: Grid, model: str, dataset: str) -> Lookup:
    """How many questions have a label: its share of those that were judged."""
    shares = grid.lookup(model, "correctness", dataset)
    tasks = {c.language: c.task for c in grid.of("correctness", dataset) if c.model == model}

    def find(label: str, language: str) -> Bounded:
        share, failed = shares(label, language).value, shares("judge_failed_rate", language).value
        if share is None or failed is None:
            return Bounded()
        run = tasks[language].results.count["effective"]
        return Bounded(share * (run - round(failed * run)))

    return find


def _count(found: Bounded) -> int | None:
    return None if found.value is None else round(found.value)


def _correctness_models(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Model -> its figures; Section 3.1 completes Table 1."""
    found: dict[str, list[Figure]] = {}
    for item in figures:
        found.setdefault(item.model, []).append(item)
    return found


def _shares(grid: Grid, dataset: str, figures: list[Figure], notes: list[str]) -> Table:
    heads = [head for item in _CORRECTNESS for head in item.heads]
    rows = Rows(("model", "language", "questions", *heads))
    codes = grid.languages("correctness", dataset)
    for model in grid.models("correctness", dataset):
        lookup = grid.lookup(model, "correctness", dataset)
        tasks = {c.language: c.task for c in grid.of("correctness", dataset) if c.model == model}
        for code in codes:
            run = tasks[code].results.count["effective"] if code in tasks else None
            rows.add(model, code, run, *(v for s in _CORRECTNESS for v in s.cells(lookup, code)))
    for name, own in _correctness_models(figures).items():
        asked = RECORDS[dataset].n_questions
        names = {label: f"correctness_{label}_count" for label in LABELS}
        lookup = lookup_of(own, names, 1 / asked)
        for code in in_order({item.language for item in own}, "correctness"):
            cells = [value for item in _CORRECTNESS for value in item.cells(lookup, code)]
            rows.add(published_model(name), code, asked, *cells, published=True)
    note = (
        "Shares of the questions whose judge call did not fail; intervals are bootstrap intervals "
        "over questions. Multiple of English: the share over that in English. chrF (0-100) and "
        f"words are of the answers; chrF depends on the script: compare models with it, not "
        f"languages. {DROP_NOTE}"
    )
    ours = "Shares in published rows are of all questions of the dataset." if figures else ""
    title = f"{heading('correctness', dataset)}: shares"
    return rows.table(f"correctness_{dataset}", "correctness", title, [note, ours, *notes])
