"""Ranks: models compared in pairs over the same questions, within runs made alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from tqdm import tqdm
from xling_metrics.stats.multiple_testing import rank_intervals

from xling_tasks.criteria import MetricKey, TaskKey
from xling_tasks.logs.config_diff import Difference, find_differences
from xling_tasks.report.compare.pairs import contents, differences
from xling_tasks.report.data import Task
from xling_tasks.report.estimates import Group
from xling_tasks.report.leaderboard.entries import Entry
from xling_tasks.report.verdicts import Comparison, Options, combine_ways
from xling_tasks.secrets import public

About = tuple[str, str]
"""A criterion and a dataset."""


def make_record(models: Iterable[Entry], options: Options) -> dict[str, Any]:
    """Return the content of `leaderboard.json`; models are read as they are asked for."""
    entries = tuple(models)
    ranks: list[dict[str, Any]] = []
    remarks: list[dict[str, Any]] = []
    keys = (metric_key for entry in entries for metric_key, _ in entry.names)
    for about in dict.fromkeys(key[:2] for key in keys):
        groups = _group_alike(entries, about)
        for number, members in enumerate(groups, 1):
            changed, notes = _find_changed(members, about)
            ranks += _rank_group(members, number, about, changed, options)
            remarks += notes
            if len(groups) > 1:
                found = _unlike(groups[0][0], members[0], about) if number > 1 else []
                remarks.append({
                    "kind": "groups", "criterion": about[0], "dataset": about[1], "group": number,
                    "models": [entry.name for entry in members],
                    "differs": [
                        f"{x.what}: {x.first} in group 1, {x.other} in group {number}"
                        for x in found
                    ],
                })  # fmt: skip
    rows = [entry.rows for entry in entries]
    record: dict[str, Any] = public({
        "models": [entry.info for entry in entries],
        "scores": [row for item in rows for row in item["scores"]],
        "verdicts": [row for item in rows for row in item["verdicts"]],
        "ranks": ranks,
        "remarks": [*(row for item in rows for row in item["remarks"]), *remarks],
        "options": asdict(options),
    })  # fmt: skip
    return record


def _group_alike(entries: Sequence[Entry], about: About) -> list[list[Entry]]:
    """Group the models of a criterion and dataset by how they were run.

    Alike is what `xling compare` calls so: settings, judge, prompts, data, generation, versions
    of tasks, and the signatures of the endpoints. A model joins the first group none of whose
    members differs from it: in a task that both have, or, where they have no language in common,
    in what a language does not change.
    """
    groups: list[list[Entry]] = []
    for entry in entries:
        if any(position[:2] == about for position in entry.tasks):
            alike = (g for g in groups if not any(_unlike(other, entry, about) for other in g))
            if (group := next(alike, None)) is not None:
                group.append(entry)
            else:
                groups.append([entry])
    return groups


def _unlike(a: Entry, b: Entry, about: About) -> list[Difference]:
    """Return in what two models' runs differ."""
    pairs: list[tuple[Task, Task, Sequence[str]]] = []
    names = set(a.names.values())
    for position, task in a.tasks.items():
        other = b.tasks.get(position)
        if other is not None and position[:2] == about:
            shared = [name for name in task.scores if name in names and name in other.scores]
            pairs.append((task, other, shared))
    if pairs:
        return differences(pairs)
    # Models that have no language in common.
    rows, base = (
        next(task.results for position, task in entry.tasks.items() if position[:2] == about)
        for entry in (a, b)
    )
    return find_differences([(rows, base)], across_languages=True)


def _find_changed(
    entries: Sequence[Entry], about: About
) -> tuple[set[tuple[str, str, TaskKey]], list[dict[str, Any]]]:
    """Return pairs of models for which a question's id stands for two texts, and remarks."""
    pairs, remarks = set(), []
    for task_key in dict.fromkeys(key for entry in entries for key in entry.tasks):
        owners = [e for e in entries if task_key in e.tasks and e.tasks[task_key].ids]
        if task_key[:2] != about or len(owners) < 2:
            continue
        digests = {}
        for entry in owners:
            task = entry.tasks[task_key]
            languages = set(task.recorded("data").get("languages") or ())
            digests[entry.name] = {k: v[:16] for k, v in contents(task, languages).items()}
        for (a, one), (b, other) in combinations(digests.items(), 2):
            shared = one.keys() & other.keys()
            changed = [key for key in shared if one[key] != other[key]]
            values: dict[str, Any] = {
                "models": [a, b],
                "task": owners[0].tasks[task_key].results.task,
            }
            if changed:
                pairs.add((a, b, task_key))
                values |= {"n": len(changed), "example": min(changed)}
                remarks.append({"kind": "other_content", **values})
            elif one and other and not shared:
                remarks.append({"kind": "no_shared_questions", **values})
    return pairs, remarks


def _rank_group(
    entries: Sequence[Entry],
    number: int,
    about: About,
    changed: Collection[tuple[str, str, TaskKey]],
    options: Options,
) -> Iterator[dict[str, Any]]:
    """Yield the places that each model can have, by metric and language."""
    columns = [key for entry in entries for key in entry.names if key[0][:2] == about]
    # On a terminal alone: many models over thousands of questions take minutes.
    progress = f"Ranks of {len(entries)} models"
    for metric_key, code in tqdm(dict.fromkeys(columns), progress, leave=False, disable=None):
        rows, tasks, reasons = [], {}, {}
        for entry in entries:
            if (metric_key, code) in entry.names:
                task, name = tasks[entry.name] = _task_of(entry, metric_key, code)
                reason = "unscored" if task.scores.get(name) is None else ""
                reasons[entry.name] = reason or ("" if name in task.columns else "no_samples")
                rows.append(entry.name)
        ranked = [name for name in rows if not reasons[name]]
        if len(ranked) == 1:
            reasons[ranked[0]], ranked = "alone", []
        tests: dict[tuple[int, int], tuple[float, float | None]] = {}
        for (i, a), (j, b) in combinations(enumerate(ranked), 2):
            if (a, b, tasks[a][0].task_key) not in changed:
                endpoint = tasks[a][0].endpoints[tasks[a][1]]
                groups = Group(1, *tasks[a]), Group(-1, *tasks[b])
                pair = Comparison(a, metric_key, code, endpoint, groups, kind="models")
                tests[i, j] = combine_ways(pair, options)
        intervals = rank_intervals(len(ranked), tests, options.confidence) if ranked else []
        places = dict(zip(ranked, intervals, strict=True))
        for name in rows:
            place = places.get(name)
            yield {
                "model": name, **metric_key._asdict(), "language": code, "group": number,
                "rank_low": place and place.low, "rank_high": place and place.high,
                "ranked": len(ranked) if place else None,
                "better": [ranked[k] for k in place.better] if place else [],
                "worse": [ranked[k] for k in place.worse] if place else [],
                "unranked": reasons[name],
            }  # fmt: skip


def _task_of(entry: Entry, metric_key: MetricKey, language: str) -> tuple[Task, str]:
    """Return the task that has a metric in a language, and the metric's name there."""
    positions = (TaskKey(metric_key.criterion, metric_key.dataset, code) for code in (language, ""))
    task = next(entry.tasks[position] for position in positions if position in entry.tasks)
    return task, entry.names[metric_key, language]
