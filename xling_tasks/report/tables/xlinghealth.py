"""Consistency and verifiability as XLingEval has them: by language and temperature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import pstdev

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.consistency import SIMILAR
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.data.protocols import TEMPERATURES
from xling_tasks.data.published import Figure, published
from xling_tasks.languages import in_order
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import (
    DROP_NOTE,
    XLINGHEALTH_LANGUAGES,
    Bounded,
    Grid,
    Lookup,
    by_model,
    dataset_title,
    heading,
    lookup_of,
    mean_of,
    paper_note,
    published_model,
    shown_temperature,
)
from xling_tasks.report.tables.rows import Rows, cells_of, heads_of, wide_cells, wide_heads
from xling_tasks.report.tables.table import Table

_VERIFIABILITY = CRITERIA["verifiability"].columns
_IN_LANGUAGE = "language_consistency_published"
_A4_NOTE = (
    "language_consistency_published counts as the paper's code does, only sentences that langid "
    "calls English, Spanish, Chinese or Hindi; its Table A4 does not say over which dataset."
)
_BERTSCORE_NOTE = (
    "How the published BERTScore was made is not settled: the paper's code as it stands takes "
    "layer 12 and would not rescale, but the size of its numbers suggests rescaling. Ours takes "
    "layer 9 and rescales, as the bert_score package does."
)
A11_NAMES = {"acc": "accuracy", "auc_hard": "auc"}
_SPREAD = _VERIFIABILITY[:5]
_MEAN = f"mean of {len(TEMPERATURES)}"


# Consistency


def consistency_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Metric by language and temperature per dataset; means over five where the run has five."""
    for dataset in grid.datasets("consistency"):
        figures = [
            item
            for item in published(source="xlingeval", dataset=dataset, temperature="mean")
            if shown and item.table in ("Table A9", "Table A10")
        ]
        similar = {name for name in grid.metrics("consistency", dataset) if name in SIMILAR}
        translated = " The others are on answers translated to English." if similar else ""
        notes = [
            "Values are means over questions. Metrics that end in _src are made on answers in "
            f"their own language: they compare models, never languages.{translated} At temperature "
            f"0, answers that were asked for once have no similarity. {DROP_NOTE}",
            *notes_about(remarks, "consistency", dataset),
        ]
        whole = has_means(grid, "consistency", dataset)
        beside = figures if whole else []
        extra = [f"'{_MEAN}' is the unweighted mean over the five temperatures."] if whole else []
        notes += [*extra, paper_note(beside), _BERTSCORE_NOTE if beside else ""]
        yield _consistency(grid, dataset, beside, notes, whole, shown)
        if figures and not whole:
            yield _published_consistency(dataset, figures)


def _consistency(
    grid: Grid, dataset: str, figures: list[Figure], notes: list[str], whole: bool, shown: bool
) -> Table:
    languages = grid.languages("consistency", dataset)
    rows = Rows(("metric", "T", "model", *wide_heads(languages, average=False)))
    taus = [tau for tau in grid.temperatures("consistency", dataset) if tau is not None]
    skip = {*COVERAGE} - {"language_consistency", "second_language_consistency", _IN_LANGUAGE}
    spoken = list(published(source="xlingeval", table="Table A4")) if shown else []
    metrics = [*grid.metrics("consistency", dataset), *(item.metric for item in figures)]
    for metric in (name for name in dict.fromkeys(metrics) if name not in skip):
        record = CRITERIA["consistency"].metrics.get(metric)
        drops = "_seed_sd" not in metric and (record is None or record.across_languages)
        for tau in [*taus, *([None] if whole else [])]:
            for model in grid.models("consistency", dataset):
                lookup = (
                    mean_lookup(grid, model, "consistency", dataset)
                    if tau is None
                    else grid.lookup(model, "consistency", dataset, tau)
                )
                cells = wide_cells(lookup, metric, languages, average=False, drops=drops)
                rows.measured((metric, shown_temperature(tau) or _MEAN, model), cells)
            if metric == _IN_LANGUAGE:
                at = [f for f in spoken if tau is not None and float(f.temperature) == tau]
                notes += [_A4_NOTE, paper_note(at)] if at and _A4_NOTE not in notes else []
                for (name, _), own in by_model(at).items():
                    lookup = lookup_of(own, {_IN_LANGUAGE: "language_consistency_percent"}, 0.01)
                    cells = wide_cells(lookup, metric, languages, average=False)
                    rows.add(
                        metric, shown_temperature(tau), published_model(name), *cells,
                        published=True,
                    )  # fmt: skip
        for (name, _), own in by_model(figures).items():
            cells = wide_cells(lookup_of(own, {}), metric, languages, average=False)
            rows.measured((metric, _MEAN, published_model(name)), cells, published=True)
    title = heading("consistency", dataset)
    return rows.table(f"consistency_{dataset}", "consistency", title, notes, digits=4)


def _published_consistency(dataset: str, figures: list[Figure]) -> Table:
    languages = in_order({item.language for item in figures})
    rows = Rows(("metric", "T", "model", *wide_heads(languages, average=False)))
    for metric in dict.fromkeys(item.metric for item in figures):
        for (name, _), own in by_model(figures).items():
            cells = wide_cells(lookup_of(own, {}), metric, languages, average=False)
            rows.measured((metric, _MEAN, published_model(name)), cells, published=True)
    note = (
        "Means over the temperatures 0, 0.25, 0.5, 0.75 and 1: not comparable with a single "
        "temperature, and no model here has a metric at all five."
    )
    title = f"Published consistency, {dataset_title(dataset)}"
    key = f"consistency_{dataset}_published"
    return rows.table(key, "consistency", title, [note, paper_note(figures), DROP_NOTE], digits=4)


def has_means(grid: Grid, criterion: str, dataset: str) -> bool:
    """Whether any model has a metric at all five temperatures of the paper."""
    temperatures: dict[tuple[str, str, str], set[float | None]] = {}
    for cell in grid.of(criterion, dataset):
        if cell.value is not None and cell.panel.metric not in COVERAGE:
            key = (cell.model, cell.panel.metric, cell.language)
            temperatures.setdefault(key, set()).add(cell.panel.temperature)
    return any(taus >= set(TEMPERATURES) for taus in temperatures.values())


def mean_lookup(grid: Grid, model: str, criterion: str, dataset: str) -> Lookup:
    """Unweighted means over the paper's temperatures; None where one of them is missing."""
    each = [grid.lookup(model, criterion, dataset, tau) for tau in TEMPERATURES]
    return lambda metric, code: Bounded(mean_of([find(metric, code).value for find in each]))


# Verifiability


def verifiability_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """By temperature and language per dataset; Table A11 beside means over five, or apart."""
    for dataset in grid.datasets("verifiability"):
        figures = [
            item
            for item in published(source="xlingeval", table="Table A11", dataset=dataset)
            if shown
        ]
        whole = has_means(grid, "verifiability", dataset)
        spreads = [f"{item.title}: sd over T" for item in _SPREAD]
        rows = Rows(("T", "model", "language", *heads_of(_VERIFIABILITY), *spreads))
        taus = [tau for tau in grid.temperatures("verifiability", dataset) if tau is not None]
        for tau in taus:
            _add_languages(rows, grid, "verifiability", dataset, tau)
        if whole:
            for model in grid.models("verifiability", dataset):
                lookup = mean_lookup(grid, model, "verifiability", dataset)
                for code in grid.languages("verifiability", dataset):
                    cells = cells_of(_VERIFIABILITY, lookup, code)
                    own = spread_lookup(grid, model, dataset)
                    spread = [own(item.metric, code) for item in _SPREAD]
                    if any(cell is not None for cell in cells):
                        rows.add(_MEAN, model, code, *cells, *spread)
            _add_published(rows, figures)
        notes = [
            f"{CRITERIA['verifiability'].note} {DROP_NOTE}",
            *notes_about(remarks, "verifiability", dataset),
        ]
        last = _mean_note(figures) if whole else ""
        title = heading("verifiability", dataset)
        yield rows.table(
            f"verifiability_{dataset}", "verifiability", title, [*notes, last], digits=4
        )
        if figures and not whole:
            apart = Rows(rows.columns)
            _add_published(apart, figures)
            title = f"Published verifiability, {dataset_title(dataset)}"
            key = f"verifiability_{dataset}_published"
            text = "No model here was run at all five temperatures."
            yield apart.table(key, "verifiability", title, [text, _mean_note(figures)], digits=4)


def filtered_tables(grid: Grid, shown: bool) -> Iterator[Table]:
    """Answers that a content filter held back, in percent, with Table A5; none without any."""
    rows = Rows(("criterion", "dataset", "T", "model", *XLINGHEALTH_LANGUAGES))
    for criterion in ("correctness", "consistency", "verifiability"):
        for dataset in grid.datasets(criterion):
            for model in grid.models(criterion, dataset):
                lookup = grid.lookup(model, criterion, dataset, scale=100)
                cells = [lookup("refused_rate", code).value for code in XLINGHEALTH_LANGUAGES]
                if any(cells):
                    rows.add(criterion, dataset, None, model, *cells)
    figures = list(published(source="xlingeval", table="Table A5")) if shown and rows.rows else []
    for (name, _), own in by_model(figures).items():
        for tau in dict.fromkeys(item.temperature for item in own):
            lookup = lookup_of([item for item in own if item.temperature == tau], {})
            cells = [lookup("filtered_percent", code).value for code in XLINGHEALTH_LANGUAGES]
            start = [None, None, shown_temperature(float(tau)), published_model(name)]
            rows.add(*start, *cells, published=True)
    if rows.rows:
        note = (
            "Percent of the answers asked for, over all temperatures of a run; refusals in words "
            "are answers and are not among them. The paper's table does not say which criterion "
            "and dataset it is of."
        )
        title = "Answers held back by a content filter"
        texts = [note, paper_note(figures)]
        yield rows.table("filtered", "coverage", title, texts, digits=2)


def likelihood_tables(grid: Grid, remarks: Sequence[Difference], shown: bool) -> Iterator[Table]:
    """Verifiability from P(Yes); the paper has no such figures."""
    for dataset in grid.datasets("verifiability_ll"):
        rows = Rows(("T", "model", "language", *heads_of(CRITERIA["verifiability_ll"].columns)))
        _add_languages(rows, grid, "verifiability_ll", dataset, None)
        notes = [
            f"{CRITERIA['verifiability_ll'].note} {DROP_NOTE}",
            *notes_about(remarks, "verifiability_ll", dataset),
        ]
        title = heading("verifiability_ll", dataset)
        key = f"verifiability_ll_{dataset}"
        yield rows.table(key, "verifiability_ll", title, notes, digits=4)


def _add_languages(rows: Rows, grid: Grid, criterion: str, dataset: str, tau: float | None) -> None:
    columns = CRITERIA[criterion].columns
    for model in grid.models(criterion, dataset):
        lookup = grid.lookup(model, criterion, dataset, tau)
        for code in grid.languages(criterion, dataset):
            cells = cells_of(columns, lookup, code)
            empty = [None] * (len(rows.columns) - 3 - len(cells))
            rows.measured((shown_temperature(tau), model, code), [*cells, *empty])


def _add_published(rows: Rows, figures: Sequence[Figure]) -> None:
    for (name, _), own in by_model(figures).items():
        lookup = lookup_of(own, A11_NAMES)
        for code in in_order({item.language for item in own}):
            cells = cells_of(_VERIFIABILITY, lookup, code)
            names = [A11_NAMES.get(item.metric, item.metric) for item in _SPREAD]
            spread = [lookup(f"{metric}_sd", code).value for metric in names]
            rows.add(_MEAN, published_model(name), code, *cells, *spread, published=True)


def spread_lookup(grid: Grid, model: str, dataset: str) -> Callable[[str, str], float | None]:
    """The standard deviation of a score over the paper's temperatures, all five or none."""
    each = [grid.lookup(model, "verifiability", dataset, tau) for tau in TEMPERATURES]

    def find(metric: str, code: str) -> float | None:
        values = [lookup(metric, code).value for lookup in each]
        known = [value for value in values if value is not None]
        return pstdev(known) if len(known) == len(values) else None

    return find


def _mean_note(figures: Sequence[Figure]) -> str:
    text = (
        f"'{_MEAN}' is the unweighted mean over the temperatures 0, 0.25, 0.5, 0.75 and 1; 'sd "
        "over T' the standard deviation over them (divisor 5; the paper does not say its own): it "
        "is not that of repeated runs."
    )
    return f"{text} {paper_note(figures)}".strip()
