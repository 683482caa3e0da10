"""A model that extracts answers where the rules find none (setting `answer_extractor`).

It sees neither the question nor the correct answer, so that it cannot answer in the model's place.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_VALUES = {"YES": 1, "NO": 0, "NONE": None}


class LetterRequest(NamedTuple):
    """A response to a question of multiple choice; `several`: whether it may have more letters."""

    response: str
    options: tuple[tuple[str, str], ...]
    several: bool

    def fill(self, prompt: PromptTemplate, language: str) -> str:
        """Return the prompt about the response, without the response's thinking."""
        options = [f"{letter}. {text}" for letter, text in self.options]
        texts = quote_material(options=options, reply=strip_reasoning(self.response) or "")
        return prompt.fill(material=texts, language=language)

    def allows(self, letters: Sequence[str]) -> bool:
        """Return whether letters can be an answer."""
        offered = {letter for letter, _ in self.options}
        return set(letters) <= offered and (self.several or len(letters) < 2)


class YesNoRequest(NamedTuple):
    """A response to the question whether a text, the answer, is correct."""

    response: str
    answer: str

    def fill(self, prompt: PromptTemplate, language: str) -> str:
        """Return the prompt about the response, without the response's thinking."""
        texts = quote_material(text=self.answer, reply=strip_reasoning(self.response) or "")
        return prompt.fill(material=texts, language=language)


ExtractionRequest = LetterRequest | YesNoRequest


def has_answer_text(response: str) -> bool:
    """Return whether there is something to read: not nothing, not cut off within its thinking."""
    return bool((strip_reasoning(response) or "").strip())


class AnswerExtractor:
    """A model that extracts answers.

    Attributes:
        signature: The model and its arguments.
        repaired: What it was asked about a second time.
    """

    def __init__(self, backend: Backend, prompt: PromptTemplate, language: str) -> None:
        self._backend, self._prompt, self._language = backend, prompt, language
        self.signature = backend.signature
        self.repaired: set[ExtractionRequest] = set()

    def extract_letters(self, requests: Sequence[LetterRequest]) -> list[frozenset[str] | None]:
        """Return the letters of each response; None for none, or if the model does not say."""
        values = self._ask(requests, _LETTERS, lambda r, value: r.allows(value["letters"]))
        letters = [frozenset(value["letters"]) if value else frozenset[str]() for value in values]
        pairs = zip(requests, letters, strict=True)
        return [chosen if chosen and r.allows([*chosen]) else None for r, chosen in pairs]

    def extract_yes_no(self, requests: Sequence[YesNoRequest]) -> list[int | None]:
        """Return 1 for Yes, 0 for No; None for neither, or if the model does not say."""
        values = self._ask(requests, _YES_NO, lambda request, value: True)
        return [_VALUES[value["says"]] if value else None for value in values]

    def _ask(
        self, requests: Sequence[Any], schema: dict[str, Any], is_possible: Any
    ) -> list[dict[str, Any] | None]:
        prompts = {request: request.fill(self._prompt, self._language) for request in requests}
        by_prompt = {text: request for request, text in prompts.items()}
        responses = ask_json(
            self._backend, [*by_prompt], schema,
            is_complete=lambda text, value: is_possible(by_prompt[text], value),
        )  # fmt: skip
        self.repaired |= {r for r, text in prompts.items() if responses[text].repaired}
        return [responses[prompts[request]].value for request in requests]
