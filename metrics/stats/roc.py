"""ROC AUC of rows in questions: DeLong's variance over questions, and a swap test on ranks.

AUC is the share of (positive, negative) pairs of rows in the right order, ties counted half. Rows
of a question go together, so that its variance is over questions (Obuchowski 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from xling_metrics.stats.resampling import LEVEL, Floats, Resampler, permutation_p
from xling_metrics.stats.shares import Range, student_range, t_quantile, wilson
from xling_metrics.stats.swaps import over

K = TypeVar("K", bound=Hashable)
Rows = Mapping[K, Sequence[tuple[int, float | None]]]
"""Question -> its rows (label 0 or 1, probability of 1 or None, which is left out)."""

_CHUNK = 1 << 19


class RowsOf(NamedTuple):
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


def rows_of(rows: Rows[K], keys: Sequence[K] | None = None) -> RowsOf:
    """The usable rows of some questions, in their order; of all that have any without `keys`."""
    keys = [key for key in rows if _usable(rows[key])] if keys is None else keys
    usable = [(*row, at) for at, key in enumerate(keys) for row in _usable(rows[key])]
    labels, chances, owner = np.array(usable, dtype=float).reshape(-1, 3).T
    return RowsOf(labels, chances, owner.astype(int), len(keys))


def shared_questions(values: Rows[K], baseline: Rows[K]) -> list[K]:
    """The questions with a usable row on both sides, in the baseline's order."""
    return [key for key in baseline if _usable(baseline[key]) and _usable(values.get(key, ()))]


def _usable(rows: Sequence[tuple[int, float | None]]) -> list[tuple[int, float]]:
    return [(label, chance) for label, chance in rows if chance is not None]


def auc_interval(rows: RowsOf, level: float = LEVEL) -> Range:
    """ROC AUC with its interval over questions: DeLong's on the logit, by Student's quantile.

    Variance: Obuchowski (1997), see `influences`. `logit(AUC) -+ t se / (AUC (1 - AUC))` (Pepe
    2003, section 5.2). An AUC of 0 or 1 has no variance; there it is Wilson's interval with each
    question as one draw.

    Returns:
        The AUC; None without rows of both labels, no ends for fewer than two questions.
    """
    value, parts = influences(rows)
    n = rows.n
    if value is None or n < 2:
        return Range(value, None, None, None, None, n, "delong")
    se = float(np.sqrt(n / (n - 1) * (parts**2).sum()))
    if not 0 < value < 1:
        low, high = wilson(value * n, n, level)
        return Range(value, low, high, None, se, n, "wilson")
    half = t_quantile(level, n - 1) * se / (value * (1 - value))
    low, high = (1 / (1 + np.exp(-(np.log(value / (1 - value)) + sign * half))) for sign in (-1, 1))
    return Range(value, float(low), float(high), None, se, n, "delong")


def auc_difference(values: RowsOf, baseline: RowsOf, level: float = LEVEL) -> Range:
    """AUC minus a baseline's over the same questions: DeLong's interval over questions.

    The variance of the difference takes both sides of a question together (DeLong, DeLong &
    Clarke-Pearson 1988 for rows; Obuchowski 1997 for questions with several).
    """
    (a, own), (b, other) = influences(values), influences(baseline)
    n = values.n
    if a is None or b is None:
        return Range(None, None, None, None, None, n, "delong")
    if n < 2:
        return Range(a - b, None, None, None, None, n, "delong")
    se = float(np.sqrt(n / (n - 1) * ((own - other) ** 2).sum()))
    return student_range(a - b, se, n - 1, n, level, "delong")


def auc_swap_p(values: RowsOf, baseline: RowsOf, draws: Resampler) -> float | None:
    """Two-sided p that two AUCs over the same questions are equal.

    Before sides change, each side's probabilities become ranks over all of its rows (Venkatraman &
    Begg 1996), so that a side whose probabilities are higher throughout does not look different;
    and in every swap the difference is divided by its standard error (Chung & Romano 2013), so that
    ROC curves of different shapes with equal areas do not either.

    Args:
        values: The rows.
        baseline: Those of the same questions that they are compared with.
        draws: Swaps of as many questions.

    Returns:
        A probability in (0, 1]; None where an AUC is undefined.
    """
    sides = [_ranked(side) for side in (values, baseline)]
    if any(len(np.unique(side.labels)) < 2 for side in sides):
        return None
    table = _Table(sides)
    observed = float(table.statistics(np.zeros((1, values.n)))[0])
    swapped = np.concatenate([table.statistics(swaps) for swaps in draws.swaps()])
    return permutation_p(observed, swapped, exact=draws.exact, scale=abs(observed))


def influences(rows: RowsOf) -> tuple[float | None, Floats]:
    """The AUC, and what each question adds to its deviation from the true one.

    With a positive's placement V10 (share of negatives below it), a negative's V01 (share of
    positives above it), M positives and N negatives, a question's influence is
    `sum (V10 - AUC) / M + sum (V01 - AUC) / N` over its rows. K / (K - 1) times the sum of their
    squares is Obuchowski's variance where every question has rows of both labels.
    """
    positive = rows.labels == 1
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return None, np.zeros(rows.n)
    # A rank among all rows less that among rows of the own label counts the others below.
    place = _mid_ranks(rows.chances)
    own = np.empty(len(place))
    own[positive] = _mid_ranks(rows.chances[positive])
    own[~positive] = _mid_ranks(rows.chances[~positive])
    below = place - own
    value = float(below[positive].sum() / (m * n))
    parts = np.where(positive, (below / n - value) / m, (1 - below / m - value) / n)
    own_parts: Floats = np.bincount(rows.owner, weights=parts, minlength=rows.n).astype(float)
    return value, own_parts


def _mid_ranks(values: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    return np.asarray(rankdata(values), dtype=np.float64)


def _ranked(rows: RowsOf) -> RowsOf:
    """Ranks over all rows, as shares so that sides of different sizes are alike."""
    return rows._replace(chances=_mid_ranks(rows.chances) / (len(rows.chances) + 1))


class _Table:
    """The rows of two sides in order, for the AUCs of any mixture of their questions."""

    def __init__(self, sides: Sequence[RowsOf]) -> None:
        self.n = sides[0].n
        labels, chances = (np.concatenate([s[i] for s in sides]) for i in (0, 1))
        owner = np.concatenate([side.owner + at * self.n for at, side in enumerate(sides)])
        higher, lower = ((chances[own], owner[own]) for own in (labels == 1, labels != 1))
        self.positives, self.negatives = (
            np.bincount(own, minlength=2 * self.n).astype(float) for _, own in (higher, lower)
        )
        # Of each question: chosen negatives below its positives, and positives above its negatives.
        self.sums = (
            _Below(higher, lower, 2 * self.n),
            _Below((-lower[0], lower[1]), (-higher[0], higher[1]), 2 * self.n),
        )
        self.of_all = [sums.of(np.ones((1, 2 * self.n))) for sums in self.sums]
        self.step = max(1, _CHUNK // max(2 * self.n, len(labels)))

    def statistics(self, swaps: Floats) -> Floats:
        """Difference of AUCs over its standard error, per row of swaps."""
        starts = range(0, len(swaps), self.step)
        return np.concatenate([self._of(swaps[at : at + self.step]) for at in starts])

    def _of(self, swaps: Floats) -> Floats:
        chosen = np.hstack([1 - swaps, swaps])
        sums = [item.of(chosen) for item in self.sums]
        first, own = self._side(chosen, sums, swaps)
        rest = [total - part for total, part in zip(self.of_all, sums, strict=True)]
        second, other = self._side(1 - chosen, rest, 1 - swaps)
        se = np.sqrt(self.n / max(self.n - 1, 1) * ((own - other) ** 2).sum(axis=1))
        return over(first - second, se)

    def _side(self, chosen: Floats, sums: Sequence[Floats], swaps: Floats) -> tuple[Floats, Floats]:
        """The AUC of the questions chosen from the two sides, and their influences."""
        m, n = (chosen @ counts for counts in (self.positives, self.negatives))
        above, below = sums
        with np.errstate(all="ignore"):
            value = (chosen * above).sum(axis=1) / (m * n)
            parts = (above + below) / (m * n)[:, None] - value[:, None] * (
                self.positives / m[:, None] + self.negatives / n[:, None]
            )
        half = self.n
        return value, parts[:, :half] * (1 - swaps) + parts[:, half:] * swaps


class _Below:
    """How many rows lie below others, ties half, where only some questions' rows are chosen.

    Rows are put in order once, and counted by running sums: time and memory grow with the rows,
    not with their pairs. Counts of halves are exact in floating point. `upper` has chance and
    question of the rows that are compared, `lower` of those that are counted.
    """

    def __init__(
        self, upper: tuple[Floats, np.ndarray], lower: tuple[Floats, np.ndarray], size: int
    ) -> None:
        order, together = np.argsort(lower[0]), np.argsort(upper[1], kind="stable")
        self.owner = lower[1][order]
        self.left, self.right = (
            np.searchsorted(lower[0][order], upper[0][together], side) for side in ("left", "right")
        )
        self.stops = np.concatenate([[0], np.cumsum(np.bincount(upper[1], minlength=size))])

    def of(self, chosen: Floats) -> Floats:
        """Sums by question of the compared rows, over the chosen ones below (a row per case)."""
        there = _running(chosen[:, self.owner])
        below = _running((there[:, self.left] + there[:, self.right]) / 2)
        return below[:, self.stops[1:]] - below[:, self.stops[:-1]]


def _running(table: Floats) -> Floats:
    """Sums of each row up to every place, from 0."""
    sums = np.zeros((len(table), table.shape[1] + 1))
    np.cumsum(table, axis=1, out=sums[:, 1:])
    return sums
