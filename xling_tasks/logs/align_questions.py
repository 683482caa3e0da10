"""Tasks of task groups as tasks of ours: what counts of them, and which questions are the same.

Two languages are joined by the fields that their group names, else by the doc's number; and the
correct answer has to agree wherever it is a number or a letter. What does not agree is not joined,
and the reason is recorded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from xling_tasks.logs.checked import check_name, check_results, reading
from xling_tasks.logs.external_tasks import Reading, fallbacks, join_fields, key_of
from xling_tasks.logs.results import Results, TaskResults
from xling_tasks.logs.task_groups import (
    Member,
    TaskGroup,
    describe_tasks,
    member,
    name_of,
    why_left_out,
)

_DIFFERENT = 0.05
"""Correct answers may differ in as many of the questions with one id: a key was corrected."""

_ORDERS = 20.0
"""Log of the orders that keys must tell apart before equal keys say that the order is the same."""

Note = dict[str, Any]
"""A row of remarks: a kind with its values."""


class _NotReadable(Exception):
    """Why a task of a group cannot be read."""


@dataclass
class _Language:
    """A task of a group, with what its samples say."""

    task: TaskResults
    member: Member
    reading: Reading
    ids: list[str | None] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rates: Counter[str] = field(default_factory=Counter)

    @property
    def by_id(self) -> dict[str, str] | None:
        """Id -> key; None where ids are missing, or shared by several questions."""
        by_name = {name: key for name, key in zip(self.ids, self.keys, strict=True) if name}
        return by_name if len(by_name) == len(self.ids) else None


def with_groups(
    tasks: Mapping[str, TaskResults], groups: Sequence[TaskGroup]
) -> tuple[dict[str, TaskResults], list[Note]]:
    """Return the newest tasks of one model, those of groups read as ours, and notes.

    Groups that a user named stand first: what counts of them must be clear, or it is an error.
    """
    by_dataset: dict[str, list[_Language]] = {}
    notes: list[Note] = []
    for name, task in tasks.items():
        found = member(name, groups) if task.task_key is None else None
        if found is None:
            if task.task_key is None and (reason := why_left_out(name)):
                notes.append({"kind": "not_read", "task": name, "why": reason})
            continue
        check_name(task.run.path, name)
        try:
            with reading(task.run.path):
                language = _Language(task, found, _find_reading(task, found.group))
            with reading(task.samples.path):
                _scan(language)
        except _NotReadable as error:
            if found.group.given:
                raise DataError(f"{task.run.path}, {name}: {error}") from None
            notes.append({"kind": "not_read", "task": name, "why": str(error)})
        else:
            by_dataset.setdefault(found.dataset, []).append(language)
    languages = [language_task for group in by_dataset.values() for language_task in group]
    for note in map(_about_metric, languages):
        notes += [note] if note and note not in notes else []
    read = {
        language_task.task: language_task
        for group in by_dataset.values()
        for language_task in _join(group)
    }
    return {name: read.get(name, task) for name, task in tasks.items()}, notes


def refuse_unmatched(groups: Sequence[TaskGroup], runs: Sequence[Results], folders: str) -> None:
    """Check that each group that a user named has a task; the error says which tasks there are."""
    others_tasks = {task for run in runs for task, subject in run.places.items() if subject is None}
    for group in groups:
        if not any(member(task, [group]) for task in others_tasks):
            raise DataError(
                f"--family {group.pattern}: no task in {folders} fits; "
                f"{describe_tasks(others_tasks)}"
            )


def is_readable(run: Results, groups: Sequence[TaskGroup], task: str = "") -> bool:
    """Return whether a task of a run, or any of them, is ours or of a group."""
    names = [task] if task else run.tasks
    return any(run.places[name] or member(name, groups) for name in names)


# What counts


def _find_reading(task: TaskResults, group: TaskGroup) -> Reading:
    """Return what counts of a task, and how its samples are read."""
    scores = task.run.content["results"][task.task]
    measures = _find_measured(scores)
    by_metric = {row.get("metric"): row for row in task.config.get("metric_list") or ()}
    names = [name for name in by_metric if name in dict(measures)] or [name for name, _ in measures]
    metric = group.metric or next(iter(names), "")
    filters = [
        filter_name
        for name, filter_name in measures
        if name == metric and group.filter in ("", filter_name)
    ]
    if len(filters) != 1:
        found = (
            ", ".join(f"{name} after {filter_name}" for name, filter_name in measures) or "nothing"
        )
        raise _NotReadable(
            f"{metric or 'a metric'} after {group.filter or 'one filter'} is what counts of "
            f"{group.pattern}, but it measured {found}; say which: --family "
            f"'{group.pattern},metric=NAME,filter=NAME'"
        )
    aggregation = (by_metric.get(metric) or {}).get("aggregation", "mean")
    if aggregation != "mean":
        raise _NotReadable(f"{metric} is no mean over questions ({aggregation!s:.40})")
    higher = task.directions.get(metric, (by_metric.get(metric) or {}).get("higher_is_better"))
    if higher is None and not metric.startswith(OF_SHARES):
        raise _NotReadable(f"its results do not say whether more of {metric} is better")
    is_written = task.config.get("output_type") == "generate_until"
    name = LOSS if higher is False else RIGHT if metric.startswith(OF_SHARES) else SCORE
    return Reading(
        metric, filters[0], name, fallbacks(task.config, filters[0]), group.join, group.chance,
        written=is_written,
    )  # fmt: skip


def _find_measured(scores: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return every metric with the filter after which it was measured."""
    return [
        (key.partition(",")[0], key.partition(",")[2])
        for key, value in scores.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        if "," in key and "_stderr," not in key
    ]


def _about_metric(language: _Language) -> Note | None:
    """Return which of several metrics verdicts are about."""
    chosen = (language.reading.metric, language.reading.filter)
    scores = language.task.run.content["results"][language.task.task]
    other_measures = [
        " after ".join(measure) for measure in _find_measured(scores) if measure != chosen
    ]
    if not other_measures:
        return None
    group, counts = language.member.group.name, " after ".join(chosen)
    return {"kind": "group_metric", "group": group, "counts": counts, "others": other_measures}


def _scan(language: _Language) -> None:
    """Read what the samples say; nothing where none were logged."""
    reading_rule, samples = language.reading, language.task.samples
    if not samples.path.is_file():
        return
    for number, row in samples.stream(dict):
        if not reading_rule.counts(row):
            continue
        try:
            language.values.append(reading_rule.value(row))
            language.keys.append(key_of(row))
            language.ids.append(_id(row, reading_rule.join))
        except (LookupError, TypeError, ValueError) as error:
            raise _NotReadable(f"row {number} of its samples: {error!s:.200}") from None
        language.rates.update(reading_rule.rates(row) if reading_rule.written else {})
    if not language.values:
        raise _NotReadable(f"{samples.path.name} has no row after {reading_rule.filter}")


def _id(row: Mapping[str, Any], join: Sequence[str]) -> str | None:
    """Return what tells a question; None where a field is missing."""
    if not join:
        return str(row["doc_id"])
    try:
        return join_fields(row["doc"], join)
    except (LookupError, TypeError):
        return None


# Which questions are the same


def _join(languages: Sequence[_Language]) -> Iterator[TaskResults]:
    """Yield the tasks of one group and dataset as ours."""
    parallel = languages[0].member.group.parallel
    binary = all(value in (0.0, 1.0) for task in languages for value in task.values)
    english = next((task for task in languages if task.member.language == ENGLISH), None)
    for task in languages:
        name = task.reading.name
        if name != LOSS and any(other.values for other in languages):
            name = RIGHT if binary else SCORE
        reason = "" if not parallel or english is None else _why_not_joined(english, task)
        fields = task.reading.join if task.by_id is not None else ()
        suffix = f" ({task.member.language})" if reason or not parallel else ""
        yield _as_ours(task, task.reading._replace(name=name, join=fields, suffix=suffix), reason)


def _why_not_joined(english: _Language, other: _Language) -> str:
    """Return why two languages' questions are not known to be the same; '' where they are."""
    if other is english or not other.values or not english.values:
        return ""
    join = other.member.group.join
    name = " and ".join(join) if join else "the doc's number"
    keys_of, base = other.by_id, english.by_id
    if keys_of is None or base is None:
        return f"{name} does not tell {'its' if keys_of is None else 'the English'} questions apart"
    shared = keys_of.keys() & base.keys()
    differing = sorted(
        key for key in shared if keys_of[key] and base[key] and keys_of[key] != base[key]
    )
    example = ""
    if differing:
        key = differing[0]
        example = f"; {name} {key}: {keys_of[key]} is correct there, {base[key]} in English"
    if join:
        if not shared:
            return f"no question has the same {name} as one in English"
        if len(differing) > _DIFFERENT * len(shared):
            count = f"{len(differing)} of {len(shared)} questions with one {name}"
            return f"{count} have another key{example}"
        return ""
    if keys_of.keys() != base.keys():
        return (
            f"it has {len(keys_of)} questions and English {len(base)}, and nothing but {name} says "
            "which are the same; run both over the same questions, or name a field: join=FIELD"
        )
    if differing:
        return f"{len(differing)} of {len(shared)} questions at one place have another key{example}"
    if not _tell_order(list(base.values())):
        return "its correct answers do not say whether its questions stand in the English order"
    return ""


def _tell_order(keys: Sequence[str]) -> bool:
    """Return whether correct answers in another order would have been noticed."""
    counts = Counter(key for key in keys if key)
    orders = math.lgamma(counts.total() + 1) - sum(math.lgamma(n + 1) for n in counts.values())
    return orders > _ORDERS


def _as_ours(language: _Language, rule: Reading, reason: str) -> TaskResults:
    """Return a task with a record of what it is about, as ours have one."""
    task, found = language.task, language.member
    add_names({found.language: name_of(found.language)})
    content, config = task.run.content, task.config
    n = len(language.values)
    scores = {f"{rule.name},none": content["results"][task.task][f"{rule.metric},{rule.filter}"]}
    if n and rule.written:
        scores |= {f"{name},none": language.rates[name] / n for name in (UNREAD, EMPTY)}
    criterion = (TASK_METRIC if found.group.parallel else OTHER_QUESTIONS).key
    recorded = {
        "about": about(criterion, found.dataset, [found.language], [rule.name]),
        "data": {"name": found.dataset, **({"apart": reason} if reason else {})},
        "signatures": {rule.name: f"{rule.metric}|filter:{rule.filter}", UNREAD: "", EMPTY: ""},
        "generation_kwargs": dict(config.get("generation_kwargs") or {}),
    }
    metadata = {**(config.get("metadata") or {}), "xling": recorded}
    directions = {rule.name: rule.name != LOSS, UNREAD: False, EMPTY: False}
    tables = {
        "results": {task.task: scores},
        "configs": {task.task: {**config, "metadata": metadata}},
        "n-samples": {task.task: content["n-samples"][task.task]},
        "higher_is_better": {task.task: directions},
    }
    run = replace(task.run, content=check_results(task.run.path, {**content, **tables}))
    return TaskResults(task.task, run, reading=rule)
