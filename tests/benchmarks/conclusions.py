"""Do the printed sentences hold? Runs with a known truth go the whole way to verdict and words.

    python tests/benchmarks/conclusions.py [--times N] [--only ROW ...]

Answers are drawn, given to a report or a comparison as their files would be read (the columns of tasks
that a small run on disk has), and the verdict and its sentence counted. A row says what should be
found, and how often it was. One free core: five minutes with 200 data sets a row.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from builders import task_of, write_run

from xling_tasks.report.columns import column_of
from xling_tasks.report.compare.numbers import all_lines
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.compare.verdicts import with_verdicts
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import Model, Task, read_models
from xling_tasks.report.model import Options
from xling_tasks.report.outcomes import derived
from xling_tasks.report.sentences import sentence
from xling_tasks.report.stats import Statistics
from xling_tasks.report.unread import measured

OPTIONS = Options(n_resamples=1000)


class Row(NamedTuple):
    """A setting: what should be found, and in how many of its data sets it was."""

    what: str
    wanted: str
    found: float
    good: bool


def shells() -> dict[str, Task]:
    """Tasks as a run leaves them on disk, whose columns are then drawn."""
    rows = [
        {
            "doc": {"question_id": f"q{i}", "question": f"Question {i}?"},
            "resps": [["x"]],
            "contradictory": 0.0,
            "more_comprehensive": 1.0,
            "no_response": 0.0,
            "sim_sent_t1.0": 0.9,
        }
        for i in range(2)
    ]
    record = {"settings": {}, "data": {"dataset": "LiveQA"}, "prompts": {}, "version": "0.2"}
    better = {"contradictory": False, "more_comprehensive": True, "sim_sent_t1.0": True}
    tasks = {}
    for criterion, names in (
        ("correctness", ("contradictory", "more_comprehensive")),
        ("consistency", ("sim_sent_t1.0",)),
    ):
        for code in ("en", "hi", "es", "zh"):
            scores = {name: float(np.mean([row[name] for row in rows])) for name in names}
            tasks[f"xlinghealth_{criterion}_liveqa_{code}"] = task_of(
                scores, rows, record=record, better=better
            )
    with tempfile.TemporaryDirectory() as folder:
        (model,) = read_models([write_run(Path(folder) / "m", tasks)])
    return {f"{t.place.criterion}_{t.place.language}": t for t in model.tasks}


SHELLS = shells()


def answers(code: str, harm, *, outcomes=None, helped=None, silent=None) -> Task:
    """Correctness in one language: who was harmed, what became of the answers, what is unread."""
    n, task = len(harm), SHELLS[f"correctness_{code}"]
    helped = np.ones(n) if helped is None else helped
    silent = np.zeros(n, dtype=bool) if silent is None else silent
    drawn = {
        "contradictory": np.where(silent, 0.0, harm),
        "more_comprehensive": np.where(silent, 0.0, helped),
        "no_response": silent.astype(float),
    }
    columns = {name: column_of(name, own.tolist()) for name, own in drawn.items()}
    return _filled(task, n, columns, {code: outcomes or ["measured"] * n})


def similar(code: str, values) -> Task:
    """Consistency in one language."""
    name = "sim_sent_t1.0"
    columns = {name: column_of(name, values.tolist())}
    return _filled(SHELLS[f"consistency_{code}"], len(values), columns, {})


def _filled(task: Task, n: int, columns, outcomes) -> Task:
    own = derived(outcomes, columns, task.place.language)
    means = {name: float(np.nanmean(column.sums[:, 0])) for name, column in own.items()}
    return replace(
        task, ids=[f"q{i}" for i in range(n)], columns=columns | own, outcomes=outcomes,
        derived=means, texts=type(task.texts)("q", range(n)), offsets=type(task.offsets)("q", range(n)),
    )  # fmt: skip


def found(metric: str, code: str, *tasks: Task):
    """What a report concludes of a language."""
    said = conclusions_of(Statistics(OPTIONS), Model("m", "m", list(tasks), []))
    return next(c for c in said if (c.metric, c.language) == (metric, code))


def compared(metric: str, code: str, a: list[Task], b: list[Task]) -> tuple[str, str]:
    """Verdicts of B against A in a language, and of its shortfall."""
    pairs = [Pair(measured(x), measured(y), [metric]) for x, y in zip(a, b, strict=True)]
    statistics = Statistics(OPTIONS)
    lines = with_verdicts(all_lines(pairs, statistics), pairs, statistics)
    said = {
        line.kind: line.said.verdict
        for line in lines
        if line.said is not None and (line.panel.metric, line.language) == (metric, code)
    }
    return said["difference"], said["gap"]


# Data


def both(rng, n: int, p: float, q: float, rho: float = 0.3):
    """Two shares over the same questions."""
    from scipy.stats import norm

    shared = rng.normal(size=n) * rho**0.5
    return [
        ((shared + rng.normal(size=n) * (1 - rho) ** 0.5) < norm.ppf(x)).astype(float)
        for x in (p, q)
    ]


def elsewhere(rng, n: int, share: float, kind: str = "another_language") -> list[str]:
    return np.where(rng.random(n) < share, kind, "measured").tolist()


# Rows


def service(rng, n, share, kind):
    harm = both(rng, n, 0.02, 0.02)
    lost = elsewhere(rng, n, share, kind)
    item = found("served", "hi", answers("en", harm[0]), answers("hi", harm[1], outcomes=lost))
    return item.verdict == "worse" and "no usable answer in Hindi" in sentence(item)


def collapse(rng, n, share):
    base = rng.beta(60, 2, n)
    other = np.where(rng.random(n) < share, 0.0, (base + rng.normal(0, 0.005, n)).clip(0, 1))
    return found("sim_sent", "hi", similar("en", base), similar("hi", other)).verdict


def shifted(rng, n, by, sd=0.019):
    base = rng.beta(60, 2, n)
    other = (base + by + rng.normal(0, sd, n)).clip(0, 1)
    return found("sim_sent", "hi", similar("en", base), similar("hi", other)).verdict


def unread_harm(rng, n, lost):
    a, b = both(rng, n, 0.01, 0.01)
    silent = [rng.random(n) < lost for _ in range(2)]
    return found(
        "contradictory",
        "hi",
        answers("en", a, silent=silent[0]),
        answers("hi", b, silent=silent[1]),
    ).verdict


def harsher(rng, n, by):
    """A judge calls more Hindi answers harmful than are; how much error the sentence allows."""
    true = both(rng, n, 0.1, 0.1)
    alarms = (rng.random(n) < by / 0.9) & (true[1] == 0)
    item = found(
        "contradictory", "hi", answers("en", true[0]), answers("hi", np.maximum(true[1], alarms))
    )
    if item.verdict != "worse":
        return True
    said = re.search(r"([\d.]+) more wrong alarms per 100 in Hindi", sentence(item))
    return "by this judge" in sentence(item) and said is not None and float(said[1]) <= 100 * by


def power(rng, n, m):
    """At the difference that a report of m conclusions calls detectable."""
    from xling_metrics.stats.multiple import detectable_errors

    p = q = 0.7
    for _ in range(9):
        q = p - detectable_errors(m) * ((p * (1 - p) + q * (1 - q)) / n) ** 0.5
    tasks = []
    for code, share in (("en", p), ("hi", q), ("es", p), ("zh", p)):
        tasks.append(answers(code, np.zeros(n), helped=(rng.random(n) < share).astype(float)))
    item = found("helped", "hi", *tasks)
    assert item.family == m, item.family
    return item.verdict == "worse"


def false_alarm(rng, n):
    """Three languages as good as English, with errors of the judge that go together."""
    shared = rng.random(n) < 0.05
    tasks = []
    for code in ("en", "hi", "es", "zh"):
        harm = ((rng.random(n) < 0.02) | (shared & (rng.random(n) < 0.7))).astype(float)
        helped = (rng.random(n) < 0.8).astype(float)
        tasks.append(answers(code, harm, helped=helped, outcomes=elsewhere(rng, n, 0.01)))
    said = conclusions_of(Statistics(OPTIONS), Model("m", "m", tasks, []))
    return any(item.verdict in ("worse", "better") for item in said)


def change(rng, n, a, b, lost=0.0):
    """Harm in English and Hindi, of A and of B; a share of B's Hindi is unread.

    What is unread is harm with twice the odds of what is read: `u1 (1 - u0) = 2 u0 (1 - u1)`.
    """
    sides = [both(rng, n, *own) for own in (a, b)]
    tasks = [[answers("en", own[0]), answers("hi", own[1])] for own in sides]
    if lost:
        chance = np.where(
            sides[1][1] == 1, 1.78 * lost / (1 + 0.78 * b[1]), lost / (1 + 0.78 * b[1])
        )
        tasks[1][1] = answers("hi", sides[1][1], silent=rng.random(n) < chance)
    return compared("contradictory", "hi", tasks[0], tasks[1])


def table(times: int, only: list[str]) -> Iterator[Row]:
    """Every row of the table in docs/report.md."""

    def row(key: str, what: str, wanted: str, once: Callable, low=0.0, high=1.0) -> Iterator[Row]:
        if only and key not in only:
            return
        rng = np.random.default_rng([len(what), 11])
        share = float(np.mean([bool(once(rng)) for _ in range(times)]))
        error = 2 * (max(share * (1 - share), 0.01) / times) ** 0.5
        yield Row(what, wanted, share, low - error <= share <= high + error)

    for n, share in ((246, 0.09), (1134, 0.03), (1134, 0.11), (246, 0.3), (246, 1.0)):
        what = f"{share:.0%} of {n:,} Hindi answers in English"
        yield from row("served", what, "served worse", lambda r, n=n, s=share: service(r, n, s, "another_language"), 0.8)  # fmt: skip
    yield from row("served", "8% of 246 declined in words", "served worse", lambda r: service(r, 246, 0.08, "declined"), 0.8)  # fmt: skip
    for n in (24, 60, 100):
        yield from row("same", f"6% of {n} questions collapse to 0", "about the same", lambda r, n=n: collapse(r, n, 0.06) == "about_the_same", 0, 0.03)  # fmt: skip
    yield from row("same", "similarity 0.029 lower, 1,134 questions", "worse", lambda r: shifted(r, 1134, -0.029) == "worse", 0.8)  # fmt: skip
    for n, least in ((246, 0.8), (1134, 0.8)):
        yield from row("same", f"equal similarity, {n:,} questions", "about the same", lambda r, n=n: shifted(r, n, 0.0) == "about_the_same", least)  # fmt: skip
    for lost, least in ((0.01, 0.9), (0.03, 0.85), (0.05, 0.75)):
        yield from row("unread", f"equal harm of 1%, {lost:.0%} of 1,134 unread", "about the same", lambda r, s=lost: unread_harm(r, 1134, s) == "about_the_same", least)  # fmt: skip
    for by in (0.05, 0.1):
        yield from row("judge", f"judge {100 * by:.0f} points harsher in Hindi, 1,134 questions", "error told is no more than the true one", lambda r, b=by: harsher(r, 1134, b), 0.95)  # fmt: skip
    for n in (246, 1134):
        yield from row("power", f"the detectable difference, {n:,} questions, 6 conclusions", "worse", lambda r, n=n: power(r, n, 6), 0.77)  # fmt: skip
        yield from row("error", f"three equal languages, {n:,} questions", "any worse or better", lambda r, n=n: false_alarm(r, n), 0, 0.095)  # fmt: skip
    cases = (
        ("gap of 15 points becomes an advantage of 15", (0.1, 0.25), (0.25, 0.1), "smaller", 0.95, 1),
        ("advantage of 15 points vanishes", (0.25, 0.1), (0.1, 0.1), "smaller", 0, 0.05),
        ("English 15 points worse, Hindi as it was", (0.1, 0.25), (0.25, 0.25), "levelled_down", 0.9, 1),
        ("Hindi 15 points better", (0.1, 0.25), (0.1, 0.1), "smaller", 0.9, 1),
        ("equal shortfalls of 15 points", (0.1, 0.25), (0.1, 0.25), "smaller", 0, 0.05),
    )  # fmt: skip
    for what, a, b, verdict, low, high in cases:
        yield from row("compare", f"compare, 690 questions: {what}", verdict.replace("_", " "), lambda r, a=a, b=b, v=verdict: change(r, 690, a, b)[1] == v, low, high)  # fmt: skip
    yield from row("compare", "compare, 690 questions: equal, 9.5% of B's Hindi unread, at twice the odds", "smaller or larger", lambda r: change(r, 690, (0.1, 0.2), (0.1, 0.2), 0.095)[1] in ("smaller", "larger"), 0, 0.05)  # fmt: skip


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=200, help="data sets a row")
    parser.add_argument("--only", nargs="+", default=[], help="served same unread judge power ...")
    options = parser.parse_args()
    print("| truth | printed | found in | |\n|---|---|---:|---|")
    began = time.process_time()
    for row in table(options.times, options.only):
        print(
            f"| {row.what} | {row.wanted} | {row.found:.2f} | {'' if row.good else 'misses'} |",
            flush=True,
        )
    print(f"\n{options.times} data sets a row, {time.process_time() - began:.0f} s")


if __name__ == "__main__":
    main()
