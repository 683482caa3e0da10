"""All tables of a report in its order, that of all conclusions first; the lines of its banner."""

from __future__ import annotations

from collections.abc import Mapping

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.outcomes import percent
from xling_tasks.report.lines import about_the_judge, downwards
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.sentences import VERDICTS, by_criterion, why_unsure
from xling_tasks.report.tables.correctness import correctness_tables, human_tables
from xling_tasks.report.tables.coverage import coverage_tables
from xling_tasks.report.tables.declared import declared_tables, multilingual_tables
from xling_tasks.report.tables.differences import differences, remarks_of
from xling_tasks.report.tables.grid import dataset_title, grids_of, shown_temperature
from xling_tasks.report.tables.mmedbench import mmedbench_tables
from xling_tasks.report.tables.significance import significance_tables
from xling_tasks.report.tables.table import Table, Value, note
from xling_tasks.report.tables.topics import topic_tables
from xling_tasks.report.tables.xlinghealth import (
    consistency_tables,
    filtered_tables,
    verifiability_tables,
)

__all__ = ["conclusions_by_criterion", "conclusions_in_words", "differences", "tables"]

_CRITERIA = (
    correctness_tables,
    consistency_tables,
    verifiability_tables,
    mmedbench_tables,
    multilingual_tables,
    declared_tables,
)


def conclusions_in_words(report: Report) -> list[str]:
    """The first lines of a report: what may be said of each model and language."""
    said = [text for _, text in conclusions_by_criterion(report)]
    return [*said, *about_the_judge(report.conclusions)]


def conclusions_by_criterion(report: Report) -> list[tuple[Conclusion, str]]:
    """What is said of each model, dataset, language and criterion, with a conclusion of it."""
    titles = {item.dataset: dataset_title(item.dataset) for item in report.conclusions}
    return by_criterion(report.conclusions, titles, several=len(report.models) > 1)


def tables(
    report: Report, *, published: bool = True, topics: Mapping[str, str] | None = None
) -> list[Table]:
    """Every table: coverage first, the gaps in short, what each criterion found, the tests.

    The papers' `published` figures stand beside them, marked; `topics` are those of questions.
    """
    notes: dict[tuple[str, str], list[str]] = {}
    for item in remarks_of(report):
        notes.setdefault((item.criterion, item.dataset), []).append(f"{item.text}.")
    grids = grids_of(report, notes, shown=published)
    made = [*coverage_tables(grids), *filtered_tables(grids), *headline_tables(report)]
    for part in _CRITERIA:
        made += part(grids)
    made += human_tables(report)
    made += topic_tables(report, topics)
    return [*made, *significance_tables(report, notes, published)]


_SIGNED = "better (+) or worse (−), hundredths"
_HEADS = (
    "criterion", "dataset", "metric", "T", "model", "language", "verdict", _SIGNED, "English",
    "its value", "difference", "low", "high", "p (Holm)", "n", "unread",
    "margin", "in words", "next",
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
        item.unread or None, item.margin, _words(report, item), item.next or None,
    )  # fmt: skip


def _words(report: Report, item: Conclusion) -> str:
    """The verdict and its reason; of equal empathy, how much is equal absence of it."""
    reason = why_unsure(item) if item.verdict == "inconclusive" else item.reason
    words = f"{VERDICTS[item.verdict]}: {reason}"
    if not CRITERIA[item.criterion].parallel and item.verdict != "not_comparable":
        words += " (different questions)"
    if item.metric == "empathy":
        both_absent = Panel(item.criterion, item.dataset, "both_absent", None)
        absent = report.by_panel.get(both_absent, {}).get(item.model, {}).get(item.language)
        if absent and absent.value:
            words += f"; on {percent(absent.value)} of posts neither response shows any empathy"
    return words
