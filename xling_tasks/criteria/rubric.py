"""Rubrics: a judge says which of the experts' criteria an answer meets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria.rows import criterion
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


_READ = Read(
    lambda own, english: drops(own, english, "rubric_score", "score", 2),
    {"Question": "Question", ANSWER: "Answer", CRITERIA_MET: CRITERIA_MET},
    whole=(CRITERIA_MET,),
)
RUBRIC = criterion("rubric", Shown(_parts, ("n_scored",), read=_READ))
