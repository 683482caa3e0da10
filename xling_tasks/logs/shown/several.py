"""The parts of a sample that has several languages, each compared with English."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria import ENGLISH
from xling_tasks.logs.shown.texts import (
    ANSWER,
    Part,
    Passage,
    answers,
    as_text,
    field,
    listing,
    mapping,
    number,
    words,
)

COMPARED = "As compared, in English"
"""The heading of what of an answer was scored, where it is not the answer itself."""

RECORDS = ("n_claims_{}", "profile_{}")
"""The names of the values that these parts show, by language."""

_SUPPORT = {True: ("supported", "good"), False: ("not supported", "bad")}


def _of_several(sample: Mapping[str, Any], language: str, record: Mapping[str, Any]) -> list[Part]:
    """Prompt, answer, and the English text that was compared or why there is none."""
    texts = mapping(mapping(sample.get("doc")).get("text"))
    codes = [str(code) for code in texts]
    said = list(answers(sample, language, codes.index(language) if language in codes else -1))
    compared: list[Passage] = []
    if language != ENGLISH and record:
        compared = field(record, "english", ENGLISH)
        if not compared and any(passage.text.strip() for passage in said):
            compared = [Passage("", "", "translation failed", "bad")]
    question = field(texts, language, language)
    return [Part("Question", question), Part(ANSWER, said), Part(COMPARED, compared)]


def claims_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of information: the claims, and whether the other answer supports each."""
    own = mapping(sample.get(f"n_claims_{language}"))
    parts = _of_several(sample, language, own)
    if language == ENGLISH:
        plain = [Passage(as_text(claim), ENGLISH) for claim in listing(own.get("claims"))]
        return [*parts, Part("Claims", plain)]
    if own.get("unscored"):
        parts.append(Part("Not scored", [Passage("", "", as_text(own["unscored"]), "unsure")]))
    base = mapping(sample.get(f"n_claims_{ENGLISH}"))
    return [
        *parts,
        Part("Claims of this answer", supported(own.get("claims"), own.get("supported")),
             "Does the English answer support them?"),
        Part("Claims of the English answer",
             supported(base.get("claims"), own.get("reference_supported")),
             "Does this answer support them?"),
    ]  # fmt: skip


def supported(claims: Any, marks: Any) -> list[Passage]:
    """Claims with whether another answer supports them."""
    passages = []
    for claim, mark in islice(zip_longest(listing(claims), listing(marks)), len(listing(claims))):
        support = _SUPPORT[mark] if isinstance(mark, bool) else ("not verified", "unsure")
        passages.append(Passage(as_text(claim), ENGLISH, *support))
    return passages


def empathy_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of empathy: the mechanisms, and whether they are those of the English answer."""
    record = mapping(sample.get(f"profile_{language}"))
    parts = _of_several(sample, language, record)
    if record.get("profile") is not None:
        equal = {1.0: ("as in English", "good"), 0.0: ("not as in English", "bad")}
        score = number(sample.get(f"empathy_{language}"))
        mark = ("", "") if score is None else equal.get(score, ("", ""))
        text = mechanisms(sample, language)
        parts.append(Part("Mechanisms of empathy in the answer", [Passage(text, ENGLISH, *mark)]))
    return parts


def mechanisms(sample: Mapping[str, Any], language: str) -> str:
    """The mechanisms of empathy that are in the answer, in words."""
    ending = f"_present_{language}"
    names = [key.removesuffix(ending) for key in sample if key.endswith(ending) and sample[key]]
    return ", ".join(map(words, names)) or "none"
