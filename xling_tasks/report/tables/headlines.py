"""The short answer: what is concluded of each language, on the endpoints set beforehand."""

from __future__ import annotations

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.report.lines import downwards
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.sentences import VERDICTS, why_unsure
from xling_tasks.report.tables.grid import dataset_title, shown_temperature
from xling_tasks.report.tables.table import Table, Value, note

_SIGNED = "better (+) or worse (−), hundredths"
_HEADS = (
    "criterion", "dataset", "metric", "T", "model", "language", "verdict", _SIGNED, "English",
    "its value", "difference", "low", "high", "p (Holm)", "n", "unread", "turns at",
    "margin", "detectable", "in words", "next",
)  # fmt: skip


def headline_tables(report: Report) -> list[Table]:
    """One table of all conclusions, or none if nothing is compared with English."""
    rows = [_row(report, item) for item in report.conclusions]
    if not rows:
        return []
    told = (note("summary", level=f"{report.options.level:.0%}"),)
    title = "All conclusions with their numbers"
    return [Table("summary", "summary", title, _HEADS, tuple(rows), told)]


def _row(report: Report, item: Conclusion) -> tuple[Value, ...]:
    signed = None if item.estimate is None else 100 * downwards(item)
    return (
        CRITERIA[item.criterion].title, dataset_title(item.dataset), item.metric,
        shown_temperature(item.temperature), item.model, item.language, item.verdict, signed,
        item.english, item.value, item.estimate, item.low, item.high, item.p_holm, item.n or None,
        item.unread or None, item.turns_at, item.margin, item.detectable, _words(report, item),
        item.next or None,
    )  # fmt: skip


def _words(report: Report, item: Conclusion) -> str:
    """The verdict and its reason; of equal empathy, how much is equal absence of it."""
    reason = why_unsure(item) if item.verdict == "cannot_tell" else item.reason
    words = f"{VERDICTS[item.verdict]}: {reason}"
    if not CRITERIA[item.criterion].parallel and item.verdict != "not_comparable":
        words += " (different questions)"
    if item.metric == "empathy":
        both_absent = Panel(item.criterion, item.dataset, "both_absent", None)
        absent = report.by_panel.get(both_absent, {}).get(item.model, {}).get(item.language)
        if absent and absent.value:
            share = f"{absent.value:.0%}"
            words += f"; {share} of posts because neither response shows any empathy"
    return words
