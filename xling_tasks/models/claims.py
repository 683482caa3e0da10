"""Claims of English texts: extracted, and checked against another text, by the judge.

Every distinct text is split into claims once for a whole task; then every list of claims is checked
once against each text that it is compared with (arXiv:2505.21999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.structured_output import (
    array_schema,
    ask_json,
    object_schema,
    quote_material,
)

CLAIMS_PER_PROMPT = 30  # so that no response comes near its length limit

EXTRACTION_TOKENS = 2048  # for the claims of one text: a list that is cut off is no JSON

ClaimsAndText = tuple[tuple[str, ...], str]
"""Claims, and the text that they are checked against."""

_CLAIMS = object_schema(claims=array_schema("string"))
_SUPPORT = object_schema(
    verdicts=array_schema(object_schema(claim="integer", verdict=["SUPPORTED", "NOT SUPPORTED"]))
)
_NO_CLAIM = {"none", "n/a", "no claim", "no claims", "nothing"}


@dataclass(frozen=True)
class ClaimExtraction:
    """The distinct claims of one text."""

    claims: tuple[str, ...] | None  # None if the request failed or the response has no list
    text: str | None = None  # the judge's responses; None if there was no request, or it failed
    repaired: bool = False  # whether it was asked a second time


def extract_claims(
    texts: Sequence[str], prompt: PromptTemplate, judge: Backend
) -> list[ClaimExtraction]:
    """Return the claims of each text; equal texts are asked about once, empty ones never."""
    prompts = {text: fill_claims(prompt, text) for text in texts if text.strip()}
    responses = ask_json(judge, [*prompts.values()], _CLAIMS, min_tokens=EXTRACTION_TOKENS)
    extractions = {}
    for text, filled in prompts.items():
        response = responses[filled]
        claims = None if response.value is None else _clean_claims(response.value["claims"])
        extractions[text] = ClaimExtraction(claims, response.text, response.repaired)
    return [extractions.get(text, ClaimExtraction(())) for text in texts]


def _clean_claims(claims: Sequence[str]) -> tuple[str, ...]:
    texts = [claim for claim in map(str.strip, claims) if any(map(str.isalnum, claim))]
    return tuple(distinct_claims([c for c in texts if c.casefold().rstrip(".") not in _NO_CLAIM]))


def fill_claims(prompt: PromptTemplate, text: str) -> str:
    """Return the prompt that splits a text into claims."""
    return prompt.fill(material=quote_material(text=text))


def verify_claims(
    pairs: Sequence[ClaimsAndText],
    prompt: PromptTemplate,
    judge: Backend,
    repaired: set[ClaimsAndText] | None = None,
) -> list[list[bool | None]]:
    """Return whether each text supports its claims; None for a claim without a verdict.

    Equal pairs are asked about once; an empty text supports nothing and is not asked about. Pairs
    that were asked about a second time are added to `repaired`.
    """
    prompts: dict[ClaimsAndText, list[str]] = {}
    counts: dict[str, int] = {}
    for claims, text in dict.fromkeys(pairs):
        if not text.strip():
            continue
        prompts[claims, text] = []
        for start in range(0, len(claims), CLAIMS_PER_PROMPT):
            chunk = claims[start : start + CLAIMS_PER_PROMPT]
            filled = fill_support(prompt, chunk, text)
            prompts[claims, text].append(filled)
            counts[filled] = len(chunk)

    def is_complete(filled: str, value: dict[str, Any]) -> bool:
        return None not in _read_support(value, counts[filled])

    responses = ask_json(judge, [*counts], _SUPPORT, is_complete=is_complete)
    supported: dict[ClaimsAndText, list[bool | None]] = {}
    for pair, texts in prompts.items():
        supported[pair] = [s for t in texts for s in _read_support(responses[t].value, counts[t])]
        if repaired is not None and any(responses[text].repaired for text in texts):
            repaired.add(pair)
    return [supported.get(pair, [False] * len(pair[0])) for pair in pairs]


def fill_support(prompt: PromptTemplate, claims: Sequence[str], reference: str) -> str:
    """Return the prompt that checks claims; the reference stands first, as a shared prefix."""
    numbered = [f"{number}. {claim}" for number, claim in enumerate(claims, start=1)]
    return prompt.fill(material=quote_material(reference=reference, claims=numbered))


def _read_support(value: dict[str, Any] | None, count: int) -> list[bool | None]:
    rows = value["verdicts"] if value else ()
    pairs = [(row["claim"], row["verdict"] == "SUPPORTED") for row in rows]
    counted_from_0 = any(number == 0 for number, _ in pairs)
    return read_numbered([] if counted_from_0 else pairs, count)


def read_numbered(pairs: Sequence[tuple[int, bool]], count: int) -> list[bool | None]:
    """Return the value of numbers 1 to `count`; None for one without, or with two that differ."""
    values = [{value for number, value in pairs if number == n} for n in range(1, count + 1)]
    return [options.pop() if len(options) == 1 else None for options in values]
