"""Correctness as XLingEval has it, then by judge, and as people's labels correct it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS, MOST_JUDGES, NO_RESPONSE, of_judge
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.languages import in_order
from xling_tasks.report.model import Report
from xling_tasks.report.tables.grid import (
    Bounded,
    Grid,
    Grids,
    Lookup,
    decrease_points,
    lookup_of,
    mean_of,
    multiple,
    paper_note,
    printed,
    published_model,
)
from xling_tasks.report.tables.rows import Rows, cells_of, heads_of
from xling_tasks.report.tables.table import Table, Value, note

_MEANS = (
    "model", "datasets", "languages", "comparisons",
    "more comprehensive: mean decrease, percentage points",
    "contradictory: mean multiple of English", "comparisons with a multiple",
)  # fmt: skip
_COUNTED = (*LABELS, NO_RESPONSE)
_COUNTS = {label: f"correctness_{label}_count" for label in _COUNTED}
_SHARED = {label: _COUNTS[label] for label in LABELS}
"""Our labels -> the papers' names of their counts; and of those that have a published share."""
_CORRECTNESS = CRITERIA["correctness"].columns


def correctness_tables(grids: Grids) -> Iterator[Table]:
    """Counts, and shares with drop and multiple, per dataset; and by judge, where several are."""
    yield from _means(grids["correctness"])
    for grid in grids["correctness"]:
        figures = correctness_figures(grid.dataset) if grid.shown else []
        judge = " Their judge was GPT-3.5." if figures else ""
        notes = [paper_note(figures) + judge, *grid.notes]
        if any(label in grid.metrics for label in LABELS):
            yield _counts(grid, figures, notes)
        yield _shares(grid, figures, notes)
        yield from _by_judge(grid)


def correctness_figures(dataset: str) -> list[PublishedScore]:
    """The printed counts and decreases of a dataset."""
    figures = published(source="xlingeval", dataset=dataset)
    return [item for item in figures if item.metric.startswith("correctness_")]


def _means(grids: Sequence[Grid]) -> Iterator[Table]:
    """The two means of XLingEval's abstract, over the pairs of dataset and language of each run."""
    rows = Rows(_MEANS)
    papers = [grid for grid in grids if grid.dataset in DATASETS and grid.dataset != "demo"]
    asked: dict[tuple[tuple[str, str], ...], None] = {}
    figures: list[PublishedScore] = []
    for group in [papers, *([grid] for grid in grids if grid not in papers)]:
        for model in dict.fromkeys(model for grid in group for model in grid.models):
            shares = {grid.dataset: grid.lookup(model) for grid in group}
            pairs = gap_pairs(shares, {grid.dataset: grid.languages for grid in group})
            if pairs:
                rows.add(model, *_mean_cells(pairs))
                asked[tuple(pairs)] = None
    for wanted in sorted(asked, key=len, reverse=True) if any(g.shown for g in grids) else ():
        every = {name: correctness_figures(name) for name, _ in wanted}
        for model in dict.fromkeys(item.model for own in every.values() for item in own):
            shares = {name: published_shares(own, model, name) for name, own in every.items()}
            codes = {name: [ENGLISH, *(c for n, c in wanted if n == name)] for name in every}
            pairs = gap_pairs(shares, codes)
            if len(pairs) == len(wanted):
                rows.add(published_model(model), *_mean_cells(pairs), published=True)
                figures += [item for own in every.values() for item in own if item.model == model]
    if rows.rows:
        title = "Correctness: means against English"
        notes = [note("correctness_means"), paper_note(figures)]
        yield rows.table("correctness_means", "correctness", title, notes)


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


def published_shares(figures: Sequence[PublishedScore], model: str, dataset: str) -> Lookup:
    """A published model's labels as shares of all questions of the dataset."""
    own = [item for item in figures if item.model == model]
    return lookup_of(own, _SHARED, 1 / DATASETS[dataset].n_questions)


def _mean_cells(pairs: Mapping[tuple[str, str], tuple[float, float | None]]) -> list[Value]:
    datasets = dict.fromkeys(name for name, _ in pairs)
    codes = dict.fromkeys(code for _, code in pairs)
    multiples = [item[1] for item in pairs.values() if item[1] is not None]
    return [
        ", ".join(datasets), ", ".join(codes), len(pairs),
        mean_of([item[0] for item in pairs.values()]), mean_of(multiples), len(multiples),
    ]  # fmt: skip


def _counts(grid: Grid, figures: list[PublishedScore], notes: list[str]) -> Table:
    languages = in_order({item.language for item in figures} | set(grid.languages))
    rows = Rows(("label", "model", *languages))
    for label in _COUNTED:
        for model in grid.models:
            counts = counts_of(grid, model)
            rows.add(label, model, *(_count(counts(label, code)) for code in languages))
        for source in printed(figures, _COUNTS):
            cells = [_count(source.find(label, code)) for code in languages]
            rows.measured((label, source.name), cells, published=True)
    told = "Questions with each label, of those whose judge call did not fail."
    title = f"{grid.heading}: labels"
    return rows.table(f"correctness_counts_{grid.dataset}", "correctness", title, [told, *notes])


def counts_of(grid: Grid, model: str) -> Lookup:
    """How many questions have a label: its share of those that got one or no response."""
    shares, tasks = grid.lookup(model), grid.task(model)

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


def _shares(grid: Grid, figures: list[PublishedScore], notes: list[str]) -> Table:
    rows = Rows(("model", "language", "questions", *heads_of(_CORRECTNESS)))
    for model, find, *_ in grid.sources():
        tasks = grid.task(model)
        for code in grid.languages:
            run = tasks[code].results.count["effective"] if code in tasks else None
            rows.add(model, code, run, *cells_of(_CORRECTNESS, find, code))
    asked = DATASETS[grid.dataset].n_questions if figures else 0
    for source in printed(figures, _SHARED, 1 / max(asked, 1)):
        for code in in_order({item.language for item in figures}):
            cells = cells_of(_CORRECTNESS, source.find, code)
            rows.measured((source.name, code, asked), cells, published=True)
    told = f"{note('correctness_shares')} {note('drop')}"
    ours = "Shares in published rows are of all questions of the dataset." if figures else ""
    return rows.table(grid.key, "correctness", f"{grid.heading}: shares", [told, ours, *notes])


# By judge, and by people

_OF_ONE = (*LABELS, NO_RESPONSE, "judge_failed_rate")
_TOGETHER = {
    "no_majority": "no majority",
    "judge_agreement": "two judges alike",
    "judge_alpha": "alpha",
    "order_sensitive_rate": "order sensitive",
    "order_unparsed_rate": "order unread",
}
_JUDGE_HEADS = (
    *("model", "language", "judge"),
    *(label.replace("_", " ") for label in (*LABELS, NO_RESPONSE)),
    "failed",
    *_TOGETHER.values(),
)


def _by_judge(grid: Grid) -> Iterator[Table]:
    """One table where a run had several judges, or asked in both orders; else none."""
    rows = Rows(_JUDGE_HEADS)
    for model, find, *_ in grid.sources() if {*_TOGETHER} & {*grid.metrics} else ():
        for code in grid.languages:
            together = [find(metric, code).value for metric in _TOGETHER]
            if all(value is None for value in together):
                continue
            rows.add(model, code, "all", *(find(m, code).value for m in _OF_ONE), *together)
            for number in range(1, MOST_JUDGES + 1):
                alone = [find(of_judge(metric, number), code).value for metric in _OF_ONE]
                rows.measured((model, code, str(number)), [*alone, *[None] * len(_TOGETHER)])
    if rows.rows:
        key, title = f"correctness_judges_{grid.dataset}", f"{grid.heading}: judges"
        yield rows.table(key, "correctness", title, [note("correctness_judges")])


_PEOPLE_HEADS = (
    "dataset", "model", "language", "label", "judge's share", "corrected", "low", "high",
    "gap to English, corrected", "gap low", "gap high", "answers", "people's labels",
)  # fmt: skip


def human_tables(report: Report) -> Iterator[Table]:
    """One table, where people's labels correct anything."""
    gaps = {
        (item.context, item.panel.dataset, item.side, item.panel.metric): item
        for item in report.comparisons
        if item.baseline == ENGLISH and item.panel.criterion == "correctness"
        if item.method.startswith("ppi")
    }
    rows = Rows(_PEOPLE_HEADS)
    for item in report.corrected:
        gap = gaps.get((item.model, item.dataset, item.language, item.label))
        ends = (None, None, None) if gap is None else (gap.difference, gap.low, gap.high)
        rows.add(
            item.dataset, item.model, item.language, item.label.replace("_", " "), item.judge,
            item.value, item.low, item.high, *ends, item.n, item.labels,
        )  # fmt: skip
    if rows.rows:
        key, title = "correctness_by_people", "Corrected by people"
        yield rows.table(key, "correctness", title, [note("correctness_people")])
