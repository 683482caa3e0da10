"""Tests of XLingEval over per-question values of languages: ANOVA, Tukey's HSD, unpaired t.

They treat the languages' values as independent samples, although the questions are the same:
`paired` uses that and sees smaller differences. Signs: a difference is mean of the second language
minus mean of the first, as in statsmodels' `pairwise_tukeyhsd` and the tables of XLingEval
(`scipy.stats.tukey_hsd` has first minus second). With English first, a negative difference is a
language that scores lower than English.

A language with fewer than two values has no spread of its own and is in no test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.resampling import LEVEL, Floats, check_level, finite_array, number, quietly

_ROUNDING = 1e-12

Groups = Mapping[str, Sequence[float | None]]
"""Language to its per-question values; None where a question has none."""


class Anova(NamedTuple):
    """One-way analysis of variance (Fisher 1925); `scipy.stats.f_oneway`.

    Attributes:
        f: Variance between groups over variance within; at least 0. None with fewer than two
            groups of two values, or where no group varies.
        p: Probability of an F at least as high if all means are equal; None where f is.
        df_between: Groups compared minus 1; None with fewer than two.
        df_within: Their values minus the number of groups; None with fewer than two groups.
        groups: The groups compared, in the order given.
    """

    f: float | None
    p: float | None
    df_between: int | None
    df_within: int | None
    groups: tuple[str, ...]


class TukeyPair(NamedTuple):
    """One pair of Tukey's honestly significant difference (Tukey-Kramer if sizes differ).

    Attributes:
        difference: Mean of the second group minus mean of the first; None if either is empty.
        low, high: Ends of its simultaneous confidence interval; None where p is.
        p: Two-sided, adjusted for all pairs; None if either has fewer than two values, or where
            no group varies.
    """

    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None


class TTest(NamedTuple):
    """One unpaired two-sided t test (Student's), not adjusted for the number of pairs.

    Attributes:
        difference: Mean of the second group minus mean of the first; None if either is empty.
        t: The statistic, with the sign of the difference (XLingEval's tables have the opposite
            one); None if either has fewer than two values, or where neither varies.
        df: Degrees of freedom (n1 + n2 - 2); None where t is.
        p: The p-value; None where t is.
    """

    first: str
    second: str
    difference: float | None
    t: float | None
    df: float | None
    p: float | None


class GroupComparison(NamedTuple):
    """All tests over one metric's values; pairs are in the order of the groups.

    `n` are values per group; the mean of an empty group is None.
    """

    n: dict[str, int]
    means: dict[str, float | None]
    anova: Anova
    tukey: tuple[TukeyPair, ...]
    t_tests: tuple[TTest, ...]


def compare_groups(groups: Groups, *, level: float = LEVEL) -> GroupComparison:
    """All tests that XLingEval makes (its `consistency/statistical_test.py`).

    XLingEval keeps only questions with a value in every language: pass `complete_cases(groups)`
    for the same. Otherwise each language keeps what it has.

    Args:
        groups: Language to per-question values; None is left out.
        level: Coverage of Tukey's intervals.

    Returns:
        The tests; what is undefined in them is None.

    Raises:
        ValueError: If a value is not finite or `level` is not between 0 and 1.
    """
    check_level(level)
    arrays = {
        name: finite_array([value for value in values if value is not None], name)
        for name, values in groups.items()
    }
    return GroupComparison(
        n={name: len(values) for name, values in arrays.items()},
        means={name: float(own.mean()) if len(own) else None for name, own in arrays.items()},
        anova=_anova(_comparable(arrays)),
        tukey=tuple(_tukey(arrays, level)),
        t_tests=tuple(_t_test(arrays, *pair) for pair in combinations(arrays, 2)),
    )


def complete_cases(groups: Groups) -> dict[str, list[float | None]]:
    """The same groups without the positions at which any of them has no value.

    Raises:
        ValueError: If the lengths differ.
    """
    same_length(**groups)
    rows = [row for row in zip(*groups.values(), strict=True) if None not in row]
    return {name: [row[index] for row in rows] for index, name in enumerate(groups)}


def _anova(compared: Mapping[str, Floats]) -> Anova:
    """Whether the means of groups of two values and more differ at all."""
    from scipy.stats import f_oneway  # type: ignore[import-untyped]

    names = tuple(compared)
    if len(compared) < 2:
        return Anova(None, None, None, None, names)
    df_between = len(compared) - 1
    df_within = sum(len(values) for values in compared.values()) - len(compared)
    if not _varies(*compared.values()):
        return Anova(None, None, df_between, df_within, names)
    test = quietly(f_oneway, *compared.values())
    return Anova(number(test.statistic), number(test.pvalue), df_between, df_within, names)


def _tukey(arrays: Mapping[str, Floats], level: float) -> Iterator[TukeyPair]:
    """Which pairs of means differ, adjusted for all pairs.

    P-values and intervals equal those of `scipy.stats.tukey_hsd`, which integrates anew for either
    direction of a pair and for every group with itself; here what was integrated is remembered.
    """
    compared = _comparable(arrays)
    tested = len(compared) > 1 and _varies(*compared.values())
    df = sum(len(values) - 1 for values in compared.values())
    # Summed as scipy does it, so that not even the last digit differs.
    spread = np.array([np.var(own, ddof=1) * (len(own) - 1) for own in compared.values()])
    within = float(np.sum(spread)) / max(df, 1)
    critical = _studentized_range(level, len(compared), df) if tested else 0.0
    for first, second in combinations(arrays, 2):
        pair = TukeyPair(first, second, _gap(arrays, first, second), None, None, None)
        if tested and {first, second} <= compared.keys() and pair.difference is not None:
            sizes = 1 / len(arrays[first]) + 1 / len(arrays[second])
            se = float(np.sqrt(sizes * within / 2))
            low, high = pair.difference - critical * se, pair.difference + critical * se
            p = number(_beyond(abs(pair.difference) / se, len(compared), df))
            pair = pair._replace(low=low, high=high, p=p)
        yield pair


def _t_test(arrays: Mapping[str, Floats], first: str, second: str) -> TTest:
    from scipy.stats import ttest_ind

    a, b = arrays[first], arrays[second]
    test = TTest(first, second, _gap(arrays, first, second), None, None, None)
    if min(len(a), len(b)) < 2 or not _varies(a, b):
        return test
    student = quietly(ttest_ind, b, a)
    t, p = number(student.statistic), number(student.pvalue)
    return test._replace(t=t, df=None if t is None else float(len(a) + len(b) - 2), p=p)


def _comparable(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: values for name, values in arrays.items() if len(values) > 1}


def _varies(*arrays: Floats) -> bool:
    """Whether any group has two values that differ by more than rounding."""
    largest = max(float(np.abs(values).max()) for values in arrays)
    return any(float(np.ptp(values)) > _ROUNDING * largest for values in arrays)


def _gap(arrays: Mapping[str, Floats], first: str, second: str) -> float | None:
    a, b = arrays[first], arrays[second]
    return float(b.mean() - a.mean()) if len(a) and len(b) else None


@lru_cache(maxsize=256)
def _studentized_range(level: float, groups: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, groups, df))


@lru_cache(maxsize=4096)
def _beyond(studentized: float, groups: int, df: int) -> float:
    """How likely the largest of all differences is at least as large, if no means differ."""
    from scipy.stats import studentized_range

    return float(quietly(studentized_range.sf, studentized, groups, df))
