"""Ranks: models compared in pairs over the same questions, within runs made alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any, NamedTuple

from tqdm import tqdm
from xling_metrics.stats.multiple_testing import rank_intervals

from xling_tasks.criteria import MetricKey, TaskKey
from xling_tasks.logs.config_diff import Difference, find_differences
from xling_tasks.report.compare.pairs import contents, differences
from xling_tasks.report.data import Task
from xling_tasks.report.estimates import Group
from xling_tasks.report.leaderboard.entries import Entry
from xling_tasks.report.verdicts import Comparison, Options, test_ways
from xling_tasks.secrets import public

About = tuple[str, str]
"""A criterion and a dataset."""


class AlikeRuns(NamedTuple):
    """Models whose runs of one criterion and dataset were made alike; the first has the number 1.

    `differs`: in what its runs differ from those of group 1, a line each.
    """

    number: int
    models: tuple[str, ...]
    differs: tuple[str, ...]


def make_record(models: Iterable[Entry], options: Options) -> dict[str, Any]:
    """Return the content of `leaderboard.json`; models are read as they are asked for."""
    entries = tuple(models)
    ranks: list[dict[str, Any]] = []
    remarks: list[dict[str, Any]] = []
    for subject in dict.fromkeys(
        metric_key[:2] for entry in entries for metric_key, _ in entry.names
    ):
        groups = _groups_of(entries, subject)
        for group in groups:
            alike_run = _Group(entries, group, options)
            ranks += alike_run.ranks(subject)
            remarks += alike_run.remarks
        if len(groups) > 1:
            labels = dict(zip(("criterion", "dataset"), subject, strict=True))
            remarks += [
                {"kind": "groups", **labels, "group": group.number, "models": list(group.models),
                 "differs": list(group.differs)}
                for group in groups
            ]  # fmt: skip
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


# Runs made alike


def _groups_of(entries: Sequence[Entry], about: About) -> tuple[AlikeRuns, ...]:
    """Group the models of a criterion and dataset by how they were run.

    Alike is what `xling compare` calls so: settings, judge, prompts, data, generation, versions
    of tasks, and the signatures of the endpoints. A model joins the first group none of whose
    members differs from it: in a task that both have, or, where they have no language in common,
    in what a language does not change.
    """
    members: list[list[Entry]] = []
    for entry in entries:
        if not any(position[:2] == about for position in entry.tasks):
            continue
        for group in members:
            if not any(_unlike(other, entry, about) for other in group):
                group.append(entry)
                break
        else:
            members.append([entry])
    groups = []
    for number, group in enumerate(members, 1):
        found = _unlike(members[0][0], group[0], about) if number > 1 else ()
        differs = (f"{x.what}: {x.first} in group 1, {x.other} in group {number}" for x in found)
        labels = tuple(entry.name for entry in group)
        groups.append(AlikeRuns(number, labels, tuple(map(public, differs))))
    return tuple(groups)


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


# One group of models


class _Group:
    """The models of a group, and what their tasks asked; each file is read once."""

    def __init__(self, entries: Sequence[Entry], group: AlikeRuns, options: Options) -> None:
        self._entries = [entry for entry in entries if entry.name in group.models]
        self._number = group.number
        self._options = options
        self.remarks: list[dict[str, Any]] = []
        self._known: dict[tuple[str, TaskKey], dict[str, str]] = {}
        self._same: dict[tuple[tuple[str, TaskKey], ...], bool] = {}

    def ranks(self, about: About) -> Iterator[dict[str, Any]]:
        """Yield the places that each model can have, by metric and language."""
        columns = [key for entry in self._entries for key in entry.names if key[0][:2] == about]
        # On a terminal alone: many models over thousands of questions take minutes.
        lines = f"Ranks of {len(self._entries)} models"
        for metric_key, code in tqdm(dict.fromkeys(columns), lines, leave=False, disable=None):
            yield from self._column(metric_key, code)

    def _column(self, metric_key: MetricKey, language: str) -> Iterator[dict[str, Any]]:
        """Yield a metric in one language: every model, ranked."""
        rows = [entry for entry in self._entries if (metric_key, language) in entry.names]
        reasons = {entry.name: _unranked(*_task_of(entry, metric_key, language)) for entry in rows}
        ranked = [entry for entry in rows if not reasons[entry.name]]
        positions = self._ranks(ranked, metric_key, language) if len(ranked) > 1 else {}
        if len(ranked) == 1:
            reasons[ranked[0].name] = "alone"
        empty: dict[str, Any] = {
            "rank_low": None,
            "rank_high": None,
            "ranked": None,
            "better": [],
            "worse": [],
        }
        for entry in rows:
            yield {
                "model": entry.name, **metric_key._asdict(), "language": language,
                "group": self._number, **positions.get(entry.name, empty),
                "unranked": reasons[entry.name],
            }  # fmt: skip

    def _ranks(
        self, entries: Sequence[Entry], metric_key: MetricKey, language: str
    ) -> dict[str, dict[str, Any]]:
        """Return the places of models by name."""
        names = [entry.name for entry in entries]
        tasks = [_task_of(entry, metric_key, language) for entry in entries]
        tests: dict[tuple[int, int], tuple[float, float | None]] = {}
        for i, j in combinations(range(len(entries)), 2):
            if self._asked_the_same((names[i], tasks[i][0]), (names[j], tasks[j][0])):
                groups = Group(1, *tasks[i]), Group(-1, *tasks[j])
                endpoint = tasks[i][0].endpoints[tasks[i][1]]
                pair = Comparison(names[i], metric_key, language, endpoint, groups, kind="models")
                tests[i, j] = test_ways(pair, self._options)
        result = rank_intervals(len(entries), tests, self._options.confidence)
        return {
            name: {
                "rank_low": item.low, "rank_high": item.high, "ranked": len(entries),
                "better": [names[k] for k in item.better], "worse": [names[k] for k in item.worse],
            }
            for name, item in zip(names, result, strict=True)
        }  # fmt: skip

    def _asked_the_same(self, first: tuple[str, Task], other: tuple[str, Task]) -> bool:
        """Return whether no question stands for two texts; add a remark if one does."""
        pair = tuple((name, task.task_key) for name, task in (first, other))
        if pair not in self._same:
            self._same[pair] = self._compared(first, other)
        return self._same[pair]

    def _compared(self, first: tuple[str, Task], other: tuple[str, Task]) -> bool:
        a, b = self._of(*first), self._of(*other)
        if a and a == b:
            return True
        changed = [key for key in a.keys() & b.keys() if a[key] != b[key]]
        pair = {"models": [first[0], other[0]], "task": first[1].results.task}
        if changed:
            values = {"n": len(changed), "example": min(changed)}
            self.remarks.append({"kind": "other_content", **pair, **values})
        elif a and b and not a.keys() & b.keys():
            self.remarks.append({"kind": "no_shared_questions", **pair})
        return not changed

    def _of(self, model: str, task: Task) -> dict[str, str]:
        key = (model, task.task_key)
        if key not in self._known:
            languages = set((task.results.xling.get("data") or {}).get("languages") or ())
            self._known[key] = {k: v[:16] for k, v in contents(task, languages).items()}
        return self._known[key]


def _unranked(task: Task, name: str) -> str:
    """Return why a model has no place in a metric; empty if it has one."""
    if task.scores.get(name) is None:
        return "unscored"
    return "" if name in task.columns else "no_samples"


def _task_of(entry: Entry, metric_key: MetricKey, language: str) -> tuple[Task, str]:
    """Return the task that has a metric in a language, and the metric's name there."""
    positions = (TaskKey(metric_key.criterion, metric_key.dataset, code) for code in (language, ""))
    task = next(entry.tasks[position] for position in positions if position in entry.tasks)
    return task, entry.names[metric_key, language]
