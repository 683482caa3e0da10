"""The judge's shares of labels beside those that people's labels correct."""

from __future__ import annotations

from collections.abc import Iterator

from xling_tasks.criteria import ENGLISH
from xling_tasks.report.model import Comparison, Report
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table

_HEADS = (
    "dataset", "model", "language", "label", "judge's share", "corrected", "low", "high",
    "gap to English, corrected", "gap low", "gap high", "answers", "people's labels",
)  # fmt: skip
_NOTE = (
    "Corrected: prediction-powered inference (Angelopoulos et al. 2023), the judge's share plus "
    "the mean of person minus judge over what people labelled, weighted by the judge's labels, "
    "from which the sample was drawn. Interval: over questions and people's labels, so that it "
    "holds the judge's own error; not people's. Several people: the label that most gave. 'The "
    "reference is wrong' is none of the four labels. Answers without a label of the judge are not "
    "corrected."
)


def human_tables(report: Report) -> Iterator[Table]:
    """One table, where people's labels correct anything."""
    if not report.corrected:
        return
    gaps = _gaps(report)
    rows = Rows(_HEADS)
    for item in report.corrected:
        gap = gaps.get((item.model, item.dataset, item.language, item.label))
        ends = (None, None, None) if gap is None else (gap.difference, gap.low, gap.high)
        rows.add(
            item.dataset, item.model, item.language, item.label.replace("_", " "), item.judge,
            item.value, item.low, item.high, *ends, item.n, item.labels,
        )  # fmt: skip
    yield rows.table("correctness_by_people", "correctness", "Corrected by people", [_NOTE])


def _gaps(report: Report) -> dict[tuple[str, str, str, str], Comparison]:
    """(Model, dataset, language, label) -> the corrected gap to English."""
    return {
        (item.context, item.panel.dataset, item.side, item.panel.metric): item
        for item in report.comparisons
        if item.baseline == ENGLISH and item.panel.criterion == "correctness"
        if item.method.startswith("ppi")
    }
