"""The columns of a metric: what is kept of its values, and the score as a function of sums.

A metric over several questions is a function of sums over them (a mean: sum and count; macro F1:
confusion counts), so that intervals and comparisons resample questions; see
`xling_metrics.stats.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from xling_metrics.stats.intervals import Score, ratio
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums
from xling_metrics.stats.resampling import Floats
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

_PAIR = {"precision", "recall"}

Row = tuple[int, float | None]


@dataclass
class Column:
    """A metric's values over the questions of a task.

    Attributes:
        made: How the values become the metric.
        sums: A row of sums per question, NaN where the question has none.
        counted: Whether it is a count or a size; 0 or 1 throughout makes it no share.
    """

    made: MetricAggregation
    sums: Floats
    counted: bool = False

    @property
    def score(self) -> Score:
        """From sums (a row per resample) to values, before they are cut at limits."""
        return self.made.score

    @property
    def simple(self) -> bool:
        """Whether a question's own value is its first sum, the second being 1."""
        return self.made in (MEAN, CLIPPED_MEAN)

    @cached_property
    def binary(self) -> bool:
        """Whether there are values, and each is 0 or 1."""
        known = self.sums[~np.isnan(self.sums[:, 0]), 0]
        return bool(len(known)) and bool(((known == 0) | (known == 1)).all())

    def whole(self) -> float | None:
        """The metric, as its task made it; None where it is undefined."""
        return self.made.of_sums(self.sums[~np.isnan(self.sums[:, 0])].tolist())

    def by_question(self, ids: Sequence[str]) -> dict[str, tuple[float, ...] | None]:
        """Question -> sums."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {key: None if math.isnan(row[0]) else tuple(row) for key, row in rows}

    def values(self, ids: Sequence[str]) -> dict[str, float | None]:
        """Question -> its own value: its first sum over its second."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {
            key: None if math.isnan(row[0]) or not row[1] else row[0] / row[1] for key, row in rows
        }


def reduced(name: str, value: Any) -> Any:
    """What is kept of a value while the file is read: numbers, never a text."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, dict):
        if "n" in value:
            return value["n"]
        # Pairs and values by language are kept; anything else a sample records has texts in it.
        return value if value.keys() == _PAIR or _by_code(value) else None
    if isinstance(value, list) and value and isinstance(value[0], list):
        if stem(name) not in VERDICT_SCORES:
            return None
        labels, said = zip(*value, strict=True)
        counts = verdict_counts([0] * len(labels), labels, list(map(hard_answer, said)))
        return counts[0] or (math.nan,) * 4
    return value


def _by_code(value: Mapping[str, Any]) -> bool:
    """Whether a value is one by language; users' own data has codes that nobody knows."""
    if all(languages.known(code) for code in value):
        return True
    known = [own for own in value.values() if own is not None]
    return bool(known) and all(isinstance(own, (int, float, dict)) for own in known)


def column_of(name: str, kept: Sequence[Any], signature: str = "") -> Column | None:
    """A metric's column by the form of what `reduced` left of its values; None for one without any.

    The signature says what the form does not.
    """
    example = next((value for value in kept if value is not None), None)
    return None if example is None else column(_made(name, example, kept, signature), kept)


def column(made: MetricAggregation, kept: Iterable[Any]) -> Column:
    """Values as sums."""
    rows = list(map(made.sums, kept))
    none = (math.nan,) * max((len(row) for row in rows if row is not None), default=2)
    sums = np.array([none if row is None else row for row in rows], dtype=np.float64)
    return Column(made, sums)


def _made(name: str, example: Any, kept: Sequence[Any], signature: str) -> MetricAggregation:
    if isinstance(example, tuple):
        return VERDICTS[stem(name)]
    if isinstance(example, list):
        return SPREAD if "_seed_sd" in name else RATIO
    if isinstance(example, dict) and example.keys() == _PAIR:
        return HARMONIC
    if isinstance(example, dict):
        codes = sorted({code for value in kept if value for code in value})
        pairs = any(isinstance(own, dict) for value in kept if value for own in value.values())
        return mean_over(codes, HARMONIC if pairs else MEAN)
    return CLIPPED_MEAN if "mean:clipped" in signature.split("|") else MEAN


def soft_column(name: str, rows: Mapping[str, list[Row]], ids: Sequence[str]) -> Column | None:
    """Scores of probabilities; AUC, which takes pairs of rows, stays with `rows`."""
    if name == "brier":
        sums, score = brier_sums(rows), ratio
    elif name == "ece":
        sums, score = ece_sums(rows), ece_of_sums
    else:
        return None
    return column(MetricAggregation(name, _as_it_is, score), [sums.get(key) for key in ids])


def _as_it_is(sums: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if sums is None else tuple(sums)


VERDICTS = {
    name: MetricAggregation(name, _as_it_is, score) for name, score in VERDICT_SCORES.items()
}
"""Scores of verdicts, of the counts that `reduced` makes."""


def stem(name: str) -> str:
    """A metric's name without its temperature."""
    return name.partition("_t")[0]
