"""How values of documents become a metric: sums per document, and the score as a function of them.

The one place for both who make a score (tasks) and who make it again from logged values, with
intervals over questions (reports): see `xling_metrics.stats.jackknife`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from xling_metrics.stats.estimate import Floats, Score, ratio, suppress_warnings

Sums: TypeAlias = tuple[float, ...]
Pair: TypeAlias = Mapping[str, float | None]
"""`precision` and `recall` of one document, None where undefined."""


@dataclass(frozen=True)
class MetricAggregation:
    """From the values of documents to a score.

    Attributes:
        name: What it is called; two of one name make the same.
        sums: A document's value as sums; None if it counts for nothing.
        score: From summed sums (a row per case) to a value per row, NaN where undefined. Of a
            limited score it is the value before: differences of what was cut off would hide it.
        limits: Between what the score is cut; None if it is not.
    """

    name: str
    sums: Callable[[Any], Sums | None]
    score: Score
    limits: tuple[float, float] | None = None

    def __call__(self, values: Iterable[Any]) -> float | None:
        """Return the score of documents' values; None where it is undefined."""
        rows = [row for value in values if (row := self.sums(value)) is not None]
        return self.of_sums(rows)

    def of_sums(self, rows: Iterable[Sequence[float]]) -> float | None:
        """Return the score of documents' sums; None where it is undefined."""
        totals = [sum(column) for column in zip(*rows, strict=True)]
        if not totals:
            return None
        value = float(suppress_warnings(self.score, np.array([totals]))[0])
        return self.limited(value) if math.isfinite(value) else None

    def limited(self, value: float) -> float:
        """Return a value of `score` as it is reported: cut at the limits, if there are any."""
        return value if self.limits is None else min(max(value, self.limits[0]), self.limits[1])


def _pair(pair: Pair | None) -> Sums | None:
    if pair is None:
        return None
    ends = (pair["precision"], pair["recall"])
    return tuple(chain.from_iterable((v or 0.0, float(v is not None)) for v in ends))


def _harmonic(totals: Floats) -> Floats:
    """Calculate `xling_metrics.claims.information_f1` of sums and counts."""
    precision, recall = (
        np.divide(total, n, out=np.zeros_like(total), where=n > 0)
        for total, n in ((totals[:, 0], totals[:, 1]), (totals[:, 2], totals[:, 3]))
    )
    total = precision + recall
    means = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.where(totals[:, 1] + totals[:, 3] > 0, means, np.nan)


def _spread(totals: Floats) -> Floats:
    means = totals[:, :-1] / totals[:, -1:]
    spread: Floats = means.std(axis=1, ddof=1)
    return spread


def _one(value: float | None) -> Sums | None:
    return None if value is None else (value, 1.0)


MEAN = MetricAggregation("mean", _one, ratio)
"""The mean of the values that are defined."""

CLIPPED_MEAN = MetricAggregation("clipped", _one, ratio, (0.0, 1.0))
"""The mean of the values that are defined, cut to 0..1; the values themselves are not, so that a
document below 0 lowers the mean of all (HealthBench's score, arXiv:2505.08775)."""

RATIO = MetricAggregation(
    "ratio", lambda pair: (pair[0], pair[1]) if pair and pair[1] else None, ratio
)
"""Counts pooled over documents: from (hits, rows) per document to hits / rows."""

HARMONIC = MetricAggregation("harmonic", _pair, _harmonic)
"""The harmonic mean of mean precision and mean recall; a document's None is unscored, a precision
that is None counts in recall alone."""

SPREAD = MetricAggregation(
    "spread", lambda values: None if values is None else (*values, 1.0), _spread
)
"""The sample standard deviation over seeds of each seed's mean over documents."""


def mean_over(codes: Sequence[str], aggregation: MetricAggregation = MEAN) -> MetricAggregation:
    """Return the unweighted mean over languages of each one's score over documents.

    It is None if one of the languages has no value: a mean over the others would look like it.

    Args:
        codes: The languages; a document's value is a mapping from language to value.
        aggregation: How a language's values become its score, `MEAN` or `HARMONIC`.
    """
    width = {MEAN.name: 2, HARMONIC.name: 4}[aggregation.name]

    def sums(value: Mapping[str, Any] | None) -> Sums | None:
        parts = [aggregation.sums((value or {}).get(code)) or (0.0,) * width for code in codes]
        return tuple(chain.from_iterable(parts))

    def score(totals: Floats) -> Floats:
        starts = range(0, totals.shape[1], width)
        mean: Floats = np.mean(
            [aggregation.score(totals[:, start : start + width]) for start in starts], axis=0
        )
        return mean

    return MetricAggregation(f"{aggregation.name}:{','.join(codes)}", sums, score)
