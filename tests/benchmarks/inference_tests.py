"""Errors and power of the report's tests and verdicts: parts of `inference.py`."""

# ruff: noqa: B023  # Functions made in a loop are called in it.
from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np
from inference_data import (
    ERROR,
    F1,
    FALSE_FINE,
    FALSE_SAME,
    FAMILY,
    POWER,
    PRECISION,
    Cell,
    Plan,
    alike,
    counts_of,
    drawn,
    rows_for_auc,
    same_score,
    truth_of,
    two_shares,
)
from scipy.special import expit
from scipy.stats import norm
from xling_metrics.stats.jackknife import jackknife_difference
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.paired import sign_flip_p
from xling_metrics.stats.resampling import Resampler
from xling_metrics.stats.roc import auc_difference, auc_swap_p
from xling_metrics.stats.shares import paired_shares, unpaired_shares
from xling_metrics.stats.swaps import studentised_swap_p, swap_p
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.report.inference import unpaired


def errors_of_shares(plan: Plan) -> Iterator[Cell]:
    """Shares and means that are equal: p below 0.05 is wrong."""
    grid = itertools.product(plan.sizes, (0.02, 0.1, 0.5), (0.0, 0.5))
    for seed, (n, p, rho) in enumerate(grid):

        def shares(rng):
            made = two_shares(rng, n, p, p, rho)
            return paired_shares(made[:, 0], made[:, 1]).p <= 0.05

        setting = f"n={n}, share {p:g}, correlation {rho:g}"
        yield drawn(ERROR, "paired shares (McNemar, mid-p)", setting, plan.times, seed, shares)
    sizes = ((24, 30), (199, 1273))
    for seed, ((n, m), p) in enumerate(itertools.product(sizes, (0.02, 0.2, 0.5))):

        def apart(rng):
            return unpaired_shares(rng.random(n) < p, rng.random(m) < p).p <= 0.05

        what, setting = "unpaired shares (Agresti & Caffo)", f"n={n} and {m}, share {p:g}"
        yield drawn(ERROR, what, setting, plan.times, 100 + seed, apart)

        def welch(rng):
            own, other = rng.beta(8, 1.5, n).tolist(), rng.beta(4, 0.75, m).tolist()
            return unpaired(own, other, 0.95).p <= 0.05

        if p == 0.5:
            what, setting = "means of other questions (Welch)", f"n={n} and {m}, spreads differ"
            yield drawn(ERROR, what, setting, plan.times, 150 + seed, welch)
    for n in plan.sizes:
        draws = Resampler(n, 0, plan.swaps)

        def means(rng):
            return sign_flip_p(rng.beta(8, 1.5, n) - rng.beta(8, 1.5, n), draws) <= 0.05

        yield drawn(ERROR, "means (sign flips)", f"n={n}, Beta(8, 1.5)", plan.few, 200 + n, means)


def errors_of_verdicts(plan: Plan) -> Iterator[Cell]:
    """Equal scores: the same errors, or one side errs on Yes and the other on No."""
    for n, (rows, positives), rho in itertools.product(
        plan.sizes, ((4, 0.5), (5, 0.2)), (0.0, 0.5)
    ):
        draws, times = Resampler(n, 0, plan.swaps), plan.few if n < 1000 else plan.few // 2
        for name, score in (("macro F1", F1), ("macro precision", PRECISION)):
            for unlike in (False, True):
                own = (0.05, 0.35) if unlike else (0.2, 0.2)
                other = same_score(score, positives, rows, own) if unlike else own

                def once(rng):
                    a = counts_of(rng, n, rows, rho, positives, own)
                    b = counts_of(rng, n, rows, rho, positives, other)
                    return studentised_swap_p(a, b, score, draws) <= 0.05

                labels = "balanced" if positives == 0.5 else "1:4"
                profile = "other error profile" if unlike else "same errors"
                setting = f"n={n}, {rows} rows, correlation {rho:g}, labels {labels}, {profile}"
                yield drawn(ERROR, f"{name} (studentised swaps)", setting, times, 300 + n, once)
        for name in ("macro_recall", "acc"):

            def plain(rng):
                sides = [counts_of(rng, n, rows, rho, positives, (0.2, 0.2)) for _ in range(2)]
                return swap_p(*sides, VERDICT_SCORES[name], draws) <= 0.05

            what = f"{name.replace('_', ' ')} (swaps)"
            setting = f"n={n}, {rows} rows, correlation {rho:g}"
            yield drawn(ERROR, what, setting, times // 2, 400 + n, plain)


AUC_KINDS = {
    "same scale": {},
    "logits shifted by 4": {"shift": 4.0},
    "logits times 3": {"scale": 3.0},
    "another curve": {"spread": 2.0},
}


def errors_of_auc(plan: Plan) -> Iterator[Cell]:
    """Equal AUC: the same scale, one side's logits shifted by 4, scaled by 3, another shape."""
    for n, rho, (name, more) in itertools.product(plan.sizes, (0.0, 0.5), AUC_KINDS.items()):
        large = n > 1000
        if ("spread" in more and rho) or (large and "spread" not in more):
            continue
        apart = 1.2
        # A wider positive class needs more distance for the same area.
        other = apart * (1 + more["spread"] ** 2) ** 0.5 / 2**0.5 if "spread" in more else apart
        # 99 swaps: p of at most 0.05 is as exact, at half the price.
        draws, times = Resampler(n, 0, 99), plan.fewest if large else plan.few

        def once(rng):
            a = rows_for_auc(rng, n, 5, rho, apart)
            return auc_swap_p(a, rows_for_auc(rng, n, 5, rho, other, **more), draws) <= 0.05

        setting = f"n={n}, 5 rows, correlation {rho:g}, {name}"
        yield drawn(ERROR, "AUC (studentised swaps of ranks)", setting, times, 500 + n, once)


def margins(plan: Plan) -> Iterator[Cell]:
    """At a true difference of the margin: 'about the same', and (compare) 'not inferior'."""
    settings = ((1134, 0.02, 0.02), (1134, 0.02, 0.05), (1134, 0.05, 0.1), (246, 0.05, 0.05))
    for seed, (n, margin, p) in enumerate(settings):
        if n not in plan.sizes:
            continue

        def ends(rng):
            made = two_shares(rng, n, p + margin, p, 0.5)
            return paired_shares(made[:, 0], made[:, 1])

        def same(rng):
            found = ends(rng)
            return -margin <= found.low and found.high <= margin

        setting = f"n={n}, share {p:g}, margin {margin:g}"
        yield drawn(FALSE_SAME, "paired shares", setting, plan.times, 600 + seed, same)
        # Of harm: B is worse by the margin; not inferior if the interval excludes that.
        found = partial(
            drawn, FALSE_FINE, "paired shares (compare)", setting, plan.times, 700 + seed
        )
        yield found(lambda rng: ends(rng).high < margin)
    for n in plan.sizes:
        goal = truth_of(F1, 0.2, 5, (0.1, 0.1)) - 0.05
        grid = np.linspace(0.1, 0.3, 2000)
        worse = float(grid[np.argmin([abs(truth_of(F1, 0.2, 5, (x, x)) - goal) for x in grid])])

        def fine(rng):
            a = counts_of(rng, n, 5, 0.3, 0.2, (0.1, 0.1))
            b = counts_of(rng, n, 5, 0.3, 0.2, (worse, worse))
            return jackknife_difference(b, a, F1).low > -0.05

        setting = f"n={n}, 5 rows, margin 0.05"
        yield drawn(FALSE_FINE, "macro F1 (compare)", setting, plan.few, 800 + n, fine)


def power(plan: Plan) -> Iterator[Cell]:
    """At a true difference of 2.80 standard errors of the interval."""
    n, apart = 246, "2.80 standard errors apart"
    draws = Resampler(n, 0, 999)
    for p in (0.02, 0.1, 0.3):
        q = p
        for _ in range(20):  # The difference changes its own standard error.
            q = p + 2.8 * ((p * (1 - p) + q * (1 - q)) / n) ** 0.5

        def shares(rng):
            made = two_shares(rng, n, p, q, 0.0)
            return paired_shares(made[:, 0], made[:, 1]).p <= 0.05

        setting = f"n={n}, {p:g} against {q:.3f}"
        yield drawn(POWER, "paired shares", setting, plan.times, 1, shares)

    def f1(rng, errors):
        made = [counts_of(rng, n, 5, 0.3, 0.2, (own, own)) for own in errors]
        return studentised_swap_p(*made, F1, draws) <= 0.05

    grid = np.linspace(0.2, 0.45, 2000)
    truths = np.array([truth_of(F1, 0.2, 5, (x, x)) for x in grid])
    worse = 0.2
    for _ in range(3):  # As with shares: the standard error at the difference itself.
        se = np.mean([
            jackknife_difference(*(counts_of(r, n, 5, 0.3, 0.2, (x, x)) for x in (0.2, worse)), F1).se
            for r in map(np.random.default_rng, range(200))
        ])  # fmt: skip
        worse = float(grid[np.argmin(np.abs(truths - (truths[0] - 2.8 * se)))])
    what, setting = "macro F1", f"n={n}, 5 rows, {apart}"
    yield drawn(POWER, what, setting, plan.few, 2, lambda rng: f1(rng, (0.2, worse)))

    def means(rng):
        own, other = rng.beta(6, 4, n), rng.beta(6, 4, n)
        other = other - 2.8 * (2 * 0.24 / 11 / n) ** 0.5
        return sign_flip_p(own - other, draws) <= 0.05

    yield drawn(POWER, "means", f"n={n}, {apart}", plan.few, 3, means)
    yield _power_of_auc(plan, Resampler(n, 0, 199))


def _power_of_auc(plan: Plan, draws: Resampler) -> Cell:
    n, rho, one = draws.n, 0.3, 1.2

    def sides(rng, other):
        return rows_for_auc(rng, n, 5, rho, one), rows_for_auc(rng, n, 5, rho, other)

    # AUC is Phi(apart / sqrt 2), but for pairs within a question, which hardly count.
    other = one
    for _ in range(3):
        se = np.mean(
            [auc_difference(*sides(r, other)).se for r in map(np.random.default_rng, range(60))]
        )
        other = float(norm.ppf(norm.cdf(one / 2**0.5) - 2.8 * se) * 2**0.5)
    found = partial(drawn, POWER, "AUC", f"n={n}, 5 rows, 2.80 standard errors apart", plan.few, 4)
    return found(lambda rng: auc_swap_p(*sides(rng, other), draws) <= 0.05)


def family(plan: Plan) -> Iterator[Cell]:
    """One model's conclusions where no language differs: 3 languages, 4 endpoints with English."""
    for n in plan.sizes:
        draws = Resampler(n, 0, plan.swaps)

        def once(rng):
            found: list[float | None] = []
            for p in (0.1, 0.4):
                z = alike(rng, n, 4, 0.3) < norm.ppf(p)
                found += [
                    paired_shares(z[:, k].astype(float), z[:, 0].astype(float)).p for k in (1, 2, 3)
                ]
            values = expit(alike(rng, n, 4, 0.3))
            found += [sign_flip_p(values[:, k] - values[:, 0], draws) for k in (1, 2, 3)]
            sides = [counts_of(rng, n, 5, 0.3, 0.2, (0.2, 0.2)) for _ in range(4)]
            found += [studentised_swap_p(own, sides[0], F1, draws) for own in sides[1:]]
            return min(p for p in holm(found) if p is not None) <= 0.05

        times = plan.few if n < 1000 else plan.few // 2
        yield drawn(FAMILY, "12 conclusions of a model (Holm)", f"n={n}", times, 700 + n, once)
