"""Values per question on two sides of the same questions: differences, tests and effect sizes.

The sign is always values minus baseline: with English as the baseline, what is negative is a
language that scores lower than English.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from xling_metrics.stats.jackknife import t_interval
from xling_metrics.stats.resampling import (
    LEVEL,
    Floats,
    Resampler,
    finite_array,
    number,
    permutation_p,
    quietly,
)

K = TypeVar("K", bound=Hashable)

_DIGITS = 12


def sign_flip_p(differences: Floats, draws: Resampler) -> float | None:
    """Two-sided p that the mean of per-question differences is 0.

    The share of sign patterns whose mean is at least as far from zero: of all 2^n for up to 14
    questions, else of a seeded sample with (1 + b) / (1 + N) (Efron & Tibshirani 1993, chapter 15).

    Returns:
        A probability in (0, 1]; None without a question.
    """
    if not len(differences):
        return None
    total = float(differences.sum())
    flipped = total - 2 * draws.swapped_totals(differences[:, None])[:, 0]
    # Rounding is relative to the differences, not to sums that may cancel.
    scale = float(np.abs(differences).sum())
    return permutation_p(total, flipped, exact=draws.exact, scale=scale)


@dataclass(frozen=True)
class PairedDifference:
    """How values differ from a baseline on the same questions; what is undefined is None.

    Attributes:
        difference: Mean of the per-question differences.
        low: Lower end of its Student interval; None with fewer than two questions.
        high: Its upper end.
        mean_values: Mean of the values.
        mean_baseline: Mean of the baseline.
        n: Questions.
        left_out: Questions that one side lacks, where they are known: 0 as made here.
        p_permutation: See `sign_flip_p`.
        exact: Whether that went through all 2^n sign patterns (up to 14 questions).
        p_wilcoxon: Wilcoxon's signed-rank test, two-sided (scipy, method "auto"; questions that tie
            dropped); None if all tie.
        d_z: Cohen's d_z, mean over standard deviation (ddof 1) of the differences (Cohen 1988,
            2.3.5); None with fewer than two questions or without spread.
        rank_biserial: Matched-pairs rank-biserial correlation, (R+ - R-) / (R+ + R-) of the sums
            of signed ranks (Kerby 2014); in [-1, 1]; None if all tie.
        wins: Share of questions with the value above the baseline.
        ties: Share of questions with both equal, up to rounding.
        losses: Share of questions with the value below the baseline.
        level: Coverage of the interval.
        seed: Seed of sign patterns that are not all.
        n_resamples: Their number.
    """

    difference: float
    low: float | None
    high: float | None
    mean_values: float
    mean_baseline: float
    n: int
    left_out: int
    p_permutation: float | None
    exact: bool
    p_wilcoxon: float | None
    d_z: float | None
    rank_biserial: float | None
    wins: float
    ties: float
    losses: float
    level: float
    seed: int
    n_resamples: int


def paired_difference(
    values: Floats, baseline: Floats, draws: Resampler, level: float = LEVEL
) -> PairedDifference:
    """Mean difference of values from a baseline's of the same questions, tests, effect sizes.

    Raises:
        ValueError: If a value is not finite, or `level` is impossible.
    """
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    a, b = finite_array(values, "values"), finite_array(baseline, "baseline")
    ends, rounded = t_interval(a - b, level), _rounded(a, b)
    p = biserial = None
    untied = rounded[rounded != 0]
    if len(untied):
        ranks = rankdata(np.abs(untied)) * np.sign(untied)
        p, biserial = _wilcoxon_p(untied, ranks), float(ranks.sum() / np.abs(ranks).sum())
    wins, ties, losses = (float(np.mean(np.sign(rounded) == sign)) for sign in (1, 0, -1))
    return PairedDifference(
        difference=float((a - b).mean()),
        low=ends.low,
        high=ends.high,
        mean_values=float(a.mean()),
        mean_baseline=float(b.mean()),
        n=len(a),
        left_out=0,
        p_permutation=sign_flip_p(a - b, draws),
        exact=draws.exact,
        p_wilcoxon=p,
        d_z=_d_z(rounded),
        rank_biserial=biserial,
        wins=wins,
        ties=ties,
        losses=losses,
        level=level,
        seed=draws.seed,
        n_resamples=draws.n_resamples,
    )


def wins_ties_losses(
    values: Mapping[K, float | None], baseline: Mapping[K, float | None]
) -> tuple[int, int, int] | None:
    """On how many questions of both sides the value is higher, equal or lower; None without any.

    Raises:
        ValueError: If a value is not finite.
    """
    pairs = [(values.get(key), other) for key, other in baseline.items()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    both = finite_array(np.array(known), "values").reshape(-1, 2)
    if not len(both):
        return None
    differences = _rounded(both[:, 0], both[:, 1])
    wins, losses = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    return wins, len(differences) - wins - losses, losses


_ALL_SIGNS = 13
"""Up to so many pairs scipy tries all signs where ranks tie."""


def _wilcoxon_p(untied: Floats, ranks: Floats) -> float | None:
    """Scipy's p; its test of all signs, for few pairs of which some tie, takes it half a second."""
    from scipy.stats import wilcoxon

    n, sizes = len(untied), np.abs(ranks)
    if n > _ALL_SIGNS or len(np.unique(sizes)) == n:
        return number(quietly(wilcoxon, untied).pvalue)
    sums = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) @ sizes
    plus = sizes[ranks > 0].sum()
    return min(1.0, 2 * float(min(np.mean(sums <= plus), np.mean(sums >= plus))))


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


def _d_z(differences: Floats) -> float | None:
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    return float(differences.mean() / differences.std(ddof=1))
