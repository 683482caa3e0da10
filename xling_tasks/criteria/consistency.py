"""Consistency: the same question is asked several times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answers_by_temperature,
    as_text,
    listing,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side, drops

SIMILAR = ("sim_sent", "bertscore_f1", "sim_1gram")
"""The similarities that stand for all, the first that a run has."""

SCORED_AS = "english"
"""Where a sample's record of its answers has the translations that were scored, by temperature."""

_READ_OF = 3
"""Of several sampled answers, as many are shown."""


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    by_temperature, others = answers_by_temperature(sample, language)
    scored = mapping(mapping(sample.get("n_responses")).get(SCORED_AS))
    parts = []
    for tau, (count, own) in by_temperature.items():
        parts.append(Part(f"Answers at temperature {tau} ({count})", own))
        if english := listing(scored.get(tau)):
            texts = [
                Passage(as_text(text or ""), ENGLISH, "" if text else "none") for text in english
            ]
            parts.append(Part("The same in English, as they were scored", texts))
    return [question_part(sample, language), *parts, Part("Answers", others)]


def _found(sample: Mapping[str, Any], _: str) -> Found:
    """The first similarity that there is, at the highest temperature."""
    for stem in SIMILAR:
        for suffix in ("", "_src"):
            own = [n for n in sample if re.fullmatch(rf"{stem}{suffix}_t[\d.]+", n)]
            if own:
                return Found(score=number(sample[max(own, key=_tau)]))
    return Found()


def _behind(own: Side, english: Side) -> Iterator[Behind]:
    """Drops in the first similarity of translations, at the highest temperature, that both have.

    Similarities of answers in their own language say nothing of two languages.
    """
    both = set(own.names) & set(english.names)
    swept = (sorted((n for n in both if re.fullmatch(rf"{stem}_t[\d.]+", n)), key=_tau)
             for stem in SIMILAR)  # fmt: skip
    name = next((found[-1] for found in swept if found), "")
    return drops(own, english, name, name, 3)


def _tau(name: str) -> float:
    return float(name.rpartition("_t")[2].rstrip(".") or 0)


def _answers(name: str, language: str, english: Sample | None, other: Sample) -> Iterator[Beside]:
    """The first answers at the temperature at which the language is behind."""
    sides, tau = [], name.rpartition("_t")[2]
    for sample, code in ((english or {}, ENGLISH), (other, language)):
        by_temperature, others = answers_by_temperature(sample, code)
        if others:  # A temperature is lacking, so that the answers are not where they seem to be.
            raise LookupError("empty_rate")
        sides.append(by_temperature[tau][1])
    most = max(map(len, sides))
    title = f"Answers at temperature {tau}"
    title += f" (the first {_READ_OF} of {most})" if most > _READ_OF else ""
    yield Beside(title, *([own._replace(mark="") for own in side[:_READ_OF]] for side in sides))


CONSISTENCY = criterion(
    "consistency", Shown(_parts, (), _found, Read(_behind, {"Question": "Question"}, _answers))
)
