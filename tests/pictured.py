"""Made reports for tests of pictures: values, conclusions and questions of their own."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from xling_metrics.aggregate import MEAN
from xling_metrics.stats.intervals import Interval

from xling_tasks.criteria import Panel, Place
from xling_tasks.languages import LANGUAGES, SCRIPT_GROUPS
from xling_tasks.logs.results import Results, TaskResults
from xling_tasks.report.columns import Column
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Cell, Conclusion, Options, Report

N = 24


def linear(color):
    """Red, green and blue of a colour such as `#00204d`, as light."""
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return float([0.2126, 0.7152, 0.0722] @ linear(color))


def contrast(color, other):
    """WCAG's ratio."""
    low, high = sorted(map(luminance, (color, other)))
    return (high + 0.05) / (low + 0.05)


def task(model, criterion="verifiability", dataset="demo", language="es", columns=None):
    name = f"xlinghealth_{criterion}_{dataset}_{language}".rstrip("_")
    results = TaskResults(name, Results(Path("r.json"), {}))
    made = Task(model, Place(criterion, dataset, language), results)
    for metric, values in (columns or {}).items():
        made.ids = [f"q{i}" for i in range(len(values))]
        rows = [[v, 1.0] if v is not None else [np.nan] * 2 for v in values]
        made.columns[metric] = Column(MEAN, np.array(rows, dtype=float))
    return made


def cell(model, panel, language, value, *, better=True, n=N, interval=True, columns=None):
    own = task(model, panel.criterion, panel.dataset, language, columns)
    bounds = None
    if interval and value is not None:
        bounds = Interval(value, value - 0.05, value + 0.05, n, 0, 0.95, "percentile", 0, 1000)
    return Cell(model, panel, language, value, bounds, better, "", own)


def conclusion(
    language="es", verdict="worse", estimate=0.08, *, metric="contradictory", model="m",
    criterion="correctness", dataset="liveqa", higher=False, english=0.11, width=0.05, n=246, **more,
):  # fmt: skip
    """A conclusion; without an estimate nothing is known."""
    known = estimate is not None
    numbers = {"low": estimate - width, "high": estimate + width, "value": english + estimate} if known else {}  # fmt: skip
    return Conclusion(**{
        "language": language, "verdict": verdict, "estimate": estimate, "metric": metric, "model": model,
        "criterion": criterion, "dataset": dataset, "higher_is_better": higher, "english": english, "n": n,
        "reason": "because", "p": 0.01, "margin": 0.05, "low": None, "high": None,
        "value": None, **numbers, **more,
    })  # fmt: skip


def gap(model, panel, language, difference, verdict="worse", better=True, english=0.5):
    return conclusion(
        language, verdict, difference, metric=panel.metric, model=model, criterion=panel.criterion,
        dataset=panel.dataset, higher=better, english=english, width=0.1, n=N,
        temperature=panel.temperature,
    )  # fmt: skip


def report(cells, conclusions=()):
    names = dict.fromkeys(item.model for item in cells)
    models = tuple(Model(name, name, [], []) for name in names)
    options = Options(n_resamples=1000)
    return Report(models, tuple(cells), (), (), options, conclusions=tuple(conclusions))


def over_temperatures(
    models=("m",), metric="macro_recall", criterion="verifiability", temperatures=(0.0, 0.5, 1.0)
):
    return [
        cell(model, Panel(criterion, "demo", metric, t), code, 0.9 - 0.1 * i - 0.2 * t)
        for model in models
        for i, code in enumerate(("en", "es", "hi"))
        for t in temperatures
    ]


def of_information(models=("m",), metric="information_f1", criterion="information"):
    panel = Panel(criterion, "xling", metric, None)
    codes = [code for code in LANGUAGES if code != "en"]
    groups = {f"script:{name}": own for name, own in SCRIPT_GROUPS.items()} | {"avg": codes}
    cells = []
    for number, model in enumerate(models):
        values = {code: 0.2 + 0.02 * i + 0.03 * number for i, code in enumerate(codes)}
        values |= {key: sum(values[c] for c in own) / len(own) for key, own in groups.items()}
        values["family:romance"] = 0.5
        for code, value in values.items():
            by_question = {f"{metric}_{code}": [value - 0.1, value, value + 0.1]}
            columns = by_question if code in LANGUAGES else {}
            cells.append(cell(model, panel, code, value, columns=columns))
    return cells


LABELS = {
    "more_comprehensive": (0.5, True), "less_comprehensive": (0.2, None), "neither": (0.1, None),
    "contradictory": (0.1, False), "no_response": (0.1, False), "judge_failed_rate": (0.25, False),
}  # fmt: skip
"""A label's share, and whether more of it is better."""


def everything(models=("m", "k")):
    cells, gaps = [], []
    cells += over_temperatures(models)
    cells += over_temperatures(models, "sim_sent", "consistency")
    cells += over_temperatures(models, "language_consistency", "consistency")
    of = partial(Panel, "correctness", "demo", temperature=None)
    mcqa = Panel("mmedbench_mcqa", "mmedbench", "acc", None)
    for model in models:
        for i, code in enumerate(("en", "es", "hi")):
            for label, (value, better) in LABELS.items():
                cells.append(cell(model, of(label), code, value, better=better))
            column = {"chrf": [10.0 + i, 20.0, 30.0, None]}
            cells.append(cell(model, of("chrf"), code, 20.0, columns=column))
            cells.append(cell(model, mcqa, code, 0.5 + i / 10))
            if code != "en":
                gaps += [
                    gap(model, of("more_comprehensive"), code, -0.3),
                    gap(model, of("contradictory"), code, 0.2, "inconclusive", False, 0.1),
                    gap(model, mcqa, code, 0.1, "better"),
                    gap(model, Panel("verifiability", "demo", "macro_recall", 0.0), code, -0.1),
                ]
    return report(cells + of_information(models), gaps)
