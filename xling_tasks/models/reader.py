"""A model that reads the replies which the rules leave unread (setting `answer_extractor`).

It sees neither the question nor the right answer, so that it cannot answer in the writer's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.form import array, ask_json, material, schema
from xling_tasks.readers.reasoning import strip_reasoning

_LETTERS = schema(letters=array([*"ABCDEFGHIJ"]))
_VERDICT = schema(says=["YES", "NO", "NONE"])
_WORDS = {"YES": 1, "NO": 0, "NONE": None}


class Choice(NamedTuple):
    """A reply to a question of multiple choice; `several`: whether it may have several letters."""

    reply: str
    options: tuple[tuple[str, str], ...]
    several: bool


class Opinion(NamedTuple):
    """A reply to the question whether a text, the answer, is correct."""

    reply: str
    answer: str


def readable(reply: str) -> bool:
    """Return whether there is something to read: not nothing, not cut off within its thinking."""
    return bool((strip_reasoning(reply) or "").strip())


class Reader:
    """A model that reads replies.

    Attributes:
        signature: The model and its arguments.
        asked_again: What it was asked about a second time.
    """

    def __init__(self, backend: Backend, prompt: PromptTemplate, language: str) -> None:
        self._backend, self._prompt, self._language = backend, prompt, language
        self.signature = backend.signature
        self.asked_again: set[Choice | Opinion] = set()

    def letters(self, asked: Sequence[Choice]) -> list[frozenset[str] | None]:
        """Return the letters that each reply gives; None for none, or if the model does not say."""
        return [
            frozenset(value["letters"])
            if value and value["letters"] and _possible(value, own)
            else None
            for own, value in zip(asked, self._values(asked, _LETTERS), strict=True)
        ]

    def verdicts(self, asked: Sequence[Opinion]) -> list[int | None]:
        """Return 1 for Yes, 0 for No; None for neither, or if the model does not say."""
        return [_WORDS[value["says"]] if value else None for value in self._values(asked, _VERDICT)]

    def _values(self, asked: Sequence[Any], form: dict[str, Any]) -> list[dict[str, Any] | None]:
        prompts = {each: fill(self._prompt, each, self._language) for each in asked}
        about = {text: each for each, text in prompts.items()}
        came = ask_json(self._backend, [*about], form,
                        whole=lambda text, value: _possible(value, about[text]))  # fmt: skip
        self.asked_again |= {each for each, text in prompts.items() if came[text].asked_again}
        return [came[prompts[each]].value for each in asked]


def _possible(value: dict[str, Any], asked: Choice | Opinion) -> bool:
    if isinstance(asked, Opinion):
        return True
    letters = value["letters"]
    return set(letters) <= {letter for letter, _ in asked.options} and (
        asked.several or len(letters) < 2
    )


def fill(prompt: PromptTemplate, asked: Choice | Opinion, language: str) -> str:
    """Return what the model is asked about a reply, without the reply's thinking."""
    reply = strip_reasoning(asked.reply) or ""
    if isinstance(asked, Opinion):
        texts = material(text=asked.answer, reply=reply)
    else:
        options = [f"{letter}. {text}" for letter, text in asked.options]
        texts = material(options=options, reply=reply)
    return prompt.fill(material=texts, language=language)
