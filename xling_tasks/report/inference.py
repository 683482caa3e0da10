"""Which interval and which test a metric gets, by what its values are.

| values | interval | of a difference | test of a difference |
|---|---|---|---|
| 0 or 1 per question | Wilson | Bonett & Price | McNemar, mid-p |
| a number per question | Student | Student | sign flips |
| hits of rows | Wilson, effective rows | jackknife | swaps |
| macro precision, macro F1 | Wilson, jackknife's variance | jackknife | studentised swaps |
| ROC AUC | DeLong over questions, logit | DeLong over questions | studentised swaps of ranks |
| macro recall, accuracy of rows, | Wilson, jackknife's variance | jackknife | swaps |
| information F1, Brier score | | | |
| means over languages, others | bootstrap | bootstrap | swaps |
| calibration error | none | none | none |

Other questions on both sides: Agresti & Caffo for 0 or 1, else Welch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.aggregate import HARMONIC
from xling_metrics.stats.intervals import (
    Interval,
    Score,
    interval_of_sums,
    percentile_difference,
    ratio,
    scored,
)
from xling_metrics.stats.jackknife import (
    jackknife_difference,
    never_without_width,
    score_interval,
    t_interval,
)
from xling_metrics.stats.paired import PairedDifference, paired_difference, sign_flip_p
from xling_metrics.stats.probability_intervals import ece_of_sums
from xling_metrics.stats.resampling import Floats, ResamplerPool, quietly
from xling_metrics.stats.roc import (
    auc_difference,
    auc_interval,
    auc_swap_p,
    rows_of,
    shared_questions,
)
from xling_metrics.stats.shares import (
    Range,
    clustered_share,
    cut,
    normal_quantile,
    paired_shares,
    unpaired_shares,
    wilson,
)
from xling_metrics.stats.swaps import studentised_swap_p, swap_p
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.report.columns import Column, Row
from xling_tasks.report.model import Options
from xling_tasks.report.paired import Paired, outside

AUC_RESAMPLES = 2000
"""Swaps of AUC, each of which takes all pairs of questions."""

_CELLS = 50_000_000
_STUDENTISED = (VERDICT_SCORES["macro_f1"], VERDICT_SCORES["macro_precision"])
_HALF_A_ROW = np.eye(4) / 2
"""Half a row in each cell of a table of labels and verdicts."""


class Draws(NamedTuple):
    """How resamples are made.

    Attributes:
        options: How many, and their seed.
        pool: Draws that calls share.
        tested: Whether p is asked for.
        described: Whether effect sizes, Wilcoxon's test and wins are.
    """

    options: Options
    pool: ResamplerPool
    tested: bool = True
    described: bool = True

    def times(self, n: int) -> int:
        """The resamples asked for, fewer for so many questions that they would not fit."""
        return max(1000, min(self.options.n_resamples, _CELLS // max(n, 1)))

    def sign_flips(self, differences: Floats) -> float | None:
        """The p of the sign-flip test of a mean difference; None without a question."""
        n = len(differences)
        if not n:
            return None
        return sign_flip_p(differences, self.pool.get(n, self.options.seed, self.times(n)))


def kind_of(*columns: Column) -> str:
    """What the values of some columns of one metric are, in one language or model, or in two.

    `share` (0 or 1 per question), `mean`, `count`, `rows` (hits of rows), `ece`, `studentised`
    (macro F1 and precision), `jackknife` (other scores in [0, 1]) or `resampled`.
    """
    column = columns[0]
    if column.counted:
        return "count" if column.simple else "resampled"
    if column.simple:
        return "share" if all(item.binary for item in columns) else "mean"
    if column.score is ece_of_sums:
        return "ece"
    if any(column.score is score for score in _STUDENTISED):
        return "studentised"
    if column.score is ratio:
        return "rows" if all(map(_whole, columns)) else "jackknife"
    of_verdicts = column.score in VERDICT_SCORES.values()
    return "jackknife" if of_verdicts or column.made is HARMONIC else "resampled"


def _whole(column: Column) -> bool:
    """Whether hits and rows are counts."""
    known = column.sums[~np.isnan(column.sums[:, 0])]
    return bool((known == np.floor(known)).all() and (known[:, 0] <= known[:, 1]).all())


# One value


def column_interval(column: Column, draws: Draws) -> Interval | None:
    """A metric's interval over questions; None for one that has none (calibration error)."""
    level, kind = draws.options.level, kind_of(column)
    present = column.sums[~np.isnan(column.sums[:, 0])]
    left_out = len(column.sums) - len(present)
    if kind == "ece":
        return None
    if kind == "resampled":
        return interval_of_sums(
            present, {"": column.score}, left_out, seed=draws.options.seed,
            n_resamples=draws.times(len(column.sums)), level=level, pool=draws.pool,
        )[""]  # fmt: skip
    return _plain(_range(present, column, kind, level), left_out, level)


def reported_interval(column: Column, draws: Draws) -> Interval | None:
    """The interval of a metric as its task reports it: cut where the metric is."""
    interval = column_interval(column, draws)
    if interval is None:
        return None
    value, low, high = (
        None if end is None else column.made.limited(end)
        for end in (interval.value, interval.low, interval.high)
    )
    return interval._replace(value=value, low=low, high=high)


def _range(present: Floats, column: Column, kind: str, level: float) -> Range:
    n = len(present)
    if kind in ("share", "rows") and n:
        hits, totals = present[:, 0], present[:, 1]
        value = float(hits.sum() / totals.sum())
        if n < 2:
            return Range(value, None, None, None, None, n, "wilson")
        if kind == "share":
            ends = wilson(float(hits.sum()), n, level)
        else:
            ends = clustered_share(hits.tolist(), totals.tolist(), level)
        return Range(value, *ends, None, None, n, "wilson")
    if kind in ("share", "rows", "mean", "count"):
        interval = t_interval(present[:, 0], level)
        inside = bool(n) and kind != "count" and not outside(present[:, 0])
        return never_without_width(interval, level, difference=False) if inside else interval
    added = _HALF_A_ROW if column.score in VERDICT_SCORES.values() else None
    return score_interval(present, column.score, level, added=added)


def rows_interval(rows: Mapping[str, Sequence[Row]], left_out: int, level: float) -> Interval:
    """The interval of ROC AUC."""
    return _plain(auc_interval(rows_of(rows), level), left_out, level)


def _plain(interval: Range, left_out: int, level: float) -> Interval:
    value, low, high, _, _, n, method = interval
    return Interval(value, low, high, n, left_out, level, method, 0, 0)


def _none(n: int, value: float | None = None) -> Range:
    """What has no interval."""
    return Range(value, None, None, None, None, n, "none")


# A difference over the same questions


class ScoreDifference(NamedTuple):
    """A difference with its interval and test.

    Attributes:
        range: Difference, ends, p, standard error and method.
        value: The side's score over the questions compared.
        base: The baseline's.
        n_permutations: Swaps or flips of the test; 0 for one that has none.
        detail: Effect sizes, for metrics with a value per question.
        binary: Whether each question's value is 0 or 1.
    """

    range: Range
    value: float | None
    base: float | None
    n_permutations: int = 0
    detail: PairedDifference | None = None
    binary: bool = False


_CLUSTERED = {"share": "rows", "mean": "jackknife", "count": "resampled"}
"""What a value per question becomes where questions with one text are added up."""


def paired(own: Column, other: Column, both: Paired, draws: Draws) -> ScoreDifference:
    """A metric's difference over the questions that both sides have."""
    a, b = both.a, both.b
    if not len(a):
        return ScoreDifference(_none(0), None, None)
    kind = kind_of(own, other)
    binary = kind == "share"
    kind = _CLUSTERED.get(kind, kind) if both.clustered else kind
    if kind in ("share", "mean", "count"):
        return _simple(kind, a[:, 0], b[:, 0], draws)
    value, base = (_number(scored(own.score, x.sum(axis=0, keepdims=True))[0]) for x in (a, b))
    if value is None or base is None:
        return ScoreDifference(_none(len(a)), value, base)
    if kind == "ece":
        return ScoreDifference(_none(len(a), value - base), value, base)
    difference, times = _paired(kind, own.score, a, b, draws)
    return ScoreDifference(difference, value, base, times, binary=binary)


def _simple(kind: str, a: Floats, b: Floats, draws: Draws) -> ScoreDifference:
    """Metrics with a value per question, with what else is known of these."""
    level, times, detail = draws.options.level, draws.times(len(a)), None
    if draws.described:
        swaps = draws.pool.get(len(a), draws.options.seed, times)
        detail = paired_difference(a, b, swaps, level)
    if kind == "share":
        difference, times = paired_shares(a, b, level), 0
    else:
        p = None
        if draws.tested:
            p = detail.p_permutation if detail else draws.sign_flips(a - b)
        difference = t_interval(a - b, level)._replace(p=p)
        if kind == "mean" and not outside(np.concatenate([a, b])):
            difference = never_without_width(difference, level, difference=True)
    means = float(a.mean()), float(b.mean())
    return ScoreDifference(difference, *means, times, detail, kind == "share")


def _paired(kind: str, score: Score, a: Floats, b: Floats, draws: Draws) -> tuple[Range, int]:
    level, n = draws.options.level, len(a)
    times = draws.times(n)
    swaps = draws.pool.get(n, draws.options.seed, times)
    if kind == "studentised":
        difference = jackknife_difference(a, b, score, level)
        p = studentised_swap_p(a, b, score, swaps) if draws.tested else None
        return _in_reach(difference._replace(p=p), level), times
    p = swap_p(a, b, score, swaps) if draws.tested else None
    if kind == "resampled":
        low, high = percentile_difference(a, b, score, swaps, level)
        se = None
        if low is not None and high is not None:
            se = (high - low) / (2 * normal_quantile(level))
        value, base = (scored(score, x.sum(axis=0, keepdims=True))[0] for x in (a, b))
        difference = Range(float(value - base), low, high, p, se, n, "percentile")
    else:
        difference = jackknife_difference(a, b, score, level)._replace(p=p)
    whole = kind == "rows" or score in VERDICT_SCORES.values() or score is HARMONIC.score
    return (_in_reach(difference, level) if whole else difference), times


def _in_reach(difference: Range, level: float) -> Range:
    """The interval of a difference of scores that lie in [0, 1]: no point, and within [-1, 1]."""
    return cut(never_without_width(difference, level, difference=True), 1)


def paired_rows(
    own: Mapping[str, Sequence[Row]], other: Mapping[str, Sequence[Row]], draws: Draws
) -> ScoreDifference:
    """The difference of two ROC AUCs over the same questions."""
    keys, level = shared_questions(own, other), draws.options.level
    sides = rows_of(own, keys), rows_of(other, keys)
    difference = auc_difference(*sides, level)
    value, base = (auc_interval(side, level).value for side in sides)
    if difference.value is None:
        return ScoreDifference(difference, value, base)
    times, p = min(draws.times(len(keys)), AUC_RESAMPLES), None
    if draws.tested:
        p = auc_swap_p(*sides, draws.pool.get(len(keys), draws.options.seed, times))
    return ScoreDifference(_in_reach(difference._replace(p=p), level), value, base, times)


# A difference over other questions


def unpaired(
    a: Sequence[float], b: Sequence[float], level: float, chance: tuple[float, float] = (0.0, 0.0)
) -> Range:
    """A mean's difference from that of other questions, by a value per question of either side.

    `chance` is what guessing gives on either side, for values of 0 or 1.
    """
    from scipy.stats import ttest_ind  # type: ignore[import-untyped]

    if len(a) < 2 or len(b) < 2:
        return _none(len(a))
    if set(a) | set(b) <= {0.0, 1.0}:
        return unpaired_shares(a, b, chance=chance, level=level)
    if len(set(a)) == 1 and len(set(b)) == 1:
        return _none(len(a))
    test = quietly(ttest_ind, a, b, equal_var=False)  # one side may be the same throughout
    ends = quietly(test.confidence_interval, level)
    difference, p = float(np.mean(a) - np.mean(b)), float(test.pvalue)
    se = abs(difference / float(test.statistic)) if test.statistic else None
    return Range(difference, float(ends.low), float(ends.high), p, se, len(a), "welch")


def above_chance(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    chances: tuple[Mapping[str, float], Mapping[str, float]],
    level: float,
) -> tuple[Range, float | None, float | None]:
    """Accuracy beyond guessing, `(x - chance) / (1 - chance)` per question, of other questions.

    The difference with its interval, and both means: 0 is guessing and 1 all right, however many
    options a language's questions have.
    """
    values, constants, least = [], [], 0.0
    for side, chance in zip((a, b), chances, strict=True):
        known = {key: value for key, value in side.items() if value is not None}
        own = {chance.get(key, 0.0) for key in known}
        least = max([least, *(c / (1 - c) for c in own if c < 1)])  # how far below 0 none right is
        constants.append(own.pop() if len(own) == 1 else None)
        values.append((
            list(known.values()),
            [(v - c) / (1 - c) for k, v in known.items() if (c := chance.get(k, 0.0)) < 1],
        ))  # fmt: skip
    means = [float(np.mean(corrected)) if corrected else None for _, corrected in values]
    first, second = constants
    if first is not None and second is not None and max(first, second) < 1:
        difference = unpaired(values[0][0], values[1][0], level, (first, second))
    else:
        difference = unpaired(values[0][1], values[1][1], level)
    return cut(difference, 1 + least), means[0], means[1]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
