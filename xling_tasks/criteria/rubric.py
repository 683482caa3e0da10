"""Rubrics: a judge says which of the experts' criteria an answer meets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria.forms import Column, Criterion, Endpoint, Metric, Submitted, Told, metrics
from xling_tasks.criteria.rates import AGREE, MATCHES, SERVED, SERVICE
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    answer_part,
    as_text,
    listing,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.shown import Read, Shown, drops

CRITERIA_MET = "Criteria"
"""The heading of a rubric's criteria, each with whether it is met."""


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Every criterion with its points and whether it is met; what an answer should not do too."""
    doc, record = mapping(sample.get("doc")), mapping(sample.get("n_scored"))
    criteria = [mapping(each) for each in listing(doc.get("criteria"))]
    passages = []
    for each, met in islice(zip_longest(criteria, listing(record.get("met"))), len(criteria)):
        points = number(each.get("points")) or 0.0
        mark, tone = "no verdict", "unsure"
        if isinstance(met, bool):
            mark = "met" if met else "not met"
            tone = "good" if met == (points > 0) else "bad"
        passages.append(Passage(f"{points:+g}: {as_text(each.get('text'))}", "", mark, tone))
    said = [Passage(as_text(reply)) for reply in listing(record.get("replies"))]
    return [
        question_part(sample, language),
        answer_part(sample, language),
        Part(CRITERIA_MET, passages),
        Part("The judge's replies", said),
    ]


_SCORE = Metric(
    "rubric_score", told=Told("Points of the rubrics earned", "of the points", "percent")
)
_READ = Read(
    lambda own, english: drops(own, english, "rubric_score", "score", 2),
    {"Question": "Question", ANSWER: "Answer", CRITERIA_MET: CRITERIA_MET},
    whole=(CRITERIA_MET,),
)
_HELPED = Metric(
    "helped",
    told=Told("Points of the rubrics earned by usable answers", "of the points", "percent"),
)
"""Of all questions: who got no usable answer was not helped by its points."""
RUBRIC = Criterion(
    "rubric",
    "Rubrics",
    "Does the answer do what experts ask of it? A judge model says of each criterion of a "
    "conversation whether the answer meets it; the points of those that it meets are set "
    "against all that could be earned.",
    metrics(
        (SERVED, _HELPED, _SCORE, "length_adjusted", *MATCHES),
        ("unscored_rate",),
        counts=("n_scored", "asked_again_rate", "length_words", "declined_rate", AGREE),
        failures=("criteria_unscored", "judge_failed_rate", "empty_rate"),
        within=("length_words", "length_adjusted"),
    ),
    (SERVICE, Endpoint("helped", "help", judged=True, instead=("rubric_score",))),
    settings=("judge", "rubric_batch", "rubric_answers"),
    shown=Shown(_parts, ("n_scored",), read=_READ),
    columns=(
        Column("rubric_score", "score", bounds=True, points=True),
        Column("length_adjusted", "length-adjusted"),
        Column("criteria_unscored", "criteria unscored"),
        Column("unscored_rate", "answers unscored"),
        Column("judge_failed_rate", "judge failed"),
    ),
    note="Score: points of the criteria that an answer meets over all positive points, the mean "
    "over the answers of which every criterion has a verdict, clipped to 0..1. Differences "
    "between languages are of the means before clipping.",
    parts=(
        ("theme_", "category_", "axis_", "level_", "worst_at_"),
        "themes, axes and repeated answers",
        "A theme or category is a part of the conversations, an axis or level a part of the "
        "criteria: with few of either, read them as hints. Worst at k: the expected worst of k "
        "answers to a conversation.",
    ),
    submitted=Submitted(
        ("rubric_score",), ("criteria_unscored", "unscored_rate", "judge_failed_rate", "empty_rate")
    ),
    glossary={
        "rubric_score": "Points of the criteria that an answer meets, over all positive points; "
        "faults cost points, so that one answer can be below 0."
    },
    by_topic=False,
)
