"""How often the report's intervals hold the truth: parts of `inference.py`."""

# ruff: noqa: B023  # Functions made in a loop are called in it.
from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np
from inference_data import (
    F1,
    HALF_A_ROW,
    INTERVAL,
    PAIRS,
    SHARES,
    Cell,
    Plan,
    auc_truth,
    claims_of,
    counts_of,
    drawn,
    holds,
    judged_sides,
    rows_for_auc,
    truth_of,
    two_shares,
    verdict_settings,
)
from scipy.stats import binom, norm
from xling_metrics.aggregate import HARMONIC
from xling_metrics.stats.jackknife import (
    jackknife_difference,
    never_without_width,
    score_interval,
    student,
    t_interval,
)
from xling_metrics.stats.ppi import ppi_contrast, ppi_mean
from xling_metrics.stats.roc import auc_difference, auc_interval
from xling_metrics.stats.shares import clustered_share, paired_shares, unpaired_shares, wilson
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.report.human import unlabelled
from xling_tasks.report.inference import unpaired

held = partial(drawn, INTERVAL)


def of_shares(plan: Plan) -> Iterator[Cell]:
    """One row a question: exact, over all outcomes. Several: drawn."""
    for n, p in itertools.product(plan.sizes, SHARES):
        chance = binom.pmf(np.arange(n + 1), n, p)
        inside = [holds(wilson(x, n), p) for x in range(n + 1)]
        exact, what = float(chance[inside].sum()), "share, 1 row (Wilson)"
        made = Cell(INTERVAL, what, f"n={n}, share {p:g}", exact, 0)
        yield made if made.good else made._replace(note=_nearest(chance))
    grid = itertools.product(plan.sizes, SHARES, (5, 10), (0.0, 0.5))
    for seed, (n, p, rows, rho) in enumerate(grid):

        def once(rng):
            own = rng.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, n) if rho else p
            return holds(clustered_share(rng.binomial(rows, own, n), np.full(n, rows)), p)

        setting = f"n={n}, share {p:g}, {rows} rows, correlation {rho:g}"
        yield held("share, several rows (effective n)", setting, plan.times, seed, once)


def _nearest(chance: np.ndarray) -> str:
    """The coverages nearest to 0.95 that any interval of whole numbers can have."""
    sums = np.concatenate([np.cumsum(chance[at:]) for at in range(len(chance))])
    below, above = sums[sums < 0.93], sums[sums > 0.97]
    if len(sums[(sums >= 0.93) & (sums <= 0.97)]):
        return ""
    return f"no interval can: {below.max():.3f} or {above.min():.3f}"


def of_means(plan: Plan) -> Iterator[Cell]:
    """Similarities between 0 and 1, symmetric and skew; their differences; other questions."""
    for seed, (n, (a, b)) in enumerate(itertools.product(plan.sizes, ((6, 4), (8, 1.5)))):
        setting, mean = f"n={n}, Beta({a:g}, {b:g})", a / (a + b)

        def one(rng):
            return holds(t_interval(rng.beta(a, b, n)), mean)

        yield held("mean (Student)", setting, plan.times, seed, one)

        def once(rng):
            own, other = rng.beta(a, b, n), rng.beta(a / 2, b / 2, n)
            return holds(t_interval(own - other), 0.0)

        yield held("difference of means (Student)", setting, plan.times, 100 + seed, once)
    sizes = ((24, 30), (24, 246), (199, 1273))
    for seed, ((n, m), (a, b)) in enumerate(itertools.product(sizes, ((6, 4), (8, 1.5)))):

        def apart(rng):
            own, other = rng.beta(a, b, n), rng.beta(a / 2, b / 2, m)
            return holds(unpaired(own.tolist(), other.tolist(), 0.95), 0.0)

        what = "difference of means, other questions (Welch)"
        setting = f"n={n} and {m}, Beta({a:g}, {b:g}), spreads differ"
        yield held(what, setting, plan.times, 200 + seed, apart)


def of_verdicts(plan: Plan) -> Iterator[Cell]:
    """Scores of verdicts (Wilson, the jackknife's variance), and differences (the jackknife)."""
    for seed, (n, rows, rho, positives, errors, setting) in enumerate(verdict_settings(plan)):
        less = (errors[0] / 2, errors[1] / 2)
        truths = {k: truth_of(v, positives, rows, errors) for k, v in VERDICT_SCORES.items()}
        others = {
            k: truth_of(VERDICT_SCORES[k], positives, rows, less) for k in ("macro_f1", "acc")
        }
        times = plan.few if n < 200 else plan.few // 2
        rng = np.random.default_rng([seed, 8])
        held = dict.fromkeys((*truths, *(f"difference of {k}" for k in others)), 0)
        for _ in range(times):
            a = counts_of(rng, n, rows, rho, positives, errors)
            b = counts_of(rng, n, rows, rho, positives, less)
            for name, score in VERDICT_SCORES.items():
                held[name] += holds(score_interval(a, score, added=HALF_A_ROW), truths[name])
            for name, other in others.items():
                found = jackknife_difference(a, b, VERDICT_SCORES[name])
                held[f"difference of {name}"] += holds(found, truths[name] - other)
        for name, number in held.items():
            how = "jackknife" if name in truths else "jackknife, Student"
            how = f"Wilson, {how}" if name in truths else how
            what = f"{name.replace('_', ' ')} ({how})"
            yield Cell(INTERVAL, what, setting, number / times, times)


def of_auc(plan: Plan) -> Iterator[Cell]:
    """One AUC and the difference of two."""
    grid = itertools.product(plan.sizes, (5, 10), (0.0, 0.5), (0.74, 1.82))
    for seed, (n, rows, rho, apart) in enumerate(grid):
        if rows == 10 and n > 100:
            continue
        truth, less = auc_truth(n, rho, apart), auc_truth(n, rho, apart * 0.8)
        setting = f"n={n}, {rows} rows, correlation {rho:g}, AUC {norm.cdf(apart / 2**0.5):.2f}"

        def one(rng):
            return holds(auc_interval(rows_for_auc(rng, n, rows, rho, apart)), truth)

        def two(rng):
            a = rows_for_auc(rng, n, rows, rho, apart)
            b = rows_for_auc(rng, n, rows, rho, 0.8 * apart, shift=2)
            return holds(auc_difference(a, b), truth - less)

        times = plan.few if n < 1000 else plan.few // 2
        yield held("AUC (DeLong over questions, logit)", setting, times, seed, one)
        yield held("difference of AUC (DeLong)", setting, times, 100 + seed, two)


def of_information(plan: Plan) -> Iterator[Cell]:
    """Information F1 of prompts of which some have no claims, and its difference of two models."""
    kinds = {
        kind: [_truth_of_claims(kind, more) for more in (1.0, 1.2)]
        for kind in ((8, 2, 0.0), (8, 2, 0.05), (3, 2, 0.1), (20, 1, 0.02))
    }
    for seed, (n, (kind, ends)) in enumerate(itertools.product(plan.sizes, kinds.items())):
        (a, b, none), (truth, other) = kind, ends
        setting = f"n={n}, F1 {truth:.2f}, {none:.0%} without claims"

        def one(rng):
            return holds(score_interval(claims_of(rng, n, a, b, none), HARMONIC.score), truth)

        def two(rng):
            sides = [claims_of(rng, n, a, own, none) for own in (b, 1.2 * b)]
            return holds(jackknife_difference(*sides, HARMONIC.score), truth - other)

        yield held("information F1 (Wilson, jackknife)", setting, plan.few, seed, one)
        yield held("difference of information F1 (jackknife)", setting, plan.few, 100 + seed, two)


def _truth_of_claims(kind: tuple[float, float, float], more: float) -> float:
    a, b, none = kind
    many = claims_of(np.random.default_rng(9), 200_000, a, more * b, none)
    return float(HARMONIC.score(many.sum(axis=0, keepdims=True))[0])


def of_gaps(plan: Plan) -> Iterator[Cell]:
    """Differences of shares: the same questions, other questions."""
    for seed, (n, (p, q), rho) in enumerate(itertools.product(plan.sizes, PAIRS, (0.0, 0.5))):

        def once(rng):
            made = two_shares(rng, n, p, q, rho)
            return holds(paired_shares(made[:, 0], made[:, 1]), p - q)

        what = "difference of paired shares (Bonett & Price)"
        setting = f"n={n}, shares {p:g} and {q:g}, correlation {rho:g}"
        yield held(what, setting, plan.times, seed, once)
    for seed, ((n, m), (p, q)) in enumerate(itertools.product(((24, 30), (199, 1273)), PAIRS)):

        def apart(rng):
            return holds(unpaired_shares(rng.random(n) < p, rng.random(m) < q), p - q)

        what = "difference of unpaired shares (Agresti & Caffo)"
        setting = f"n={n} and {m}, shares {p:g} and {q:g}"
        yield held(what, setting, plan.times, 300 + seed, apart)


def of_changes(plan: Plan) -> Iterator[Cell]:
    """`xling compare`: how B's gap to English differs from A's, as `compare` makes it."""
    for seed, (n, (p, q), rho) in enumerate(itertools.product(plan.sizes, PAIRS, (0.0, 0.5))):

        def shares(rng):
            # B's gap is p - q, A's q - p.
            made = two_shares(rng, n, p, q, rho, copies=2)
            change = (made[:, 0] - made[:, 1]) - (made[:, 3] - made[:, 2])
            return holds(change_interval(change), 2 * (p - q))

        what = "change of a gap of shares (compare)"
        setting = f"n={n}, shares {p:g} and {q:g}, correlation {rho:g}"
        yield held(what, setting, plan.times, seed, shares)
    for seed, (n, rho) in enumerate(itertools.product(plan.sizes, (0.0, 0.5))):
        errors = ((0.2, 0.2), (0.3, 0.3), (0.15, 0.15), (0.15, 0.15))
        ends = [truth_of(F1, 0.2, 5, own) for own in errors]

        def scores(rng):
            parts, values = [], []
            for own in errors:
                made = counts_of(rng, n, 5, rho, 0.2, own)
                total = made.sum(axis=0, keepdims=True)
                without = F1(total - made)
                values.append(float(F1(total)[0]))
                parts.append((without - without.mean()) * ((n - 1) / n) ** 0.5)
            change = (values[2] - values[3]) - (values[1] - values[0])
            found = student(change, parts[2] - parts[3] - parts[1] + parts[0], n - 1)
            return holds(found, (ends[2] - ends[3]) - (ends[1] - ends[0]))

        what = "change of a gap of macro F1 (compare)"
        setting = f"n={n}, 5 rows, correlation {rho:g}"
        yield held(what, setting, plan.few, 300 + seed, scores)


def change_interval(change: np.ndarray):
    """The interval of a mean change per question, from the jackknife's parts as in `compare`."""
    n = len(change)
    parts = (change.mean() - change) / ((n - 1) * n) ** 0.5
    found = student(float(change.mean()), parts, n - 1)
    return never_without_width(found, difference=True)


def of_people(plan: Plan) -> Iterator[Cell]:
    """Gaps and shares that people's labels correct, and the gap by the judge alone.

    Wrong labels: (contradictory where it is not, the other way round), of a language and of English.
    """
    errors = {
        "harsher in one language": ((0.2, 0.0), (0.05, 0.0)),
        "wrong both ways": ((0.1, 0.1), (0.02, 0.02)),
        "milder in one language": ((0.02, 0.2), (0.02, 0.02)),
    }
    sizes = [(24, 12), (100, 50), (246, 103), (1134, 103), (1134, 280)]
    grid = itertools.product(sizes, (0.05, 0.1, 0.3), errors.items())
    for seed, ((n, m), p, (name, wrong)) in enumerate(grid):
        if n not in plan.sizes:
            continue
        sides = [
            judged_sides(np.random.default_rng([900 + seed, i]), n, m, p, wrong)
            for i in range(plan.few)
        ]
        labelled = [own for own in sides if not any(map(unlabelled, own))]
        gaps = [ppi_contrast([*zip((1, -1), own, strict=True)], shares=True) for own in labelled]
        means = [ppi_mean(own[0], shares=True) for own in labelled]
        setting = f"n={n}, {m} labels, share {p:g}, judge {name}"
        for what, found, truth in (("gap", gaps, 0.0), ("share", means, p)):
            held = float(np.mean([holds(item, truth) for item in found]))
            yield Cell(INTERVAL, f"{what} corrected by people", setting, held, len(found))
        alone = [paired_shares(own[0].judge, own[1].judge) for own in sides]
        held = float(np.mean([holds(item, 0.0) for item in alone]))
        yield Cell(INTERVAL, "gap by the judge alone", setting, held, len(alone))
