"""Runs with `protocol=published`: the printed scores and ours, and of every cell what it is.

What stands in a row of ours is `measured here`, or is another quantity than the printed one (`not
comparable`), or was `not made`; with the reason. The paper's tests stand in the tables of tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import ENGLISH
from xling_tasks.data.protocols import NO_HDP, Protocol, protocol_of
from xling_tasks.data.published import SOURCES, Figure, published
from xling_tasks.languages import in_order
from xling_tasks.output import many
from xling_tasks.report.data import Task
from xling_tasks.report.tables.correctness import correctness_figures, counts_of
from xling_tasks.report.tables.declared import translated_figures
from xling_tasks.report.tables.grid import (
    Bounded,
    Grid,
    Grids,
    Lookup,
    decrease_points,
    is_language,
    paper_note,
    published_model,
    recorded,
    shown_temperature,
)
from xling_tasks.report.tables.mmedbench import idf_weighed, mmedbench_figures, percent_lookup
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, note
from xling_tasks.report.tables.xlinghealth import A11_NAMES, over_temperatures, xlinghealth_figures

_MEASURED, _UNLIKE, _NOT_MADE = "measured here", "not comparable", "not made"
_NOT_ASKED = "not asked in this run, or nothing of it could be scored"
Tasks = dict[str, dict[str, Task]]
"""Model -> language -> task."""


def protocol_tables(grids: Grids) -> Iterator[Table]:
    """One per criterion and dataset of runs with the switch that a paper has printed scores of."""
    for grid in (grid for own in grids.values() for grid in own):
        protocol, figures = protocol_of(grid.criterion), _figures(grid)
        tasks: Tasks = {}
        for cell in grid.cells:
            if recorded(cell.task, "settings").get("protocol"):
                tasks.setdefault(cell.model, {})[cell.language] = cell.task
        if protocol and tasks and figures:
            yield _table(grid, protocol, tasks, figures)


def _figures(grid: Grid) -> list[Figure]:
    """The scores that are printed of it."""
    place = grid.criterion, grid.dataset
    if grid.criterion == "correctness":
        return correctness_figures(grid.dataset)
    if grid.known.several_languages:
        return translated_figures(*place)
    if grid.criterion not in ("consistency", "verifiability"):
        return mmedbench_figures(*place)
    own = xlinghealth_figures(*place)
    spoken = published(source="xlingeval", table="Table A4")
    return [*own, *spoken] if own and grid.criterion == "consistency" else own


def _table(grid: Grid, protocol: Protocol, tasks: Tasks, figures: Sequence[Figure]) -> Table:
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
            name, find = _ours(grid, model, metric, tau)
            values = {code: find(name, code).value for code in languages}
            said = {c: _label(protocol, name, c, v, by_language) for c, v in values.items()}
            kinds = {kind: [c for c in said if said[c][0] == kind] for kind, _ in said.values()}
            told = [
                kind if len(kinds) == 1 else f"{kind} ({', '.join(which)})"
                for kind, which in kinds.items()
            ]
            why = dict.fromkeys(reason for _, reason in said.values() if reason)
            rows.add(metric, at, model, "this run", *(_whole(metric, values[c]) for c in languages),
                     "; ".join(told), "; ".join(why) or None)  # fmt: skip
    about = note(
        "protocol", title=protocol.title, source=SOURCES[protocol.source], remains=protocol.remains
    )
    title = f"As published, cell by cell: {grid.heading}"
    key = f"protocol_{grid.key}"
    return rows.table(key, grid.criterion, title, [about, paper_note(figures)], digits=4)


def _whole(metric: str, value: float | None) -> float | None:
    """A count as a whole number."""
    return round(value) if value is not None and metric.endswith("_count") else value


def _ours(grid: Grid, model: str, metric: str, tau: str) -> tuple[str, Lookup]:
    """Our name of a printed metric, and our values in the paper's unit."""
    label = metric.removeprefix("correctness_")
    if metric.endswith("_count"):
        return label.removesuffix("_count"), counts_of(grid, model)
    if metric.endswith("_decrease_vs_en_points"):
        shares = grid.lookup(model)

        def decrease(name: str, code: str) -> Bounded:
            return Bounded(decrease_points(shares(name, code).value, shares(name, ENGLISH).value))

        return label.removesuffix("_decrease_vs_en_points"), decrease
    if metric == "language_consistency_percent":
        return "language_consistency_published", grid.lookup(model, float(tau), 100)
    if tau == "mean":
        spread = grid.criterion == "verifiability" and metric.endswith("_sd")
        plain = metric.removesuffix("_sd") if spread else metric
        name = next((own for own, theirs in A11_NAMES.items() if theirs == plain), plain)
        means = over_temperatures(grid, model)
        return name, (lambda name, code: means(f"{name}_sd", code)) if spread else means
    if grid.known.several_languages:
        return next(x.metric for x in grid.known.endpoints if x.agreement), grid.lookup(model)
    name = idf_weighed(metric)
    return name, percent_lookup(grid, model, name)


def _label(
    protocol: Protocol, metric: str, code: str, value: float | None, tasks: dict[str, Task]
) -> tuple[str, str]:
    """What a cell of ours is, and why it is not what the paper has."""
    task = tasks.get(code) or next(iter(tasks.values()))
    if value is None:
        return _NOT_MADE, _why_not(metric, code, task, code in tasks)
    count = task.results.count
    if task.limited:
        return _UNLIKE, f"asked: {count['effective']:,} of {many(count['original'], 'question')}"
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
