"""Tasks of families as tasks of ours: what counts of them, and which of their questions are one.

Two languages are joined by what must be the same in both: the fields that a family names, or that
hold the same values in both, or the document's number; and the right answer wherever it is a number
or a letter. Nothing is joined on trust: what does not agree is refused, in words.
"""

from __future__ import annotations

import math
import re
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
from xling_tasks.logs.families import Family, Member, found, left_out, member, name_of, proposals
from xling_tasks.logs.foreign import Reading, fallbacks, key_of, told
from xling_tasks.logs.results import Results, TaskResults

_UNLIKE = 0.05
"""Right answers may differ in as many of the questions with one id: a key was corrected."""

_LAST_NUMBER = re.compile(r"(.*?)(\d*)(\D*)", re.S)

_CHANCE = 20.0
"""Log of the orders that the keys must tell apart, before equal keys say that the order is one."""


@dataclass
class _Side:
    """A task of a family, with what its samples say."""

    task: TaskResults
    member: Member
    reading: Reading
    numbers: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    fields: dict[str, list[Any]] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    rates: Counter[str] = field(default_factory=Counter)

    def ids(self, join: Sequence[str]) -> list[str]:
        """What tells each question; empty where it does not tell them apart.

        A field that is missing somewhere, or that two documents share, tells none.
        """
        if not join:
            return self.numbers
        rows = zip(*(self.fields.get(name, []) for name in join), strict=False)
        try:
            ids = [told(dict(zip(join, row, strict=True)), join) for row in rows]
        except TypeError:
            return []
        return ids if len(ids) == len(self.numbers) == len(set(ids)) else []


def with_families(
    tasks: Mapping[str, TaskResults], families: Sequence[Family]
) -> tuple[dict[str, TaskResults], list[str]]:
    """The newest tasks of one model, those of families read as ours, in their order; and notes.

    A note is a line on what is not read. Families that a user named stand first: what counts of
    them must be told, or it is an error.
    """
    sides, notes = [], []
    for name, task in tasks.items():
        own = member(name, families) if task.place is None else None
        if own is None:
            continue
        check_name(task.run.path, name)
        try:
            with reading(task.run.path):
                side = _Side(task, own, _reading(task, own.family))
            with reading(task.samples.path):
                sides.append(_scanned(side))
        except _NotCounted as error:
            if own.family.given:
                raise DataError(f"{task.run.path}, {name}: {error}") from None
            notes.append(f"{name} is not read: {error}")
    groups: dict[tuple[str, str], list[_Side]] = {}
    for side in sides:
        groups.setdefault((side.member.family.name, side.member.dataset), []).append(side)
    notes += dict.fromkeys(note for side in sides for note in _about_metric(side))
    made = {each.task: each for group in groups.values() for each in _joined(group)}
    alone = [name for name, own in tasks.items() if own.place is None and name not in made]
    why = {name: left_out(name) for name in alone}
    notes += [f"{name} is not read: {text}" for name, text in why.items() if text]
    notes += proposals(name for name in alone if not why[name] and not member(name, families))
    return {name: made.get(name, own) for name, own in tasks.items()}, notes


def _about_metric(side: _Side) -> Iterator[str]:
    """Which of several numbers a conclusion is about."""
    reading, scores = side.reading, side.task.run.content["results"][side.task.task]
    chosen = (reading.metric, reading.filter)
    others = [own for own in _measured(scores) if own != chosen]
    if others:
        told = [name if own == "none" else f"{name} after {own}" for name, own in (chosen, *others)]
        yield f"{side.member.family.name}: {told[0]} counts, and not {', '.join(told[1:])}"


def refuse_unmatched(given: Sequence[Family], runs: Sequence[Results], where: str) -> None:
    """Check that each family that a user named has a task; the error says which tasks there are."""
    others = {task for run in runs for task, place in run.places.items() if place is None}
    for family in given:
        if not any(member(task, [family]) for task in others):
            raise DataError(f"--family {family.pattern}: no task in {where} fits; {found(others)}")


def members(run: Results, families: Sequence[Family]) -> dict[str, bool]:
    """Whether each of its tasks is ours or of a family."""
    return {task: bool(own or member(task, families)) for task, own in run.places.items()}


class _NotCounted(Exception):
    """Why a task of a family cannot be read."""


# What counts


def _reading(task: TaskResults, family: Family) -> Reading:
    """What counts of a task."""
    scores = task.run.content["results"][task.task]
    there = _measured(scores)
    listed = {each.get("metric"): each for each in task.config.get("metric_list") or ()}
    metrics = [name for name in listed if name in dict(there)] or [name for name, _ in there]
    metric = family.metric or next(iter(metrics), "")
    filters = [own for name, own in there if name == metric]
    wanted = [own for own in filters if family.filter in ("", own)]
    if len(wanted) != 1:
        measured = ", ".join(f"{name} after {own}" for name, own in there) or "nothing"
        raise _NotCounted(
            f"{metric or 'a metric'} after {family.filter or 'one filter'} is what counts of "
            f"{family.pattern}, but it measured {measured}; say which: --family "
            f"'{family.pattern},metric=NAME,filter=NAME'"
        )
    made = (listed.get(metric) or {}).get("aggregation", "mean")
    if made != "mean":
        raise _NotCounted(f"{metric} is no mean over questions ({made!s:.40})")
    recorded = task.directions.get(metric, (listed.get(metric) or {}).get("higher_is_better"))
    higher = True if recorded is None and metric.startswith(OF_SHARES) else recorded
    if higher is None:
        raise _NotCounted(f"its results do not say whether more of {metric} is better")
    written = task.config.get("output_type") == "generate_until"
    name = LOSS if higher is False else RIGHT if metric.startswith(OF_SHARES) else SCORE
    return Reading(
        metric, wanted[0], name, fallbacks(task.config, wanted[0]), family.join, family.chance,
        written=written,
    )  # fmt: skip


def _measured(scores: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every metric with the filter after which it was measured."""
    keys = (key.partition(",") for key, value in scores.items() if _is_score(key, value))
    return [(name, own) for name, _, own in keys]


def _is_score(key: str, value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and "," in key and "_stderr," not in key


# What the samples say


def _scanned(side: _Side) -> _Side:
    """A task with what its samples say; as it is where none were logged."""
    reading = side.reading
    if not side.task.samples.path.is_file():
        return side
    for number, row in side.task.samples.stream(dict):
        if not reading.counts(row):
            continue
        try:
            value, doc_id = reading.value(row), str(row["doc_id"])
        except (LookupError, TypeError, ValueError) as error:
            raise _NotCounted(f"row {number} of its samples: {error!s:.200}") from None
        side.numbers.append(doc_id)
        side.keys.append(key_of(row))
        side.values.append(value)
        side.rates.update(reading.rates(row) if reading.written else {})
        doc = row["doc"] if isinstance(row["doc"], dict) else {}
        for name, own in doc.items():
            if isinstance(own, (str, int)) and len(str(own)) <= 200:
                side.fields.setdefault(name, [None] * (len(side.numbers) - 1)).append(own)
        for kept in side.fields.values():
            kept += [None] * (len(side.numbers) - len(kept))
    if not side.numbers:
        raise _NotCounted(f"{side.task.samples.path.name} has no row after {reading.filter}")
    return side


# Which questions are one


def _joined(group: Sequence[_Side]) -> Iterator[TaskResults]:
    """The tasks of one family and dataset as ours."""
    parallel = group[0].member.family.parallel
    right = all(value in (0.0, 1.0) for side in group for value in side.values)
    english = next((side for side in group if side.member.language == ENGLISH), None)
    join, reasons = _join(english, group) if parallel else ((), {})
    for side in group:
        name = side.reading.name
        if name != LOSS and any(own.values for own in group):
            name = RIGHT if right else SCORE
        reason = reasons.get(side.member.language, "")
        apart = f" ({side.member.language})" if reason or not parallel else ""
        reading = side.reading._replace(name=name, join=join, apart=apart)
        yield _as_ours(side, reading, reason)


def _join(english: _Side | None, group: Sequence[_Side]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The fields that tell questions, and language -> why it is not joined with English.

    Of all that might, those that join most languages; the family's own before any other, and alone
    where a user named them.
    """
    family, first = group[0].member.family, english or group[0]
    named, others = family.join, [side for side in group if side is not english and side.numbers]
    ways = [named] if named and (family.given or english is None) else []
    ways = ways or [*([named] if named else []), *((name,) for name in first.fields), ()]
    usable = [way for way in dict.fromkeys(ways) if first.ids(way)]
    if english is None:
        return (named if named in usable else ()), {}
    if not usable:
        fields = ", ".join(first.fields) or "none"
        reason = f"{_what(named)} does not tell English's apart (its documents have: {fields})"
        return (), {side.member.language: reason for side in others} if english.numbers else {}
    tried: list[tuple[int, int, tuple[str, ...], dict[str, str]]] = []
    for at, way in enumerate(usable):
        reasons = {o.member.language: _unlike(english, o, way, way == named != ()) for o in others}
        tried.append((sum(map(bool, reasons.values())), at, way, reasons))
    best = min(tried)
    # Where nothing joins, what is said is of the family's own fields, else of the number.
    best = best if best[0] < len(others) else next((t for t in tried if t[2] == named), tried[-1])
    return best[2], {code: reason for code, reason in best[3].items() if reason}


def _what(way: Sequence[str]) -> str:
    return " and ".join(way) if way else "the document's number"


def _unlike(english: _Side, other: _Side, way: tuple[str, ...], named: bool) -> str:
    """Why two languages' questions are not known to be the same; '' where they are."""
    what = _what(way)
    own, base = (dict(zip(s.ids(way), s.keys, strict=False)) for s in (other, english))
    if not own:
        return f"{what} does not tell its questions apart"
    both = own.keys() & base.keys()
    unlike = sorted(key for key in both if own[key] and base[key] and own[key] != base[key])
    example = (
        f"; {what} {unlike[0]}: right is {own[unlike[0]]} there, {base[unlike[0]]} in English"
        if unlike
        else ""
    )
    if named:
        if not both:
            return f"no question has the same {what} as one in English"
        if len(unlike) > _UNLIKE * len(both):
            return (
                f"{len(unlike)} of {len(both)} questions with one {what} have another key{example}"
            )
        return ""
    if own.keys() != base.keys():
        return (
            f"it has {len(own)} questions and English {len(base)}, and nothing but {what} says "
            "which are the same; run both over the same questions (--limit), or name a field that "
            "tells them: join=FIELD"
        )
    if unlike:
        return f"{len(unlike)} of {len(both)} questions at one place have another key{example}"
    if not (way == () or _counted(list(own))):
        return ""
    if not _tells_order(list(base.values())):
        return "its right answers do not say whether its questions stand in the order of English's"
    return ""


def _counted(ids: Sequence[str]) -> bool:
    """Whether ids number rows, as in `test-17`, so that they are the same whatever stands there.

    Several sets of rows may each be counted through: `anatomy/test/0`, `virology/test/0`.
    """
    sets: dict[tuple[str, str], list[int]] = {}
    for each in ids:
        start, number, end = _LAST_NUMBER.fullmatch(each).groups()  # type: ignore[union-attr]
        sets.setdefault((start, end), []).append(int(number[:18] or -1))
    runs = [own for own in map(sorted, sets.values()) if own == [*range(own[0], own[0] + len(own))]]
    return 2 * sum(len(own) for own in runs if len(own) > 1) > len(ids)


def _tells_order(keys: Sequence[str]) -> bool:
    """Whether right answers in another order would have been noticed."""
    known = Counter(key for key in keys if key)
    orders = math.lgamma(known.total() + 1) - sum(math.lgamma(n + 1) for n in known.values())
    return orders > _CHANCE


# As ours


def _as_ours(side: _Side, reading: Reading, reason: str) -> TaskResults:
    """A task with a record of what it is about, as ours have one."""
    task, own = side.task, side.member
    add_names({own.language: name_of(own.language)})
    content, old = task.run.content, task.config
    scores = content["results"][task.task]
    n = len(side.values)
    made = {f"{reading.name},none": scores[f"{reading.metric},{reading.filter}"]}
    if n and reading.written:
        made |= {f"{name},none": side.rates[name] / n for name in (UNREAD, EMPTY)}
    criterion = (TASK_METRIC if own.family.parallel else OTHER_QUESTIONS).key
    why = f"its questions are not joined with English's: {reason}"
    apart = {"apart": why} if reason else {}
    signature = f"{reading.metric}|filter:{reading.filter}"
    recorded = {
        "about": about(criterion, own.dataset, [own.language], [reading.name]),
        "data": {"name": own.dataset, **apart},
        "signatures": {reading.name: signature, UNREAD: "", EMPTY: ""},
        "generation_kwargs": dict(old.get("generation_kwargs") or {}),
    }
    metadata = {**(old.get("metadata") or {}), "xling": recorded}
    directions = {reading.name: reading.name != LOSS, UNREAD: False, EMPTY: False}
    divided = {
        "results": {task.task: made},
        "configs": {task.task: {**old, "metadata": metadata}},
        "n-samples": {task.task: content["n-samples"][task.task]},
        "higher_is_better": {task.task: directions},
    }
    path = task.run.path
    run = replace(task.run, content=check_results(path, {**content, **divided}))
    return TaskResults(task.task, run, reading=reading)
