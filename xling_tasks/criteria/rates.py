"""Metrics that several criteria have: did answers come, in what language, and were they of use?

Every criterion that records such a rate is told of it alike: a column in the tables of coverage, a
flag in the viewer, and no part in conclusions by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from xling_tasks.criteria.labels import JURY_METRICS
from xling_tasks.criteria.rows import CONTENT


class Rate(NamedTuple):
    """A share of answers of which something is the matter.

    Attributes:
        column: Its heading in tables of coverage; empty for none.
        flag: What the viewer calls an answer that it counts; empty for nothing.
    """

    column: str = ""
    flag: str = ""


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
"""Metrics that say what was measured rather than how well."""
