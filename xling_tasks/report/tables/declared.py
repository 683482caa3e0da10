"""Tables by language as criteria declare them, and means over scripts and families of languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import AVERAGE, ENGLISH, Column
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.languages import BRANCH_GROUPS
from xling_tasks.report.tables.grid import (
    Grid,
    Grids,
    paper_note,
    printed,
    recorded,
    task_languages,
)
from xling_tasks.report.tables.rows import Rows, by_language
from xling_tasks.report.tables.table import Table, note

_GROUPS = (
    AVERAGE, "script:latin", "script:indic", "script:perso_arabic", "script:other",
    "family:romance", "family:slavic", "family:indo_aryan", "family:dravidian", "family:other",
    "train:in", "train:out", *(f"branch:{name}" for name in BRANCH_GROUPS),
)  # fmt: skip
_TITLES = {
    AVERAGE: "all",
    **{name: name.replace(":", ": ").replace("_", "-") for name in _GROUPS[1:]},
    "train:in": "trained languages",
    "train:out": "other languages",
}
_FLOOR = "its values are what a second English answer shares with the first, where one was asked"


def declared_tables(grids: Grids) -> Iterator[Table]:
    """A row per language; and a table of parts where there are any."""
    for grid in (grid for own in grids.values() for grid in own):
        if grid.known.papers_form or not _has_columns(grid):
            continue
        known, notes = grid.known, [*grid.notes, *_canaries(grid)]
        yield _languages(grid, [known.note, *notes])
        beginnings, title, told = known.parts or ((), "", "")
        names = sorted(name for name in grid.metrics if name.startswith(beginnings))
        if names:
            columns = [Column(name, name.replace("_", " ")) for name in names]
            texts = [known.note, told, *notes]
            title = f"{grid.heading}: {title}"
            yield by_language(grid, columns, f"{grid.key}_parts", title, texts)


def multilingual_tables(grids: Grids) -> Iterator[Table]:
    """By language, then means over scripts, families and all, with Table 4's rows."""
    for grid in (grid for own in grids.values() for grid in own):
        if grid.known.several_languages and _has_columns(grid):
            texts = [grid.known.note, f"{ENGLISH} is the reference: {_FLOOR}.", *grid.notes]
            yield _languages(grid, texts, "_languages")
            yield _by_group(grid)


def translated_figures(criterion: str, dataset: str) -> list[PublishedScore]:
    """The printed agreement with English, of the prompts that are its paper's kind."""
    metric = f"{criterion}_consistency"
    figures = published(source="found_in_translation", table="Table 4", metric=metric)
    return list(figures) if dataset == "xling" else []


def _has_columns(grid: Grid) -> bool:
    """Whether a run has any of the metrics that a criterion's table shows."""
    return any(column.metric in grid.metrics for column in grid.known.columns)


def _languages(grid: Grid, notes: Sequence[str], ending: str = "") -> Table:
    """A row per language; `ending` is the key's, where the criterion has other tables too."""
    title = f"{grid.heading}: languages"
    return by_language(grid, grid.known.columns, f"{grid.key}{ending}", title, notes)


def _canaries(grid: Grid) -> Iterator[str]:
    """What the data's publisher asks to keep with its texts, which a report shows."""
    told = [recorded(task, "data").get("canary") for own in grid.tasks.values() for task in own]
    for text in sorted({str(text) for each in told if isinstance(each, list) for text in each}):
        yield f"Canary of the data: {text}"


def _by_group(grid: Grid) -> Table:
    score = next(each.metric for each in grid.known.endpoints if each.agreement)
    ends = [f"{_TITLES[name]} {end}" for name in _GROUPS for end in ("low", "high")]
    rows = Rows(("model", "languages", *(_TITLES[name] for name in _GROUPS), *ends))
    figures = translated_figures(grid.criterion, grid.dataset) if grid.shown else []
    for source in [*grid.sources(), *printed(figures, {score: f"{grid.criterion}_consistency"})]:
        each = [source.find(score, group) for group in _GROUPS]
        tasks = grid.tasks.get(source.name, ())
        others = [code for task in tasks for code in task_languages(task) if code != ENGLISH]
        size = 30 if source.published else len(others) or None
        bounds = [end for item in each for end in (item.low, item.high)]
        values = [item.value for item in each]
        rows.add(source.name, size, *values, *bounds, published=source.published)
    texts = [grid.known.note, note("groups"), *grid.notes, paper_note(figures, "groups_paper")]
    title = f"{grid.heading}: scripts and families"
    return rows.table(f"{grid.key}_groups", grid.criterion, title, texts)
