"""Runs with `protocol=published`: the printed scores and ours, and of every cell what it is.

What stands in a row of ours is `measured here`, or is another quantity than the printed one (`not
comparable`), or was `not made`; with the reason. The paper's tests stand in the tables of tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.data.protocols import NO_HDP, Protocol, protocol_of
from xling_tasks.data.published import SOURCES, Figure, published
from xling_tasks.languages import in_order
from xling_tasks.report.data import Task
from xling_tasks.report.tables.correctness import correctness_figures, counts_of
from xling_tasks.report.tables.grid import (
    Grid,
    decrease_points,
    heading,
    is_language,
    paper_note,
    published_model,
    shown_temperature,
)
from xling_tasks.report.tables.mmedbench import idf_weighed, mmedbench_figures, percent_lookup
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table
from xling_tasks.report.tables.xlinghealth import A11_NAMES, mean_lookup, spread_lookup

_MEASURED, _UNLIKE, _NOT_MADE = "measured here", "not comparable", "not made"
_NOT_ASKED = "not asked in this run, or nothing of it could be scored"
Find = Callable[[str], float | None]
"""From a language to a value, in the paper's unit."""


def protocol_tables(grid: Grid) -> Iterator[Table]:
    """One per criterion and dataset of runs with the switch that a paper has printed scores of."""
    for criterion in CRITERIA:
        protocol = protocol_of(criterion)
        for dataset in grid.datasets(criterion) if protocol else ():
            tasks: dict[str, dict[str, Task]] = {}
            for cell in grid.of(criterion, dataset):
                if cell.task.results.xling.get("settings", {}).get("protocol"):
                    tasks.setdefault(cell.model, {})[cell.language] = cell.task
            figures = _figures(criterion, dataset)
            if protocol and tasks and figures:
                yield _table(grid, protocol, criterion, dataset, tasks, figures)


def _figures(criterion: str, dataset: str) -> list[Figure]:
    """The scores that are printed of it."""
    if criterion == "correctness":
        return correctness_figures(dataset)
    if criterion in ("consistency", "verifiability"):
        tables = ("Table A9", "Table A10") if criterion == "consistency" else ("Table A11",)
        own = [f for t in tables for f in published(source="xlingeval", table=t, dataset=dataset)]
        spoken = published(source="xlingeval", table="Table A4")
        return [*own, *spoken] if own and criterion == "consistency" else own
    if criterion in ("information", "empathy"):
        name = f"{criterion}_consistency"
        rows = published(source="found_in_translation", table="Table 4", metric=name)
        return list(rows) if dataset == "xling" else []
    return mmedbench_figures(criterion, dataset)


def _table(
    grid: Grid, protocol: Protocol, criterion: str, dataset: str,
    tasks: dict[str, dict[str, Task]], figures: Sequence[Figure],
) -> Table:  # fmt: skip
    codes = dict.fromkeys(item.language for item in figures)
    groups = [code for code in codes if not is_language(code)]
    languages = [*in_order(code for code in codes if is_language(code)), *groups]
    rows = Rows(("metric", "T", "model", "from", *languages, "what it is", "why"))
    for metric, tau in dict.fromkeys((item.metric, item.temperature) for item in figures):
        same = [item for item in figures if (item.metric, item.temperature) == (metric, tau)]
        at = shown_temperature(float(tau)) if tau not in ("", "mean") else tau or None
        for row in dict.fromkeys((f.table, f.model, f.setting) for f in same):
            own = {f.language: f for f in same if (f.table, f.model, f.setting) == row}
            cells = [_whole(metric, own[c].value if c in own else None) for c in languages]
            derived = next(iter(own.values())).derived
            rows.add(
                metric, at, published_model(row[1]), ", ".join(filter(None, (row[0], row[2]))),
                *cells, "derived from printed numbers" if derived else "published", None,
                published=True,
            )  # fmt: skip
        for model, by_language in tasks.items():
            name, find = _ours(grid, model, criterion, dataset, metric, tau)
            values = {code: find(code) for code in languages if code in codes}
            said = {c: _label(protocol, name, c, v, by_language) for c, v in values.items()}
            kinds = {kind: [c for c in said if said[c][0] == kind] for kind, _ in said.values()}
            told = [
                kind if len(kinds) == 1 else f"{kind} ({', '.join(which)})"
                for kind, which in kinds.items()
            ]
            why = dict.fromkeys(reason for _, reason in said.values() if reason)
            rows.add(metric, at, model, "this run", *(_whole(metric, values[c]) for c in languages),
                     "; ".join(told), "; ".join(why) or None)  # fmt: skip
    note = (
        f"This run's settings are those that {protocol.title} ({SOURCES[protocol.source]}) fixes "
        f"(protocol=published). Other than in the paper in every cell: {protocol.remains} Its "
        "tests of differences, where it has any, stand with ours below."
    )
    title = f"As published, cell by cell: {heading(criterion, dataset)}"
    key = f"protocol_{criterion}_{dataset}"
    return rows.table(key, criterion, title, [note, paper_note(figures)], digits=4)


def _whole(metric: str, value: float | None) -> float | None:
    """A count as a whole number."""
    return round(value) if value is not None and metric.endswith("_count") else value


def _ours(
    grid: Grid, model: str, criterion: str, dataset: str, metric: str, tau: str
) -> tuple[str, Find]:
    """Our name of a printed metric, and our values in the paper's unit."""
    if metric.endswith("_count"):
        label = metric.removeprefix("correctness_").removesuffix("_count")
        counts = counts_of(grid, model, dataset)
        return label, lambda code: counts(label, code).value
    if metric.endswith("_decrease_vs_en_points"):
        label = metric.removeprefix("correctness_").removesuffix("_decrease_vs_en_points")
        shares = grid.lookup(model, criterion, dataset)
        english = shares(label, ENGLISH).value
        return label, lambda code: decrease_points(shares(label, code).value, english)
    if metric == "language_consistency_percent":
        name = "language_consistency_published"
        spoken = grid.lookup(model, criterion, dataset, float(tau), 100)
        return name, lambda code: spoken(name, code).value
    if tau == "mean":
        plain = metric.removesuffix("_sd") if criterion == "verifiability" else metric
        name = next((own for own, theirs in A11_NAMES.items() if theirs == plain), plain)
        if plain != metric:
            spread = spread_lookup(grid, model, dataset)
            return name, lambda code: spread(name, code)
        means = mean_lookup(grid, model, criterion, dataset)
        return name, lambda code: means(name, code).value
    if criterion in ("information", "empathy"):
        name = next(x.metric for x in CRITERIA[criterion].endpoints if x.agreement)
        scores = grid.lookup(model, criterion, dataset)
        return name, lambda code: scores(name, code).value
    name = idf_weighed(metric)
    percents = percent_lookup(grid, model, criterion, dataset, name)
    return name, lambda code: percents(name, code).value


def _label(
    protocol: Protocol, metric: str, code: str, value: float | None, tasks: dict[str, Task]
) -> tuple[str, str]:
    """What a cell of ours is, and why it is not what the paper has."""
    task = tasks.get(code) or next(iter(tasks.values()))
    if value is None:
        return _NOT_MADE, _why_not(metric, code, task, code in tasks)
    count = task.results.count
    if task.limited:
        return _UNLIKE, f"{count['effective']:,} of {count['original']:,} questions were asked"
    unlike = protocol.unlike.get(metric, "")
    return (_UNLIKE, unlike) if unlike else (_MEASURED, "")


def _why_not(metric: str, code: str, task: Task, asked: bool) -> str:
    settings = task.results.xling["settings"]
    if metric == "sim_hdp":
        return NO_HDP
    if not asked and is_language(code):
        return _NOT_ASKED
    if task.place.criterion == "consistency" and code != ENGLISH and not settings["translator"]:
        return "answers are compared in English, and no translator is set"
    if metric.startswith(("sim_sent", "bertscore")):
        return "no encoder could be had, or encoder=false"
    if task.place.criterion in ("correctness", "information") and not settings["judge"]:
        return "no judge is set"
    return _NOT_ASKED
