"""Data sets with a known truth, and how often something happens in them: for `inference.py`."""

# Functions made in a loop are called in it.
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import beta, norm
from xling_metrics.stats.ppi import Judged
from xling_metrics.stats.roc import RowsOf
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.commands.annotate import allocate

SIZES = (24, 100, 246, 1134)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
INTERVAL, ERROR, POWER, FAMILY = "coverage", "type I error", "power", "family-wise error"
FALSE_SAME, FALSE_FINE = "false 'about the same'", "false 'not inferior'"
WANTED = {
    INTERVAL: (0.93, 0.97),
    ERROR: (0.0, 0.06),
    POWER: (0.8, 1.0),
    FAMILY: (0.0, 0.05),
    FALSE_SAME: (0.0, 0.05),
    FALSE_FINE: (0.0, 0.05),
}
"""What is asked; each with two standard errors of the simulation."""

F1, PRECISION = VERDICT_SCORES["macro_f1"], VERDICT_SCORES["macro_precision"]
HALF_A_ROW = np.eye(4) / 2


class Cell(NamedTuple):
    """One setting: what was measured, and how often it happened in how many data sets."""

    kind: str
    what: str
    setting: str
    share: float
    times: int
    note: str = ""

    @property
    def error(self) -> float:
        """The standard error of the simulation; 0 where all outcomes were gone through."""
        return (max(self.share * (1 - self.share), 0.01) / self.times) ** 0.5 if self.times else 0.0

    @property
    def good(self) -> bool:
        """Whether it is as wanted, up to two standard errors of the simulation."""
        low, high = WANTED[self.kind]
        return low - 2 * self.error <= self.share <= high + 2 * self.error


class Plan(NamedTuple):
    """How much is simulated: data sets of cheap and of dear cells, of AUC at 1,134, swaps."""

    times: int
    few: int
    fewest: int
    sizes: tuple[int, ...]
    swaps: int


# Data with a known truth


def alike(rng, n: int, rows: int, rho: float):
    """n x rows standard normal numbers that correlate by rho within a question."""
    return rho**0.5 * rng.normal(size=(n, 1)) + (1 - rho) ** 0.5 * rng.normal(size=(n, rows))


def labels_of(rng, n: int, rows: int, positives: float):
    """Labels per row; the same number per question where there are several rows."""
    if rows == 1:
        return (rng.random((n, 1)) < positives).astype(int)
    return np.tile((np.arange(rows) < round(positives * rows)).astype(int), (n, 1))


def counts_of(rng, n: int, rows: int, rho: float, positives: float, errors):
    """Confusion counts per question where a row of label y errs with probability errors[y]."""
    labels = labels_of(rng, n, rows, positives)
    wrong = alike(rng, n, rows, rho) < norm.ppf(np.array(errors))[labels]
    said = np.where(wrong, 1 - labels, labels)
    cells = [(labels == y) & (said == x) for y, x in ((1, 1), (0, 1), (1, 0), (0, 0))]
    return np.stack([cell.sum(axis=1) for cell in cells], axis=1).astype(float)


def truth_of(score, positives: float, rows: int, errors) -> float:
    """A score of the confusion probabilities."""
    share = positives if rows == 1 else round(positives * rows) / rows
    p, q = share, 1 - share
    cells = [p * (1 - errors[1]), q * errors[0], p * errors[1], q * (1 - errors[0])]
    return float(score(np.array([cells]))[0])


def rows_for_auc(
    rng, n: int, rows: int, rho: float, apart: float, shift=0.0, scale=1.0, spread=1.0
):
    """n questions with one right answer in `rows`; probabilities of any scale."""
    labels = np.tile((np.arange(rows) < max(1, rows // 5)).astype(int), (n, 1))
    noise = alike(rng, n, rows, rho)
    logits = apart * labels + np.where(labels == 1, spread, 1.0) * noise
    chances = expit(shift + scale * logits)
    return RowsOf(labels.ravel(), chances.ravel(), np.repeat(np.arange(n), rows), n)


def auc_truth(n: int, rho: float, apart: float) -> float:
    """The AUC to expect: pairs of rows of one question share what is common to it."""
    across, within = norm.cdf(apart / 2**0.5), norm.cdf(apart / (2 * (1 - rho)) ** 0.5)
    return float((1 - 1 / n) * across + within / n)


def holds(found, truth: float) -> bool:
    """Whether an interval holds the truth."""
    low, high = (found.low, found.high) if hasattr(found, "low") else found
    return low is not None and low - 1e-12 <= truth <= high + 1e-12


def drawn(kind: str, what: str, setting: str, times: int, seed: int, once: Callable) -> Cell:
    """How often `once` of a generator is true."""
    rng = np.random.default_rng([seed, 7])
    return Cell(kind, what, setting, float(np.mean([once(rng) for _ in range(times)])), times)


def judged_sides(rng, n: int, m: int, p: float, wrong) -> tuple[Judged, Judged]:
    """Two languages with equal shares, a judge's labels of all, and people's of m answers each."""
    truths = alike(rng, n, 2, 0.3) < norm.ppf(p)
    found = []
    for truth, (more, less) in zip(truths.T, wrong):
        judge = np.where(truth, rng.random(n) >= less, rng.random(n) < more)
        human: list[float | None] = [None] * n
        strata = {True: int(judge.sum()), False: int((~judge).sum())}
        for stratum, size in allocate(strata, m).items():
            for place in rng.permutation(np.flatnonzero(judge == stratum))[:size]:
                human[place] = float(truth[place])
        found.append(Judged(judge.astype(float).tolist(), human, judge.astype(str).tolist()))
    return found[0], found[1]


PAIRS = ((0.02, 0.07), (0.05, 0.05), (0.1, 0.2), (0.5, 0.5))


def two_shares(rng, n: int, p: float, q: float, rho: float, *, copies: int = 1):
    """0 or 1 per question: a column with share p and one with q, once or more."""
    z = alike(rng, n, 2 * copies, rho)
    return (z < norm.ppf(np.array([p, q] * copies))).astype(float)


def claims_of(rng, n: int, a: float, b: float, none: float):
    """Sums of precision and recall per prompt, in eighths; some answers have no claims at all."""
    shares = np.round(beta.ppf(norm.cdf(alike(rng, n, 2, 0.6)), a, b) * 8) / 8
    there = (rng.random(n) >= none).astype(float)
    return np.stack([shares[:, 0] * there, there, shares[:, 1] * there, np.ones(n)], axis=1)


def same_score(score, positives: float, rows: int, errors):
    """Another error profile with the same score: an error rate of No for twice that of Yes."""
    wanted = truth_of(score, positives, rows, errors)
    grid = np.linspace(0.001, 0.6, 6000)
    found = [abs(truth_of(score, positives, rows, (x, x / 4)) - wanted) for x in grid]
    best = float(grid[int(np.argmin(found))])
    return (best, best / 4)


def verdict_settings(plan: Plan):
    """Rows, correlation, labels and the probability of an error per label."""
    grid = itertools.product(plan.sizes, (1, 5, 10), (0.0, 0.5), (0.5, 0.2), (0.1, 0.3))
    for n, rows, rho, positives, error in grid:
        if rows == 1 and rho:
            continue
        if rows == 5 and positives == 0.5:
            rows = 4
        labels = "balanced" if positives == 0.5 else "1:4"
        setting = f"n={n}, {rows} rows, correlation {rho:g}, labels {labels}, error {error:g}"
        yield n, rows, rho, positives, (error, error), setting
