"""What a judge says item by item: claims of texts, and criteria of rubrics.

Claims are those of arXiv:2505.21999: every distinct English text is split into claims once for a
whole task; then every list of claims is checked once against each text that it is compared with.
A rubric's criteria are met by an answer or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.structured_output import (
    array_schema,
    ask_json,
    object_schema,
    quote_material,
    read_numbered,
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


class ClaimExtraction(NamedTuple):
    """The distinct claims of one text."""

    claims: tuple[str, ...] | None  # None if the request failed or the response has no list
    repaired: bool = False  # whether it was asked a second time


def extract_claims(
    texts: Sequence[str], prompt: PromptTemplate, judge: Backend
) -> list[ClaimExtraction]:
    """Return the claims of each text; equal texts are asked about once, empty ones never."""
    prompts = {text: fill_claims(prompt, text) for text in texts if text.strip()}
    responses = ask_json(judge, [*prompts.values()], _CLAIMS, min_tokens=EXTRACTION_TOKENS)
    extractions = {}
    for text, filled in prompts.items():
        response, claims = responses[filled], None
        if response.value is not None:
            texts_in_list = (
                c.strip() for c in response.value["claims"] if any(map(str.isalnum, c))
            )
            kept_texts = [c for c in texts_in_list if c.casefold().rstrip(".") not in _NO_CLAIM]
            claims = tuple(distinct_claims(kept_texts))
        extractions[text] = ClaimExtraction(claims, response.repaired)
    return [extractions.get(text, ClaimExtraction(())) for text in texts]


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

    Equal pairs are asked about once; an empty text supports nothing. Pairs that were asked about a
    second time are added to `repaired`.
    """
    prompts: dict[ClaimsAndText, list[str]] = {}
    counts: dict[str, int] = {}
    for claims, text in dict.fromkeys(pairs):
        starts = range(0, len(claims), CLAIMS_PER_PROMPT)
        chunks = [claims[start : start + CLAIMS_PER_PROMPT] for start in starts]
        if text.strip():
            prompts[claims, text] = [fill_support(prompt, chunk, text) for chunk in chunks]
            counts |= dict(zip(prompts[claims, text], map(len, chunks), strict=True))
    responses = ask_json(
        judge, [*counts], _SUPPORT,
        is_complete=lambda filled, value: None not in _read_support(value, counts[filled]),
    )  # fmt: skip
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
    return read_numbered([(row["claim"], row["verdict"] == "SUPPORTED") for row in rows], count)


# Rubrics

TOKENS_PER_ITEM = 256  # room in a response for each criterion, where the setting gives less

_RUBRIC = object_schema(
    verdicts=array_schema(object_schema(criterion="integer", reason="string", met="boolean"))
)


class RubricInput(NamedTuple):
    """An answer and what it is graded by."""

    conversation: str
    answer: str
    criteria: tuple[str, ...]
    language: str


class RubricItemResult(NamedTuple):
    """The judge's verdict on one criterion."""

    met: bool | None  # None where no verdict could be read, or the request failed
    text: str | None = None  # the judge's responses; None if the request failed
    reason: str = ""  # why the request failed (`time-out`, ...)
    repaired: bool = False  # whether it was asked a second time


def grade_items(
    inputs: Sequence[RubricInput], prompt: PromptTemplate, judge: Backend, batch: int
) -> list[tuple[RubricItemResult, ...]]:
    """Return a result for every criterion of every input; `batch` is criteria per request.

    Empty answers must not be among the inputs.
    """
    prompts = {item: list(build_prompts(item, prompt, batch)) for item in inputs}
    counts = {text: n for filled in prompts.values() for text, n in filled}
    responses = ask_json(
        judge, [*counts], _RUBRIC, min_tokens=TOKENS_PER_ITEM * batch,
        is_complete=lambda text, value: None not in _read_met(value, counts[text]),
    )  # fmt: skip
    results = {}
    for text, count in counts.items():
        value, _, reason = response = responses[text]
        results[text] = [
            RubricItemResult(met, response.text, reason if met is None else "", response.repaired)
            for met in _read_met(value, count)
        ]
    return [tuple(r for text, _ in prompts[item] for r in results[text]) for item in inputs]


def build_prompts(
    item: RubricInput, prompt: PromptTemplate, batch: int
) -> Iterator[tuple[str, int]]:
    """Yield the prompts for an input, each with the number of its criteria.

    What is equal for all criteria stands first, so that it is billed as a shared prefix.
    """
    for start in range(0, len(item.criteria), batch):
        part = [f"{n}. {text}" for n, text in enumerate(item.criteria[start : start + batch], 1)]
        texts = quote_material(conversation=item.conversation, answer=item.answer, criteria=part)
        yield prompt.fill(material=texts, language=item.language), len(part)


def _read_met(value: dict[str, Any] | None, count: int) -> list[bool | None]:
    rows = value["verdicts"] if value else ()
    return read_numbered([(row["criterion"], row["met"]) for row in rows], count)
