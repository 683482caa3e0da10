"""ROC AUC of rows in questions, with DeLong's variance over questions.

AUC is the share of (positive, negative) pairs of rows in the right order, ties counted half. Rows
of a question go together, so that its variance is over questions (Obuchowski 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from xling_metrics.stats.estimate import LEVEL, Estimate, Floats, t_quantile
from xling_metrics.stats.jackknife import student
from xling_metrics.stats.proportions import wilson

K = TypeVar("K", bound=Hashable)
Rows = Mapping[K, Sequence[tuple[int, float | None]]]
"""Question -> its rows (label 0 or 1, probability of 1 or None, which is left out)."""


class GroupedRows(NamedTuple):
    """Rows as arrays, and which question each is of.

    Attributes:
        labels: 0 or 1 per row.
        chances: Probability of 1 per row.
        owner: Number of its question per row.
        n: Questions.
    """

    labels: np.ndarray
    chances: np.ndarray
    owner: np.ndarray
    n: int


def rows_of(rows: Rows[K], keys: Sequence[K] | None = None) -> GroupedRows:
    """Return the usable rows of some questions in their order, or of all that have any."""
    keys = [key for key in rows if _usable(rows[key])] if keys is None else keys
    usable = [(*row, position) for position, key in enumerate(keys) for row in _usable(rows[key])]
    labels, chances, owner = np.array(usable, dtype=float).reshape(-1, 3).T
    return GroupedRows(labels, chances, owner.astype(int), len(keys))


def shared_questions(values: Rows[K], baseline: Rows[K]) -> list[K]:
    """Return the questions with a usable row in both, in the baseline's order."""
    return [key for key in baseline if _usable(baseline[key]) and _usable(values.get(key, ()))]


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
    found = [(sign, *influences(rows)) for sign, rows in groups]
    n = groups[0][1].n
    if any(value is None for _, value, _ in found):
        return Estimate(None, n=n, method="delong")
    value = sum(sign * (influence or 0.0) for sign, influence, _ in found)
    parts = np.sum([sign * influence for sign, _, influence in found], axis=0)
    return student(value, parts, n - 1, level)._replace(method="delong")


def influences(rows: GroupedRows) -> tuple[float | None, Floats]:
    """Return the AUC, and what each question adds to its deviation from the true one.

    With a positive's placement V10 (share of negatives below it), a negative's V01 (share of
    positives above it), M positives and N negatives, a question's influence is
    `sum (V10 - AUC) / M + sum (V01 - AUC) / N` over its rows, here times sqrt(K / (K - 1)) of K
    questions, so that the sum of their squares is Obuchowski's variance where every question has
    rows of both labels.
    """
    positive = rows.labels == 1
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return None, np.zeros(rows.n)
    # A rank among all rows less that among rows of the same label counts the others below.
    within = np.empty(len(positive))
    within[positive] = _mid_ranks(rows.chances[positive])
    within[~positive] = _mid_ranks(rows.chances[~positive])
    below = _mid_ranks(rows.chances) - within
    value = float(below[positive].sum() / (m * n))
    parts = np.where(positive, (below / n - value) / m, (1 - below / m - value) / n)
    sums = np.bincount(rows.owner, weights=parts, minlength=rows.n).astype(float)
    scaled: Floats = sums * np.sqrt(rows.n / max(rows.n - 1, 1))
    return value, scaled


def _mid_ranks(values: np.ndarray) -> Floats:
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    return np.asarray(rankdata(values), dtype=np.float64)
