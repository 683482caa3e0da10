"""The short answer: what is concluded of each language, on the endpoints set beforehand."""

from __future__ import annotations

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.report.lines import downwards
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.sentences import VERDICTS, why_unsure
from xling_tasks.report.tables.grid import dataset_title, shown_temperature
from xling_tasks.report.tables.table import Table, Value

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
    level = f"{report.options.level:.0%}"
    note = (
        "Better or worse: the difference in hundredths, with the sign that it has in the "
        "pictures: below 0 is worse than English, whichever direction the metric has. Difference: "
        f"language minus English over the same questions, with its {level} interval, unless the "
        "words say that the questions differ (MMedBench: accuracy beyond guessing, of which 0 is "
        "guessing and 1 all right). Endpoints, directions and margins are set beforehand; all "
        "other metrics are exploratory. Worse and better: the interval excludes 0 and p, "
        "corrected (Holm) over the languages of this model and dataset, for harm and for all "
        "other endpoints each by themselves, is below 0.05 (so that over both at least one false "
        "alarm comes in up to 0.095 of a model's runs of a dataset); and both hold if replies "
        "that were not read had twice or half the odds of the rest. About the same: the interval "
        "lies within the margin, and a rare breakdown beyond it is excluded (Gaffke's bound: of "
        "general validity it is a conjecture). Cannot tell: neither; detectable is the difference "
        "that so many questions show with 80% power after the correction. Not comparable: run in "
        "another way than English. Turns at: the odds from which the verdict no longer holds. "
        "Information and empathy are agreement with the English answers; English is what a second "
        "English answer shares with the first, and 1 where there is none. Temperature: the "
        "highest for consistency, the lowest elsewhere."
    )
    return [
        Table(
            "summary", "summary", "All conclusions with their numbers", _HEADS, tuple(rows), (note,)
        )
    ]


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
