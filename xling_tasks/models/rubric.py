"""The judge of rubrics: whether an answer meets each of a conversation's criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.claims import read_numbered
from xling_tasks.models.structured_output import (
    array_schema,
    ask_json,
    object_schema,
    quote_material,
)

TOKENS_PER_ITEM = 256  # room in a response for each criterion, where the setting gives less

_SCHEMA = object_schema(
    verdicts=array_schema(object_schema(criterion="integer", reason="string", met="boolean"))
)


@dataclass(frozen=True)
class RubricInput:
    """An answer and what it is graded by."""

    conversation: str
    answer: str
    criteria: tuple[str, ...]
    language: str


@dataclass(frozen=True)
class RubricItemResult:
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
        judge, [*counts], _SCHEMA, min_tokens=TOKENS_PER_ITEM * batch,
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
        part = [
            f"{n}. {text}" for n, text in enumerate(item.criteria[start : start + batch], start=1)
        ]
        texts = quote_material(conversation=item.conversation, answer=item.answer, criteria=part)
        yield prompt.fill(material=texts, language=item.language), len(part)


def _read_met(value: dict[str, Any] | None, count: int) -> list[bool | None]:
    rows = value["verdicts"] if value else ()
    return read_numbered([(row["criterion"], row["met"]) for row in rows], count)
