"""How the samples of a criterion are read by `xling samples`: their texts under headings.

What is read here may raise any error: who reads a file says of which row that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Sample = Mapping[str, Any]

ANSWER = "The model's answer"  # the heading of what the model under test said


class Passage(NamedTuple):
    """A text."""

    text: str  # all of it
    language: str = ""  # two-letter code; empty where it is not known
    mark: str = ""  # A finding about it; empty for none
    tone: str = ""  # `good`, `partly`, `bad`, `unsure`, or empty


class Part(NamedTuple):
    """Texts under a heading; `note` says how they came about."""

    title: str
    passages: list[Passage]
    note: str = ""


class SampleResult(NamedTuple):
    """The result of a sample: a label, a score (higher is better), whether it is right."""

    label: str = ""
    score: float | None = None
    right: bool | None = None
    temperature: float = 0.0  # which its score is of


class SampleView(NamedTuple):
    """How a sample is read."""

    # its texts in one language by heading
    parts: Callable[[Sample, str], list[Part]]
    values: Collection[str] = ()  # the names of the values that these show
    # label, score and whether it is right; None for the first endpoint's value
    found: Callable[[Sample, str], SampleResult] | None = None
    # label -> `good`, `partly` or `bad`; by whether it is right where it is none of them
    tones: Mapping[str, str] = MappingProxyType({})


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """Return a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def number(value: Any) -> float | None:
    """Return a number, or None for anything else."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if good and abs(value) < 1e300 else None


def words(key: Any) -> str:
    """Return a key as words."""
    return as_text(key).replace("_", " ")


def temperature_of(name: str) -> float:
    """Return the temperature at the end of a metric's name; 0 without one."""
    return float(name.rpartition("_t")[2]) if "_t" in name else 0.0


def field(source: Mapping[str, Any], name: str, language: str) -> list[Passage]:
    """Return a field's text; nothing where the field is missing."""
    return [] if source.get(name) is None else [Passage(as_text(source[name]), language)]


def missing(sample: Sample) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (request, repeat) -> outcome and reason of a response that is no answer."""
    rows = mapping(sample.get("n_responses")).get("responses") or ()
    return {
        (str(row["request"]), str(row["repeat"])): (row["outcome"], row["reason"])
        for row in rows
        if row.get("outcome")
    }


def answers(sample: Sample, language: str, only: int | None = None) -> Iterator[Passage]:
    """Yield the responses, or those to ONLY one request; marked where one is no answer."""
    missing_responses = missing(sample)
    for request, texts in enumerate(sample.get("resps") or ()):
        if only not in (None, request):
            continue
        for repeat, response in enumerate(texts if isinstance(texts, list) else [texts]):
            outcome = missing_responses.get((str(request), str(repeat)))
            text = as_text(response)
            mark = "" if text.strip() else "empty"
            if outcome:
                mark = f"{outcome[0]}: {outcome[1]}"
            yield Passage(text, language, mark, "bad" if mark else "")


def question_part(sample: Sample, language: str) -> Part:
    """Return the question."""
    return Part("Question", field(mapping(sample.get("doc")), "question", language))


def answer_part(sample: Sample, language: str) -> Part:
    """Return what the model under test wrote."""
    return Part(ANSWER, list(answers(sample, language)))
