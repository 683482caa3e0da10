"""The cluster bootstrap and its swaps done the slow way: the statistic of all drawn rows, each time."""

from __future__ import annotations

import numpy as np
from xling_metrics.stats.intervals import interval_of_sums, percentile_difference, scored
from xling_metrics.stats.resampling import LEVEL, RESAMPLES, Resampler, permutation_p
from xling_metrics.stats.swaps import swap_p


def interval_by_rows(rows, statistic, *, seed, n_resamples):
    """(value, low, high): whole questions drawn with replacement, as `default_rng(seed)` draws them."""
    clusters = [own for own in rows.values() if own]
    n = len(clusters)
    drawn = np.random.default_rng(seed).integers(0, n, (n_resamples, n))
    scores = [statistic([row for at in one for row in clusters[at]]) for one in drawn]
    return statistic([row for own in clusters for row in own]), *np.quantile(scores, [0.025, 0.975])


def difference_by_rows(values, baseline, statistic, *, seed, n_resamples):
    """(difference, low, high, value, baseline, p): both sides drawn, or swapped, question by question."""
    keys = [key for key, own in baseline.items() if own and values.get(key)]
    a, b = ([side[key] for key in keys] for side in (values, baseline))
    n = len(keys)

    def both(first, second):
        return tuple(statistic([row for own in side for row in own]) for side in (first, second))

    value, base = both(a, b)
    drawn = np.random.default_rng(seed).integers(0, n, (n_resamples, n))
    pairs = np.array([both([a[at] for at in one], [b[at] for at in one]) for one in drawn])
    draws = Resampler(n, seed, n_resamples)
    swapped = [
        both(*zip(*((y, x) if swap else (x, y) for x, y, swap in zip(a, b, swaps))))
        for chunk in draws.swaps()
        for swaps in chunk
    ]
    p = permutation_p(
        value - base, np.subtract(*np.array(swapped).T), exact=draws.exact, scale=max(value, base)
    )
    low, high = np.quantile(pairs[:, 0] - pairs[:, 1], [0.025, 0.975])
    return value - base, low, high, value, base, p


def sums_intervals(sums, scores, *, seed, n_resamples=RESAMPLES, level=LEVEL, pool=None):
    """`interval_of_sums` of questions by name; those without sums are left out and counted."""
    columns = np.array([row for row in sums.values() if row is not None], dtype=float)
    left_out = len(sums) - len(columns)
    chosen = dict(seed=seed, n_resamples=n_resamples, level=level, pool=pool)
    return interval_of_sums(columns, scores, left_out, **chosen)


def difference_by_sums(values, baseline, score, *, seed, n_resamples=RESAMPLES):
    """What `difference_by_rows` tells, from the sums of questions: the way of a report."""
    keys = [key for key, own in baseline.items() if own and values.get(key)]
    a, b = (np.array([side[key] for key in keys], dtype=float) for side in (values, baseline))
    draws = Resampler(len(keys), seed, n_resamples)
    value, base = (float(scored(score, x.sum(axis=0, keepdims=True))[0]) for x in (a, b))
    ends = percentile_difference(a, b, score, draws, LEVEL)
    return value - base, *ends, value, base, swap_p(a, b, score, draws)
