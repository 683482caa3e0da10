"""Proportions that a judge found, corrected by people's labels of a sample of the same answers.

A judge errs, and an interval over questions knows nothing of it. Prediction-powered inference
(Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, Science 382, 669-674, algorithm 1) adds to the
judge's mean the mean of (person - judge) over what people labelled, and both parts' variance:

    estimate = mean(f) + sum_h W_h c_h,   c_h = mean of (y - f) over the labels of stratum h
    variance = var(f + c) / N + sum_h W_h^2 s_h^2 / n_h,   s_h^2 the variance of (y - f) there

with N values f of the judge, n_h people's labels y drawn at random from the N_h = W_h N answers of
stratum h. With one stratum it is the paper's estimator, with lambda = 1 (not tuned); where the
strata are the judge's labels, double sampling for stratification (Cochran 1977, section 12.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.base import same_length
from xling_metrics.stats.estimate import (
    LEVEL,
    Estimate,
    Floats,
    clip,
    finite_array,
    normal_p,
    normal_quantile,
    t_quantile,
)


class PpiInput(NamedTuple):
    """The labels of one group: a judge's of every answer, and people's of some.

    Attributes:
        judge: The judge's value per question, 0 or 1 for a label.
        human: People's value of the same kind, the mean of those who labelled; None where nobody
            did.
        strata: The stratum that the question was drawn from, per question.
    """

    judge: Sequence[float]
    human: Sequence[float | None]
    strata: Sequence[str]


class PpiEstimate(NamedTuple):
    """A group after correction.

    Attributes:
        values: The judge's value plus its stratum's correction, per question.
        variance: Of the correction: what people's labels add to the variance of the mean.
    """

    values: Floats
    variance: float


def correct_labels(group: PpiInput, *, shares: bool = False) -> PpiEstimate:
    """Return the judge's values with each stratum's mean error taken off.

    Args:
        group: The values; a stratum with questions needs a label at least, and two unless `shares`.
        shares: Whether values are 0 or 1. A stratum whose few labels all agree with the judge has
            no spread, which is no proof: its variance is then at least q (1 - q) with
            q = (errors + 1) / (labels + 2), as Agresti & Caffo add one of each kind.

    Raises:
        ValueError: If the lengths differ, or a stratum has too few labels.
    """
    same_length(judge=group.judge, human=group.human, strata=group.strata)
    judge = finite_array(group.judge, "judge")
    is_labelled = np.array([value is not None for value in group.human], dtype=bool)
    human = finite_array([0.0 if value is None else value for value in group.human], "human")
    names, values, variance = np.asarray(group.strata, dtype=object), judge.copy(), 0.0
    for name in dict.fromkeys(group.strata):
        inside = names == name
        errors = (human - judge)[inside & is_labelled]
        n = len(errors)
        if n < (1 if shares else 2):
            raise ValueError(f"stratum {name!r}: {n} labels, too few for its error")
        values[inside] += errors.mean()
        spread = float(errors.var())
        if shares:
            q = (np.abs(errors).sum() + 1) / (n + 2)
            spread = max(spread, q * (1 - q))
        variance += (inside.sum() / len(judge)) ** 2 * spread / n
    return PpiEstimate(values, float(variance))


def ppi_mean(
    group: PpiInput,
    level: float = LEVEL,
    *,
    shares: bool = False,
    people: Sequence[Sequence[float]] = (),
) -> Estimate:
    """Return a mean by prediction-powered inference, as `ppi_mean_ci(..., lam=1)` of ppi-python.

    Args:
        group: See `PpiInput`; questions are a random sample, labels one of each stratum.
        level: Coverage.
        shares: Whether values are 0 or 1; see `correct_labels`. The interval is then clipped.
        people: As of `ppi_contrast`.

    Returns:
        The corrected mean; `n` is the number of questions. Nothing without questions.

    Raises:
        ValueError: As of `correct_labels`.
    """
    return ppi_contrast([(1, group)], level, shares=shares, people=people)._replace(p=None)


def ppi_contrast(
    groups: Sequence[tuple[int, PpiInput]],
    level: float = LEVEL,
    *,
    shares: bool = False,
    people: Sequence[Sequence[float]] = (),
) -> Estimate:
    """Return a signed sum of means over the same questions, each corrected.

    The labels of each group are a sample of their own. What a person says of one group beyond the
    judge's label is taken as independent of the others; where answers to one question go wrong
    together the interval is somewhat too wide.

    Args:
        groups: Sign (1 or -1) and labels, all with the same questions in the same order.
        level: Coverage.
        shares: Whether values are 0 or 1; the interval is then clipped at what is possible.
        people: Per set of two people or more who labelled the same answers, how much the sum of
            each lies above the mean of them all. They are a sample of those who could have
            labelled: with k of them, of deviations d, the variance of their mean is
            `sum d^2 / (k (k - 1))`, known with k - 1 degrees of freedom.

    Returns:
        The sum, with the two-sided p of 0 (normal). Nothing without questions.

    Raises:
        ValueError: As of `correct_labels`, or if the groups differ in length.
    """
    same_length(**{f"group {number}": group.judge for number, (_, group) in enumerate(groups)})
    if not len(groups[0][1].judge):
        return Estimate(None, method="ppi")
    corrected = [(sign, correct_labels(group, shares=shares)) for sign, group in groups]
    values = np.sum([sign * item.values for sign, item in corrected], axis=0)
    estimate = _estimate(values, sum(item.variance for _, item in corrected), level, people)
    if not shares:
        return estimate
    maximum, minimum = (float(sum(sign == end for sign, _ in groups) * end) for end in (1, -1))
    return clip(estimate, maximum, minimum)


def _estimate(
    values: Floats, variance: float, level: float, people: Sequence[Sequence[float]]
) -> Estimate:
    value, n = float(values.mean()), len(values)
    people_variances = [float(np.square(d).sum()) / (len(d) * (len(d) - 1)) for d in people]
    mean_variance = float(values.var() / n + variance)
    se, method = (mean_variance + sum(people_variances)) ** 0.5, "ppi, people" if people else "ppi"

    def half(level: float) -> float:
        """Return half the interval: each set of people counts by its own Student's t.

        One t for the sum (Satterthwaite) is too narrow where two people happen to agree.
        """
        squares = normal_quantile(level) ** 2 * mean_variance
        for people_variance, d in zip(people_variances, people, strict=True):
            squares += t_quantile(level, len(d) - 1) ** 2 * people_variance
        return float(squares**0.5)

    p = normal_p(value, se) if se > 0 else None
    if any(people_variances):
        p = _invert(abs(value), half)
    return Estimate(value, value - half(level), value + half(level), p, se, n, method)


def _invert(size: float, half: Callable[[float], float]) -> float:
    """Return 1 less the level of the interval that just reaches 0."""
    low, high = 1e-12, 1 - 1e-9
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if half(1 - middle) < size else (middle, high)
    return high
