"""Metrics of several criteria that say what was measured rather than how well."""

from __future__ import annotations

from typing import NamedTuple

from xling_tasks.criteria.criterion import CONTENT
from xling_tasks.criteria.labels import JURY_METRICS


class Rate(NamedTuple):
    """A share of answers of which something is the matter."""

    column: str = ""  # its heading in tables of coverage; empty for none
    flag: str = ""  # what the viewer calls an answer that it counts; empty for nothing


RATES = {name: Rate(**row) for name, row in CONTENT["rates"].items()}
"""In the order of the tables of coverage."""

IN_LANGUAGE = ("langid_match", "language_consistency")
"""Whether answers, or their sentences, are in the user's language."""

COLUMNS: dict[str, str] = CONTENT["columns"]
"""What else the tables of coverage tell, with their headings."""

COVERAGE = frozenset(
    {name for name, rate in RATES.items() if rate.column}
    | {*IN_LANGUAGE, *COLUMNS, *JURY_METRICS}
    | {"language_consistency_published", "invalid_rows"}
)
"""The metrics that say what was measured."""
