"""Do the rank intervals of a leaderboard hold? Models with known ranks, given to its functions.

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
from in_memory import exam, model_of, similar
from scipy.stats import norm
from xling_metrics.stats.multiple_testing import rank_intervals

from xling_tasks.criteria import metric_key_of
from xling_tasks.report.estimates import Group
from xling_tasks.report.verdicts import Comparison, Options, combine_ways

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


def intervals(kind: str, values: np.ndarray) -> list[tuple[int, int]]:
    """The rank intervals as `xling leaderboard` makes them."""
    write = exam if kind == "shares" else similar
    tasks = [model_of(write("en", own)).tasks[0] for own in values]
    (name, endpoint), *_ = tasks[0].endpoints.items()
    tests = {}
    for i, j in combinations(range(len(tasks)), 2):
        groups = Group(1, tasks[i], name), Group(-1, tasks[j], name)
        panel, code = metric_key_of(tasks[i].task_key, name)
        pair = Comparison("m", panel, code, endpoint, groups, kind="models")
        tests[i, j] = combine_ways(pair, Options())
    return [(own.low, own.high) for own in rank_intervals(len(values), tests)]


def simulated(kind: str, truth: str, n: int, times: int) -> Iterator[tuple[bool, float]]:
    """Per data set whether all ranks are held, and how many places an interval has on average."""
    better = TRUTHS[truth]
    best = 1 + (better[None, :] > better[:, None] + 1e-12).sum(axis=1)
    worst = MODELS - (better[None, :] < better[:, None] - 1e-12).sum(axis=1)
    rng = np.random.default_rng([n, list(TRUTHS).index(truth), kind == "shares"])
    for _ in range(times):
        found = np.array(intervals(kind, values_of(kind, better, n, rng)))
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
