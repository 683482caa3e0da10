"""Question and answers of a sample, from a row that may hold anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

ANSWER = "The model's answer"
"""The heading of what the model under test said."""


class Passage(NamedTuple):
    """A text.

    Attributes:
        text: All of it.
        language: Two-letter code; empty where it is not known.
        mark: What was found about it; empty for nothing.
        tone: `good`, `partly`, `bad`, `unsure`, or empty.
    """

    text: str
    language: str = ""
    mark: str = ""
    tone: str = ""


class Part(NamedTuple):
    """Texts under a heading; `note` says how they came about."""

    title: str
    passages: list[Passage]
    note: str = ""


# Values of files that anybody may have written


def mapping(value: Any) -> Mapping[str, Any]:
    """A value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """A value that should be a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def number(value: Any) -> float | None:
    """A number, or None for anything else."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if good and abs(value) < 1e300 else None


def words(key: Any) -> str:
    """A key as words."""
    return as_text(key).replace("_", " ")


# What was asked and answered


def field(source: Mapping[str, Any], name: str, language: str) -> list[Passage]:
    """A field's text; nothing where the field is missing."""
    there = source.get(name) is not None
    return [Passage(as_text(source[name]), language)] if there else []


def replies(sample: Mapping[str, Any]) -> list[list[Any]]:
    """Per request its replies."""
    return [item if isinstance(item, list) else [item] for item in listing(sample.get("resps"))]


def missing(sample: Mapping[str, Any]) -> dict[tuple[Any, Any], tuple[str, str]]:
    """(Request, repeat) -> outcome and reason of a reply that is no answer."""
    rows = map(mapping, listing(mapping(sample.get("n_responses")).get("responses")))
    return {
        (as_text(row.get("request")), as_text(row.get("repeat"))): (
            as_text(row["outcome"]),
            as_text(row.get("reason")),
        )
        for row in rows
        if row.get("outcome")
    }


def answers(sample: Mapping[str, Any], language: str, only: int | None = None) -> Iterator[Passage]:
    """Every reply, or those to ONLY one request, in their order; marked where it is no answer."""
    lacking = missing(sample)
    for request, own in enumerate(replies(sample)):
        for repeat, reply in enumerate(own if only in (None, request) else ()):
            outcome = lacking.get((str(request), str(repeat)))
            mark = f"{outcome[0]}: {outcome[1]}" if outcome else ""
            text = as_text(reply)
            if not mark and not text.strip():
                mark = "empty"
            yield Passage(text, language, mark, "bad" if mark else "")


def answers_by_temperature(
    sample: Mapping[str, Any], language: str
) -> tuple[dict[str, tuple[int, list[Passage]]], list[Passage]]:
    """The answers of a sweep, which lie one temperature after the other, and what is left over.

    By temperature, as it is written: how many were asked for, and those that are there.
    """
    rest = answers(sample, language)
    by_temperature = {}
    for key, value in sample.items():
        pair = listing(value)
        if key.startswith("empty_rate_t") and len(pair) == 2 and isinstance(pair[1], int):
            count = max(0, pair[1])
            own = list(islice(rest, count))
            by_temperature[key.removeprefix("empty_rate_t")] = (count, own)
    return by_temperature, list(rest)


def question_part(sample: Mapping[str, Any], language: str) -> Part:
    """What was asked."""
    return Part("Question", field(mapping(sample.get("doc")), "question", language))


def answer_part(sample: Mapping[str, Any], language: str) -> Part:
    """What the model under test said."""
    return Part(ANSWER, list(answers(sample, language)))
