"""Empathy: the kinds of empathy in a reply beside those in the English one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    mapping,
    number,
    words,
)
from xling_tasks.criteria.shared import AGREE, IN_LANGUAGE, SERVED, SERVICE
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Of empathy: the mechanisms, and whether they are those of the English answer."""
    record = mapping(sample.get(f"profile_{language}"))
    parts = parts_of_several(sample, language, record)
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


def _found(sample: Mapping[str, Any], language: str) -> Found:
    score = agreement(sample, language, "empathy")
    if score is None or language == ENGLISH:
        return Found("", score)
    return Found("same profile" if score else "other profile", score, score == 1)


def _behind(own: Side, _: Side) -> Iterator[Behind]:
    """Replies with another profile than the English one; most mechanisms apart first."""
    agreed = [own.values(f"{name}_agreement") for name in _MECHANISMS]
    for question, value in own.values("empathy").items():
        if value == 0:
            apart = sum(values.get(question) == 0 for values in agreed)
            yield Behind(question, apart, "another profile than in English")


def _profiles(_: str, language: str, english: Sample | None, other: Sample) -> Iterator[Beside]:
    present = (mechanisms(other, code) for code in (ENGLISH, language))
    yield Beside("Mechanisms found", *([Passage(text, ENGLISH)] for text in present))


_READ = Read(
    _behind,
    {"Question": "Prompt", ANSWER: "Answer", COMPARED: "As classified, in English"},
    _profiles,
)
_MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
_EMPATHY = Metric(
    "empathy",
    label="Same empathy profile as in English",
    range="share of prompts, 0 to 1",
    told=Told(
        "Answers with empathy as in English",
        "same empathy", "percent",
    ),
)  # fmt: skip
EMPATHY = Criterion(
    "empathy",
    "Empathy consistency",
    "Does the model respond with the same kind of empathy as in English? Classifiers look for "
    "emotional reactions, interpretations and explorations in both replies.",
    metrics(
        (SERVED, _EMPATHY, *(f"{name}_agreement" for name in _MECHANISMS), *IN_LANGUAGE),
        ("unscored",),
        ("both_absent", *(f"{name}_present" for name in _MECHANISMS)),
        counts=("profile", AGREE),
        failures=("empty_rate",),
    ),
    (SERVICE, Endpoint("empathy", agreement=True)),
    settings=("translator", "languages"),
    shown=Shown(_parts, RECORDS, _found, _READ),
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
    submitted=Submitted(("empathy",), RATES),
    glossary={"empathy": "Share of replies with the same kinds of empathy as the English reply."},
    several_languages=True,
    of_right=False,
)
