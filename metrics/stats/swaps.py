"""Swap tests: does a score differ between two sides of the same questions?

Rows of one question (verifiability asks about one right and several wrong answers to it) are not
independent, so whole questions change sides; each is reduced to sums over its rows.

Swapping the sides is exact where both sides are alike in everything. Scores can be equal without
that (one side errs on Yes, the other on No); then the difference must be divided by its own
standard error in every swap, and the test is right for many questions, while it stays exact where
the sides are exchangeable (Janssen 1997; Chung & Romano 2013).
"""

from __future__ import annotations

import numpy as np
from xling_metrics.stats.intervals import Score, scored
from xling_metrics.stats.resampling import Floats, Resampler, permutation_p

_STEP = 1e-4


def swap_p(a: Floats, b: Floats, score: Score, draws: Resampler) -> float | None:
    """Two-sided p that a score of sums is equal on both sides, which are alike in all else.

    Args:
        a: A row of sums per question.
        b: The baseline's, over the same questions.
        score: From sums to values.
        draws: Swaps of as many questions.

    Returns:
        A probability in (0, 1]; None without questions or where the difference is undefined.
    """
    if not len(a):
        return None
    observed = np.hstack([a, b]).sum(axis=0, keepdims=True)
    value, baseline = (float(own[0]) for own in _both(score, observed))
    if np.isnan(value - baseline):
        return None
    moved = draws.swapped_totals(b - a)
    swapped = np.subtract(*_both(score, observed + np.hstack([moved, -moved])))
    scale = max(abs(value), abs(baseline))
    return permutation_p(value - baseline, swapped, exact=draws.exact, scale=scale)


def _both(score: Score, sides: Floats) -> tuple[Floats, Floats]:
    """The scores of both sides, whose sums stand beside each other, row by row."""
    half = sides.shape[1] // 2
    return scored(score, sides[:, :half]), scored(score, sides[:, half:])


def studentised_swap_p(a: Floats, b: Floats, score: Score, draws: Resampler) -> float | None:
    """Two-sided p that a score of sums is equal on both sides.

    The statistic is the difference over its linearised standard error (Binder 1983): with the
    score's gradient g at a side's totals and a question's sums x, `sum_i d_i^2 - (sum d_i)^2 / n`
    of `d_i = g_a x_ai - g_b x_bi`, both recomputed in every swap.

    Args:
        a: A row of sums per question.
        b: The baseline's, over the same questions.
        score: From sums to values; smooth where it is defined.
        draws: Swaps of as many questions.

    Returns:
        A probability in (0, 1]; None without questions or where the difference is undefined.
    """
    n = len(a)
    if not n:
        return None
    both = np.hstack([a, b])
    outer = (both[:, :, None] * both[:, None, :]).reshape(n, -1)
    total, squares = both.sum(axis=0, keepdims=True), outer.sum(axis=0)
    unmoved = np.zeros((1, outer.shape[1]))
    observed = float(_statistic(score, total, squares[None], unmoved, both.shape[1])[0])
    if np.isnan(observed):
        return None
    width, statistics = a.shape[1], []
    columns = np.hstack([b - a, outer])
    for swaps in draws.swaps():
        moved = swaps @ columns
        shifted = total + np.hstack([moved[:, :width], -moved[:, :width]])
        own = moved[:, width:]
        statistics.append(_statistic(score, shifted, squares - own, own, both.shape[1]))
    found = np.concatenate(statistics)
    return permutation_p(observed, found, exact=draws.exact, scale=abs(observed))


def _statistic(score: Score, totals: Floats, stayed: Floats, swapped: Floats, width: int) -> Floats:
    """Difference over standard error per row of totals (a swap: A's sums, then B's).

    `stayed` and `swapped` are sums of outer products: of the questions that did not change sides,
    and of those that did. `width` counts the columns of both sides.
    """
    half = width // 2
    sides = np.concatenate([totals[:, :half], totals[:, half:]])
    values, slopes = _with_gradient(score, sides)
    n = len(totals)
    difference = values[:n] - values[n:]
    kept = np.hstack([slopes[:n], -slopes[n:]])
    turned = np.hstack([-slopes[n:], slopes[:n]])
    square = np.zeros(n)
    for slope, products in ((kept, stayed), (turned, swapped)):
        table = products.reshape(-1, width, width)
        square += (slope[:, None, :] @ table @ slope[:, :, None])[:, 0, 0]
    # Scores of ratios have influences that sum to 0, so that nothing is left to subtract.
    return over(difference, np.sqrt(np.maximum(square, 0.0)))


def over(difference: Floats, se: Floats) -> Floats:
    """Difference over standard error: 0 for 0 over 0, infinite for a difference without one."""
    tiny = 1e-12
    ratio: Floats = np.where(np.abs(difference) < tiny, 0.0, np.inf)
    np.divide(difference, se, out=ratio, where=se > tiny)
    return np.where(np.isnan(difference), np.nan, ratio)


def _with_gradient(score: Score, totals: Floats) -> tuple[Floats, Floats]:
    """The score of each row of totals, and its slope along each column by central differences.

    Totals of which a score is a ratio are counts, so a step is small.
    """
    rows, width = totals.shape
    steps = _STEP * np.concatenate([np.zeros((1, width)), np.eye(width), -np.eye(width)])
    moved = (totals[None] + steps[:, None]).reshape(-1, width)
    values = scored(score, moved).reshape(1 + 2 * width, rows)
    slopes = (values[1 : 1 + width] - values[1 + width :]) / (2 * _STEP)
    return values[0], np.nan_to_num(slopes.T)
