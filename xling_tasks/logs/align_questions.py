"""Tasks of task groups as tasks of ours: what counts of them, and which questions are the same.

Two languages are joined by the fields that their group names, else by the doc's number; and the
correct answer has to agree wherever it is a number or a letter. What does not agree is not joined,
and the reason is recorded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xling_tasks.criteria import ENGLISH, about
from xling_tasks.criteria.task_metric import (
    EMPTY,
    LOSS,
    OF_SHARES,
    OTHER_QUESTIONS,
    RIGHT,
    SCORE,
    TASK_METRIC,
    UNREAD,
)
from xling_tasks.errors import DataError
from xling_tasks.languages import add_names
from xling_tasks.logs.checked import reading
from xling_tasks.logs.external_tasks import Reading, fallbacks, identify, key_of
from xling_tasks.logs.results import TaskResults
from xling_tasks.logs.task_groups import Member, TaskGroup, member, name_of

_DIFFERENT = 0.05
"""Correct answers may differ in as many of the questions with one id: a key was corrected."""

_ORDERS = 20.0
"""Log of the orders of the keys that can be told apart: of fewer, equal keys may be chance."""


class _NotReadable(Exception):
    """Why a task of a group cannot be read."""


@dataclass
class _Language:
    """A task of a group with what its samples say; `keys`: id -> correct answer.

    There are no keys where ids are missing, or shared by several questions.
    """

    task: TaskResults
    member: Member
    reading: Reading
    values: list[float]
    rates: Counter[str]
    keys: dict[str | None, str] | None


def with_groups(
    tasks: Mapping[str, TaskResults], groups: Sequence[TaskGroup]
) -> tuple[dict[str, TaskResults], list[dict[str, Any]]]:
    """Return the newest tasks of one model, those of groups read as ours, and rows of remarks.

    Groups that a user named stand first: what counts of them must be clear, or it is an error.
    """
    by_dataset: dict[str, list[_Language]] = {}
    notes: list[dict[str, Any]] = []
    for name, task in tasks.items():
        found = None if task.task_key is not None else member(name, groups)
        if found is None:
            continue
        try:
            with reading(task.run.path):
                language = _read(task, found, _find_reading(task, found.group))
        except _NotReadable as error:
            if found.group.given:
                raise DataError(f"{task.run.path}, {name}: {error}") from None
            notes.append({"kind": "not_read", "task": name, "why": str(error)})
        else:
            by_dataset.setdefault(found.dataset, []).append(language)
    read = {ours.task: ours for group in by_dataset.values() for ours in _join(group)}
    return {name: read.get(name, task) for name, task in tasks.items()}, notes


# What counts


def _find_reading(task: TaskResults, group: TaskGroup) -> Reading:
    """Return what counts of a task, and how its samples are read."""
    measures = [
        key.partition(",")[::2]
        for key, value in task.run.content["results"][task.task].items()
        if isinstance(value, (int, float)) and "," in key and "_stderr," not in key
    ]
    if all(name == "bypass" for name, _ in measures):
        raise _NotReadable("its answers were not scored (--predict_only)")
    by_metric = {row.get("metric"): row for row in task.config.get("metric_list") or ()}
    names = [name for name in by_metric if name in dict(measures)] or [name for name, _ in measures]
    metric = group.metric or next(iter(names), "")
    filters = [f for name, f in measures if name == metric and group.filter in ("", f)]
    if len(filters) != 1:
        measured = ", ".join(map(" after ".join, measures)) or "nothing"
        raise _NotReadable(
            f"{metric or 'a metric'} after {group.filter or 'one filter'} is what counts of "
            f"{group.pattern}, but it measured {measured}; say which: --family "
            f"'{group.pattern},metric=NAME,filter=NAME'"
        )
    declared = by_metric.get(metric) or {}
    if (aggregation := declared.get("aggregation", "mean")) != "mean":
        raise _NotReadable(f"{metric} is no mean ({aggregation!s:.40}); name another: metric=NAME")
    higher = task.directions.get(metric, declared.get("higher_is_better"))
    if higher is None and not metric.startswith(OF_SHARES):
        raise _NotReadable(f"its results do not say whether more of {metric} is better")
    name = LOSS if higher is False else RIGHT if metric.startswith(OF_SHARES) else SCORE
    return Reading(
        metric, filters[0], name, fallbacks(task.config, filters[0]), group.join, group.chance,
        written=task.config.get("output_type") == "generate_until",
    )  # fmt: skip


def _read(task: TaskResults, found: Member, rule: Reading) -> _Language:
    """Read what a task's samples say; nothing where none were logged."""
    ids: list[str | None] = []
    keys: list[str] = []
    values: list[float] = []
    rates: Counter[str] = Counter()
    is_logged = task.samples.path.is_file()
    for number, row in task.samples.stream(dict) if is_logged else ():
        if not rule.counts(row):
            continue
        try:
            values.append(rule.value(row))
        except (LookupError, TypeError) as error:
            raise _NotReadable(f"row {number} of its samples: {error!s:.200}") from None
        keys.append(key_of(row))
        rates.update(rule.rates(row) if rule.written else {})
        try:
            ids.append(identify(row, rule.join))
        except (LookupError, TypeError):
            ids.append(None)
    if is_logged and not values:
        raise _NotReadable(f"{task.samples.path.name} has no row after {rule.filter}")
    by_id = dict(zip(ids, keys, strict=True))
    is_unique = None not in by_id and len(by_id) == len(ids)
    return _Language(task, found, rule, values, rates, by_id if is_unique else None)


# Which questions are the same


def _join(languages: Sequence[_Language]) -> Iterator[TaskResults]:
    """Yield the tasks of one group and dataset as ours."""
    parallel = languages[0].member.group.parallel
    every = [value for task in languages for value in task.values]
    english = next((task for task in languages if task.member.language == ENGLISH), None)
    for task in languages:
        name = task.reading.name
        if name != LOSS and every:
            name = RIGHT if set(every) <= {0.0, 1.0} else SCORE
        reason = "" if not parallel or english is None else _why_not_joined(english, task)
        fields = () if task.keys is None else task.reading.join
        suffix = f" ({task.member.language})" if reason or not parallel else ""
        yield _as_ours(task, task.reading._replace(name=name, join=fields, suffix=suffix), reason)


def _why_not_joined(english: _Language, other: _Language) -> str:
    """Return why two languages' questions are not known to be the same; '' where they are."""
    if other is english or not other.values or not english.values:
        return ""
    join = other.member.group.join
    name = " and ".join(join) or "number"
    keys, base = other.keys, english.keys
    if keys is None or base is None:
        return f"{name} does not tell {'its' if keys is None else 'the English'} questions apart"
    shared = keys.keys() & base.keys()
    if join and not shared:
        return f"no question has the same {name} as one in English"
    if not join and keys.keys() != base.keys():
        return (
            f"it has {len(keys)} questions and English {len(base)}, and nothing but their number "
            "says which are the same; run both over the same questions, or name a field: join=FIELD"
        )
    differing = [key for key in shared if keys[key] and base[key] and keys[key] != base[key]]
    if len(differing) > (_DIFFERENT * len(shared) if join else 0):
        key = min(map(str, differing))
        return (
            f"{len(differing)} of {len(shared)} questions with one {name} have another key; "
            f"{name} {key}: {keys[key]} is correct there, {base[key]} in English"
        )
    counts = Counter(filter(None, base.values()))
    orders = math.lgamma(counts.total() + 1) - sum(math.lgamma(n + 1) for n in counts.values())
    if not join and orders <= _ORDERS:
        return "its correct answers do not say whether its questions stand in the English order"
    return ""


def _as_ours(language: _Language, rule: Reading, reason: str) -> TaskResults:
    """Return a task with a record of what it is about, as ours have one."""
    task, found = language.task, language.member
    add_names({found.language: name_of(found.language)})
    content, config = task.run.content, task.config
    scores = {f"{rule.name},none": content["results"][task.task][f"{rule.metric},{rule.filter}"]}
    if language.values and rule.written:
        n = len(language.values)
        scores |= {f"{name},none": language.rates[name] / n for name in (UNREAD, EMPTY)}
    criterion = (TASK_METRIC if found.group.parallel else OTHER_QUESTIONS).key
    recorded = {
        "about": about(criterion, found.dataset, [found.language], [rule.name]),
        "data": {"name": found.dataset, **({"apart": reason} if reason else {})},
        "signatures": {rule.name: f"{rule.metric}|filter:{rule.filter}", UNREAD: "", EMPTY: ""},
        "generation_kwargs": dict(config.get("generation_kwargs") or {}),
    }
    metadata = {**(config.get("metadata") or {}), "xling": recorded}
    tables = {
        "results": scores,
        "configs": {**config, "metadata": metadata},
        "n-samples": content["n-samples"][task.task],
        "higher_is_better": {rule.name: rule.name != LOSS, UNREAD: False, EMPTY: False},
    }
    tables = {name: {task.task: table} for name, table in tables.items()}
    return TaskResults(task.task, replace(task.run, content={**content, **tables}), reading=rule)
