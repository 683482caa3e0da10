"""The answers of a report to read: where a language is furthest behind English.

Which questions these are follows from the numbers that `data` keeps; only their lines are
read, by their place in the file, so that files of any size cost the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from xling_metrics.stats.intervals import ratio

from xling_tasks.criteria import CRITERIA, ENGLISH, Behind
from xling_tasks.criteria.sample import Passage
from xling_tasks.errors import DataError
from xling_tasks.logs.shown import parts_of
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.tables.grid import is_language

LIMIT = 1500
"""Characters of a text that are shown."""

_TRIES = 20


class Excerpt(NamedTuple):
    """The beginning of a text."""

    text: str  # As much as is shown.
    language: str  # Two-letter code; empty where it is not known.
    cut: int = 0  # Characters that are left out.
    mark: str = ""  # What was found about it; empty for nothing.


class Part(NamedTuple):
    """What English and the language have under one heading; one of both may be empty."""

    title: str
    english: tuple[Excerpt, ...]
    other: tuple[Excerpt, ...]


@dataclass(frozen=True)
class SampleToRead:
    """One question in English and in a language that is behind."""

    model: str  # The model's short name.
    criterion: str  # A key of `CRITERIA`.
    dataset: str  # As in `Place`.
    language: str  # The language's code.
    question: str  # The question's id.
    why: str  # What the gap is, in words.
    parts: tuple[Part, ...]  # The texts.
    task: str = ""  # The task's name, under which `xling view` finds the question.

    @property
    def link(self) -> str:
        """What `xling view --open` shows it by."""
        parts = (self.task, self.question, self.model)
        return "/".join(quote(part, safe="", errors="replace") for part in parts)


def samples_to_read(report: Report, n: int = 5) -> list[SampleToRead]:
    """Examples of what is worse than in English, at most `n` per model and criterion.

    By criterion, then model: first of the languages that a conclusion finds worse, in turns, then
    the widest gaps; equal ones by the question's id. DataError if a file of samples has changed
    since it was read, or is broken.
    """
    samples = []
    for criterion in CRITERIA:
        for model in report.models:
            tasks = [task for task in model.tasks if task.place.criterion == criterion]
            place = (model.name, criterion)
            about = [item for item in report.conclusions if (item.model, item.criterion) == place]
            ordered = _gaps(tasks, about)[: n * _TRIES]
            read = (_read(model, gap) for gap in ordered)
            samples += list(islice((sample for sample in read if sample is not None), n))
    return samples


def _read(model: Model, gap: _Gap) -> SampleToRead | None:
    """A sample with its texts; None where these show no gap."""
    question, place = gap.behind.question, gap.task.place
    try:
        shown = _parts(gap)
    except (LookupError, ValueError, TypeError, AttributeError, OSError) as error:
        raise DataError(
            f"{gap.task.results.samples.path}: question {question!r} cannot be shown "
            f"({error!r}); the file was changed or is broken. Run the task again"
        ) from error
    told = (gap.own.language, question, gap.behind.why, shown, gap.task.results.task)
    return SampleToRead(model.name, place.criterion, place.dataset, *told) if shown else None


# Their texts


def _excerpt(passage: Passage) -> Excerpt:
    """The beginning of a text; combining marks stay with the letter that they belong to."""
    text, end = passage.text, LIMIT
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return Excerpt(text[:end], passage.language, max(0, len(text) - end), passage.mark)


def _part(title: str, english: Iterable[Passage], other: Iterable[Passage]) -> Part:
    return Part(title, tuple(map(_excerpt, english)), tuple(map(_excerpt, other)))


def _parts(gap: _Gap) -> tuple[Part, ...]:
    """What is shown of a gap; nothing where its texts show none."""
    known, language = CRITERIA[gap.task.place.criterion], gap.own.language
    other = gap.sample(gap.own)
    english = gap.sample(gap.english) if known.parallel else None
    sides = [
        {part.title: part.passages for part in parts_of(known.key, sample, code)} if sample else {}
        for sample, code in ((english, ENGLISH), (other, language))
    ]
    parts = []
    for heading, title in known.read.headings.items():
        # English lacks what is made of other languages only, such as a translation.
        own = [sides[0].get(heading, ()), sides[1][heading]]
        if heading not in known.read.whole:
            own = [[passage._replace(mark="") for passage in side[:1]] for side in own]
        parts.append(_part(title, *own))
    if known.read.more is None:
        return tuple(parts)
    more = [_part(*each) for each in known.read.more(gap.behind.name, language, english, other)]
    return (*parts, *more) if more else ()


# Which questions: a criterion says on which a language is behind English (`Read.behind`)


@dataclass(frozen=True)
class _TaskSide:
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


class _Gap(NamedTuple):
    """One question of one language beside English."""

    own: _TaskSide  # The language's side.
    english: _TaskSide  # English's; of the same task where all languages are in one.
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

    def sample(self, side: _TaskSide) -> dict[str, Any]:
        """The question's line in a file of samples."""
        task = side.task
        sample = task.results.samples.at(task.offsets[task.ids.index(self.behind.question)])
        if str(sample["doc"]["question_id"]) != self.behind.question:
            raise LookupError("another question stands there")
        return sample


def _gaps(tasks: Sequence[Task], conclusions: Sequence[Conclusion]) -> list[_Gap]:
    """The questions on which languages are behind English, those to read first at the beginning.

    First those of languages that a conclusion finds worse, in turns.
    """
    worse = {(c.dataset, c.language, c.meaning) for c in conclusions if c.verdict == "worse"}
    found = sorted(_every(tasks), key=lambda gap: gap.order)
    turns: Counter[tuple[str, str, str]] = Counter()
    ranked = []
    for gap in found:
        key = gap.task.place.dataset, gap.own.language, gap.behind.meaning
        ranked.append((turns[key] if key in worse else len(found), gap))
        turns[key] += 1
    return [gap for _, gap in sorted(ranked, key=lambda pair: pair[0])]


def _every(tasks: Sequence[Task]) -> Iterator[_Gap]:
    for own, english in _sides(tasks):
        behind = CRITERIA[own.task.place.criterion].read.behind
        yield from (_Gap(own, english, each) for each in behind(own, english))


def _sides(tasks: Sequence[Task]) -> Iterator[tuple[_TaskSide, _TaskSide]]:
    """(a language, English) over the same dataset."""
    english = {task.place.dataset: task for task in tasks if task.place.language == ENGLISH}
    for task in tasks:
        place = task.place
        if not place.language:
            split = (CRITERIA[place.criterion].split(name).language for name in task.columns)
            for code in dict.fromkeys(split):
                if is_language(code) and code != ENGLISH:
                    yield _TaskSide(task, code), _TaskSide(task, ENGLISH)
        elif place.language != ENGLISH and place.dataset in english:
            yield _TaskSide(task, place.language), _TaskSide(english[place.dataset], ENGLISH)
