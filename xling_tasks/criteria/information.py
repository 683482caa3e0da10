"""Information: the claims of an answer beside those of the English one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_tasks.criteria.against_english import (
    COMPARED,
    RATES,
    RECORDS,
    agreement,
    parts_of_several,
)
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
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    as_text,
    listing,
    mapping,
)
from xling_tasks.criteria.shared import AGREE, IN_LANGUAGE, SERVED, SERVICE
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side

_SUPPORT = {True: ("supported", "good"), False: ("not supported", "bad")}


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of information: the claims, and whether the other answer supports each."""
    own = mapping(sample.get(f"n_claims_{language}"))
    parts = parts_of_several(sample, language, own)
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
        Part(f"Claims of {which}", supported(own.get("claims"), own.get("supported")),
             "Does the English answer support them?"),
        Part("Claims of the English answer",
             supported(base.get("claims"), own.get("reference_supported")),
             f"Does {which} support them?"),
    ]  # fmt: skip


def supported(claims: Any, marks: Any) -> list[Passage]:
    """Claims with whether another answer supports them."""
    passages = []
    for claim, mark in islice(zip_longest(listing(claims), listing(marks)), len(listing(claims))):
        support = _SUPPORT[mark] if isinstance(mark, bool) else ("not verified", "unsure")
        passages.append(Passage(as_text(claim), ENGLISH, *support))
    return passages


def _found(sample: Mapping[str, Any], language: str) -> Found:
    return Found(score=agreement(sample, language, "information_f1_by_prompt", "information_f1"))


def _behind(own: Side, _: Side) -> Iterator[Behind]:
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
        supported(base["claims"], own["reference_supported"]),
        supported(own["claims"], own["supported"]),
    )


_READ = Read(_behind, {"Question": "Prompt", ANSWER: "Answer", COMPARED: COMPARED}, _claims)
_F1 = Metric(
    "information_f1",
    label="Same information as in English, F1",
    range="0 to 1",
    told=Told(
        "Content shared with the English answers",
        "shared with English", "percent",
    ),
)  # fmt: skip
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
        (SERVED, _F1, _BY_PROMPT, "information_precision", "information_recall", *IN_LANGUAGE),
        ("unscored", "abstained"),
        counts=("n_claims", "not_compared", "asked_again_rate", AGREE),
        failures=("empty_rate", "unverified", "unparsed"),
    ),
    (SERVICE, Endpoint("information_f1", judged=True, agreement=True)),
    settings=("judge", "translator", "languages"),
    shown=Shown(_parts, RECORDS, _found, _READ),
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
    submitted=Submitted(("information_f1",), RATES),
    glossary={"information_f1": "How much of the claims two answers share, from 0 to 1."},
    several_languages=True,
    of_right=False,
)
