"""The judge of rubrics: whether an answer meets each of a conversation's criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.form import Answer, array, ask_json, material, schema

TOKENS = 256
"""Room in a reply for each criterion, where the setting gives less."""

_FORM = schema(verdicts=array(schema(criterion="integer", reason="string", met="boolean")))


@dataclass(frozen=True)
class Graded:
    """An answer and what it is graded by."""

    conversation: str
    answer: str
    criteria: tuple[str, ...]
    language: str


@dataclass(frozen=True)
class Ruling:
    """What the judge said of one criterion.

    Attributes:
        met: Whether it is met; None where no verdict could be read, or its call failed.
        reply: All that the judge said; None if it did not answer.
        reason: Why it did not answer (`time-out`, ...); '' where it did.
        asked_again: Whether it was asked a second time.
    """

    met: bool | None
    reply: str | None
    reason: str = ""
    asked_again: bool = False


def rule(
    cases: Sequence[Graded], prompt: PromptTemplate, judge: Backend, batch: int
) -> list[tuple[Ruling, ...]]:
    """Return a ruling on every criterion of every case; `batch` is criteria per call.

    Empty answers must not be among the cases.
    """
    calls = {case: list(prompts_of(case, prompt, batch)) for case in cases}
    count = {text: n for own in calls.values() for text, n in own}
    came = ask_json(judge, [*count], _FORM, at_least=TOKENS * batch,
                    whole=lambda text, value: None not in _met(value, count[text]))  # fmt: skip
    return [tuple(r for text, n in calls[case] for r in _rulings(came[text], n)) for case in cases]


def prompts_of(case: Graded, prompt: PromptTemplate, batch: int) -> Iterator[tuple[str, int]]:
    """Return the prompts for a case, each with the number of its criteria.

    What is equal for all criteria stands first, so that it is billed as a shared prefix.
    """
    for at in range(0, len(case.criteria), batch):
        part = [f"{n}. {text}" for n, text in enumerate(case.criteria[at : at + batch], start=1)]
        texts = material(conversation=case.conversation, answer=case.answer, criteria=part)
        yield prompt.fill(material=texts, language=case.language), len(part)


def _rulings(answer: Answer, count: int) -> list[Ruling]:
    met = _met(answer.value, count)
    return [Ruling(each, answer.reply, answer.reason if each is None else "", answer.asked_again)
            for each in met]  # fmt: skip


def _met(value: dict[str, Any] | None, count: int) -> list[bool | None]:
    """Whether criteria 1 to `count` are met; None for one without a verdict, or with two."""
    said: dict[int, set[bool]] = {}
    for each in (value or {"verdicts": ()})["verdicts"]:
        said.setdefault(each["criterion"], set()).add(each["met"])
    return [
        next(iter(v)) if len(v := said.get(n, set())) == 1 else None for n in range(1, count + 1)
    ]
