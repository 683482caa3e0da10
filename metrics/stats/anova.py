"""Tests of XLingEval over per-question values of languages: ANOVA, Tukey's HSD, unpaired t.

They treat the languages' values as independent samples, each over the questions that its language
has scores for (XLingEval, D.2, and its `consistency/statistical_test.py`). A difference is mean of
the second language minus mean of the first, as in statsmodels' `pairwise_tukeyhsd` and the tables
of XLingEval (`scipy.stats.tukey_hsd` has first minus second): with English first, a negative
difference is a language that scores lower than English.

A language with fewer than two values has no spread and is in no test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from xling_metrics.stats.estimate import (
    LEVEL,
    Floats,
    check_level,
    finite_array,
    none_if_nan,
    suppress_warnings,
)

_ROUNDING = 1e-12


class Anova(NamedTuple):
    """One-way analysis of variance (Fisher 1925); `scipy.stats.f_oneway`.

    Attributes:
        f: Variance between groups over variance within; at least 0. None with fewer than two
            groups of two values, or where no group varies.
        p: Probability of an F at least as high if all means are equal; None where f is.
        df_between: Groups compared minus 1; None with fewer than two.
        df_within: Their values minus the number of groups; None with fewer than two groups.
    """

    f: float | None = None
    p: float | None = None
    df_between: int | None = None
    df_within: int | None = None


class PairTest(NamedTuple):
    """Two languages: Tukey's honestly significant difference, and Student's unpaired t test.

    Attributes:
        first: One language.
        second: The other.
        difference: Mean of the second minus mean of the first; None if either is empty.
        tukey_low: Lower end of Tukey's simultaneous interval (Tukey-Kramer if sizes differ).
        tukey_high: Upper end.
        tukey_p: Two-sided, adjusted for all pairs; None if either has fewer than two values, or
            where no group varies.
        t: The t statistic with the sign of the difference (XLingEval's tables have the opposite
            one); None if either has fewer than two values, or where neither varies.
        df: Degrees of freedom (n1 + n2 - 2); None where t is.
        t_p: p of the t test, not adjusted; None where t is.
    """

    first: str
    second: str
    difference: float | None = None
    tukey_low: float | None = None
    tukey_high: float | None = None
    tukey_p: float | None = None
    t: float | None = None
    df: float | None = None
    t_p: float | None = None


class GroupComparison(NamedTuple):
    """All tests over one metric's values; pairs are in the order of the groups.

    `n` are values per group; the mean of an empty group is None.
    """

    n: dict[str, int]
    means: dict[str, float | None]
    anova: Anova
    pairs: tuple[PairTest, ...]


def compare_groups(
    groups: Mapping[str, Sequence[float | None]], *, level: float = LEVEL
) -> GroupComparison:
    """Return all tests over the values of several languages; what is undefined in them is None.

    Args:
        groups: Language to per-question values; None is left out.
        level: Coverage of Tukey's intervals.

    Raises:
        ValueError: If a value is not finite or `level` is not between 0 and 1.
    """
    from scipy.stats import f_oneway  # type: ignore[import-untyped]

    check_level(level)
    arrays = {
        name: finite_array([value for value in values if value is not None], name)
        for name, values in groups.items()
    }
    n = {name: len(values) for name, values in arrays.items()}
    means = {name: float(array.mean()) if n[name] else None for name, array in arrays.items()}
    compared = [values for values in arrays.values() if len(values) > 1]
    anova = Anova()
    if len(compared) > 1:
        f = p = None
        if _varies(*compared):
            f, p = map(none_if_nan, suppress_warnings(f_oneway, *compared))
        anova = Anova(f, p, len(compared) - 1, sum(map(len, compared)) - len(compared))
    return GroupComparison(n, means, anova, tuple(_test_pairs(arrays, level)))


def _test_pairs(arrays: Mapping[str, Floats], level: float) -> Iterator[PairTest]:
    """Yield each pair with both tests.

    Tukey's p-values and intervals equal those of `scipy.stats.tukey_hsd`, which integrates again
    for either direction of a pair, and for every group with itself; here each integral is cached.
    """
    from scipy.stats import ttest_ind

    compared = {name: values for name, values in arrays.items() if len(values) > 1}
    has_tukey = len(compared) > 1 and _varies(*compared.values())
    df = sum(len(values) - 1 for values in compared.values())
    squares = sum(float(np.var(values, ddof=1)) * (len(values) - 1) for values in compared.values())
    for first, second in combinations(arrays, 2):
        a, b = arrays[first], arrays[second]
        pair = PairTest(first, second, float(b.mean() - a.mean()) if len(a) and len(b) else None)
        if has_tukey and {first, second} <= compared.keys() and pair.difference is not None:
            se = float(np.sqrt((1 / len(a) + 1 / len(b)) * squares / df / 2))
            half = _tukey_quantile(level, len(compared), df) * se
            pair = pair._replace(
                tukey_low=pair.difference - half,
                tukey_high=pair.difference + half,
                tukey_p=none_if_nan(_tukey_tail(abs(pair.difference) / se, len(compared), df)),
            )
        if min(len(a), len(b)) > 1 and _varies(a, b):
            t, p = map(none_if_nan, suppress_warnings(ttest_ind, b, a))
            pair = pair._replace(t=t, df=None if t is None else float(len(a) + len(b) - 2), t_p=p)
        yield pair


def _varies(*arrays: Floats) -> bool:
    """Return whether any group has two values that differ by more than rounding."""
    largest = max(float(np.abs(values).max()) for values in arrays)
    return any(float(np.ptp(values)) > _ROUNDING * largest for values in arrays)


@lru_cache(maxsize=256)
def _tukey_quantile(level: float, groups: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, groups, df))


@lru_cache(maxsize=4096)
def _tukey_tail(studentized: float, groups: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(suppress_warnings(studentized_range.sf, studentized, groups, df))
