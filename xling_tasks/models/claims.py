"""Claims of English texts: extracted, and checked against another text, by the judge.

Every distinct text is taken apart once for a whole task; then every list of claims is checked once
against each text that it is compared with (arXiv:2505.21999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.form import array, ask_json, material, schema

PER_PROMPT = 30
"""Claims checked in one prompt, so that no reply comes near its length limit."""

EXTRACTION_TOKENS = 2048
"""Room for the claims of one text: a list that is cut off is no JSON, and unread."""

Pair = tuple[tuple[str, ...], str]
"""Claims, and the text that they are checked against."""

_CLAIMS = schema(claims=array("string"))
_SUPPORT = schema(verdicts=array(schema(claim="integer", verdict=["SUPPORTED", "NOT SUPPORTED"])))
_NO_CLAIM = {"none", "n/a", "no claim", "no claims", "nothing"}


@dataclass(frozen=True)
class Extraction:
    """The claims of one text.

    Attributes:
        claims: The distinct claims; () for a text that makes none; None if the judge could not be
            asked or its reply has no list.
        reply: What the judge said; None if it was not asked or did not answer.
        asked_again: Whether it was asked a second time.
    """

    claims: tuple[str, ...] | None
    reply: str | None = None
    asked_again: bool = False


def extract(texts: Sequence[str], prompt: PromptTemplate, judge: Backend) -> list[Extraction]:
    """Return the claims of each text; equal texts are asked about once, empty ones never."""
    filled = {text: fill_claims(prompt, text) for text in texts if text.strip()}
    came = ask_json(judge, [*filled.values()], _CLAIMS, at_least=EXTRACTION_TOKENS)
    found = {}
    for text, asked in filled.items():
        answer = came[asked]
        claims = None if answer.value is None else _claims(answer.value["claims"])
        found[text] = Extraction(claims, answer.reply, answer.asked_again)
    return [found.get(text, Extraction(())) for text in texts]


def _claims(listed: Sequence[str]) -> tuple[str, ...]:
    said = [each for each in map(str.strip, listed) if any(map(str.isalnum, each))]
    return tuple(distinct_claims([c for c in said if c.casefold().rstrip(".") not in _NO_CLAIM]))


def fill_claims(prompt: PromptTemplate, text: str) -> str:
    """Return the prompt that takes a text apart."""
    return prompt.fill(material=material(text=text))


def verify(
    pairs: Sequence[Pair],
    prompt: PromptTemplate,
    judge: Backend,
    asked_again: set[Pair] | None = None,
) -> list[list[bool | None]]:
    """Return whether each text supports its claims: a verdict per claim, None where there is none.

    Equal pairs are asked about once; an empty text supports nothing and is not asked about. Pairs
    that were asked about a second time are added to `asked_again`.
    """
    parts = {
        pair: [pair[0][at : at + PER_PROMPT] for at in range(0, len(pair[0]), PER_PROMPT)]
        for pair in dict.fromkeys(pairs)
        if pair[0] and pair[1].strip()
    }
    filled = {(part, text): fill_support(prompt, part, text)
              for (_, text), chunks in parts.items() for part in chunks}  # fmt: skip
    count = {asked: len(part) for (part, _), asked in filled.items()}

    def whole(asked: str, value: dict[str, Any]) -> bool:
        return None not in _verdicts(value, count[asked])

    came = ask_json(judge, [*count], _SUPPORT, whole=whole)
    supported: dict[Pair, list[bool | None]] = {}
    for pair, chunks in parts.items():
        answers = [(came[filled[part, pair[1]]], len(part)) for part in chunks]
        supported[pair] = [v for answer, n in answers for v in _verdicts(answer.value, n)]
        if asked_again is not None and any(answer.asked_again for answer, _ in answers):
            asked_again.add(pair)
    return [supported.get(pair, [False] * len(pair[0])) for pair in pairs]


def fill_support(prompt: PromptTemplate, claims: Sequence[str], reference: str) -> str:
    """Return the prompt that checks claims; the reference stands first, as a shared prefix."""
    numbered = [f"{number}. {claim}" for number, claim in enumerate(claims, start=1)]
    return prompt.fill(material=material(reference=reference, claims=numbered))


def _verdicts(value: dict[str, Any] | None, count: int) -> list[bool | None]:
    """Verdicts on claims 1 to `count`; None for one without, or with two that differ."""
    said: dict[int, set[bool]] = {}
    for each in (value or {"verdicts": ()})["verdicts"]:
        said.setdefault(each["claim"], set()).add(each["verdict"] == "SUPPORTED")
    if 0 in said:  # counted from 0: each would be another's
        return [None] * count
    return [
        next(iter(v)) if len(v := said.get(n, set())) == 1 else None for n in range(1, count + 1)
    ]
