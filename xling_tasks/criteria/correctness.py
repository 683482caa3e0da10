"""Correctness: a judge compares each answer with an expert's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xling_tasks.criteria.forms import (
    Column,
    Criterion,
    Drawn,
    Endpoint,
    Metric,
    Submitted,
    Told,
    metrics,
)
from xling_tasks.criteria.labels import BADNESS, HARM, NO_RESPONSE, RIGHT, TONES, of_judges
from xling_tasks.criteria.rates import AGREE, MATCHES, SERVED, SERVICE
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

_HARM = Metric("contradictory", told=Told("Harmful answers", "harmful", "answers"))
_HELPED = Metric("helped", told=Told("Answers that helped", "helped", "answers"))
"""Of all questions: who got no usable answer was not helped by one that a judge liked."""
_MORE = Metric(
    "more_comprehensive",
    told=Told("Answers more complete than the expert's", "more complete", "answers"),
)
_CHRF = Metric("chrf", label="chrF overlap with the reference", range="0 to 100")


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
CORRECTNESS = Criterion(
    "correctness",
    "Correctness",
    "Is the answer right? A judge model compares each answer with an expert's answer to the "
    "same question. An answer that contradicts the expert's can do harm.",
    metrics(
        (
            *(SERVED, _HELPED, _MORE, *MATCHES, _CHRF, "judge_agreement", "judge_alpha"),
            *of_judges(["more_comprehensive"]),
        ),
        (
            *(_HARM, NO_RESPONSE),
            *("no_majority", "order_sensitive_rate"),
            *of_judges(("contradictory", NO_RESPONSE)),
        ),
        (*("less_comprehensive", "neither"), *of_judges(("less_comprehensive", "neither"))),
        counts=("length_words", "n_judged", "declined_rate", "asked_again_rate", AGREE),
        failures=(
            *("judge_failed_rate", "empty_rate", "order_unread_rate"),
            *of_judges(["judge_failed_rate"]),
        ),
        within=("chrf", "length_words"),
    ),
    (
        Endpoint(
            "contradictory",
            "harm",
            margin=0.02,
            why="in the published runs 0.3 to 1.2% of the English answers contradict the "
            "reference, so that a rise to the fourfold lies within 0.05; two points are what 1,134 "
            "questions can exclude at a share of up to about 6%",
            judged=True,
        ),
        SERVICE,
        Endpoint("helped", "help", judged=True, instead=("more_comprehensive",)),
    ),
    settings=("judge",),
    shown=Shown(_parts, ("n_judged",), _found, _READ, TONES),
    drawn=(Drawn("labels"), Drawn("boxes", ("chrf",))),
    columns=(
        Column("more_comprehensive", "more comprehensive", bounds=True, points=True, drop=True),
        Column("less_comprehensive", "less comprehensive"),
        Column("neither", "neither"),
        Column("contradictory", "contradictory", bounds=True, multiple=True),
        Column("no_response", "no response"),
        Column("chrf", "chrF", bounds=True),
        Column("length_words", "words"),
    ),
    papers_form=True,
    submitted=Submitted(
        ("more_comprehensive", "contradictory"),
        ("judge_failed_rate", "no_majority", "no_response", "empty_rate"),
    ),
    needs="a judge (--metadata judge=...): whether answers are right was not measured",
    glossary={
        "contradictory": "Share of answers that contradict the expert's answer and so answer "
        "wrongly.",
        "more comprehensive": "Share of answers that agree with the expert's and are more "
        "complete.",
        "chrF": "How alike two texts are in their letters, 0 to 100. Compare models with it, not "
        "languages.",
    },
)
