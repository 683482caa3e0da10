"""Which questions of a report are worth reading: examples of its conclusions, then the widest gaps.

A criterion says on which questions a language is behind English (`Read.behind`); here they are put
into the order in which a reader of the conclusions wants them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from xling_metrics.stats.intervals import ratio

from xling_tasks.criteria import CRITERIA, ENGLISH, Behind
from xling_tasks.report.data import Task
from xling_tasks.report.model import Conclusion
from xling_tasks.report.tables.grid import is_language


@dataclass(frozen=True)
class TaskSide:
    """What a task measured in one language; a `Side` of a criterion."""

    task: Task
    language: str

    @cached_property
    def _columns(self) -> Mapping[str, str]:
        """A metric's name in this language -> the task's name for it."""
        if self.task.place.language:
            return {name: name for name in self.task.columns}
        ending = f"_{self.language}"
        return {name.removesuffix(ending): name for name in self.task.columns
                if name.endswith(ending)}  # fmt: skip

    @property
    def names(self) -> Collection[str]:
        """The metrics that have values by question."""
        return self._columns.keys()

    def values(self, name: str) -> Mapping[str, float | None]:
        """Question -> its own value; nothing where the metric has none of one question."""
        column = self.task.columns.get(self._columns.get(name, ""))
        known = column is not None and (column.simple or column.score is ratio)
        return column.values(self.task.ids) if column is not None and known else {}

    def sums(self, name: str) -> Mapping[str, tuple[float, ...] | None]:
        """Question -> what the metric sums of it."""
        column = self.task.columns.get(self._columns.get(name, ""))
        return {} if column is None else column.by_question(self.task.ids)

    def score(self, name: str) -> float | None:
        """The metric over all questions."""
        return self.task.scores.get(self._columns.get(name, name))


class Gap(NamedTuple):
    """One question of one language beside English."""

    own: TaskSide  # The language's side.
    english: TaskSide  # English's; of the same task where all languages are in one.
    behind: Behind  # What the criterion says of it.

    @property
    def task(self) -> Task:
        """The language's task."""
        return self.own.task

    @property
    def order(self) -> tuple[Any, ...]:
        """The worst first, equal ones by question."""
        pieces = re.split(r"(\d+)", self.behind.question)
        number = [int(piece) if piece.isdecimal() else 0 for piece in pieces]
        far = (-self.behind.size, -self.behind.finer)
        return (*far, number, self.behind.question, self.task.place.dataset, self.own.language)

    def sample(self, side: TaskSide) -> dict[str, Any]:
        """The question's line in a file of samples."""
        task = side.task
        sample = task.results.samples.at(task.offsets[task.ids.index(self.behind.question)])
        if str(sample["doc"]["question_id"]) != self.behind.question:
            raise LookupError("another question stands there")
        return sample


def gaps(
    tasks: Sequence[Task], conclusions: Sequence[Conclusion], languages: Collection[str]
) -> list[Gap]:
    """The questions on which languages are behind English, those to read first at the beginning.

    Args:
        tasks: One model's of one criterion.
        conclusions: Those about them. Languages that one finds worse come first, in turns.
        languages: The languages that are wanted; all if empty.
    """
    worse = {(c.dataset, c.language, c.meaning) for c in conclusions if c.verdict == "worse"}
    found = sorted(_every(tasks, languages), key=lambda gap: gap.order)
    turns: Counter[tuple[str, str, str]] = Counter()
    ranked = []
    for gap in found:
        key = gap.task.place.dataset, gap.own.language, gap.behind.meaning
        ranked.append((turns[key] if key in worse else len(found), gap))
        turns[key] += 1
    return [gap for _, gap in sorted(ranked, key=lambda pair: pair[0])]


def _every(tasks: Sequence[Task], languages: Collection[str]) -> Iterator[Gap]:
    for own, english in _sides(tasks):
        if own.language in (languages or (own.language,)):
            behind = CRITERIA[own.task.place.criterion].read.behind
            yield from (Gap(own, english, each) for each in behind(own, english))


def _sides(tasks: Sequence[Task]) -> Iterator[tuple[TaskSide, TaskSide]]:
    """(a language, English) over the same dataset."""
    english = {task.place.dataset: task for task in tasks if task.place.language == ENGLISH}
    for task in tasks:
        place = task.place
        if not place.language:
            split = (CRITERIA[place.criterion].split(name).language for name in task.columns)
            for code in dict.fromkeys(split):
                if is_language(code) and code != ENGLISH:
                    yield TaskSide(task, code), TaskSide(task, ENGLISH)
        elif place.language != ENGLISH and place.dataset in english:
            yield TaskSide(task, place.language), TaskSide(english[place.dataset], ENGLISH)
