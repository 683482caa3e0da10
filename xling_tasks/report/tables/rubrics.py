"""The tables of users' own rubrics (also by theme and axis) and multiple choice, by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import CRITERIA, Column
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import Grid, heading
from xling_tasks.report.tables.rows import by_language
from xling_tasks.report.tables.table import Table

_PART_NOTE = (
    "A theme is a part of the conversations, an axis a part of the criteria: with few of either, "
    "read them as hints."
)


def rubric_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """By language, then by theme and axis, where there are any."""
    for dataset in grid.datasets("rubric"):
        metrics = grid.metrics("rubric", dataset)
        if "rubric_score" not in metrics:
            continue
        notes = [*notes_about(remarks, "rubric", dataset), *_canaries(grid, dataset)]
        title = f"{heading('rubric', dataset)}: languages"
        key = f"rubric_{dataset}"
        yield by_language(
            grid,
            "rubric",
            dataset,
            CRITERIA["rubric"].columns,
            key,
            title,
            [CRITERIA["rubric"].note, *notes],
        )
        parts = tuple(
            Column(name, name.replace("_", " "))
            for name in sorted(metrics)
            if name.startswith(("theme_", "axis_"))
        )
        if parts:
            title = f"{heading('rubric', dataset)}: themes and axes"
            texts = [CRITERIA["rubric"].note, _PART_NOTE, *notes]
            yield by_language(grid, "rubric", dataset, parts, f"{key}_parts", title, texts)


def choice_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Multiple choice over questions that are the same in every language."""
    for key in ("mcqa", "mcqa_ll"):
        for dataset in grid.datasets(key):
            notes = [CRITERIA[key].note, *notes_about(remarks, key, dataset)]
            title = f"{heading(key, dataset)}: languages"
            columns = CRITERIA[key].columns
            yield by_language(grid, key, dataset, columns, f"{key}_{dataset}", title, notes)


def _canaries(grid: Grid, dataset: str) -> Iterator[str]:
    """What the data's publisher asks to keep with its texts, which a report shows."""
    tasks = {id(cell.task): cell.task for cell in grid.of("rubric", dataset)}.values()
    canaries = [(task.results.xling.get("data") or {}).get("canary") for task in tasks]
    for text in sorted({str(text) for each in canaries if isinstance(each, list) for text in each}):
        yield f"Canary of the data: {text}"
