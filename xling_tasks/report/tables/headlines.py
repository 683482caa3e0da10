"""The short answer: how far each language is behind English on the headline metrics."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH
from xling_tasks.report.model import Cell, Comparison, Report
from xling_tasks.report.tables.grid import SRC_NOTE, dataset_title, in_order
from xling_tasks.report.tables.table import Table, Value

_HEADS = (
    "criterion", "dataset", "metric", "T", "model", "language", "English", "its value",
    "difference", "low", "high", "p (Holm)", "in words",
)  # fmt: skip

_METRICS = {
    "correctness": ("more_comprehensive", "contradictory"),
    "consistency": (("bertscore_f1", "sim_sent", "sim_1gram"),),
    "verifiability": ("macro_f1",),
    "verifiability_ll": ("auc",),
    "information": ("information_f1",),
    "empathy": ("empathy",),
}
"""Per criterion its headline metrics; of several in brackets the first that there is."""

_SIGNIFICANT = 0.05


def headline_tables(report: Report) -> list[Table]:
    """One table over everything, or none if nothing is compared with English."""
    rows = [_gap(report, item) for item in _chosen(report)]
    absent = {
        (cell.model, cell.panel.dataset, cell.language): cell.value
        for cell in report.cells
        if cell.panel.metric == "both_absent"
    }
    rows += [
        _consistency(cell, absent.get((cell.model, cell.panel.dataset, cell.language)))
        for cell in _with_english(report)
    ]
    if not rows:
        return []
    level = f"{report.options.level:.0%}"
    note = (
        f"Difference: language minus English over the same questions, with its {level} interval "
        "over questions, unless the words say that the questions differ. Worse or better only "
        f"where the p-value, corrected for all comparisons of this report, is below "
        f"{_SIGNIFICANT}; otherwise nothing is shown, which is not the same as no difference (an "
        "interval may exclude 0, and still not count after the correction). "
        "Information and empathy are consistency with the English answer themselves: 1 is no gap. "
        "Temperature: each model's highest for consistency, its lowest elsewhere."
    )
    if any(str(row[2]).endswith("_src") for row in rows):
        note += f" {SRC_NOTE}"
    return [Table("summary", "summary", "Gaps to English in short", _HEADS, tuple(rows), note)]


def _chosen(report: Report) -> list[Comparison]:
    """The headline comparisons, in the order of criteria, datasets, metrics, models, languages."""
    found: list[Comparison] = []
    for criterion in CRITERIA:
        own = [item for item in report.comparisons if item.panel.criterion == criterion]
        for dataset in dict.fromkeys(item.panel.dataset for item in own):
            here = [item for item in own if item.panel.dataset == dataset]
            for wanted in _METRICS.get(criterion, ("acc",)):
                for model in report.models:
                    of_model = [item for item in here if item.context == model.name]
                    found += _in_order(_of_metric(of_model, criterion, wanted))
    return found


def _of_metric(
    items: Sequence[Comparison], criterion: str, wanted: str | tuple[str, ...]
) -> list[Comparison]:
    """One model's metric at one temperature; of alternatives the first, `_src` ones too."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    names += [f"{name}_src" for name in names]
    for name in names:
        own = [item for item in items if item.panel.metric == name and item.difference is not None]
        if own:
            taus = [item.panel.temperature for item in own if item.panel.temperature is not None]
            pick = max if criterion == "consistency" else min
            tau = pick(taus) if taus else None
            return [item for item in own if item.panel.temperature == tau]
    return []


def _in_order(items: Sequence[Comparison]) -> list[Comparison]:
    if not items:
        return []
    codes = in_order({item.side for item in items}, items[0].panel.criterion)
    return sorted(items, key=lambda item: codes.index(item.side))


def _gap(report: Report, item: Comparison) -> tuple[Value, ...]:
    panel = item.panel
    better = next(
        cell.better
        for cell in report.cells
        if (cell.model, cell.panel, cell.language) == (item.context, panel, item.side)
    )
    return (
        CRITERIA[panel.criterion].title,
        dataset_title(panel.dataset),
        panel.metric,
        panel.temperature,
        item.context,
        item.side,
        item.base,
        item.value,
        item.difference,
        item.low,
        item.high,
        item.p_holm,
        _words(item, better),
    )


def _words(item: Comparison, better: bool | None) -> str:
    """What may be said, and no more."""
    questions = "" if item.paired else " (different questions)"
    if item.p_holm is None or item.difference is None:
        return f"not tested{questions}"
    if item.p_holm >= _SIGNIFICANT:
        apart = item.low is not None and item.high is not None and not item.low <= 0 <= item.high
        least = " (the smallest p that its test can give)" if apart and _at_least(item) else ""
        return (
            f"{'not shown after correction' if apart else 'no difference shown'}{least}{questions}"
        )
    worse = (item.difference < 0) == bool(better)
    return f"{'worse' if worse else 'better'} than English{questions}"


def _at_least(item: Comparison) -> bool:
    """Whether no permutation was as extreme: more questions or fewer comparisons would show it."""
    return item.p is not None and 0 < item.p * (1 + item.n_permutations) < 1.5


def _with_english(report: Report) -> list[Cell]:
    """Criteria that are consistency with English: a value per language, no difference."""
    return [
        cell
        for criterion in ("information", "empathy")
        for cell in report.cells
        if cell.panel.criterion == criterion
        and cell.panel.metric in _METRICS[criterion]
        and cell.language not in (ENGLISH, AVERAGE)
        and ":" not in cell.language
    ]


def _consistency(cell: Cell, both_absent: float | None) -> tuple[Value, ...]:
    """A row; of equal empathy, how much is equal absence of it."""
    interval = cell.interval
    words = "share in common with English"
    if interval is not None and interval.low is not None and interval.high is not None:
        words += f" (interval {interval.low:.2f} to {interval.high:.2f})"
    if cell.panel.criterion == "empathy" and both_absent:
        words += f"; {both_absent:.0%} of posts because neither response shows any empathy"
    return (
        CRITERIA[cell.panel.criterion].title,
        dataset_title(cell.panel.dataset),
        cell.panel.metric,
        cell.panel.temperature,
        cell.model,
        cell.language,
        None,
        cell.value,
        None,
        None,
        None,
        None,
        words if cell.value is not None else "unscored",
    )
