"""Usable and helpful answers: metrics that follow from what became of every question.

`usable` is the share of questions that got a usable answer, `helpful` the share (or the points)
over all questions, where who got no usable answer was not helped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xling_tasks.outcomes import HELPED, NOT_SERVED, OUTCOME, OUTCOMES, SERVED, served
from xling_tasks.report.columns import Column, column_of

SILENT = ("no_response", "no_majority", "judge_failed_rate")

Outcomes = Mapping[str, Sequence[str | None]]
"""Language -> the outcome of every question, None where it was not asked."""


def outcomes_of(sample: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the outcome of a sample by language; nothing where an answer has none of its own.

    Tasks that ask a question in several ways (several answers, several rows) count theirs in rates.
    """
    responses = sample.get("n_responses")
    recorded = responses.get(OUTCOME) if isinstance(responses, Mapping) else None
    if not isinstance(recorded, Mapping):
        return {}
    return {str(code): item if item in OUTCOMES else None for code, item in recorded.items()}


def derive_columns(
    outcomes: Outcomes, columns: Mapping[str, Column], language: str
) -> dict[str, Column]:
    """Return the columns that follow from outcomes, named as a task names its metrics."""
    found: dict[str, Column | None] = {}
    for code, kinds in outcomes.items():
        suffix = "" if language else f"_{code}"
        usable = [served(outcome) for outcome in kinds]
        if all(value is None for value in usable):
            continue
        found[SERVED + suffix] = column_of(SERVED, usable)
        lost = find_silent(columns, suffix)
        for name in ("more_comprehensive", "rubric_score"):
            if (column := columns.get(name + suffix)) is None:
                continue
            # No help of answers that are not usable; of others the task's value, if judged.
            helpful: list[float | None] = []
            for index, value in enumerate(column.sums[:, 0].tolist()):
                if kinds[index] in NOT_SERVED:
                    helpful.append(0.0 if np.isnan(value) else min(value, 0.0))
                else:
                    unknown = np.isnan(value) or (lost is not None and bool(lost[index]))
                    helpful.append(None if unknown else value)
            found[HELPED + suffix] = column_of(HELPED, helpful)
    return {name: column for name, column in found.items() if column is not None}


def find_silent(columns: Mapping[str, Column], suffix: str = "") -> np.ndarray | None:
    """Return the questions whose answer is there but has no label; None where no judge labels."""
    if "no_response" + suffix not in columns:
        return None
    present = [
        columns[name + suffix].sums[:, 0] == 1 for name in SILENT if name + suffix in columns
    ]
    lost: np.ndarray = np.logical_or.reduce(present)
    empty = columns.get("empty_rate" + suffix)
    # The judge is not asked about an empty answer.
    return lost if empty is None else lost & (empty.sums[:, 0] != 1)


def count_outcomes(outcomes: Sequence[str | None]) -> dict[str, int]:
    """Return how many questions had each outcome, in the order of the list."""
    counts = Counter(outcome for outcome in outcomes if outcome is not None)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
