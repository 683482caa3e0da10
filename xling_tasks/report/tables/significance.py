"""Tables of tests: paired comparisons against English, and the tests that XLingEval reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.data.published import Figure, published
from xling_tasks.languages import in_order
from xling_tasks.report.model import Classic, Comparison, Report
from xling_tasks.report.tables.differences import Difference, notes_about
from xling_tasks.report.tables.grid import (
    SRC_NOTE,
    TOPICS_NOTE,
    dataset_title,
    paper_note,
    published_model,
    shown_temperature,
)
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value

_TUKEY_TABLES = ("Table 2", "Table 3")
_PAIR_FIGURES = {
    "md": ("tukey_md_", _TUKEY_TABLES, ""),
    "low": ("tukey_md_", _TUKEY_TABLES, "_ci_low"),
    "high": ("tukey_md_", _TUKEY_TABLES, "_ci_high"),
    "p": ("tukey_md_", _TUKEY_TABLES, "_p"),
    "t": ("ttest_t_", ("Table A12",), ""),
    "t_p": ("ttest_t_", ("Table A12",), "_p"),
}
"""What is published of a pair: prefix and suffix of its names, and the tables."""
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


def significance_tables(
    report: Report, remarks: Sequence[Difference], shown: bool
) -> Iterator[Table]:
    """Comparisons per criterion, then ANOVA and pairs per criterion and dataset."""
    for criterion in CRITERIA:
        own = [item for item in report.comparisons if item.panel.criterion == criterion]
        if own:
            yield _against_english(report, criterion, own, remarks)
    for (criterion, dataset), tests in _by_dataset(report.classic).items():
        notes = [
            *notes_of_metrics(item.panel.metric for item in tests),
            *notes_about(remarks, criterion, dataset),
        ]
        yield _anova(criterion, dataset, tests, notes, shown)
        yield _pairs(criterion, dataset, tests, notes, shown)


def _by_dataset(classic: Sequence[Classic]) -> dict[tuple[str, str], list[Classic]]:
    by_place: dict[tuple[str, str], list[Classic]] = {}
    for item in classic:
        by_place.setdefault((item.panel.criterion, item.panel.dataset), []).append(item)
    order = list(CRITERIA)
    return dict(sorted(by_place.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))


# Against English


def _against_english(
    report: Report, criterion: str, own: Sequence[Comparison], remarks: Sequence[Difference]
) -> Table:
    rows = Rows(_PAIRED_HEADS)
    for item in _sorted(report, own):
        rows.add(*_comparison(item))
    options = report.options
    notes = [
        "Difference: language minus English, over the questions that both have ('left out' are "
        "those that one of them lacks), with its "
        f"{options.level:.0%} interval over questions; relative: as a share of English. p: "
        "two-sided, not corrected; p (Holm): of endpoints, corrected over the endpoints and "
        "languages of this model and dataset. Everything else is exploratory: many "
        "tests were made, so a small p alone shows nothing. Not comparable: see the banner. d_z, "
        "rank-biserial, Wilcoxon and the shares of wins, ties and losses exist for metrics with a "
        "value per question.",
    ]
    if any(not item.paired for item in own):
        notes.append(
            "Different questions: the languages have other questions, so nothing is paired; "
            "accuracy is beyond guessing (0 is guessing, 1 all right), interval and p are those "
            "of Agresti & Caffo or Welch, n is the language's own number of questions."
        )
    notes += notes_of_metrics(item.panel.metric for item in own)
    for dataset in dict.fromkeys(item.panel.dataset for item in own):
        notes += [f"[{dataset}] {text}" for text in notes_about(remarks, criterion, dataset)]
    title = f"Against English: {CRITERIA[criterion].title}"
    return rows.table(f"against_english_{criterion}", "statistics", title, notes, digits=4)


def notes_of_metrics(metrics: Iterable[str]) -> list[str]:
    """What keeps a metric's differences between languages from being the model's alone."""
    names = set(metrics)
    notes = [SRC_NOTE] if any(name.endswith("_src") for name in names) else []
    topics = any(name.startswith(("sim_lda", "sim_hdp")) for name in names)
    return [*notes, TOPICS_NOTE] if topics else notes


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


def _anova(
    criterion: str, dataset: str, tests: Sequence[Classic], notes: Sequence[str], shown: bool
) -> Table:
    rows, used = Rows(_ANOVA_HEADS), list[Figure]()
    for panel, own in _by_panel(tests).items():
        for item in own:
            anova = item.tests.anova
            sizes = ", ".join(f"{code} {n}" for code, n in item.tests.n.items())
            start = _start(panel, item.model)
            rows.add(*start, anova.f, anova.p, anova.df_between, anova.df_within, sizes)
        chances = _figures(panel, "anova_F_", ("Table A13",), "_p") if shown else []
        for figure in _figures(panel, "anova_F_", ("Table A13",)) if shown else ():
            used.append(figure)
            start = _start(panel, published_model(figure.model))
            p = next((_chance(item) for item in chances if item.model == figure.model), None)
            rows.add(*start, figure.value, p, None, None, None, published=True)
    text = (
        "One-way analysis of variance over the languages. The paper's tests take the languages' "
        "values as independent samples although the questions are the same; the paired comparisons "
        "above use that. Values per language: questions with a value; the paper keeps only those "
        "with a value in every language. p-values here are not corrected over metrics."
    )
    title = f"ANOVA: {CRITERIA[criterion].title}, {dataset_title(dataset)}"
    key = f"anova_{criterion}_{dataset}"
    return rows.table(key, "statistics", title, [text, *notes, paper_note(used)], digits=4)


def _pairs(
    criterion: str, dataset: str, tests: Sequence[Classic], notes: Sequence[str], shown: bool
) -> Table:
    rows, used = Rows(_TUKEY_HEADS), list[Figure]()
    for panel, own in _by_panel(tests).items():
        for item in own:
            for line in _tests_of(item):
                rows.add(*_start(panel, item.model), *line)
        orders = [(pair.first, pair.second) for item in own for pair in item.tests.tukey]
        for printed in _published_pairs(panel, orders) if shown else ():
            used += printed.figures
            start = _start(panel, published_model(printed.figures[0].model))
            rows.add(*start, *printed.cells, published=True)
    text = (
        "Difference: mean of the second language minus mean of the first, as in the paper, with "
        "Tukey's simultaneous interval and p adjusted for all pairs. t: Student's unpaired test, "
        "not adjusted, with the sign of the difference (the paper's tables of t have the opposite "
        "sign, which is turned here). Published numbers of a pair that stands here the other way "
        "round have their sign turned. '< 0.001' is printed so."
    )
    title = f"Tukey's HSD and t tests: {CRITERIA[criterion].title}, {dataset_title(dataset)}"
    key = f"tukey_{criterion}_{dataset}"
    return rows.table(key, "statistics", title, [text, *notes, paper_note(used)], digits=4)


class _Pair(NamedTuple):
    """A published pair of languages: what stands in its row, and where it comes from."""

    cells: list[Value]
    figures: list[Figure]


def _published_pairs(panel: Panel, orders: Sequence[tuple[str, str]]) -> Iterator[_Pair]:
    """Tables 2 and 3 (Tukey), with A12 (t tests), turned into the order that stands here."""
    parts = {
        name: {(item.model, item.language): item for item in _figures(panel, start, tables, end)}
        for name, (start, tables, end) in _PAIR_FIGURES.items()
    }
    for key in dict.fromkeys(key for by_pair in parts.values() for key in by_pair):
        figures = {name: by_pair[key] for name, by_pair in parts.items() if key in by_pair}
        first, second, sign = turned(key[1], orders)
        values = {name: sign * figure.value for name, figure in figures.items()}
        ends = sorted(values[name] for name in ("low", "high") if name in values)
        low, high = ends if len(ends) == 2 else (None, None)
        chances = [_chance(figures[name]) if name in figures else None for name in ("p", "t_p")]
        # The paper's t has the sign of the first language's mean minus the second's.
        t = -values["t"] if "t" in values else None
        cells = [first, second, None, None, values.get("md"), low, high, chances[0], t, None,
                 chances[1]]  # fmt: skip
        yield _Pair(cells, list(figures.values()))


def _chance(figure: Figure) -> Value:
    """A published p; where it is printed as a bound, as such."""
    return f"< {figure.value:g}" if figure.setting == "upper bound" else figure.value


def _tests_of(item: Classic) -> Iterator[list[Value]]:
    """A line per pair of languages."""
    means = item.tests.means
    for pair, test in zip(item.tests.tukey, item.tests.t_tests, strict=True):
        yield [
            pair.first, pair.second, means[pair.first], means[pair.second], pair.difference,
            pair.low, pair.high, pair.p, test.t, test.df, test.p,
        ]  # fmt: skip


def turned(pair: str, orders: Sequence[tuple[str, str]]) -> tuple[str, str, int]:
    """A published pair in the order in which it stands here, and the sign its differences get.

    The paper's difference of `zh-hi` is mean of hi minus mean of zh.
    """
    first, _, second = pair.partition("-")
    if (first, second) not in orders and (second, first) in orders:
        return second, first, -1
    return first, second, 1


def _by_panel(tests: Sequence[Classic]) -> dict[Panel, list[Classic]]:
    """Metric and temperature -> every model's tests."""
    by_panel: dict[Panel, list[Classic]] = {}
    for item in tests:
        by_panel.setdefault(item.panel, []).append(item)
    return by_panel


def _start(panel: Panel, model: str) -> list[Value]:
    return [panel.metric, shown_temperature(panel.temperature), model]


def _figures(panel: Panel, start: str, tables: Sequence[str], end: str = "") -> list[Figure]:
    """The paper's figures of exactly this dataset, metric and temperature."""
    if panel.criterion != "consistency" or panel.temperature is None:
        return []
    return [
        item
        for table in tables
        for item in published(source="xlingeval", table=table, dataset=panel.dataset)
        if item.metric == f"{start}{panel.metric}{end}"
        and float(item.temperature) == panel.temperature
    ]
