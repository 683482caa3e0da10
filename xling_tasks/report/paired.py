"""The questions that two sides share: their sums in one order, questions with one text together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.stats.bounded import gaffke
from xling_metrics.stats.resampling import Floats

from xling_tasks.report.columns import Column

Sums = tuple[Sequence[str], Floats]
"""Questions, and a row of sums for each; NaN where it has none."""

Ends = tuple[float, float]


class Paired(NamedTuple):
    """The sums of two sides over the questions that both have, in one order.

    Attributes:
        a: A row per question, or per text where questions share one.
        b: The same of the baseline.
        n: Questions.
    """

    a: Floats
    b: Floats
    n: int

    @property
    def clustered(self) -> bool:
        """Whether several questions have one text, and count as one."""
        return len(self.a) < self.n


def shared_sums(side: Sums, baseline: Sums, texts: Mapping[str, int]) -> tuple[Paired, int]:
    """The questions of both sides; those with the same text are added up.

    Args:
        side: Of the side.
        baseline: Of its baseline, whose order is kept.
        texts: Question -> a number that is the same for the same text; may be empty.

    Returns:
        Their sums, and how many questions one side or the other has.
    """
    (own_keys, own), (keys, other) = side, baseline
    asked = len(set(keys))
    if own_keys != keys or asked < len(keys):  # Runs over the same questions have one order.
        own_place, place = ({key: at for at, key in enumerate(each)} for each in (own_keys, keys))
        asked = len(own_place.keys() | place.keys())
        keys = [key for key in place if key in own_place]
        own, other = own[[own_place[key] for key in keys]], other[[place[key] for key in keys]]
    known = ~(np.isnan(own[:, 0]) | np.isnan(other[:, 0]))
    if not known.all():
        keys = [key for key, there in zip(keys, known.tolist(), strict=True) if there]
        own, other = own[known], other[known]
    a, b = by_text([own, other], keys, texts)
    return Paired(a, b, len(keys)), asked


def by_text(
    arrays: Sequence[Floats], keys: Sequence[str], texts: Mapping[str, int]
) -> Sequence[Floats]:
    """Rows of sums, a question each, with those of one text added up, in the order of the first."""
    if not texts:
        return arrays
    _, first, place = np.unique(
        [texts.get(key, at) for at, key in enumerate(keys)], return_index=True, return_inverse=True
    )
    if len(first) == len(keys):
        return arrays
    merged = [np.zeros((len(first), own.shape[1])) for own in arrays]
    for total, own in zip(merged, arrays, strict=True):
        np.add.at(total, place, own)
    return [total[np.argsort(first)] for total in merged]


def bounded_difference(own: Column, other: Column, both: Paired, level: float) -> Ends | None:
    """Gaffke's interval of a difference of scores from 0 to 1; None of others."""
    if not (own.simple and other.simple and len(both.a)):
        return None
    if any(_outside(item.sums[:, 0]) for item in (own, other)):
        return None
    difference = both.a[:, 0] - both.b[:, 0]
    return gaffke(difference, -1.0, 1.0, sizes=both.a[:, 1], level=level)


def _outside(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(known.min() < 0 or known.max() > 1)
