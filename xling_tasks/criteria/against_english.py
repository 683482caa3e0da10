"""Criteria that compare each answer with the model's own English one: information, and empathy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria.forms import (
    ENGLISH,
    Column,
    Criterion,
    Drawn,
    Endpoint,
    Metric,
    Submitted,
    Told,
    metrics,
)
from xling_tasks.criteria.rates import AGREE, MATCHES, SERVED, SERVICE
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

_RATES = ("unscored", "unverified", "abstained", "both_absent", "empty_rate")


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
    return Found(score=_agreement(sample, language, "information_f1_by_prompt", "information_f1"))


def _least_shared(own: Side, _: Side) -> Iterator[Behind]:
    """The lowest F1 of claims."""
    # Runs before version 2 of the task have a prompt's F1 under the second name.
    known = (own.values(name) for name in ("information_f1_by_prompt", "information_f1"))
    for question, value in next((values for values in known if values), {}).items():
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
_F1 = Metric(
    "information_f1",
    label="Same information as in English, F1",
    range="0 to 1",
    told=Told("Content shared with the English answers", "shared with English", "percent"),
)
_BY_PROMPT = Metric(
    "information_f1_by_prompt",
    label="Same information as in English, F1 of each prompt",
    range="0 to 1",
)
INFORMATION = Criterion(
    "information",
    "Information consistency",
    "Does the answer say the same as the model's own English answer? Both are taken apart into "
    "claims, and a judge model says which of them the other answer supports.",
    metrics(
        (SERVED, _F1, _BY_PROMPT, "information_precision", "information_recall", *MATCHES),
        ("unscored", "abstained"),
        counts=("n_claims", "not_compared", "asked_again_rate", AGREE),
        failures=("empty_rate", "unverified", "unparsed"),
    ),
    (SERVICE, Endpoint("information_f1", judged=True, agreement=True)),
    settings=("judge", "translator", "languages"),
    shown=Shown(_claim_parts, _RECORDS, _shared, _CLAIMS_READ),
    drawn=(
        Drawn("dots", ("information_f1",)),
        Drawn("boxes", ("information_f1", "information_f1_by_prompt")),
    ),
    columns=(
        Column("information_f1", "F1", bounds=True),
        Column("information_f1_by_prompt", "F1 by prompt", bounds=True),
        Column("information_precision", "precision"),
        Column("information_recall", "recall"),
        Column("n_claims", "claims per answer"),
        Column("abstained", "abstained"),
        Column("unverified", "claims unverified"),
        Column("unscored", "unscored"),
    ),
    note="Agreement with the English answer to the same prompt: precision is the share of the "
    "answer's claims that the English answer supports, recall the reverse; F1 is the harmonic mean "
    "of mean precision and mean recall over prompts, as published. F1 by prompt is the mean of "
    "each prompt's own F1, which is lower. The row of English is a second English answer beside "
    "the first, where one was asked.",
    papers_form=True,
    submitted=Submitted(("information_f1",), _RATES),
    glossary={"information_f1": "How much of the claims two answers share, from 0 to 1."},
    several_languages=True,
    of_right=False,
)


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
_EMPATHY = Metric(
    "empathy",
    label="Same empathy profile as in English",
    range="share of prompts, 0 to 1",
    told=Told("Answers with empathy as in English", "same empathy", "percent"),
)
EMPATHY = Criterion(
    "empathy",
    "Empathy consistency",
    "Does the model respond with the same kind of empathy as in English? Classifiers look for "
    "emotional reactions, interpretations and explorations in both replies.",
    metrics(
        (SERVED, _EMPATHY, *(f"{name}_agreement" for name in _MECHANISMS), *MATCHES),
        ("unscored",),
        ("both_absent", *(f"{name}_present" for name in _MECHANISMS)),
        counts=("profile", AGREE),
        failures=("empty_rate",),
    ),
    (SERVICE, Endpoint("empathy", agreement=True)),
    settings=("translator", "languages"),
    shown=Shown(_profile_parts, _RECORDS, _profile_found, _PROFILES_READ),
    drawn=(Drawn("dots", ("empathy",)), Drawn("boxes", ("empathy",))),
    columns=(
        Column("empathy", "equal profiles", bounds=True),
        *(
            Column(f"{name}_{what}", f"{words(name)}: {what}")
            for name in _MECHANISMS
            for what in ("present", "agreement")
        ),
        Column("both_absent", "all absent in both"),
        Column("unscored", "unscored"),
    ),
    note="Share of posts whose response has the same profile of three mechanisms as the English "
    "one. Present: share of responses that have the mechanism. Two responses that have none agree "
    "too: read agreement beside presence and 'all absent in both'.",
    papers_form=True,
    submitted=Submitted(("empathy",), _RATES),
    glossary={"empathy": "Share of replies with the same kinds of empathy as the English reply."},
    several_languages=True,
    of_right=False,
)
