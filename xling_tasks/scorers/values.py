"""Replies in results, and means within a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xling_tasks.harness.backends import clean_reply


def replies_of(result: Any) -> list[str]:
    """The replies in one filtered result: a text, or a list of them."""
    return [clean_reply(item) for item in (result if isinstance(result, list) else [result])]


def defined_mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are defined; None if none is."""
    known = [value for value in values if value is not None]
    return float(sum(known) / len(known)) if known else None
