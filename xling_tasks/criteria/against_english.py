"""Criteria that compare each answer with the model's own English one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    answers,
    field,
    mapping,
    number,
)

COMPARED = "As compared, in English"
"""The heading of what of an answer was scored, where it is not the answer itself."""

RECORDS = ("n_claims_{}", "profile_{}")
"""The names of the values that these parts show, by language."""

RATES = ("unscored", "unverified", "abstained", "both_absent", "empty_rate")


def parts_of_several(
    sample: Mapping[str, Any], language: str, record: Mapping[str, Any]
) -> list[Part]:
    """Prompt, answer, and the English text that was compared or why there is none."""
    texts = mapping(mapping(sample.get("doc")).get("text"))
    codes = [str(code) for code in texts]
    said = list(answers(sample, language, codes.index(language) if language in codes else -1))
    if language == ENGLISH:
        said += answers(sample, language, len(codes))  # the second one, where it was asked
    compared: list[Passage] = []
    if language != ENGLISH and record:
        compared = field(record, "english", ENGLISH)
        if not compared and any(passage.text.strip() for passage in said):
            compared = [Passage("", "", "translation failed", "bad")]
    question = field(texts, language, language)
    return [Part("Question", question), Part(ANSWER, said), Part(COMPARED, compared)]


def agreement(sample: Mapping[str, Any], language: str, *names: str) -> float | None:
    """By how much an answer agrees with the English one, in English a second answer's with it."""
    values = (number(sample.get(f"{name}_{language}")) for name in names)
    known = (value for value in values if value is not None)
    return next(known, 1.0 if language == ENGLISH else None)
