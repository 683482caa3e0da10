"""Tests of XLingEval over per-question values of languages: ANOVA, Tukey's HSD, unpaired t.

They treat the languages' values as independent samples, although the questions are the same:
`paired` uses that and sees smaller differences. Signs: a difference is mean of the second language
minus mean of the first, as in statsmodels' `pairwise_tukeyhsd` and the tables of XLingEval
(`scipy.stats.tukey_hsd` has first minus second). With English first, a negative difference is a
language that scores lower than English.

A language with fewer than two values has no spread of its own and is in no test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """One unpaired two-sided t test, not adjusted for the number of pairs.

    Attributes:
        difference: Mean of the second group minus mean of the first; None if either is empty.
        t: The statistic, with the sign of the difference (XLingEval's tables have the opposite
            one); None if either has fewer than two values, or where neither varies.
        df: Degrees of freedom (n1 + n2 - 2; Welch-Satterthwaite's for Welch); None where t is.
        p: The p-value; None where t is.
    """

    first: str
    second: str
    difference: float | None
    t: float | None
    df: float | None
    p: float | None


@dataclass(frozen=True)
class GroupComparison:
    """All tests over one metric's values; pairs are in the order of the groups.

    `n` are values per group, `left_out` those that are None; the mean of an empty group is None,
    and `level` the coverage of Tukey's intervals.
    """

    n: dict[str, int]
    left_out: dict[str, int]
    means: dict[str, float | None]
    anova: Anova
    tukey: tuple[TukeyPair, ...]
    t_tests: tuple[TTest, ...]
    level: float


def compare_groups(
    groups: Groups, *, level: float = LEVEL, equal_var: bool = True
) -> GroupComparison:
    """All tests that XLingEval makes (its `consistency/statistical_test.py`).

    XLingEval keeps only questions with a value in every language: pass `complete_cases(groups)`
    for the same. Otherwise each language keeps what it has.

    Args:
        groups: Language to per-question values; None is left out and counted.
        level: Coverage of Tukey's intervals.
        equal_var: True for Student's t test, which is the paper's; False for Welch's.

    Returns:
        The tests; what is undefined in them is None.

    Raises:
        ValueError: If a value is not finite or `level` is not between 0 and 1.
    """
    arrays = _arrays(groups)
    return GroupComparison(
        n={name: len(values) for name, values in arrays.items()},
        left_out={name: len(groups[name]) - len(values) for name, values in arrays.items()},
        means={name: float(own.mean()) if len(own) else None for name, own in arrays.items()},
        anova=one_way_anova(groups),
        tukey=tukey_hsd(groups, level=level),
        t_tests=t_tests(groups, equal_var=equal_var),
        level=level,
    )


def complete_cases(groups: Groups) -> dict[str, list[float | None]]:
    """The same groups without the positions at which any of them has no value.

    Raises:
        ValueError: If the lengths differ.
    """
    same_length(**groups)
    rows = [row for row in zip(*groups.values(), strict=True) if None not in row]
    return {name: [row[index] for row in rows] for index, name in enumerate(groups)}


def one_way_anova(groups: Groups) -> Anova:
    """Whether the groups' means differ at all; see `Anova`.

    Raises:
        ValueError: If a value is not finite.
    """
    from scipy.stats import f_oneway  # type: ignore[import-untyped]

    compared = _comparable(_arrays(groups))
    names = tuple(compared)
    if len(compared) < 2:
        return Anova(None, None, None, None, names)
    df_between = len(compared) - 1
    df_within = sum(len(values) for values in compared.values()) - len(compared)
    if not _varies(*compared.values()):
        return Anova(None, None, df_between, df_within, names)
    test = quietly(f_oneway, *compared.values())
    return Anova(number(test.statistic), number(test.pvalue), df_between, df_within, names)


def tukey_hsd(groups: Groups, *, level: float = LEVEL) -> tuple[TukeyPair, ...]:
    """Which pairs of means differ, adjusted for all pairs; see `TukeyPair`.

    P-values and intervals equal those of `scipy.stats.tukey_hsd`, which integrates anew for either
    direction of a pair and for every group with itself; here what was integrated is remembered.

    Raises:
        ValueError: If a value is not finite or `level` is not between 0 and 1.
    """
    check_level(level)
    arrays = _arrays(groups)
    compared = _comparable(arrays)
    pairs = [TukeyPair(*pair, _gap(arrays, *pair), None, None, None) for pair in _pairs(groups)]
    if len(compared) < 2 or not _varies(*compared.values()):
        return tuple(pairs)
    df = sum(len(values) - 1 for values in compared.values())
    # Summed as scipy does it, so that not even the last digit differs.
    spread = np.array([np.var(own, ddof=1) * (len(own) - 1) for own in compared.values()])
    within = float(np.sum(spread)) / df
    critical = _studentized_range(level, len(compared), df)
    tested = []
    for pair in pairs:
        if pair.first in compared and pair.second in compared and pair.difference is not None:
            sizes = 1 / len(arrays[pair.first]) + 1 / len(arrays[pair.second])
            se = float(np.sqrt(sizes * within / 2))
            low, high = pair.difference - critical * se, pair.difference + critical * se
            p = number(_beyond(abs(pair.difference) / se, len(compared), df))
            pair = pair._replace(low=low, high=high, p=p)
        tested.append(pair)
    return tuple(tested)


def t_tests(groups: Groups, *, equal_var: bool = True) -> tuple[TTest, ...]:
    """An unpaired t test for every pair; see `TTest`.

    Args:
        groups: Group to values; None is left out.
        equal_var: True for Student's test, False for Welch's; `scipy.stats.ttest_ind`.

    Returns:
        One test per pair, in the order of the groups.

    Raises:
        ValueError: If a value is not finite.
    """
    from scipy.stats import ttest_ind

    arrays = _arrays(groups)
    tests = []
    for first, second in _pairs(groups):
        a, b = arrays[first], arrays[second]
        test = TTest(first, second, _gap(arrays, first, second), None, None, None)
        if min(len(a), len(b)) > 1 and _varies(a, b):
            student = quietly(ttest_ind, b, a, equal_var=equal_var)
            df = float(len(a) + len(b) - 2) if equal_var else _welch_df(a, b)
            t, p = number(student.statistic), number(student.pvalue)
            test = test._replace(t=t, df=None if t is None else df, p=p)
        tests.append(test)
    return tuple(tests)


def _arrays(groups: Groups) -> dict[str, Floats]:
    return {
        name: finite_array([value for value in values if value is not None], name)
        for name, values in groups.items()
    }


def _comparable(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: values for name, values in arrays.items() if len(values) > 1}


def _varies(*arrays: Floats) -> bool:
    """Whether any group has two values that differ by more than rounding."""
    largest = max(float(np.abs(values).max()) for values in arrays)
    return any(float(np.ptp(values)) > _ROUNDING * largest for values in arrays)


def _pairs(groups: Groups) -> list[tuple[str, str]]:
    return list(combinations(groups, 2))


def _gap(arrays: Mapping[str, Floats], first: str, second: str) -> float | None:
    a, b = arrays[first], arrays[second]
    return float(b.mean() - a.mean()) if len(a) and len(b) else None


def _welch_df(a: Floats, b: Floats) -> float:
    """Welch-Satterthwaite degrees of freedom."""
    u, v = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    return (u + v) ** 2 / (u**2 / (len(a) - 1) + v**2 / (len(b) - 1))


@lru_cache(maxsize=256)
def _studentized_range(level: float, groups: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, groups, df))


@lru_cache(maxsize=4096)
def _beyond(studentized: float, groups: int, df: int) -> float:
    """How likely the largest of all differences is at least as large, if no means differ."""
    from scipy.stats import studentized_range

    return float(quietly(studentized_range.sf, studentized, groups, df))
