"""How a criterion's samples are read: by the viewer, and in a report beside English."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from xling_tasks.criteria.sample import Part, Passage

Sample = Mapping[str, Any]


class Found(NamedTuple):
    """What was found of a sample: a label, a score (higher is better), whether it is right."""

    label: str = ""
    score: float | None = None
    right: bool | None = None


class Side(Protocol):
    """What a run measured in one language, by question; `names` are its metrics there."""

    @property
    def names(self) -> Collection[str]: ...  # noqa: D102

    def values(self, name: str) -> Mapping[str, float | None]:
        """Question -> its own value; nothing where there is no such metric."""

    def sums(self, name: str) -> Mapping[str, tuple[float, ...] | None]:
        """Question -> what the metric sums of it, such as (tp, fp, fn, tn) of verdicts."""

    def score(self, name: str) -> float | None:
        """The metric over all questions."""


class Behind(NamedTuple):
    """A question on which a language is behind English.

    Attributes:
        question: Its id.
        size: How far: the larger, the worse.
        why: What is behind, in words.
        name: The metric by which; empty where it is clear.
        meaning: As in `Endpoint`: which conclusion it is an example of.
        finer: The worse among equals.
    """

    question: str
    size: float
    why: str
    name: str = ""
    meaning: str = "quality"
    finer: float = 0.0


class Beside(NamedTuple):
    """What English and the language have under one heading; one of both may be empty."""

    title: str
    english: Sequence[Passage]
    other: Sequence[Passage]


class Read(NamedTuple):
    """What of a language that is behind stands in a report to be read.

    Attributes:
        behind: The questions, from the language's side and English's.
        headings: The parts that are shown of both: their heading -> the title here.
        more: What follows, of the metric, the language, and the samples of English (None where
            questions are others in every language) and of the language. Without any of it the
            question is not shown.
        whole: Headings that are shown in all passages, with their marks; the others in the first.
    """

    behind: Callable[[Side, Side], Iterable[Behind]]
    headings: Mapping[str, str]
    more: Callable[[str, str, Sample | None, Sample], Iterable[Beside]] | None = None
    whole: Collection[str] = ()


class Shown(NamedTuple):
    """How a sample is read.

    Attributes:
        parts: Its texts in one language by heading; the last argument: by log-likelihood.
        values: The names of the values that these show.
        found: Label, score and whether it is right; None for the first endpoint's value.
        read: What a report shows of it beside English; None to go by the endpoints.
        tones: Label -> `good`, `partly` or `bad`; by whether it is right where it is none of them.
    """

    parts: Callable[[Sample, str, bool], list[Part]]
    values: Collection[str] = ()
    found: Callable[[Sample, str], Found] | None = None
    read: Read | None = None
    tones: Mapping[str, str] = MappingProxyType({})


def drops(
    own: Side, english: Side, name: str, told: str, digits: int, lower_is_better: bool = False
) -> Iterator[Behind]:
    """The questions on which a metric is worse than in English."""
    reference = english.values(name)
    for question, value in own.values(name).items():
        other = reference.get(question)
        if value is None or other is None:
            continue
        size = value - other if lower_is_better else other - value
        if size > 0:
            why = f"{told} {value:.{digits}f}; in English {other:.{digits}f}"
            yield Behind(question, size, why, name)
