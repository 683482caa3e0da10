"""Scores of P(Yes) over questions with several rows: ROC AUC, Brier score, calibration error.

AUC is the share of (positive, negative) pairs of rows in the right order, ties counted half. Rows
of a question go together, so that its variance is over questions (Obuchowski 1997). Brier score and
calibration error are functions of sums over questions, so that questions can be left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from xling_metrics.stats.estimate import LEVEL, Estimate, Floats, t_quantile
from xling_metrics.stats.jackknife import student
from xling_metrics.stats.proportions import wilson

Rows: TypeAlias = Sequence[Sequence[tuple[int, float | None]]]
"""The rows of each question: label 0 or 1, and probability of 1, or None, which is left out."""

Sums: TypeAlias = list[tuple[float, ...] | None]

ECE_BINS = 15


class GroupedRows(NamedTuple):
    """Rows as arrays, and which question each is of.

    Attributes:
        labels: 0 or 1 per row.
        chances: Probability of 1 per row.
        question: Number of its question per row.
        n: Questions that have a row.
    """

    labels: Floats
    chances: Floats
    question: np.ndarray
    n: int


def rows_of(questions: Rows) -> GroupedRows:
    """Return the usable rows of the questions that have any, in order."""
    present = [rows for rows in map(_usable, questions) if rows]
    usable = [(*row, number) for number, rows in enumerate(present) for row in rows]
    labels, chances, question = np.array(usable, dtype=float).reshape(-1, 3).T
    return GroupedRows(labels, chances, question.astype(int), len(present))


def _usable(rows: Sequence[tuple[int, float | None]]) -> list[tuple[int, float]]:
    return [(label, chance) for label, chance in rows if chance is not None]


def auc_interval(rows: GroupedRows, level: float = LEVEL) -> Estimate:
    """Return ROC AUC with its interval over questions: DeLong's on the logit, Student's quantile.

    Variance: Obuchowski (1997), see `influences`. `logit(AUC) -+ t se / (AUC (1 - AUC))` (Pepe
    2003, section 5.2). An AUC of 0 or 1 has no variance; there it is Wilson's interval with each
    question as one draw.

    Returns:
        The AUC; None without rows of both labels, no ends for fewer than two questions.
    """
    value, parts = influences(rows)
    n = rows.n
    if value is None or n < 2:
        return Estimate(value, n=n, method="delong")
    se = float(np.sqrt((parts**2).sum()))
    if not 0 < value < 1:
        low, high = wilson(value * n, n, level)
        return Estimate(value, low, high, None, se, n, "wilson")
    half = t_quantile(level, n - 1) * se / (value * (1 - value))
    low, high = (1 / (1 + np.exp(-(np.log(value / (1 - value)) + sign * half))) for sign in (-1, 1))
    return Estimate(value, float(low), float(high), None, se, n, "delong")


def auc_contrast(groups: Sequence[tuple[int, GroupedRows]], level: float = LEVEL) -> Estimate:
    """Return a signed sum of AUCs over the same questions, with DeLong's interval and its p.

    The variance takes the rows of a question together (DeLong, DeLong & Clarke-Pearson 1988 for
    rows; Obuchowski 1997 for questions with several).

    Args:
        groups: Sign (1 or -1) and rows, of the same questions in one order.
        level: Coverage.
    """
    signed = [(sign, *influences(rows)) for sign, rows in groups]
    n = groups[0][1].n
    if any(value is None for _, value, _ in signed):
        return Estimate(None, n=n, method="delong")
    value = sum(sign * (influence or 0.0) for sign, influence, _ in signed)
    parts = np.sum([sign * influence for sign, _, influence in signed], axis=0)
    return student(value, parts, n - 1, level)._replace(method="delong")


def influences(rows: GroupedRows) -> tuple[float | None, Floats]:
    """Return the AUC, and what each question adds to its deviation from the true one.

    With a positive's placement V10 (share of negatives below it), a negative's V01 (share of
    positives above it), M positives and N negatives, a question's influence is
    `sum (V10 - AUC) / M + sum (V01 - AUC) / N` over its rows, here times sqrt(K / (K - 1)) of K
    questions, so that the sum of their squares is Obuchowski's variance where every question has
    rows of both labels.
    """
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    positive = rows.labels == 1
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return None, np.zeros(rows.n)
    # A rank among all rows less that among rows of the same label counts the others below.
    within = np.empty(len(positive))
    for label in (positive, ~positive):
        within[label] = rankdata(rows.chances[label])
    below = rankdata(rows.chances) - within
    value = float(below[positive].sum() / (m * n))
    parts = np.where(positive, (below / n - value) / m, (1 - below / m - value) / n)
    sums = np.bincount(rows.question, weights=parts, minlength=rows.n).astype(float)
    scaled: Floats = sums * np.sqrt(rows.n / max(rows.n - 1, 1))
    return value, scaled


def brier_sums(questions: Rows) -> Sums:
    """Return per question the sum of squared errors, and the number of rows; None without a row."""
    errors = [[(label - chance) ** 2 for label, chance in _usable(rows)] for rows in questions]
    return [(sum(squares), float(len(squares))) if squares else None for squares in errors]


def ece_sums(questions: Rows) -> Sums:
    """Return per question and bin the sum of correctness minus confidence, and the number of rows.

    Rows at exactly 0.5 decide nothing and are left out. Bins are open on the left: a confidence of
    exactly b / 15 belongs to bin b - 1.
    """
    sums: Sums = []
    for rows in questions:
        columns = [0.0] * (ECE_BINS + 1)
        for label, chance in _usable(rows):
            if chance != 0.5:
                confidence = max(chance, 1 - chance)
                bin_number = math.ceil(confidence * ECE_BINS) - 1
                columns[bin_number] += ((chance > 0.5) == (label == 1)) - confidence
                columns[-1] += 1
        sums.append(tuple(columns) if columns[-1] else None)
    return sums


def ece_of_sums(totals: Floats) -> Floats:
    """Return the expected calibration error from `ece_sums` (Guo et al. 2017, equation 3)."""
    gaps: Floats = np.abs(totals[:, :-1]).sum(axis=1)
    return gaps / totals[:, -1]
