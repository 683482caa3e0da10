"""What became of every question, in columns: served, helped, and what the instrument did not read.

`usable` is the share of questions that got a usable answer, `helpful` the share (or the points)
over all questions, where who was not served was not helped. Both follow from what tasks record of
each answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xling_tasks.outcomes import HELPED, NOT_SERVED, OUTCOME, OUTCOMES, SERVED, served
from xling_tasks.report.columns import Column, column_of

_HELP = ("more_comprehensive", "rubric_score")
_LABELS = ("contradictory", "more_comprehensive")
_SILENT = ("no_response", "no_majority", "judge_failed_rate")

Outcomes = dict[str, list[str | None]]
"""Language -> the outcome of every question, in their order; None where it was not asked."""


def outcomes_of(sample: Mapping[str, Any]) -> dict[str, str | None]:
    """The outcome of a sample by language; nothing where an answer has no outcome of its own.

    Tasks that ask a question in several ways (several answers, several rows) count theirs in rates.
    """
    answered = sample.get("n_responses")
    recorded = answered.get(OUTCOME) if isinstance(answered, Mapping) else None
    if not isinstance(recorded, Mapping):
        return {}
    return {str(code): own if own in OUTCOMES else None for code, own in recorded.items()}


def derived(outcomes: Outcomes, columns: Mapping[str, Column], language: str) -> dict[str, Column]:
    """The columns that follow from outcomes, named as a task names its metrics."""
    made: dict[str, Column | None] = {}
    for code, own in outcomes.items():
        suffix = "" if language else f"_{code}"
        was_served = [served(outcome) for outcome in own]
        if all(value is None for value in was_served):
            continue
        made[SERVED + suffix] = column_of(SERVED, was_served)
        for name in _HELP:
            column = columns.get(name + suffix)
            if column is not None:
                helped = _helped(column.sums[:, 0], own, silent(columns, suffix))
                made[HELPED + suffix] = column_of(HELPED, helped)
    return {name: known for name, known in made.items() if known is not None}


def _helped(
    values: np.ndarray, outcomes: Sequence[str | None], lost: np.ndarray | None
) -> list[float | None]:
    """Of who was not served no help; of the others the task's value, if the judge gave one."""
    helped: list[float | None] = []
    for at, (value, outcome) in enumerate(zip(values.tolist(), outcomes, strict=True)):
        if outcome in NOT_SERVED:
            helped.append(0.0 if np.isnan(value) else min(value, 0.0))
        else:
            unknown = np.isnan(value) or (lost is not None and bool(lost[at]))
            helped.append(None if unknown else value)
    return helped


def silent(columns: Mapping[str, Column], suffix: str = "") -> np.ndarray | None:
    """The questions whose answer is there but has no label; None where no judge labels."""
    known = [columns[name + suffix].sums[:, 0] == 1 for name in _SILENT if name + suffix in columns]
    if "no_response" + suffix not in columns:
        return None
    lost: np.ndarray = np.logical_or.reduce(known)
    empty = columns.get("empty_rate" + suffix)
    # An empty answer has no label rightly: the judge is not asked about it.
    return lost if empty is None else lost & (empty.sums[:, 0] != 1)


def counted(outcomes: Sequence[str | None]) -> dict[str, int]:
    """How many questions had each outcome, in the order of the list."""
    counts = Counter(outcome for outcome in outcomes if outcome is not None)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
