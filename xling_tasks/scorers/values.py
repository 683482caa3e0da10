"""Values of documents: counts pooled, means of what is defined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xling_tasks.harness.backends import clean_reply


def replies_of(result: Any) -> list[str]:
    """The replies in one filtered result: a text, or a list of them."""
    return [clean_reply(item) for item in (result if isinstance(result, list) else [result])]


def ratio_of(pairs: Sequence[Sequence[int] | None]) -> float | None:
    """Counts pooled over documents: from (hits, rows) per document to hits / rows.

    A document's None counts for nothing; None where no document has rows.
    """
    known = [pair for pair in pairs if pair is not None]
    hits, rows = sum(pair[0] for pair in known), sum(pair[1] for pair in known)
    return hits / rows if rows else None


def defined_mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are defined; None if none is."""
    known = [value for value in values if value is not None]
    return float(sum(known) / len(known)) if known else None
