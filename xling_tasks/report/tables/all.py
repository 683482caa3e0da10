"""All tables of a report, in its order; and the lines of its banner."""

from __future__ import annotations

from collections.abc import Mapping

from xling_tasks.report.lines import about_the_judge
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.sentences import by_criterion
from xling_tasks.report.tables.correctness import correctness_tables, human_tables
from xling_tasks.report.tables.coverage import coverage_tables
from xling_tasks.report.tables.declared import declared_tables, multilingual_tables
from xling_tasks.report.tables.differences import differences, remarks_of
from xling_tasks.report.tables.grid import dataset_title, grids_of
from xling_tasks.report.tables.headlines import headline_tables
from xling_tasks.report.tables.mmedbench import mmedbench_tables
from xling_tasks.report.tables.protocol import protocol_tables
from xling_tasks.report.tables.significance import significance_tables
from xling_tasks.report.tables.table import Table
from xling_tasks.report.tables.topics import topic_tables
from xling_tasks.report.tables.translation import translation_tables
from xling_tasks.report.tables.xlinghealth import (
    consistency_tables,
    filtered_tables,
    likelihood_tables,
    verifiability_tables,
)

__all__ = ["conclusions_by_criterion", "conclusions_in_words", "differences", "tables"]

_CRITERIA = (
    correctness_tables,
    consistency_tables,
    verifiability_tables,
    likelihood_tables,
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

    Args:
        report: The numbers.
        published: Whether the papers' figures stand beside them, marked.
        topics: Question -> topic, for tables by topic.
    """
    notes: dict[tuple[str, str], list[str]] = {}
    for item in remarks_of(report):
        notes.setdefault((item.criterion, item.dataset), []).append(f"{item.text}.")
    grids = grids_of(report, notes, shown=published)
    made = [*coverage_tables(grids), *filtered_tables(grids), *headline_tables(report)]
    for part in _CRITERIA:
        made += part(grids)
    made += protocol_tables(grids) if published else ()
    made += translation_tables(report)
    made += human_tables(report)
    made += topic_tables(report, topics)
    return [*made, *significance_tables(report, notes, published)]
