"""The papers' own figures, as facts to stand beside measured ones."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("published.csv")

SOURCES = {
    "xlingeval": "arXiv:2310.13132",
    "mmedbench": "arXiv:2402.13963",
    "found_in_translation": "arXiv:2505.21999",
}
"""The papers by their key in the file."""


class PublishedScore(NamedTuple):
    """One published number; fields are empty where the table does not tell them apart.

    The table is called `(derived)` where the paper does not print the number, and it follows from
    some that it prints. A language has two letters, or is `avg`, or `script:latin` and the like; a
    metric that is no fraction ends in `_percent`.
    """

    source: str
    table: str
    model: str
    setting: str
    dataset: str
    language: str
    temperature: str
    metric: str
    value: float

    @property
    def citation(self) -> str:
        """Paper and table."""
        return f"{SOURCES[self.source]}, {self.table}"


@functools.lru_cache(maxsize=4096)  # a report asks for each of its cells
def published(**fields: str) -> tuple[PublishedScore, ...]:
    """Return the scores whose fields have these values, in the file's order."""
    return tuple(
        score
        for score in _read()
        if all(getattr(score, name) == value for name, value in fields.items())
    )


@functools.lru_cache(maxsize=1)
def _read() -> tuple[PublishedScore, ...]:
    with FILE.open(encoding="utf-8", newline="") as handle:
        rows: Iterator[dict[str, Any]] = csv.DictReader(handle)
        return tuple(PublishedScore(**{**row, "value": float(row["value"])}) for row in rows)
