"""Tables as criteria declare them: a row per language, and a table of parts where there are any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import CRITERIA, Column, Criterion
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import Grid, heading
from xling_tasks.report.tables.rows import by_language
from xling_tasks.report.tables.table import Table


def declared_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Of every criterion whose table has no paper's form."""
    for known in CRITERIA.values():
        for dataset in grid.datasets(known.key) if not known.papers_form else ():
            if has_columns(grid, known, dataset):
                notes = [
                    *notes_about(remarks, known.key, dataset),
                    *_canaries(grid, known, dataset),
                ]
                yield languages_table(grid, known, dataset, [known.note, *notes])
                yield from _parts_table(grid, known, dataset, notes)


def has_columns(grid: Grid, known: Criterion, dataset: str) -> bool:
    """Whether a run has any of the metrics that a criterion's table shows."""
    return bool({column.metric for column in known.columns} & {*grid.metrics(known.key, dataset)})


def languages_table(
    grid: Grid, known: Criterion, dataset: str, notes: Sequence[str], ending: str = ""
) -> Table:
    """A row per language; `ending` is the key's, where the criterion has other tables too."""
    key, title = f"{known.key}_{dataset}{ending}", f"{heading(known.key, dataset)}: languages"
    return by_language(grid, known.key, dataset, known.columns, key, title, notes)


def _parts_table(
    grid: Grid, known: Criterion, dataset: str, notes: Sequence[str]
) -> Iterator[Table]:
    beginnings, title, note = known.parts or ((), "", "")
    names = sorted(n for n in grid.metrics(known.key, dataset) if n.startswith(beginnings))
    if names:
        columns = [Column(name, name.replace("_", " ")) for name in names]
        title = f"{heading(known.key, dataset)}: {title}"
        key, texts = f"{known.key}_{dataset}_parts", [known.note, note, *notes]
        yield by_language(grid, known.key, dataset, columns, key, title, texts)


def _canaries(grid: Grid, known: Criterion, dataset: str) -> Iterator[str]:
    """What the data's publisher asks to keep with its texts, which a report shows."""
    tasks = {id(cell.task): cell.task for cell in grid.of(known.key, dataset)}.values()
    canaries = [(task.results.xling.get("data") or {}).get("canary") for task in tasks]
    for text in sorted({str(text) for each in canaries if isinstance(each, list) for text in each}):
        yield f"Canary of the data: {text}"
