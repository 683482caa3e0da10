"""Correctness: a judge compares each answer with an expert's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xling_tasks.criteria.labels import BADNESS, HARM, RIGHT, TONES
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    answer_part,
    as_text,
    field,
    listing,
    mapping,
    question_part,
    words,
)
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side

REFERENCE = "Reference answer"


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    return [
        question_part(sample, language),
        Part(REFERENCE, field(doc, "reference", language)),
        answer_part(sample, language),
        Part("The judge's verdict and reasoning", list(_verdicts(mapping(sample.get("n_judged"))))),
    ]


def _verdicts(judged: Mapping[str, Any]) -> Iterator[Passage]:
    """The verdict that counts; of a jury each vote, and where asked the exchanged order."""
    votes = [mapping(vote) for vote in listing(judged.get("votes"))]
    if not votes:
        if judged:
            yield _verdict(judged)
        votes = [judged]
    for vote in votes:
        if vote is not judged:
            yield _verdict(vote, f"{as_text(vote.get('judge', 'judge'))}: ")
        if other := mapping(vote.get("swapped")):
            yield _verdict(other, "with the answers exchanged: ")


def _verdict(judged: Mapping[str, Any], who: str = "") -> Passage:
    label = judged.get("label")
    tone = TONES.get(str(label), "unsure")
    said = words(label) if label is not None else "no label"
    if "failed" in judged:
        said, tone = f"failed: {as_text(judged['failed'])}", "unsure"
    if judged.get("no_majority"):
        said, tone = "no majority", "unsure"
    return Passage(as_text(judged.get("reply") or ""), "", who + said, tone)


def _found(sample: Mapping[str, Any], _: str) -> Found:
    label = mapping(sample.get("n_judged")).get("label")
    if not isinstance(label, str):
        return Found()
    return Found(label, -BADNESS[label] if label in BADNESS else None, RIGHT.get(label))


def _behind(own: Side, english: Side) -> Iterator[Behind]:
    """Labels worse than English's."""
    labels, reference = _labels(own), _labels(english)
    for question, label in labels.items():
        other = reference.get(question)
        if other is not None and BADNESS[label] > BADNESS[other]:
            harm = label == HARM
            why = f"{words(label)}; in English {words(other)}"
            size = BADNESS[label] - BADNESS[other] + 10.0 * harm
            yield Behind(question, size, why, meaning="harm" if harm else "help")


def _labels(side: Side) -> dict[str, str]:
    return {
        question: label
        for label in BADNESS
        for question, value in side.values(label).items()
        if value == 1
    }


def _judge(_: str, language: str, english: Sample | None, other: Sample) -> Iterator[Beside]:
    said = [mapping(english or {})["n_judged"], other["n_judged"]]
    yield Beside("Judge", *([Passage(x["reply"] or "", "", words(x["label"]))] for x in said))


_READ = Read(_behind, {"Question": "Question", REFERENCE: "Reference", ANSWER: "Answer"}, _judge)
CORRECTNESS = criterion("correctness", Shown(_parts, ("n_judged",), _found, _READ, TONES))
