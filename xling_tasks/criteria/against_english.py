"""Criteria that compare each answer with the model's own English one: information, and empathy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
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
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side

_COMPARED = "As compared, in English"
"""The heading of what of an answer was scored, where it is not the answer itself."""

_RECORDS = ("n_claims_{}", "profile_{}")
"""The names of the values that these parts show, by language."""


def _parts_of_both(
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
    return [Part("Question", question), Part(ANSWER, said), Part(_COMPARED, compared)]


def _agreement(sample: Mapping[str, Any], language: str, *names: str) -> float | None:
    """By how much an answer agrees with the English one, in English a second answer's with it."""
    values = (number(sample.get(f"{name}_{language}")) for name in names)
    known = (value for value in values if value is not None)
    return next(known, 1.0 if language == ENGLISH else None)


# Information: the claims of both

_SUPPORT = {True: ("supported", "good"), False: ("not supported", "bad")}


def _claim_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of information: the claims, and whether the other answer supports each."""
    own = mapping(sample.get(f"n_claims_{language}"))
    parts = _parts_of_both(sample, language, own)
    if varies := mapping(sample.get("doc")).get("varies"):
        why = f"right answers differ by {as_text(varies)}"
        return [*parts, Part("Not compared", [Passage("", "", why, "unsure")])]
    base = mapping(sample.get(f"n_claims_{ENGLISH}"))
    if language == ENGLISH:
        own = mapping(base.get("again"))
        if not own:
            plain = [Passage(as_text(claim), ENGLISH) for claim in listing(base.get("claims"))]
            return [*parts, Part("Claims", plain)]
    if own.get("unscored"):
        parts.append(Part("Not scored", [Passage("", "", as_text(own["unscored"]), "unsure")]))
    which = "the second answer" if language == ENGLISH else "this answer"
    return [
        *parts,
        Part(f"Claims of {which}", _supported(own.get("claims"), own.get("supported")),
             "Does the English answer support them?"),
        Part("Claims of the English answer",
             _supported(base.get("claims"), own.get("reference_supported")),
             f"Does {which} support them?"),
    ]  # fmt: skip


def _supported(claims: Any, marks: Any) -> list[Passage]:
    """Claims with whether another answer supports them."""
    passages = []
    for claim, mark in islice(zip_longest(listing(claims), listing(marks)), len(listing(claims))):
        support = _SUPPORT[mark] if isinstance(mark, bool) else ("not verified", "unsure")
        passages.append(Passage(as_text(claim), ENGLISH, *support))
    return passages


def _shared(sample: Mapping[str, Any], language: str) -> Found:
    return Found(score=_agreement(sample, language, "information_f1_by_prompt"))


def _least_shared(own: Side, _: Side) -> Iterator[Behind]:
    """The lowest F1 of claims."""
    for question, value in own.values("information_f1_by_prompt").items():
        if value is not None and value < 1:
            yield Behind(question, 1 - value, f"F1 of claims {value:.2f}")


def _claims(_: str, language: str, english: Sample | None, __: Sample) -> Iterator[Beside]:
    sample = english or {}
    base, own = sample[f"n_claims_{ENGLISH}"], sample[f"n_claims_{language}"]
    yield Beside(
        "Claims, and whether the other answer supports them",
        _supported(base["claims"], own["reference_supported"]),
        _supported(own["claims"], own["supported"]),
    )


_CLAIMS_READ = Read(
    _least_shared, {"Question": "Prompt", ANSWER: "Answer", _COMPARED: _COMPARED}, _claims
)
INFORMATION = criterion("information", Shown(_claim_parts, _RECORDS, _shared, _CLAIMS_READ))


# Empathy: its kinds in both


def _profile_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of empathy: the mechanisms, and whether they are those of the English answer."""
    record = mapping(sample.get(f"profile_{language}"))
    parts = _parts_of_both(sample, language, record)
    if record.get("profile") is not None:
        equal = {1.0: ("as in English", "good"), 0.0: ("not as in English", "bad")}
        score = number(sample.get(f"empathy_{language}"))
        mark = ("", "") if score is None else equal.get(score, ("", ""))
        text = _mechanisms(sample, language)
        parts.append(Part("Mechanisms of empathy in the answer", [Passage(text, ENGLISH, *mark)]))
    return parts


def _mechanisms(sample: Mapping[str, Any], language: str) -> str:
    """The mechanisms of empathy that are in the answer, in words."""
    ending = f"_present_{language}"
    names = [key.removesuffix(ending) for key in sample if key.endswith(ending) and sample[key]]
    return ", ".join(map(words, names)) or "none"


def _profile_found(sample: Mapping[str, Any], language: str) -> Found:
    score = _agreement(sample, language, "empathy")
    if score is None or language == ENGLISH:
        return Found("", score)
    return Found("same profile" if score else "other profile", score, score == 1)


def _other_profile(own: Side, _: Side) -> Iterator[Behind]:
    """Replies with another profile than the English one; most mechanisms apart first."""
    agreed = [own.values(f"{name}_agreement") for name in _MECHANISMS]
    for question, value in own.values("empathy").items():
        if value == 0:
            apart = sum(values.get(question) == 0 for values in agreed)
            yield Behind(question, apart, "another profile than in English")


def _profiles(_: str, language: str, english: Sample | None, other: Sample) -> Iterator[Beside]:
    present = (_mechanisms(other, code) for code in (ENGLISH, language))
    yield Beside("Mechanisms found", *([Passage(text, ENGLISH)] for text in present))


_PROFILES_READ = Read(
    _other_profile,
    {"Question": "Prompt", ANSWER: "Answer", _COMPARED: "As classified, in English"},
    _profiles,
)
_MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
EMPATHY = criterion("empathy", Shown(_profile_parts, _RECORDS, _profile_found, _PROFILES_READ))
