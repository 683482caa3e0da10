"""What so many questions would show: differences, and questions, that are found with some power.

Of scores with a spread of their own, a difference is found where it is as many standard errors as
its test asks for and its power adds. Of shares that is too little: a rare event that becomes less
rare brings its own spread with it, and McNemar's test jumps. There the power is counted out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from xling_metrics.stats.resampling import LEVEL
from xling_metrics.stats.shares import t_quantile

POWER = 0.8
"""How often a difference is to be found."""

_NONE, _STEPS = -1, 12


def detectable_errors(m: int, df: float = 1e9) -> float:
    """Standard errors that are found with `POWER` by one of m tests corrected together.

    `t(1 - (1 - LEVEL) / (2 m)) + z(POWER)`, the first step of `holm`: 2.80, 3.24, 3.61, 3.71 and
    3.92 for 1, 3, 9, 12 and 24 tests whose standard error is known.

    Args:
        m: Tests of a family.
        df: Degrees of freedom of the standard error.

    Raises:
        ValueError: If m is below 1.
    """
    from scipy.stats import norm  # type: ignore[import-untyped]

    if m < 1:
        raise ValueError(f"a family has at least one test, got {m}")
    return t_quantile(1 - (1 - LEVEL) / m, df) + float(norm.ppf(POWER))


class Shares(NamedTuple):
    """Two shares over the same questions, as they were found.

    Attributes:
        n: Questions.
        value: The side's share.
        base: The baseline's.
        spread: Variance of a question's difference, n times that of the mean: more than that of
            questions apart where some of them go together.
    """

    n: int
    value: float
    base: float
    spread: float

    def apart(self, difference: float) -> tuple[float, float]:
        """The shares of questions that go the difference's way, and the other way.

        As many go either way as was found, where the shares are equal; then any answer becomes
        another at random. Where it is rather those that were near to it, more is found than told.
        """
        base = (self.base * self.n + 0.5) / (self.n + 1)  # none of n is no proof of none
        room = 1 - base if difference > 0 else base
        size = min(abs(difference), room)
        either = (self.spread + (self.value - self.base) ** 2) / 2
        other = min(either, base, 1 - base) * (1 - size / room)
        return other + size, other


def share_power(sides: Shares, difference: float, alpha: float) -> float:
    """How often McNemar's mid-p is below alpha, and on the right side, at a true difference.

    Over all numbers of questions that may differ, which are binomial, as is who wins them.

    Args:
        sides: The shares.
        difference: The side's share minus the baseline's.
        alpha: Of one test.
    """
    from scipy.special import bdtr  # type: ignore[import-untyped]
    from scipy.stats import binom

    more, fewer = sides.apart(difference)
    differing = min(1.0, more + fewer)
    if more <= 0:
        return 0.0
    low, high = (int(end) for end in binom.ppf((1e-4, 1 - 1e-4), sides.n, differing))
    counts = np.arange(low, high + 1)
    found = bdtr(_most_lost(1 << high.bit_length(), alpha)[counts], counts, fewer / (more + fewer))
    return float((binom.pmf(counts, sides.n, differing) * np.nan_to_num(found)).sum())


@lru_cache(maxsize=64)
def _most_lost(most: int, alpha: float) -> np.ndarray:
    """How many of 0, 1, ... questions that differ may go the other way for a p below alpha."""
    from scipy.stats import binom

    counts = np.arange(most)
    at = binom.ppf(alpha / 2, counts, 0.5)
    mid = binom.cdf(at - 1, counts, 0.5) + binom.pmf(at, counts, 0.5) / 2
    lost: np.ndarray = np.where(mid < alpha / 2, at, at - 1)
    lost[0] = _NONE
    return lost


def detectable_share(sides: Shares, alpha: float, *, up: bool) -> float | None:
    """The smallest difference of shares that is found with `POWER`, above 0.

    Args:
        sides: The shares as they were found.
        alpha: Of one test; of the first of m by `holm`, a level's share over m.
        up: Whether the side has more than the baseline.

    Returns:
        The difference's size; None where not even the largest that there can be is found.
    """
    sign, high = (1, 1 - sides.base) if up else (-1, sides.base)
    if high <= 0 or share_power(sides, sign * high, alpha) < POWER:
        return None
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        found = share_power(sides, sign * middle, alpha) >= POWER
        low, high = (low, middle) if found else (middle, high)
    return high


def questions_for_share(sides: Shares, difference: float, alpha: float) -> float:
    """How many questions find a difference of shares with `POWER`, by the normal distribution.

    With d the share of questions that differ (Connor 1987, Biometrics 43, 207-211): `(z(alpha)
    sqrt(d) + z(POWER) sqrt(d - difference^2))^2 / difference^2`.
    """
    from scipy.stats import norm

    differing = sum(sides.apart(difference))
    errors = norm.isf(alpha / 2) * differing**0.5
    errors += norm.ppf(POWER) * max(0.0, differing - difference**2) ** 0.5
    return float(errors / difference) ** 2
