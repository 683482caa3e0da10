"""The questions that two sides share: their sums in one order, questions with one text together."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from xling_metrics.stats.bounded import gaffke, gaffke_p
from xling_metrics.stats.resampling import Floats

from xling_tasks.report.columns import Column
from xling_tasks.report.data import Task

Sums = tuple[Sequence[str], Floats]
"""Questions, and a row of sums for each; NaN where it has none."""

Ends = tuple[float, float]


def over(task: Task, ids: Sequence[str]) -> Task:
    """A task over some of its questions in a given order."""
    place = {key: index for index, key in enumerate(task.ids)}
    order = [place[key] for key in ids]
    return replace(
        task,
        ids=list(ids),
        offsets=array("q", (task.offsets[index] for index in order)),
        columns={
            name: replace(column, sums=column.sums[order]) for name, column in task.columns.items()
        },
        rows={key: task.rows[key] for key in ids if key in task.rows},
        unread={name: own[order] for name, own in task.unread.items()},
        outcomes={code: [own[at] for at in order] for code, own in task.outcomes.items()},
        texts=array("q", (task.texts[index] for index in order)),
    )


class Paired(NamedTuple):
    """The sums of two sides over the n questions that both have, in one order; b is the baseline.

    A row per question, or per text where questions share one.
    """

    a: Floats
    b: Floats
    n: int

    @property
    def clustered(self) -> bool:
        """Whether several questions have one text, and count as one."""
        return len(self.a) < self.n


def shared_sums(side: Sums, baseline: Sums, texts: Mapping[str, int]) -> tuple[Paired, int]:
    """The sums of the questions of both sides, and how many questions one side or the other has.

    They keep the baseline's order; those with the same text are added up (`texts`: question -> a
    number that is the same for the same text; may be empty).
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


def bounded_difference(
    own: Column, other: Column, both: Paired, level: float
) -> tuple[Ends, float] | None:
    """Gaffke's interval and p of a difference of scores from 0 to 1; None of others.

    A cosine may be a little below 0: scores from -1 on count as from the lowest that was found.
    """
    if not (own.simple and other.simple and len(both.a)):
        return None
    values = np.concatenate([item.sums[:, 0] for item in (own, other)])
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    if own.counted or least < -1 or most > 1:
        return None
    difference, sizes, bound = both.a[:, 0] - both.b[:, 0], both.a[:, 1], 1 - min(0.0, least)
    ends = gaffke(difference, -bound, bound, sizes=sizes, level=level)
    return ends, gaffke_p(difference, -bound, bound, sizes=sizes)


def outside(values: Floats) -> bool:
    """Whether a value lies below 0 or above 1."""
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(known.min() < 0 or known.max() > 1)
