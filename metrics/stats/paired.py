"""Paired comparison of per-question values: the same questions in two languages or two models."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from xling_metrics.stats.jackknife import t_interval
from xling_metrics.stats.resampling import (
    LEVEL,
    RESAMPLES,
    Floats,
    Resampler,
    ResamplerPool,
    check_level,
    finite_array,
    number,
    permutation_p,
    quietly,
    resampler_of,
)

K = TypeVar("K", bound=Hashable)

_DIGITS = 12


@dataclass(frozen=True)
class PairedDifference:
    """How values differ from a baseline on the same questions; every test is two-sided.

    The sign is always values minus baseline: with English as the baseline, a negative difference
    is a language that scores lower than English.

    Attributes:
        difference: Mean of the per-question differences; None without a pair.
        low: Lower end of its Student interval; None with fewer than two pairs.
        high: Its upper end; None with fewer than two pairs.
        mean_values: Mean of the values over the pairs.
        mean_baseline: Mean of the baseline over the pairs.
        n: Pairs: questions with a number on both sides.
        left_out: Questions of either side that are no pair.
        p_permutation: Sign-flip test of the mean difference; None without a pair.
        exact: Whether that went through all 2^n sign patterns (up to 14 pairs).
        p_wilcoxon: Wilcoxon signed-rank test (scipy; pairs that tie dropped); None if all tie.
        d_z: Cohen's d_z, mean over standard deviation (ddof 1) of the differences (Cohen 1988,
            2.3.5); None with fewer than two pairs or without spread.
        rank_biserial: Matched-pairs rank-biserial correlation, (R+ - R-) / (R+ + R-) of the sums
            of signed ranks (Kerby 2014); in [-1, 1]; None if all pairs tie.
        wins: Share of pairs with the value above the baseline; None without a pair.
        ties: Share of pairs with both equal, up to rounding.
        losses: Share of pairs with the value below the baseline.
        level: Coverage of the interval.
        seed: Seed of permutations that are not exact.
        n_resamples: Permutations unless exact.
    """

    difference: float | None
    low: float | None
    high: float | None
    mean_values: float | None
    mean_baseline: float | None
    n: int
    left_out: int
    p_permutation: float | None
    exact: bool
    p_wilcoxon: float | None
    d_z: float | None
    rank_biserial: float | None
    wins: float | None
    ties: float | None
    losses: float | None
    level: float
    seed: int
    n_resamples: int


def paired_difference(
    values: Mapping[K, float | None],
    baseline: Mapping[K, float | None],
    *,
    seed: int,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
    pool: ResamplerPool | None = None,
) -> PairedDifference:
    """Mean difference over the questions that both sides have, interval, tests, effect sizes.

    The interval is Student's of the per-question differences; permutations work on questions
    (Efron & Tibshirani 1993, chapter 15).
    The permutation p is the share of sign patterns whose mean difference is at least as far from
    zero: of all 2^n for up to 14 pairs, else of a seeded sample with (1 + b) / (1 + N). Wilcoxon's
    p is `scipy.stats.wilcoxon` (method "auto") on the pairs that do not tie.

    Args:
        values: Question to value, for example of one language; None where there is none.
        baseline: The same of what it is compared with, for example English.
        seed: Seed of permutations that are not exact.
        n_resamples: How many permutations.
        level: Coverage of the interval.
        pool: Draws to share with other calls.

    Returns:
        The comparison; what is undefined in it is None.

    Raises:
        ValueError: If a value is not finite, or `level`, `seed` or `n_resamples` is impossible.
    """
    check_level(level)
    a, b, left_out = _pairs(values, baseline)
    n = len(a)
    differences = a - b
    draws = resampler_of(pool, max(n, 1), seed, n_resamples)
    ends = t_interval(differences, level)
    rounded = _rounded(a, b)
    return PairedDifference(
        difference=_mean(differences),
        low=ends.low,
        high=ends.high,
        mean_values=_mean(a),
        mean_baseline=_mean(b),
        n=n,
        left_out=left_out,
        p_permutation=sign_flip_p(differences, draws),
        exact=draws.exact,
        d_z=_d_z(rounded),
        level=level,
        seed=seed,
        n_resamples=n_resamples,
        **_signs(rounded),
    )


def wins_ties_losses(
    values: Mapping[K, float | None], baseline: Mapping[K, float | None]
) -> tuple[int, int, int] | None:
    """On how many questions of both sides the value is higher, equal or lower; None without any.

    Raises:
        ValueError: If a value is not finite.
    """
    differences = _rounded(*_pairs(values, baseline)[:2])
    if not len(differences):
        return None
    wins, losses = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    return wins, len(differences) - wins - losses, losses


_ALL_SIGNS = 13
"""Up to so many pairs scipy tries all signs where ranks tie."""


def _signs(differences: Floats) -> dict[str, float | None]:
    """What depends on signs and ranks of the differences only."""
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    n = len(differences)
    told: dict[str, float | None] = {"p_wilcoxon": None, "rank_biserial": None}
    for name, sign in (("wins", 1), ("ties", 0), ("losses", -1)):
        told[name] = float(np.mean(np.sign(differences) == sign)) if n else None
    untied = differences[differences != 0]
    if len(untied):
        ranks = rankdata(np.abs(untied)) * np.sign(untied)
        biserial = float(ranks.sum() / np.abs(ranks).sum())
        told |= {"p_wilcoxon": _wilcoxon_p(untied, ranks), "rank_biserial": biserial}
    return told


def _wilcoxon_p(untied: Floats, ranks: Floats) -> float | None:
    """Scipy's p; its test of all signs, for few pairs of which some tie, takes it half a second."""
    from scipy.stats import wilcoxon

    n, sizes = len(untied), np.abs(ranks)
    if n > _ALL_SIGNS or len(np.unique(sizes)) == n:
        return number(quietly(wilcoxon, untied).pvalue)
    sums = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) @ sizes
    plus = sizes[ranks > 0].sum()
    return min(1.0, 2 * float(min(np.mean(sums <= plus), np.mean(sums >= plus))))


def _pairs(
    values: Mapping[K, float | None], baseline: Mapping[K, float | None]
) -> tuple[Floats, Floats, int]:
    pairs = []
    for question, reference in baseline.items():
        value = values.get(question)
        if value is not None and reference is not None:
            pairs.append((value, reference))
    left_out = len(values.keys() | baseline.keys()) - len(pairs)
    return (
        finite_array([value for value, _ in pairs], "values"),
        finite_array([reference for _, reference in pairs], "baseline"),
        left_out,
    )


def _rounded(a: Floats, b: Floats) -> Floats:
    """Differences without rounding noise, so that 0.3 - 0.1 ties with 0.2.

    The unit is a power of two, which scales exactly.
    """
    largest = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    if largest == 0:
        return a - b
    unit = 2.0 ** np.ceil(np.log2(largest))
    rounded: Floats = np.round((a - b) / unit, _DIGITS) * unit
    return rounded


def sign_flip_p(differences: Floats, draws: Resampler) -> float | None:
    """The p of the sign-flip test of a mean; see `paired_difference`. None without a pair."""
    if not len(differences):
        return None
    total = float(differences.sum())
    flipped = total - 2 * draws.swapped_totals(differences[:, None])[:, 0]
    # Rounding is relative to the differences, not to sums that may cancel.
    scale = float(np.abs(differences).sum())
    return permutation_p(total, flipped, exact=draws.exact, scale=scale)


def _d_z(differences: Floats) -> float | None:
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    return float(differences.mean() / differences.std(ddof=1))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
