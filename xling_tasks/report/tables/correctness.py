"""Correctness as XLingEval has it: labels by language, decrease and multiple of English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS
from xling_tasks.data.published import Figure, published
from xling_tasks.data.records import RECORDS
from xling_tasks.languages import in_order
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import (
    DROP_NOTE,
    Bounded,
    Grid,
    Lookup,
    decrease_points,
    heading,
    lookup_of,
    mean_of,
    multiple,
    paper_note,
    published_model,
)
from xling_tasks.report.tables.judges import judge_tables
from xling_tasks.report.tables.rows import Rows, cells_of, heads_of
from xling_tasks.report.tables.table import Table, Value

_MEANS = (
    "model", "datasets", "languages", "comparisons",
    "more comprehensive: mean decrease, percentage points",
    "contradictory: mean multiple of English", "comparisons with a multiple",
)  # fmt: skip
_COUNTED = (*LABELS, "no_response")
_CORRECTNESS = CRITERIA["correctness"].columns


def correctness_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Counts, and shares with drop and multiple, per dataset; published rows if `shown`."""
    yield from _means(grid, shown)
    for dataset in grid.datasets("correctness"):
        figures = correctness_figures(dataset) if shown else []
        notes = [
            paper_note(figures)
            + (" Their judge was GPT-3.5." if figures else ""),
            *notes_about(remarks, "correctness", dataset),
        ]  # fmt: skip
        if any(label in grid.metrics("correctness", dataset) for label in LABELS):
            yield _counts(grid, dataset, figures, notes)
        yield _shares(grid, dataset, figures, notes)
        yield from judge_tables(grid, dataset)


def correctness_figures(dataset: str) -> list[Figure]:
    """The printed counts and decreases of a dataset."""
    return [
        item
        for item in published(source="xlingeval", dataset=dataset)
        if item.metric.startswith("correctness_")
    ]


def _means(grid: Grid, shown: bool) -> Iterator[Table]:
    """The two means of XLingEval's abstract, over the pairs of dataset and language of each run."""
    rows = Rows(_MEANS)
    papers = [name for name in grid.datasets("correctness") if name in RECORDS and name != "demo"]
    others = [[name] for name in grid.datasets("correctness") if name not in papers]
    done: set[tuple[str, ...]] = set()
    figures: list[Figure] = []
    for datasets in [papers, *others]:
        models = dict.fromkeys(m for name in datasets for m in grid.models("correctness", name))
        for model in models:
            lookups = {name: grid.lookup(model, "correctness", name) for name in datasets}
            own = {name: grid.languages("correctness", name) for name in datasets}
            pairs = gap_pairs(lookups, own)
            if pairs:
                rows.add(model, *_mean_cells(pairs))
            done.add(tuple(f"{name} {code}" for name, code in pairs))
    for wanted in sorted(done, key=len, reverse=True) if shown else ():
        kept = [label.partition(" ")[::2] for label in wanted]
        every = {name: correctness_figures(name) for name, _ in kept}
        for model in dict.fromkeys(f.model for own in every.values() for f in own):
            shares = {name: published_shares(every[name], model, name) for name in every}
            codes = {name: [ENGLISH, *(c for n, c in kept if n == name)] for name in every}
            pairs = gap_pairs(shares, codes)
            if len(pairs) == len(kept):
                rows.add(published_model(model), *_mean_cells(pairs), published=True)
                figures += [f for own in every.values() for f in own if f.model == model]
    if rows.rows:
        note = (
            "Unweighted means over the pairs of dataset and language: decrease of 'more "
            "comprehensive' in percentage points of all questions (the paper's 'relative "
            "decrease'; its abstract has 18.12), and of 'contradictory' the multiple of English "
            "(5.82). A pair without contradictory answers in English has no multiple. Published "
            "rows are over the same pairs as a run."
        )
        title = "Correctness: means against English"
        yield rows.table("correctness_means", "correctness", title, [note, paper_note(figures)])


def gap_pairs(
    shares: Mapping[str, Lookup], languages: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Every pair's decrease of 'more comprehensive' in points, and multiple of 'contradictory'.

    Pairs of dataset and language without a share in the language or in English are left out.
    """
    gaps = {}
    for name, lookup in shares.items():
        for code in languages[name]:
            more, contradictory = (
                (lookup(label, code).value, lookup(label, ENGLISH).value)
                for label in ("more_comprehensive", "contradictory")
            )
            points = decrease_points(*more)
            if code != ENGLISH and points is not None:
                gaps[name, code] = (points, multiple(*contradictory))
    return gaps


def published_shares(figures: Iterable[Figure], model: str, dataset: str) -> Lookup:
    """A published model's labels as shares of all questions of the dataset."""
    names = {label: f"correctness_{label}_count" for label in LABELS}
    own = [item for item in figures if item.model == model]
    return lookup_of(own, names, 1 / RECORDS[dataset].n_questions)


def _mean_cells(pairs: Mapping[tuple[str, str], tuple[float, float | None]]) -> list[Value]:
    datasets = dict.fromkeys(name for name, _ in pairs)
    codes = dict.fromkeys(code for _, code in pairs)
    multiples = [item[1] for item in pairs.values() if item[1] is not None]
    return [
        ", ".join(datasets), ", ".join(codes), len(pairs),
        mean_of([item[0] for item in pairs.values()]), mean_of(multiples), len(multiples),
    ]  # fmt: skip


def _counts(grid: Grid, dataset: str, figures: list[Figure], notes: list[str]) -> Table:
    codes = {item.language for item in figures} | set(grid.languages("correctness", dataset))
    languages = in_order(codes)
    rows = Rows(("label", "model", *languages))
    for label in _COUNTED:
        for model in grid.models("correctness", dataset):
            lookup = counts_of(grid, model, dataset)
            rows.add(label, model, *(_count(lookup(label, code)) for code in languages))
        for name, own in _correctness_models(figures).items():
            numbers = lookup_of(own, {label: f"correctness_{label}_count"})
            cells = [_count(numbers(label, code)) for code in languages]
            rows.measured((label, published_model(name)), cells, published=True)
    note = "Questions with each label, of those whose judge call did not fail."
    title = f"{heading('correctness', dataset)}: labels"
    return rows.table(f"correctness_counts_{dataset}", "correctness", title, [note, *notes])


def counts_of(grid: Grid, model: str, dataset: str) -> Lookup:
    """How many questions have a label: its share of those that got one or no response."""
    shares = grid.lookup(model, "correctness", dataset)
    tasks = {c.language: c.task for c in grid.of("correctness", dataset) if c.model == model}

    def find(label: str, language: str) -> Bounded:
        share, failed = shares(label, language).value, shares("judge_failed_rate", language).value
        split = shares("no_majority", language).value or 0.0
        if share is None or failed is None:
            return Bounded()
        run = tasks[language].results.count["effective"]
        return Bounded(share * (run - round(failed * run) - round(split * run)))

    return find


def _count(share: Bounded) -> int | None:
    return None if share.value is None else round(share.value)


def _correctness_models(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Model -> its figures; Section 3.1 completes Table 1."""
    by_model: dict[str, list[Figure]] = {}
    for item in figures:
        by_model.setdefault(item.model, []).append(item)
    return by_model


def _shares(grid: Grid, dataset: str, figures: list[Figure], notes: list[str]) -> Table:
    rows = Rows(("model", "language", "questions", *heads_of(_CORRECTNESS)))
    codes = grid.languages("correctness", dataset)
    for model in grid.models("correctness", dataset):
        lookup = grid.lookup(model, "correctness", dataset)
        tasks = {c.language: c.task for c in grid.of("correctness", dataset) if c.model == model}
        for code in codes:
            run = tasks[code].results.count["effective"] if code in tasks else None
            rows.add(model, code, run, *cells_of(_CORRECTNESS, lookup, code))
    for name, own in _correctness_models(figures).items():
        asked = RECORDS[dataset].n_questions
        lookup = published_shares(own, name, dataset)
        for code in in_order({item.language for item in own}):
            cells = cells_of(_CORRECTNESS, lookup, code)
            rows.add(published_model(name), code, asked, *cells, published=True)
    note = (
        "Shares of the questions whose judge call did not fail; intervals are Wilson's "
        "over questions. Decrease: in percentage points of all questions, which the paper calls "
        "relative decrease. Multiple of English: the share over that in English. chrF (0-100) and "
        f"words are of the answers; chrF depends on the script: compare models with it, not "
        f"languages. {DROP_NOTE}"
    )
    ours = "Shares in published rows are of all questions of the dataset." if figures else ""
    title = f"{heading('correctness', dataset)}: shares"
    return rows.table(f"correctness_{dataset}", "correctness", title, [note, ours, *notes])
