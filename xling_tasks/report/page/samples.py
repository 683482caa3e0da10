"""The answers of a report to read: where a language is furthest behind English.

Which questions these are follows from the numbers that `data` keeps; only their lines are
read, by their place in the file, so that files of any size cost the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.criteria.sample import Passage
from xling_tasks.errors import DataError
from xling_tasks.logs.shown import parts_of
from xling_tasks.pages.door import DOOR
from xling_tasks.report.data import Model
from xling_tasks.report.model import Report
from xling_tasks.report.page.gaps import Gap, gaps

LIMIT = 1500
"""Characters of a text that are shown."""

_TRIES = 20

Sample = Mapping[str, Any]


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
    def address(self) -> str:
        """Where `xling view` shows it."""
        parts = (self.task, self.question, self.model)
        return f"{DOOR}#/" + "/".join(["q", *(quote(x, safe="", errors="replace") for x in parts)])


def samples_to_read(report: Report, n: int = 5) -> list[SampleToRead]:
    """Examples of what is worse than in English.

    Args:
        report: Whose models to read.
        n: How many at most per model and criterion.

    Returns:
        By criterion, then model: first of the languages that a conclusion finds worse, in turns,
        then the widest gaps; equal ones by the question's id.

    Raises:
        DataError: If a file of samples has changed since it was read, or is broken.
    """
    samples = []
    for criterion in CRITERIA:
        for model in report.models:
            tasks = [task for task in model.tasks if task.place.criterion == criterion]
            about = [
                item
                for item in report.conclusions
                if (item.model, item.criterion) == (model.name, criterion)
            ]
            ordered = gaps(tasks, about, report.languages or ())
            read = (_read(model, gap) for gap in ordered[: n * _TRIES])
            samples += list(islice((sample for sample in read if sample is not None), n))
    return samples


def _read(model: Model, gap: Gap) -> SampleToRead | None:
    """A sample with its texts; None where these show no gap."""
    question = gap.behind.question
    try:
        shown = _parts(gap)
    except (LookupError, ValueError, TypeError, AttributeError, OSError) as error:
        raise DataError(
            f"{gap.task.results.samples.path}: question {question!r} cannot be shown "
            f"({error!r}); the file was changed or is broken. Run the task again"
        ) from error
    place = gap.task.place
    if not shown:
        return None
    return SampleToRead(
        model.name, place.criterion, place.dataset, gap.own.language, question, gap.behind.why,
        shown, gap.task.results.task,
    )  # fmt: skip


# Their texts


def _excerpt(passage: Passage) -> Excerpt:
    """The beginning of a text; combining marks stay with the letter that they belong to."""
    text, end = passage.text, LIMIT
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return Excerpt(text[:end], passage.language, max(0, len(text) - end), passage.mark)


def _part(title: str, english: Iterable[Passage], other: Iterable[Passage]) -> Part:
    return Part(title, tuple(map(_excerpt, english)), tuple(map(_excerpt, other)))


def _parts(gap: Gap) -> tuple[Part, ...]:
    """What is shown of a gap; nothing where its texts show none."""
    known, language = CRITERIA[gap.task.place.criterion], gap.own.language
    other = gap.sample(gap.own)
    english = gap.sample(gap.english) if known.parallel else None
    sides = [
        _by_heading(known.key, sample, code) if sample else {}
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


def _by_heading(criterion: str, sample: Sample, language: str) -> dict[str, Sequence[Passage]]:
    return {part.title: part.passages for part in parts_of(criterion, sample, language)}
