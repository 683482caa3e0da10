"""What of a gap may be the translation's: questions to look at, and the gap without them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from xling_tasks.criteria import ENGLISH, panel_of
from xling_tasks.data.choices import SIGNS, Asked, asked_of, knows_negations, signs
from xling_tasks.languages import in_order
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Report, Sides
from xling_tasks.report.paired import over
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.grid import heading, recorded
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value, note
from xling_tasks.report.unread import measured

_HEADS = (
    *("model", "language", "texts", "questions", *SIGNS, "any of these"),
    *("gap", "gap low", "gap high"),
    *("gap without", "gap without low", "gap without high", "n without"),
)
Found: TypeAlias = dict[str, frozenset[str]]
"""Question -> its signs."""


class _Set(NamedTuple):
    """The tasks of one model over one dataset by one criterion, whose English texts are known."""

    model: Model
    english: Task
    others: tuple[Task, ...]
    asked: dict[str, Asked]

    @property
    def same(self) -> tuple[str, str]:
        """The criterion, and what stands for the questions as they are in English."""
        digest = hashlib.sha256(repr(sorted(self.asked.items())).encode("utf-8", "replace"))
        return self.english.place.criterion, digest.hexdigest()


def translation_tables(report: Report) -> Iterator[Table]:
    """A table per criterion and set of English questions; none where one form has no sign."""
    groups: dict[tuple[str, str], list[_Set]] = {}
    for one in (one for model in report.models for one in _sets(model)):
        groups.setdefault(one.same, []).append(one)
    statistics = Statistics(report.options).untested()
    names = [model.name for model in report.models]
    for (criterion, _), sets in groups.items():
        rows = Rows(_HEADS)
        every = [(one, task, _found(one, task)) for one in sets for task in one.others]
        lines = [line for line in every if line[-1]]  # Others share no question with English.
        order = in_order({task.place.language for _, task, _ in lines})
        lines.sort(
            key=lambda line: (
                names.index(line[1].model),
                order.index(line[1].place.language),
                len(line[1].place.dataset),
            )
        )
        for one, task, found in lines:
            rows.add(*_line(statistics, one, task, found))
        datasets = {one.english.place.dataset for one in sets}
        several = len(datasets) > 1
        if several or any(any(found.values()) for *_, found in lines):
            dataset = min(datasets, key=len)
            title = f"{heading(criterion, dataset)}: what translation may have done"
            meant = "; ".join(f"{sign}: {what}" for sign, what in SIGNS.items())
            notes = [note("translation", signs=meant), note("translation_gaps")]
            notes += [note("translation_several")] * several
            yield rows.table(f"translation_{criterion}_{dataset}", criterion, title, notes)


def _sets(model: Model) -> Iterator[_Set]:
    """What of a model asks the same questions of multiple choice in English and other languages."""
    tasks = [task for task in model.tasks if task.ids and task.place.parallel and _metric(task)]
    for english in (task for task in tasks if task.place.language == ENGLISH):
        alike = [task for task in tasks if task.place[:2] == english.place[:2]]
        others = tuple(task for task in alike if task is not english)
        if others and asked_of(english.results.samples.at(english.offsets[0])["doc"]) is not None:
            yield _Set(model, english, others, dict(_asked(english)))


def _metric(task: Task) -> str:
    """What the gap is of: the endpoint; empty where there is none."""
    return next((name for name in task.endpoints if name in task.columns), "")


def _whole(task: Task) -> Task:
    """A task in which flagged questions have their value; what was not read has none."""
    name, own = _metric(task), measured(task)
    flagged = task.columns.get(f"{name}_with_flagged")
    if flagged is None:
        return own
    column = own.columns[name]
    sums = np.where(np.isnan(task.columns[name].sums), flagged.sums, column.sums)
    return replace(own, columns={**own.columns, name: replace(column, sums=sums)})


def _asked(task: Task) -> Iterator[tuple[str, Asked]]:
    """Each question as it was asked."""

    def read(sample: Mapping[str, Any]) -> tuple[str, Asked | None]:
        return str(sample["doc"]["question_id"]), asked_of(sample["doc"])

    for _, (key, asked) in task.results.samples.stream(read):
        if asked is not None:
            yield key, asked


def _found(one: _Set, task: Task) -> Found:
    """The signs of every question that English has too."""
    language = _texts_in(task)
    return {
        key: signs(one.asked[key], asked, language)
        for key, asked in _asked(task)
        if key in one.asked
    }


def _texts_in(task: Task) -> str:
    """The language that the texts are in: of a back-translation English."""
    return str(recorded(task, "data").get("texts_in") or task.place.language)


def _line(statistics: Statistics, one: _Set, task: Task, found: Found) -> list[Value]:
    counts = Counter(sign for own in found.values() for sign in own)
    told: list[Value] = [counts[sign] for sign in SIGNS]
    if not knows_negations(_texts_in(task)):
        told[list(SIGNS).index("negations")] = None
    marked = [key for key, own in found.items() if own]
    kind = recorded(task, "data").get("translation") or task.place.dataset
    return [
        one.model.name, task.place.language, str(kind), len(found), *told, len(marked),
        *_gap(statistics, one, task, [*found])[:3],
        *_gap(statistics, one, task, [key for key in found if not found[key]]),
    ]  # fmt: skip


def _gap(statistics: Statistics, one: _Set, task: Task, keys: list[str]) -> list[Value]:
    """Language minus English over some questions, its interval, and how many."""
    both = {*task.ids} & {*one.english.ids} & {*keys}
    ids = [key for key in task.ids if key in both]
    if not ids:
        return [None, None, None, 0]
    own, base = (over(_whole(side), ids) for side in (task, one.english))
    name = _metric(task)
    panel, language = panel_of(task.place, name)
    sides = Sides((own, name), (base, name), language, ENGLISH, one.model.name)
    made = statistics.compare(panel, sides, paired=True)
    return [made.difference, made.low, made.high, made.n]
