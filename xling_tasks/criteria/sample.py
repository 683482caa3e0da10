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
    """Return a value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """Return a value that should be a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


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


# What was asked and answered


def field(source: Mapping[str, Any], name: str, language: str) -> list[Passage]:
    """Return a field's text; nothing where the field is missing."""
    is_there = source.get(name) is not None
    return [Passage(as_text(source[name]), language)] if is_there else []


def replies(sample: Mapping[str, Any]) -> list[list[Any]]:
    """Return the responses of each request."""
    return [item if isinstance(item, list) else [item] for item in listing(sample.get("resps"))]


def missing(sample: Mapping[str, Any]) -> dict[tuple[Any, Any], tuple[str, str]]:
    """Return (request, repeat) -> outcome and reason of a response that is no answer."""
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
    """Yield the responses, or those to ONLY one request; marked where one is no answer."""
    missing_responses = missing(sample)
    for request, texts in enumerate(replies(sample)):
        for repeat, reply in enumerate(texts if only in (None, request) else ()):
            outcome = missing_responses.get((str(request), str(repeat)))
            mark = f"{outcome[0]}: {outcome[1]}" if outcome else ""
            text = as_text(reply)
            if not mark and not text.strip():
                mark = "empty"
            yield Passage(text, language, mark, "bad" if mark else "")


def answers_by_temperature(
    sample: Mapping[str, Any], language: str
) -> tuple[dict[str, tuple[int, list[Passage]]], list[Passage]]:
    """Return the answers of a sweep by temperature, and what is left over.

    By temperature, as it is written: how many were asked for, and those that are there.
    """
    remaining = answers(sample, language)
    by_temperature = {}
    for key, value in sample.items():
        pair = listing(value)
        if key.startswith("empty_rate_t") and len(pair) == 2 and isinstance(pair[1], int):
            count = max(0, pair[1])
            passages = list(islice(remaining, count))
            by_temperature[key.removeprefix("empty_rate_t")] = (count, passages)
    return by_temperature, list(remaining)


def question_part(sample: Mapping[str, Any], language: str) -> Part:
    """Return the question."""
    return Part("Question", field(mapping(sample.get("doc")), "question", language))


def answer_part(sample: Mapping[str, Any], language: str) -> Part:
    """Return what the model under test wrote."""
    return Part(ANSWER, list(answers(sample, language)))
