"""What the page says in words: what a criterion asks, what verdicts and terms mean."""

from __future__ import annotations

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rates import GLOSSARY as SHARED
from xling_tasks.pages import texts
from xling_tasks.report.model import Report


def glossary(report: Report) -> dict[str, str]:
    """The terms of a report's tables and pictures, those of a criterion together.

    Args:
        report: Its criteria's own terms are given, no others.
    """
    used, said = {cell.panel.criterion for cell in report.cells}, texts()["glossary"]
    own = {
        key: text
        for name, one in CRITERIA.items()
        if name in used
        for key, text in (one.glossary or {}).items()
    }
    return {**said["terms"], **own, **SHARED, **said["tests"]}
