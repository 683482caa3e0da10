"""The tables of translate-then-evaluate: information and empathy by language and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH
from xling_tasks.data.published import published
from xling_tasks.languages import BRANCH_GROUPS
from xling_tasks.report.tables.declared import has_columns, languages_table
from xling_tasks.report.tables.differences import Difference, grouped, notes_about, task_languages
from xling_tasks.report.tables.grid import (
    Grid,
    by_model,
    heading,
    lookup_of,
    paper_note,
    published_model,
)
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value

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
_PAPER = (
    "Published rows ({sources}) are over 30 languages and the paper's prompts, which are not "
    "published (150 from categories of MMLU; ours ask about health), with its judge, classifiers "
    "and translator (NLLB-200 MoE 54B): read them as orientation."
)


def multilingual_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """By language, then means over scripts, families and all, with Table 4's rows."""
    for known in CRITERIA.values():
        for dataset in grid.datasets(known.key) if known.several_languages else ():
            notes = notes_about(remarks, known.key, dataset)
            if has_columns(grid, known, dataset):
                texts = [known.note, f"{ENGLISH} is the reference: {_FLOOR}.", *notes]
                yield languages_table(grid, known, dataset, texts, "_languages")
                yield _by_group(grid, known.key, dataset, notes, shown)


def _by_group(grid: Grid, criterion: str, dataset: str, notes: Sequence[str], shown: bool) -> Table:
    score = next(each.metric for each in CRITERIA[criterion].endpoints if each.agreement)
    ends = [f"{_TITLES[name]} {end}" for name in _GROUPS for end in ("low", "high")]
    rows = Rows(("model", "languages", *(_TITLES[name] for name in _GROUPS), *ends))
    tasks = grouped(grid.report.models)[criterion, dataset]
    for model, own in tasks.items():
        lookup = grid.lookup(model, criterion, dataset)
        each = [lookup(score, name) for name in _GROUPS]
        bounds: list[Value] = [end for item in each for end in (item.low, item.high)]
        others = [code for task in own for code in task_languages(task) if code != ENGLISH]
        rows.add(model, len(others) or None, *(item.value for item in each), *bounds)
    names = {score: f"{criterion}_consistency"}
    figures = [
        item
        for item in published(source="found_in_translation", table="Table 4")
        if shown and dataset == "xling" and item.metric == names[score]
    ]
    for (name, _), printed in by_model(figures).items():
        lookup = lookup_of(printed, names)
        each = [lookup(score, group) for group in _GROUPS]
        empty = [None] * len(ends)
        rows.add(published_model(name), 30, *(i.value for i in each), *empty, published=True)
    text = (
        "Unweighted means over the languages other than English that a model's run has "
        "('languages' says how many; a group has those of them that belong to it): models with "
        "other languages are not comparable. A mean is undefined where one of its languages is. "
        "Families are the paper's groups, in which German and Dutch count as Romance and Persian "
        "as Indo-Aryan; branches are the linguists' and have no published figure. Trained "
        "languages are those of --metadata trained_languages."
    )
    title = f"{heading(criterion, dataset)}: scripts and families"
    key = f"{criterion}_{dataset}_groups"
    texts = [CRITERIA[criterion].note, text, *notes, paper_note(figures, _PAPER)]
    return rows.table(key, criterion, title, texts)
