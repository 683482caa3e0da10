"""Tables of tests: paired comparisons against English, and the tests that XLingEval reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.languages import in_order
from xling_tasks.report.model import Classic, Comparison, Report
from xling_tasks.report.tables.grid import heading, paper_note, published_model, shown_temperature
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value, note

_TUKEY_ENDS = ("", "_ci_low", "_ci_high", "_p")
_TUKEY, _T_TESTS, _ANOVA = ("Table 2", "Table 3"), ("Table A12",), ("Table A13",)
_PAIRED_HEADS = (
    "dataset", "metric", "T", "model", "language", "value", "English", "difference", "low", "high",
    "relative, %", "p", "p (Holm)", "d_z", "rank-biserial", "p (Wilcoxon)", "wins", "ties",
    "losses", "n", "left out", "questions", "role", "not comparable",
)  # fmt: skip
_ANOVA_HEADS = ("metric", "T", "model", "F", "p", "df between", "df within", "values per language")
_TUKEY_HEADS = (
    "metric", "T", "model", "first", "second", "mean of first", "mean of second", "difference",
    "low", "high", "p (Tukey)", "t", "df", "p (t test)",
)  # fmt: skip


Notes = Mapping[tuple[str, str], Sequence[str]]
"""(Criterion, dataset) -> what keeps its numbers from being compared as they stand."""

Tests = Mapping[Panel, Sequence[Classic]]
"""Metric and temperature -> every model's tests."""


def significance_tables(report: Report, notes: Notes, shown: bool) -> Iterator[Table]:
    """Comparisons per criterion, then ANOVA and pairs per criterion and dataset."""
    for criterion in CRITERIA:
        own = [item for item in report.comparisons if item.panel.criterion == criterion]
        if own:
            yield _against_english(report, criterion, own, notes)
    by_place: dict[tuple[str, str], dict[Panel, list[Classic]]] = {}
    for item in report.classic:
        place = (item.panel.criterion, item.panel.dataset)
        by_place.setdefault(place, {}).setdefault(item.panel, []).append(item)
    order = list(CRITERIA)
    for place in sorted(by_place, key=lambda place: (order.index(place[0]), place[1])):
        tests = by_place[place]
        about = [*_notes_of_metrics(panel.metric for panel in tests), *notes.get(place, ())]
        yield _anova(*place, tests, about, shown)
        yield _pairs(*place, tests, about, shown)


# Against English


def _against_english(
    report: Report, criterion: str, own: Sequence[Comparison], notes_by_place: Notes
) -> Table:
    rows = Rows(_PAIRED_HEADS)
    for item in _sorted(report, own):
        rows.add(*_comparison(item))
    notes = [note("against_english", level=f"{report.options.level:.0%}")]
    if any(not item.paired for item in own):
        notes.append(note("other_questions"))
    notes += _notes_of_metrics(item.panel.metric for item in own)
    for dataset in dict.fromkeys(item.panel.dataset for item in own):
        notes += [f"[{dataset}] {text}" for text in notes_by_place.get((criterion, dataset), ())]
    title = f"Against English: {CRITERIA[criterion].title}"
    return rows.table(f"against_english_{criterion}", "statistics", title, notes, digits=4)


def _notes_of_metrics(metrics: Iterable[str]) -> list[str]:
    """What keeps a metric's differences between languages from being the model's alone."""
    names = set(metrics)
    notes = [note("own_words")] if any(name.endswith("_src") for name in names) else []
    topics = any(name.startswith(("sim_lda", "sim_hdp")) for name in names)
    return [*notes, note("topic_seeds")] if topics else notes


def _sorted(report: Report, own: Sequence[Comparison]) -> list[Comparison]:
    """By dataset, metric and temperature, in these the models side by side, then languages."""
    panels = list(dict.fromkeys((item.panel.dataset, item.panel.metric) for item in own))
    models = [model.name for model in report.models]
    codes = in_order({item.side for item in own})

    def key(item: Comparison) -> tuple[int, float, int, int]:
        panel = item.panel
        tau = -1.0 if panel.temperature is None else panel.temperature
        place = panels.index((panel.dataset, panel.metric))
        return place, tau, codes.index(item.side), models.index(item.context)

    return sorted(own, key=key)


def _comparison(item: Comparison) -> list[Value]:
    detail = item.detail
    effects: list[Value] = [None] * 6
    if detail is not None:
        effects = [detail.d_z, detail.rank_biserial, detail.p_wilcoxon,
                   detail.wins, detail.ties, detail.losses]  # fmt: skip
    percent = None if item.relative is None else 100 * item.relative
    tested = item.p is not None
    return [
        item.panel.dataset, item.panel.metric, shown_temperature(item.panel.temperature),
        item.context, item.side, item.value, item.base, item.difference, item.low, item.high,
        percent, item.p, item.p_holm, *effects,
        item.n if tested or item.n else None, item.left_out if item.paired and item.n else None,
        "same" if item.paired else "different questions", item.role or None, item.veto or None,
    ]  # fmt: skip


# As in the paper


def _anova(criterion: str, dataset: str, tests: Tests, notes: Sequence[str], shown: bool) -> Table:
    rows, used = Rows(_ANOVA_HEADS), list[PublishedScore]()
    for panel, own in tests.items():
        for item in own:
            anova = item.tests.anova
            sizes = ", ".join(f"{code} {n}" for code, n in item.tests.n.items())
            start = _start(panel, item.model)
            rows.add(*start, anova.f, anova.p, anova.df_between, anova.df_within, sizes)
        printed = _figures(panel, "anova_F_", _ANOVA) if shown else {}
        chances = _figures(panel, "anova_F_", _ANOVA, "_p")
        for about, figure in printed.items():
            used.append(figure)
            cells = (figure.value, _chance(chances.get(about)), None, None, None)
            rows.add(*_start(panel, published_model(figure.model)), *cells, published=True)
    title = f"ANOVA: {heading(criterion, dataset)}"
    key = f"anova_{criterion}_{dataset}"
    return rows.table(key, "statistics", title, [note("anova"), *notes, paper_note(used)], digits=4)


def _pairs(criterion: str, dataset: str, tests: Tests, notes: Sequence[str], shown: bool) -> Table:
    rows, used = Rows(_TUKEY_HEADS), list[PublishedScore]()
    for panel, own in tests.items():
        for item in own:
            means = item.tests.means
            for pair, test in zip(item.tests.tukey, item.tests.t_tests, strict=True):
                rows.add(
                    *_start(panel, item.model), pair.first, pair.second, means[pair.first],
                    means[pair.second], pair.difference, pair.low, pair.high, pair.p, test.t,
                    test.df, test.p,
                )  # fmt: skip
        orders = [(pair.first, pair.second) for item in own for pair in item.tests.tukey]
        for cells, figures in _published_pairs(panel, orders) if shown else ():
            used += figures
            start = _start(panel, published_model(figures[0].model))
            rows.add(*start, *cells, published=True)
    title = f"Tukey's HSD and t tests: {heading(criterion, dataset)}"
    key = f"tukey_{criterion}_{dataset}"
    return rows.table(key, "statistics", title, [note("tukey"), *notes, paper_note(used)], digits=4)


def _published_pairs(
    panel: Panel, orders: Sequence[tuple[str, str]]
) -> Iterator[tuple[list[Value], list[PublishedScore]]]:
    """Tables 2 and 3 (Tukey), with A12 (t tests): rows in the order that stands here; sources."""
    parts = {
        **{end: _figures(panel, "tukey_md_", _TUKEY, end) for end in _TUKEY_ENDS},
        **{f"t{end}": _figures(panel, "ttest_t_", _T_TESTS, end) for end in ("", "_p")},
    }
    for key in dict.fromkeys(key for by_pair in parts.values() for key in by_pair):
        figures = {name: by_pair[key] for name, by_pair in parts.items() if key in by_pair}
        first, second, sign = turned(key[1], orders)
        values = {name: sign * figure.value for name, figure in figures.items()}
        ends = sorted(values[name] for name in ("_ci_low", "_ci_high") if name in values)
        low, high = ends if len(ends) == 2 else (None, None)
        # The paper's t has the sign of the first language's mean minus the second's.
        t = -values["t"] if "t" in values else None
        cells = [first, second, None, None, values.get(""), low, high, _chance(figures.get("_p")),
                 t, None, _chance(figures.get("t_p"))]  # fmt: skip
        yield cells, list(figures.values())


def _chance(figure: PublishedScore | None) -> Value:
    """A published p; where it is printed as a bound, as such."""
    if figure is None:
        return None
    return f"< {figure.value:g}" if figure.setting == "upper bound" else figure.value


def turned(pair: str, orders: Sequence[tuple[str, str]]) -> tuple[str, str, int]:
    """A published pair in the order in which it stands here, and the sign its differences get.

    The paper's difference of `zh-hi` is mean of hi minus mean of zh.
    """
    first, _, second = pair.partition("-")
    if (first, second) not in orders and (second, first) in orders:
        return second, first, -1
    return first, second, 1


def _start(panel: Panel, model: str) -> list[Value]:
    return [panel.metric, shown_temperature(panel.temperature), model]


def _figures(
    panel: Panel, start: str, tables: Sequence[str], end: str = ""
) -> dict[tuple[str, str], PublishedScore]:
    """(Model, language or pair) -> the paper's figure of this dataset, metric and temperature."""
    if panel.criterion != "consistency" or panel.temperature is None:
        return {}
    name = f"{start}{panel.metric}{end}"
    return {
        (item.model, item.language): item
        for table in tables
        for item in published(source="xlingeval", table=table, dataset=panel.dataset, metric=name)
        if float(item.temperature) == panel.temperature
    }
