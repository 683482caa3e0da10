"""The values of a metric over the questions of a task: sums per question, and the score of sums.

A metric over several questions is a function of sums over them (a mean: sum and count; macro F1:
confusion counts), so that intervals and comparisons take whole questions. ROC AUC, which no sums
give, keeps its rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from xling_metrics import languages
from xling_metrics.aggregate import (
    CLIPPED_MEAN,
    HARMONIC,
    MEAN,
    RATIO,
    SPREAD,
    MetricAggregation,
    mean_over,
)
from xling_metrics.classification import hard_answer
from xling_metrics.stats.estimate import Floats, ratio
from xling_metrics.stats.probabilities import (
    auc_interval,
    brier_sums,
    ece_of_sums,
    ece_sums,
    rows_of,
)
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

_PAIR = {"precision", "recall"}

Row = tuple[int, float | None]
"""A label, 0 or 1, and the probability of 1."""


@dataclass
class Column:
    """A metric's values over the questions of a task.

    Attributes:
        aggregate: How the values become the metric.
        sums: A row of sums per question, NaN where the question has none.
        counted: Whether it is a count or a size; 0 or 1 throughout makes it no proportion.
        unparsed: Of answers in rows, how many rows of label 1 and of label 0 have no answer, per
            question.
        rows: Of ROC AUC the rows per question.
    """

    aggregate: MetricAggregation
    sums: Floats
    counted: bool = False
    unparsed: Floats | None = None
    rows: Sequence[Sequence[Row]] | None = None

    @property
    def simple(self) -> bool:
        """Whether a question's value is its first sum, the second being 1."""
        return self.aggregate in (MEAN, CLIPPED_MEAN)

    @cached_property
    def present(self) -> np.ndarray:
        """Which questions have a value."""
        return ~np.isnan(self.sums[:, 0])

    @cached_property
    def binary(self) -> bool:
        """Whether there are values, and each is 0 or 1."""
        values = self.sums[self.present, 0]
        return bool(len(values)) and bool(((values == 0) | (values == 1)).all())

    @cached_property
    def lowest(self) -> float | None:
        """The lowest score that counts as possible, 0 or below; None of scores without bounds.

        A cosine may be a little below 0: scores from -1 on count as from the lowest one found.
        """
        values = self.sums[self.present, 0]
        if self.counted or not self.simple or not len(values):
            return None
        least, maximum = float(values.min()), float(values.max())
        rounding = 1e-6  # of cosines in single precision
        outside = least < -1 - rounding or maximum > 1 + rounding
        return None if outside else min(0.0, least)

    def score(self) -> float | None:
        """Return the metric, as its task made it; None where it is undefined."""
        if self.rows is not None:
            return auc_interval(rows_of(self.rows)).value
        return self.aggregate.of_sums(self.sums[self.present].tolist())

    def values(self, ids: Sequence[str]) -> dict[str, float | None]:
        """Return question -> its value: its first sum over its second."""
        pairs = zip(ids, self.sums.tolist(), strict=True)
        return {
            key: None if math.isnan(row[0]) or not row[1] else row[0] / row[1] for key, row in pairs
        }

    def select(self, order: Sequence[int]) -> Column:
        """Return the values of some questions in an order."""
        unparsed = None if self.unparsed is None else self.unparsed[order]
        rows = None if self.rows is None else [self.rows[index] for index in order]
        return replace(self, sums=self.sums[order], unparsed=unparsed, rows=rows)


def reduce_value(name: str, value: Any) -> Any:
    """Return what is kept of a value while the file is read: numbers, never a text."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, dict):
        if "n" in value:
            return value["n"]
        # Pairs and values by language are kept (users' data have codes that nobody knows); anything
        # else a sample records has texts in it.
        present = [item for item in value.values() if item is not None]
        numeric = bool(present) and all(isinstance(item, (int, float, dict)) for item in present)
        is_by_language = numeric or all(map(languages.find_language, value))
        return value if value.keys() == _PAIR or is_by_language else None
    if isinstance(value, list) and value and isinstance(value[0], list):
        if stem(name) not in VERDICT_SCORES:
            return None
        labels, answers = zip(*value, strict=True)
        counts = verdict_counts([0] * len(labels), labels, list(map(hard_answer, answers)))
        return counts[0] or (math.nan,) * 4
    return value


def column_of(name: str, values: Sequence[Any], signature: str = "") -> Column | None:
    """Return a metric's column by the form of its reduced values; None for one without any.

    The signature says what the form does not.
    """
    example = next((value for value in values if value is not None), None)
    return None if example is None else column(_aggregate(name, example, values, signature), values)


def column(aggregate: MetricAggregation, values: Iterable[Any]) -> Column:
    """Return values as sums."""
    rows = list(map(aggregate.sums, values))
    none = (math.nan,) * max((len(row) for row in rows if row is not None), default=2)
    sums = np.array([none if row is None else row for row in rows], dtype=np.float64)
    return Column(aggregate, sums)


def _aggregate(name: str, example: Any, values: Sequence[Any], signature: str) -> MetricAggregation:
    if isinstance(example, tuple):
        return VERDICTS[stem(name)]
    if isinstance(example, list):
        return SPREAD if "_seed_sd" in name else RATIO
    if isinstance(example, dict) and example.keys() == _PAIR:
        return HARMONIC
    if isinstance(example, dict):
        codes = sorted({code for value in values if value for code in value})
        pairs = any(isinstance(x, dict) for value in values if value for x in value.values())
        return mean_over(codes, HARMONIC if pairs else MEAN)
    return CLIPPED_MEAN if "mean:clipped" in signature.split("|") else MEAN


def probability_column(name: str, rows: Sequence[Sequence[Row]]) -> Column | None:
    """Return the column of a score of probabilities; None of other metrics."""
    if name == AUC.name:
        usable = [[1.0] if any(p is not None for _, p in row) else None for row in rows]
        return replace(column(AUC, usable), rows=rows)
    if name not in ("brier", "ece"):
        return None
    make, score = (brier_sums, ratio) if name == "brier" else (ece_sums, ece_of_sums)
    return column(MetricAggregation(name, _as_tuple, score), make(rows))


def _as_tuple(sums: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if sums is None else tuple(sums)


AUC = MetricAggregation("auc", _as_tuple, lambda totals: np.full(len(totals), np.nan))
"""ROC AUC, which no sums give."""

VERDICTS = {
    name: MetricAggregation(name, _as_tuple, score) for name, score in VERDICT_SCORES.items()
}
"""Scores of Yes and No, of the counts that `reduce_value` makes."""


def stem(name: str) -> str:
    """Return a metric's name without its temperature."""
    return name.partition("_t")[0]
