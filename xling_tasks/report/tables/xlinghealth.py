"""Consistency and verifiability as XLingEval has them: by language and temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import pstdev

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.consistency import SIMILAR
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.data.dataset_info import LANGUAGE_NAMES
from xling_tasks.data.protocols import TEMPERATURES
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.languages import in_order
from xling_tasks.report.tables.grid import (
    Bounded,
    Grid,
    Grids,
    Lookup,
    Source,
    dataset_title,
    mean_of,
    paper_note,
    printed,
    shown_temperature,
)
from xling_tasks.report.tables.rows import Rows, cells_of, heads_of, wide_heads
from xling_tasks.report.tables.table import Table, note

_IN_LANGUAGE = "language_consistency_published"
_A4_NAMES = {_IN_LANGUAGE: "language_consistency_percent"}
A11_NAMES = {"acc": "accuracy", "auc_hard": "auc"}
_A11_NAMES = {
    f"{own}{end}": f"{name}{end}" for own, name in A11_NAMES.items() for end in ("", "_sd")
}
_SPREAD = CRITERIA["verifiability"].columns[:5]
_MEAN = f"mean of {len(TEMPERATURES)}"


def xlinghealth_figures(criterion: str, dataset: str) -> list[PublishedScore]:
    """The printed means over temperatures of a dataset."""
    tables = ("Table A9", "Table A10") if criterion == "consistency" else ("Table A11",)
    return [f for t in tables for f in published(source="xlingeval", table=t, dataset=dataset)]


# Consistency


def consistency_tables(grids: Grids) -> Iterator[Table]:
    """Metric by language and temperature per dataset; means over five where the run has five."""
    for grid in grids["consistency"]:
        figures = xlinghealth_figures(grid.criterion, grid.dataset) if grid.shown else []
        translated = ""
        if any(name in SIMILAR for name in grid.metrics):
            translated = " The others are on answers translated to English."
        told = note("consistency", translated=translated)
        notes = [f"{told} {note('drop')}", *grid.notes]
        whole = has_means(grid)
        beside = figures if whole else []
        extra = [f"'{_MEAN}' is the unweighted mean over the five temperatures."] if whole else []
        notes += [*extra, paper_note(beside), note("bertscore") if beside else ""]
        yield _consistency(grid, beside, notes, whole)
        if figures and not whole:
            yield _published_consistency(grid, figures)


def _consistency(grid: Grid, figures: list[PublishedScore], notes: list[str], whole: bool) -> Table:
    languages = grid.languages
    rows = Rows(("metric", "T", "model", *wide_heads(languages, average=False)))
    skip = {*COVERAGE} - {"language_consistency", _IN_LANGUAGE}
    spoken = grid.figures(source="xlingeval", table="Table A4")
    metrics = dict.fromkeys([*grid.metrics, *(item.metric for item in figures)])
    for metric in (name for name in metrics if name not in skip):
        record = grid.known.metrics.get(metric)
        drops = "_seed_sd" not in metric and (record is None or record.across_languages)
        for tau in grid.taus:
            start = (metric, shown_temperature(tau))
            rows.wide(start, grid.sources(tau), metric, languages, drops=drops)
            if metric == _IN_LANGUAGE:
                at = [item for item in spoken if float(item.temperature) == tau]
                spoken_of = note("spoken")
                notes += [spoken_of, paper_note(at)] if at and spoken_of not in notes else []
                rows.wide(start, printed(at, _A4_NAMES, 0.01), metric, languages)
        if whole:
            rows.wide((metric, _MEAN), _means(grid), metric, languages, drops=drops)
        rows.wide((metric, _MEAN), printed(figures), metric, languages)
    return rows.table(grid.key, grid.criterion, grid.heading, notes, digits=4)


def _published_consistency(grid: Grid, figures: list[PublishedScore]) -> Table:
    languages = in_order({item.language for item in figures})
    rows = Rows(("metric", "T", "model", *wide_heads(languages, average=False)))
    for metric in dict.fromkeys(item.metric for item in figures):
        rows.wide((metric, _MEAN), printed(figures), metric, languages)
    title = f"Published consistency, {dataset_title(grid.dataset)}"
    texts = [note("consistency_published"), paper_note(figures), note("drop")]
    return rows.table(f"{grid.key}_published", grid.criterion, title, texts, digits=4)


def has_means(grid: Grid) -> bool:
    """Whether any model has a metric at all five temperatures of the paper."""
    temperatures: dict[tuple[str, str, str], set[float | None]] = {}
    for cell in grid.cells:
        if cell.value is not None and cell.panel.metric not in COVERAGE:
            key = (cell.model, cell.panel.metric, cell.language)
            temperatures.setdefault(key, set()).add(cell.panel.temperature)
    return any(taus >= set(TEMPERATURES) for taus in temperatures.values())


def _means(grid: Grid) -> list[Source]:
    return [Source(model, over_temperatures(grid, model)) for model in grid.models]


def over_temperatures(grid: Grid, model: str) -> Lookup:
    """A model's unweighted means over the paper's temperatures; None where one of them is missing.

    Of a metric that it has not, `NAME_sd`, the standard deviation of the metric NAME over them.
    """
    each = [grid.lookup(model, tau) for tau in TEMPERATURES]

    def find(metric: str, code: str) -> Bounded:
        spread = metric.endswith("_sd") and metric not in grid.metrics
        name = metric.removesuffix("_sd") if spread else metric
        values = [lookup(name, code).value for lookup in each]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Bounded()
        return Bounded(pstdev(known) if spread else mean_of(known))

    return find


# Verifiability


def verifiability_tables(grids: Grids) -> Iterator[Table]:
    """By temperature and language per dataset; Table A11 beside means over five, or apart.

    After it verifiability from P(Yes), which has no temperatures and no figures in the paper.
    """
    for grid in grids["verifiability"]:
        figures = xlinghealth_figures(grid.criterion, grid.dataset) if grid.shown else []
        whole = has_means(grid)
        spreads = [f"{item.title}: sd over T" for item in _SPREAD]
        rows = Rows(("T", "model", "language", *heads_of(grid.known.columns), *spreads))
        for tau in grid.taus:
            _add(rows, grid, shown_temperature(tau), grid.sources(tau))
        if whole:
            _add(rows, grid, _MEAN, _means(grid))
        beside = rows if whole else Rows(rows.columns)
        _add(beside, grid, _MEAN, printed(figures, _A11_NAMES))
        notes = [f"{grid.known.note} {note('drop')}", *grid.notes]
        last = _mean_note(figures) if whole else ""
        yield rows.table(grid.key, grid.criterion, grid.heading, [*notes, last], digits=4)
        if figures and not whole:
            title = f"Published verifiability, {dataset_title(grid.dataset)}"
            texts = ["No model here has a score at all five temperatures.", _mean_note(figures)]
            yield beside.table(f"{grid.key}_published", grid.criterion, title, texts, digits=4)
    for grid in grids["verifiability_ll"]:
        rows = Rows(("T", "model", "language", *heads_of(grid.known.columns)))
        _add(rows, grid, None, grid.sources())
        notes = [f"{grid.known.note} {note('drop')}", *grid.notes]
        yield rows.table(grid.key, grid.criterion, grid.heading, notes, digits=4)


def _add(rows: Rows, grid: Grid, at: str | None, sources: Sequence[Source]) -> None:
    """A row for every source and language, at one temperature or over all, or without any."""
    spreads = _SPREAD if at else ()
    for source in sources:
        for code in in_order({*LANGUAGE_NAMES, *grid.languages}):
            cells = cells_of(grid.known.columns, source.find, code)
            cells += [source.find(f"{item.metric}_sd", code).value for item in spreads]
            rows.measured((at, source.name, code), cells, source.published)


def filtered_tables(grids: Grids) -> Iterator[Table]:
    """Answers that the service held back, in percent, with Table A5; none without any."""
    papers = [g for key in ("correctness", "consistency", "verifiability") for g in grids[key]]
    languages = in_order({*LANGUAGE_NAMES}.union(*(grid.languages for grid in papers)))
    rows = Rows(("criterion", "dataset", "T", "model", *languages))
    for grid in papers:
        for model, find, *_ in grid.sources(scale=100):
            cells = [find("content_filter_rate", code).value for code in languages]
            if any(cells):
                rows.add(grid.criterion, grid.dataset, None, model, *cells)
    figures = papers[0].figures(source="xlingeval", table="Table A5") if rows.rows else []
    for about in dict.fromkeys((item.model, item.temperature) for item in figures):
        own = [item for item in figures if (item.model, item.temperature) == about]
        for model, find, *_ in printed(own):
            cells = [find("filtered_percent", code).value for code in languages]
            tau = shown_temperature(float(about[1]))
            rows.add(None, None, tau, model, *cells, published=True)
    if rows.rows:
        title = "Answers held back by the service"
        texts = [note("filtered"), paper_note(figures)]
        yield rows.table("filtered", "coverage", title, texts, digits=2)


def _mean_note(figures: Sequence[PublishedScore]) -> str:
    text = note("mean_of_five", mean=_MEAN)
    return f"{text} {paper_note(figures)}".strip()
