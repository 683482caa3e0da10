"""A model that reads what the rules leave unread (setting `reader`).

It may answer with letters, Yes or No, or NONE, on a line that carries a code (see
`readers.fences`), so that a reply that gives orders or fakes such a line is not heard. It sees
neither the question nor the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import ask_in_form
from xling_tasks.models.backend import Backend
from xling_tasks.readers.fences import Fences, has_code, last_statement, said_lines
from xling_tasks.readers.thinking import without_thinking

UNTIL = ("[BEGIN OPTIONS", "[BEGIN TEXT")
"""Where a reply ends that goes on to invent another case."""

_T = TypeVar("_T")
_NONE = "none"
_LETTERS = re.compile(r"(?:options? )?[a-h](?:(?: ?, ?(?:and )?| and | & )[a-h])*")
_NEITHER = -1
_WORDS = {"yes": 1, "no": 0, _NONE: _NEITHER}


class Choice(NamedTuple):
    """A reply to a multiple-choice question with its options (letter, text).

    `several` says whether it may have several letters.
    """

    reply: str
    options: tuple[tuple[str, str], ...]
    several: bool


class Opinion(NamedTuple):
    """A reply to the question whether a text, the answer, is correct."""

    reply: str
    answer: str


def readable(reply: str) -> bool:
    """Whether there is something to read: not nothing, and not cut off within its thinking."""
    return bool((without_thinking(reply) or "").strip())


class Reader:
    """A model that reads replies, with what it takes to ask it.

    Attributes:
        signature: The model and its arguments.
        asked_again: What it was asked about a second time, for the line alone.
    """

    def __init__(self, backend: Backend, prompt: Prompt, fences: Fences, language: str) -> None:
        self._backend, self._prompt = backend, prompt
        self._fences, self._language = fences, language
        self.signature = backend.signature
        self.asked_again: set[Choice | Opinion] = set()

    def letters(self, asked: Sequence[Choice]) -> list[frozenset[str] | None]:
        """The letters that each reply gives; None for none, or where the model does not say."""

        def read(choice: Choice, said: str | None, code: str) -> frozenset[str] | None:
            return read_letters(said, code, dict(choice.options), several=choice.several)

        return self._readings(asked, read)

    def verdicts(self, asked: Sequence[Opinion]) -> list[int | None]:
        """1 for Yes, 0 for No; None where a reply says neither, or the model does not say."""
        return self._readings(asked, lambda _, said, code: read_word(said, code))

    def _readings(
        self, asked: Sequence[_Asked], read: Callable[[_Asked, str | None, str], _T | None]
    ) -> list[_T | None]:
        codes = {each: code_for(each, self._fences) for each in asked}
        prompts = {
            each: fill(self._prompt, each, code, self._backend.inert, self._language)
            for each, code in codes.items()
        }
        came = ask_in_form(
            self._backend,
            {prompts[each]: code for each, code in codes.items()},
            lambda code, reply: [] if stated(reply, code) else [code],
            lambda _, new: again(new[0]),
            self._fences,
            reads=lambda code, reply: any(has_code(line, code) for line in said_lines(reply)),
            until=UNTIL,
        )
        readings: dict[_Asked, _T | None] = {}
        for each, prompt in prompts.items():
            first, second, new = came[prompt]
            if second is None:
                readings[each] = read(each, first.said, codes[each])
            else:
                self.asked_again.add(each)
                readings[each] = read(each, second.said, new[0])
        return [readings[each] for each in asked]


_Asked = TypeVar("_Asked", Choice, Opinion)


def stated(reply: str, code: str) -> bool:
    """Whether a reply ends with the line that was asked for, whatever it says."""
    return (
        last_statement(said_lines(reply, [code]), code, lambda line: _behind_answer(line, code))
        is not None
    )


def again(code: str) -> str:
    """What a reader is asked whose reply is not the line that was asked for."""
    return (
        "Your reply is not the line that I asked for. Write that line and nothing else, under a "
        f"new code, with your answer in place of ...:\nANSWER {code}: ..."
    )


def code_for(asked: Choice | Opinion, fences: Fences) -> str:
    """The code under which a reply is put to the model."""
    return fences.code(asked.reply, _material(asked))


def _material(asked: Choice | Opinion) -> str:
    if isinstance(asked, Opinion):
        return asked.answer
    return "\n".join(f"{letter}. {text}" for letter, text in asked.options)


def fill(
    prompt: Prompt, asked: Choice | Opinion, code: str, inert: Callable[[str], str], language: str
) -> str:
    """What the model is asked about a reply, without the reply's thinking."""
    field = "answer" if isinstance(asked, Opinion) else "options"
    texts = {field: inert(_material(asked)), "reply": inert(without_thinking(asked.reply) or "")}
    return prompt.fill(**texts, code=code, language=language)


def read_letters(
    said: str | None, code: str, options: Mapping[str, str], *, several: bool
) -> frozenset[str] | None:
    """The letters on the last line with the code; None for NONE, or if there is no such line."""

    def line_says(line: str) -> str | None:
        word = _behind_answer(line, code)
        if word is None or word == _NONE:
            return word
        if _LETTERS.fullmatch(word) is None:
            return None
        letters = re.findall(r"\b[a-h]\b", word.removeprefix("options ").removeprefix("option "))
        known = set(letters) <= {letter.lower() for letter in options}
        if not known or len(set(letters)) < len(letters) or (len(letters) > 1 and not several):
            return None
        return "".join(sorted(letters))

    word = last_statement(said_lines(said, [code]), code, line_says)
    return None if word is None or word == _NONE else frozenset(word.upper())


def read_word(said: str | None, code: str) -> int | None:
    """1 for YES, 0 for NO on the last line with the code; None for NONE or no such line."""

    def line_says(line: str) -> int | None:
        return _WORDS.get(_behind_answer(line, code) or "")

    word = last_statement(said_lines(said, [code]), code, line_says)
    return None if word == _NEITHER else word


def _behind_answer(line: str, code: str) -> str | None:
    """What stands behind `ANSWER code:` on a line, where that is all there is."""
    form = re.fullmatch(rf"(?:> )?(?:final )?answer \[?{code}\]? ?:? ?\[?([^\[\]]*?)\]? ?\.?", line)
    return form[1].strip() if form else None
