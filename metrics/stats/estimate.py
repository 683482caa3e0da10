"""An estimate with its interval and test, and the small functions that every statistic uses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""Coverage of an interval."""

Floats: TypeAlias = NDArray[np.float64]

Score: TypeAlias = Callable[[Floats], Floats]
"""From sums over questions (a row per case) to one value per row, NaN where it is undefined."""


class Estimate(NamedTuple):
    """A number with its interval, test and standard error; what is undefined is None.

    Attributes:
        value: The number.
        ci_low: Lower end of its interval.
        ci_high: Upper end.
        p: Two-sided p of the hypothesis that it is 0; None where nothing is tested.
        se: The standard error that the interval is made with.
        n: Questions that it is over.
        method: A word for how the interval was made.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    se: float | None = None
    n: int = 0
    method: str = "none"


def clip(estimate: Estimate, maximum: float, minimum: float | None = None) -> Estimate:
    """Clip an interval at what is possible; it covers what it covered.

    Args:
        estimate: Of a share, a difference of shares, or a change of such a difference.
        maximum: The most that it can be: 1 for a difference, 2 for its change.
        minimum: The least; -maximum if it is not given.
    """
    if estimate.ci_low is None or estimate.ci_high is None:
        return estimate
    minimum = -maximum if minimum is None else minimum
    return estimate._replace(
        ci_low=max(estimate.ci_low, minimum), ci_high=min(estimate.ci_high, maximum)
    )


def student_estimate(
    value: float, se: float, df: float, n: int, level: float, method: str
) -> Estimate:
    """Return an estimate with Student's interval and the t test that it is 0."""
    from scipy.special import stdtr  # type: ignore[import-untyped]

    half = t_quantile(level, df) * se
    p = float(2 * stdtr(df, -abs(value) / se)) if se else None
    return Estimate(value, value - half, value + half, p, se, n, method)


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """Return the half-width of a normal interval in standard errors: 1.96 for 0.95."""
    from scipy.special import ndtri

    check_level(level)
    return float(ndtri((1 + level) / 2))


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: float) -> float:
    """Return the half-width of Student's interval in standard errors."""
    from scipy.special import stdtrit

    check_level(level)
    return float(stdtrit(df, (1 + level) / 2))


def normal_p(value: float, se: float) -> float:
    """Return the two-sided p of an estimate whose standard error is known."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(value) / se))


def degrees_of_freedom(parts: Floats) -> float:
    """Return the degrees of freedom of a variance that is a sum of squares over questions.

    Satterthwaite's `2 V^2 / var(V)` with var(V) from the fourth powers (Valliant & Rust 2010,
    Journal of Official Statistics 26, 585-602): `2 (sum d^2)^2 / (sum d^4 - (sum d^2)^2 / n)`.
    Where two questions of a hundred make nearly all of the variance, it is known as badly as from
    a few questions.

    Args:
        parts: What each of n questions adds to an estimate's deviation from the truth.

    Returns:
        Between 1 and n - 1.
    """
    n = len(parts)
    squares = np.square(parts)
    total = float(squares.sum())
    spread = float(np.square(squares).sum()) - total**2 / max(n, 1)
    maximum = float(max(n - 1, 1))
    return maximum if spread <= 2 * total**2 / maximum else max(1.0, 2 * total**2 / spread)


def scored(score: Score, totals: Floats) -> Floats:
    """Return the score of every row of sums; NaN where it is no finite number."""
    values: Floats = np.asarray(suppress_warnings(score, totals), dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def score_of(score: Score, sums: Floats) -> float | None:
    """Return the score of the sum of some rows; None where it is undefined."""
    return none_if_nan(scored(score, sums.sum(axis=0, keepdims=True))[0]) if len(sums) else None


def ratio(totals: Floats) -> Floats:
    """Return the first column over the second: a mean of sum and count, or hits of rows."""
    return totals[:, 0] / totals[:, 1]


def check_level(level: float) -> None:
    """Raise ValueError unless a coverage lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def finite_array(values: Sequence[float] | Floats, name: str) -> Floats:
    """Return the values as an array.

    Raises:
        ValueError: If one of them is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        invalid = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite (None for a missing value), got {invalid}")
    return array


def suppress_warnings(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function on input that numpy or scipy may warn of; undefined results are NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **options)


def none_if_nan(value: Any) -> float | None:
    """Return a float, or None for NaN and infinities."""
    return float(value) if np.isfinite(value) else None
