"""A model that extracts answers where the rules find none (setting `answer_extractor`).

It sees neither the question nor the correct answer, so that it cannot answer in the model's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.structured_output import (
    array_schema,
    ask_json,
    object_schema,
    quote_material,
)
from xling_tasks.readers.reasoning import strip_reasoning

_LETTERS = object_schema(letters=array_schema([*"ABCDEFGHIJ"]))
_YES_NO = object_schema(says=["YES", "NO", "NONE"])


class LetterRequest(NamedTuple):
    """A response to a question of multiple choice."""

    response: str
    options: tuple[tuple[str, str], ...]
    several: bool  # whether it may have more letters

    def material(self) -> str:
        """Return what the model sees: the options, and the response without its thinking."""
        options = [f"{letter}. {text}" for letter, text in self.options]
        return quote_material(options=options, reply=strip_reasoning(self.response) or "")

    def is_possible(self, value: Mapping[str, Any]) -> bool:
        """Return whether the letters that the model found can be an answer."""
        letters, offered = value["letters"], {letter for letter, _ in self.options}
        return set(letters) <= offered and (self.several or len(letters) < 2)

    def read(self, value: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the letters; None for none."""
        return frozenset(value["letters"]) or None


class YesNoRequest(NamedTuple):
    """A response to the question whether a text, the answer, is correct."""

    response: str
    answer: str

    def material(self) -> str:
        """Return what the model sees: the text, and the response without its thinking."""
        return quote_material(text=self.answer, reply=strip_reasoning(self.response) or "")

    def is_possible(self, value: Mapping[str, Any]) -> bool:
        """Return True: each value is one of Yes, No and neither."""
        return True

    def read(self, value: Mapping[str, Any]) -> int | None:
        """Return 1 for Yes, 0 for No; None for neither."""
        return {"YES": 1, "NO": 0, "NONE": None}[value["says"]]


ExtractionRequest = LetterRequest | YesNoRequest


def extract_answers(
    requests: Sequence[Any], prompt: PromptTemplate, language: str, backend: Backend
) -> tuple[dict[ExtractionRequest, Any], set[ExtractionRequest]]:
    """Return the answers to requests of one kind, and those that were asked a second time.

    An answer is None where the response has none, or the model does not say it in form.
    """
    prompts = {r: prompt.fill(material=r.material(), language=language) for r in requests}
    by_prompt = {text: request for request, text in prompts.items()}
    letters = all(isinstance(request, LetterRequest) for request in requests)
    responses = ask_json(
        backend, [*by_prompt], _LETTERS if letters else _YES_NO,
        is_complete=lambda text, value: by_prompt[text].is_possible(value),
    )  # fmt: skip
    answers = {}
    for request, text in prompts.items():
        value = responses[text].value
        answers[request] = request.read(value) if value and request.is_possible(value) else None
    return answers, {request for request, text in prompts.items() if responses[text].repaired}
