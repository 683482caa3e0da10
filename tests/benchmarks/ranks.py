"""Do the rank intervals of a board hold? Models with known ranks, given to the board's functions.

`python tests/benchmarks/ranks.py` prints the table of docs/report.md (a quarter of an hour on one
core; `--times 30` less). Every data set has ten models over the same questions, which are easier
or harder for all of them. Asked: that all ten intervals hold their model's true rank together in
at least 95% of the data sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product

import common
import numpy as np
from scipy.stats import norm
from xling_metrics.aggregate import MEAN
from xling_metrics.stats.rank_intervals import rank_intervals
from xling_metrics.stats.resampling import ResamplerPool

from xling_tasks.report.columns import Column
from xling_tasks.report.inference import Draws, paired
from xling_tasks.report.model import Options
from xling_tasks.report.paired import shared_sums

MODELS = 10
TRUTHS = {
    "all equal": np.zeros(MODELS),
    "three tiers": np.repeat([0.0, 0.15, 0.3], [4, 3, 3]),
    "a ladder": np.linspace(0, 0.36, MODELS),
}
"""How much better each model is, as a share of questions or a mean."""


def values_of(kind: str, better: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """A row per model: 0 or 1, or a number in [0, 1], per question."""
    hard, own = rng.normal(size=n), rng.normal(size=(len(better), n))
    noise = (hard + own) / np.sqrt(2)
    if kind == "shares":
        return (noise < norm.ppf(0.3 + better)[:, None]).astype(float)
    return np.clip(0.3 + better[:, None] + 0.1 * noise, 0, 1)


def intervals(values: np.ndarray, draws: Draws) -> list[tuple[int, int]]:
    """The rank intervals as `xling leaderboard` makes them."""
    columns = [Column(MEAN, np.column_stack([v, np.ones_like(v)])) for v in values]
    keys = list(map(str, range(values.shape[1])))
    tests = {}
    for i, j in combinations(range(len(values)), 2):
        both, _ = shared_sums((keys, columns[i].sums), (keys, columns[j].sums), {})
        found = paired(columns[i], columns[j], both, draws).range
        tests[i, j] = (found.value or 0.0, found.p)
    return [(own.low, own.high) for own in rank_intervals(len(values), tests)]


def simulated(kind: str, truth: str, n: int, times: int) -> Iterator[tuple[bool, float]]:
    """Per data set whether all ranks are held, and how many places an interval has on average."""
    better = TRUTHS[truth]
    best = 1 + (better[None, :] > better[:, None] + 1e-12).sum(axis=1)
    worst = MODELS - (better[None, :] < better[:, None] - 1e-12).sum(axis=1)
    rng = np.random.default_rng([n, list(TRUTHS).index(truth), kind == "shares"])
    draws = Draws(Options(n_resamples=2000), ResamplerPool(), described=False)
    for _ in range(times):
        found = np.array(intervals(values_of(kind, better, n, rng), draws))
        held = bool(((found[:, 0] <= best) & (worst <= found[:, 1])).all())
        yield held, float((found[:, 1] - found[:, 0] + 1).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300, help="data sets a cell")
    times = parser.parse_args().times
    heads = ("values", "true order", "questions", "all ranks held", "places an interval has")
    common.show(*heads, head=True)
    for kind, truth, n in product(("shares", "means"), TRUTHS, (24, 100, 246)):
        held, places = zip(*simulated(kind, truth, n, times), strict=True)
        common.show(kind, truth, n, f"{np.mean(held):.3f}", f"{np.mean(places):.1f}")


if __name__ == "__main__":
    main()
