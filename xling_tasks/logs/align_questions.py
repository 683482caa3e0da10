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
        known = {name: key for name, key in zip(self.ids, self.keys, strict=True) if name}
        return known if len(known) == len(self.ids) else None


def with_groups(
    tasks: Mapping[str, TaskResults], groups: Sequence[TaskGroup]
) -> tuple[dict[str, TaskResults], list[Note]]:
    """Return the newest tasks of one model, those of groups read as ours, and notes.

    Groups that a user named stand first: what counts of them must be clear, or it is an error.
    """
    by_dataset: dict[str, list[_Language]] = {}
    notes: list[Note] = []
    for name, task in tasks.items():
        found = member(name, groups) if task.place is None else None
        if found is None:
            if task.place is None and (why := why_left_out(name)):
                notes.append({"kind": "not_read", "task": name, "why": why})
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
    languages = [own for group in by_dataset.values() for own in group]
    for note in map(_about_metric, languages):
        notes += [note] if note and note not in notes else []
    read = {own.task: own for group in by_dataset.values() for own in _join(group)}
    return {name: read.get(name, task) for name, task in tasks.items()}, notes


def refuse_unmatched(given: Sequence[TaskGroup], runs: Sequence[Results], where: str) -> None:
    """Check that each group that a user named has a task; the error says which tasks there are."""
    others = {task for run in runs for task, place in run.places.items() if place is None}
    for group in given:
        if not any(member(task, [group]) for task in others):
            raise DataError(
                f"--family {group.pattern}: no task in {where} fits; {describe_tasks(others)}"
            )


def is_readable(run: Results, groups: Sequence[TaskGroup], task: str = "") -> bool:
    """Return whether a task of a run, or any of them, is ours or of a group."""
    names = [task] if task else run.tasks
    return any(run.places[name] or member(name, groups) for name in names)


# What counts


def _find_reading(task: TaskResults, group: TaskGroup) -> Reading:
    """Return what counts of a task, and how its samples are read."""
    scores = task.run.content["results"][task.task]
    measured = _find_measured(scores)
    listed = {row.get("metric"): row for row in task.config.get("metric_list") or ()}
    names = [name for name in listed if name in dict(measured)] or [name for name, _ in measured]
    metric = group.metric or next(iter(names), "")
    filters = [own for name, own in measured if name == metric and group.filter in ("", own)]
    if len(filters) != 1:
        there = ", ".join(f"{name} after {own}" for name, own in measured) or "nothing"
        raise _NotReadable(
            f"{metric or 'a metric'} after {group.filter or 'one filter'} is what counts of "
            f"{group.pattern}, but it measured {there}; say which: --family "
            f"'{group.pattern},metric=NAME,filter=NAME'"
        )
    aggregation = (listed.get(metric) or {}).get("aggregation", "mean")
    if aggregation != "mean":
        raise _NotReadable(f"{metric} is no mean over questions ({aggregation!s:.40})")
    higher = task.directions.get(metric, (listed.get(metric) or {}).get("higher_is_better"))
    if higher is None and not metric.startswith(OF_SHARES):
        raise _NotReadable(f"its results do not say whether more of {metric} is better")
    written = task.config.get("output_type") == "generate_until"
    name = LOSS if higher is False else RIGHT if metric.startswith(OF_SHARES) else SCORE
    return Reading(
        metric, filters[0], name, fallbacks(task.config, filters[0]), group.join, group.chance,
        written=written,
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
    others = [" after ".join(own) for own in _find_measured(scores) if own != chosen]
    if not others:
        return None
    group, counts = language.member.group.name, " after ".join(chosen)
    return {"kind": "group_metric", "group": group, "counts": counts, "others": others}


def _scan(language: _Language) -> None:
    """Read what the samples say; nothing where none were logged."""
    how, samples = language.reading, language.task.samples
    if not samples.path.is_file():
        return
    for number, row in samples.stream(dict):
        if not how.counts(row):
            continue
        try:
            language.values.append(how.value(row))
            language.keys.append(key_of(row))
            language.ids.append(_id(row, how.join))
        except (LookupError, TypeError, ValueError) as error:
            raise _NotReadable(f"row {number} of its samples: {error!s:.200}") from None
        language.rates.update(how.rates(row) if how.written else {})
    if not language.values:
        raise _NotReadable(f"{samples.path.name} has no row after {how.filter}")


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
    binary = all(value in (0.0, 1.0) for own in languages for value in own.values)
    english = next((own for own in languages if own.member.language == ENGLISH), None)
    for own in languages:
        name = own.reading.name
        if name != LOSS and any(other.values for other in languages):
            name = RIGHT if binary else SCORE
        reason = "" if not parallel or english is None else _why_not_joined(english, own)
        joined = own.reading.join if own.by_id is not None else ()
        suffix = f" ({own.member.language})" if reason or not parallel else ""
        yield _as_ours(own, own.reading._replace(name=name, join=joined, suffix=suffix), reason)


def _why_not_joined(english: _Language, other: _Language) -> str:
    """Return why two languages' questions are not known to be the same; '' where they are."""
    if other is english or not other.values or not english.values:
        return ""
    join = other.member.group.join
    what = " and ".join(join) if join else "the doc's number"
    own, base = other.by_id, english.by_id
    if own is None or base is None:
        return f"{what} does not tell {'its' if own is None else 'the English'} questions apart"
    shared = own.keys() & base.keys()
    unlike = sorted(key for key in shared if own[key] and base[key] and own[key] != base[key])
    example = ""
    if unlike:
        key = unlike[0]
        example = f"; {what} {key}: {own[key]} is correct there, {base[key]} in English"
    if join:
        if not shared:
            return f"no question has the same {what} as one in English"
        if len(unlike) > _DIFFERENT * len(shared):
            count = f"{len(unlike)} of {len(shared)} questions with one {what}"
            return f"{count} have another key{example}"
        return ""
    if own.keys() != base.keys():
        return (
            f"it has {len(own)} questions and English {len(base)}, and nothing but {what} says "
            "which are the same; run both over the same questions, or name a field: join=FIELD"
        )
    if unlike:
        return f"{len(unlike)} of {len(shared)} questions at one place have another key{example}"
    if not _tell_order(list(base.values())):
        return "its correct answers do not say whether its questions stand in the English order"
    return ""


def _tell_order(keys: Sequence[str]) -> bool:
    """Return whether correct answers in another order would have been noticed."""
    known = Counter(key for key in keys if key)
    orders = math.lgamma(known.total() + 1) - sum(math.lgamma(n + 1) for n in known.values())
    return orders > _ORDERS


def _as_ours(language: _Language, how: Reading, reason: str) -> TaskResults:
    """Return a task with a record of what it is about, as ours have one."""
    task, found = language.task, language.member
    add_names({found.language: name_of(found.language)})
    content, config = task.run.content, task.config
    n = len(language.values)
    scores = {f"{how.name},none": content["results"][task.task][f"{how.metric},{how.filter}"]}
    if n and how.written:
        scores |= {f"{name},none": language.rates[name] / n for name in (UNREAD, EMPTY)}
    criterion = (TASK_METRIC if found.group.parallel else OTHER_QUESTIONS).key
    recorded = {
        "about": about(criterion, found.dataset, [found.language], [how.name]),
        "data": {"name": found.dataset, **({"apart": reason} if reason else {})},
        "signatures": {how.name: f"{how.metric}|filter:{how.filter}", UNREAD: "", EMPTY: ""},
        "generation_kwargs": dict(config.get("generation_kwargs") or {}),
    }
    metadata = {**(config.get("metadata") or {}), "xling": recorded}
    directions = {how.name: how.name != LOSS, UNREAD: False, EMPTY: False}
    tables = {
        "results": {task.task: scores},
        "configs": {task.task: {**config, "metadata": metadata}},
        "n-samples": {task.task: content["n-samples"][task.task]},
        "higher_is_better": {task.task: directions},
    }
    run = replace(task.run, content=check_results(task.run.path, {**content, **tables}))
    return TaskResults(task.task, run, reading=how)
