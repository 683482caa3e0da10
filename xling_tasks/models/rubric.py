"""The judge of rubrics: whether an answer meets each of a conversation's criteria.

Answer, conversation and criteria are untrusted texts. Every criterion has a code of its own, under
a key that no writer of a text knows (see `readers.fences`), and only a line with that code says
anything about it. The fences of conversation and answer have one code in all prompts on that
answer, so that these differ from the first criterion on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import Asked, ask_in_form
from xling_tasks.models.backend import Backend
from xling_tasks.readers.fences import Fences, coded_statements, said_lines

UNTIL = ("[BEGIN CONVERSATION",)
"""Where a reply ends that goes on to invent another case."""

TOKENS = 256
"""Room in a reply for each criterion, where the setting gives less."""

_VERDICT = re.compile(
    r"\W*(?:\(?\d{1,3}[.)] ?)?(?:(?:my |the )?(?:final )?verdict )?(?:for )?"
    r"[\[({|]? ?([a-z]{6})[\])}]? ?[:=|–—-]* ?(?:(?P<met>[✅✔✓☑])|(?P<not>[❌✗✘✖]))? ?"
    r"(not[ -]?met|unmet|met)\b[ |.!}]*"
)


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
        reply: All the judge said; None if it did not answer.
        again: What it said when asked again for the lines alone; None where it was not.
        reason: Why it did not answer (`time-out`, ...); '' where it did.
    """

    met: bool | None
    reply: str | None
    reason: str = ""
    again: str | None = None


@dataclass(frozen=True)
class Question:
    """One call: a few criteria of a case, each with its code."""

    case: Graded
    criteria: tuple[str, ...]
    code: str
    codes: tuple[str, ...]


def rule(
    cases: Sequence[Graded], prompt: Prompt, judge: Backend, fences: Fences, batch: int
) -> list[tuple[Ruling, ...]]:
    """A ruling on every criterion of every case, in order.

    Empty answers must not be among the cases; `batch` is criteria per call.
    """
    questions = [list(questions_of(case, fences, batch)) for case in cases]
    asked = {fill(prompt, each, judge.inert): each for own in questions for each in own}

    def lacking(question: Question, reply: str) -> list[str]:
        met = read_rulings(reply, question.codes)
        return [code for code, each in zip(question.codes, met, strict=True) if each is None]

    came = ask_in_form(
        judge, asked, lacking, again, fences,
        reads=lambda question, reply: len(lacking(question, reply)) < len(question.codes),
        until=UNTIL, at_least=TOKENS * batch,
    )  # fmt: skip
    rulings = {question: _rulings(came[text], question) for text, question in asked.items()}
    return [tuple(ruling for each in own for ruling in rulings[each]) for own in questions]


def _rulings(asked: Asked, question: Question) -> list[Ruling]:
    """What both replies say; a criterion that the first leaves open has what the second says."""
    first, second, codes = asked
    if first.said is None:
        return [Ruling(None, None, first.reason)] * len(question.codes)
    met = read_rulings(first.text, question.codes)
    if second is None:
        return [Ruling(each, first.text) for each in met]
    later = iter(read_rulings(second.said, codes))
    return [
        Ruling(each, first.text)
        if each is not None
        else Ruling(next(later), first.text, second.reason, again=second.said)
        for each in met
    ]


def again(codes: Sequence[str], new: Sequence[str]) -> str:
    """What a judge is asked whose reply lacks verdicts on `codes`; `new` are their new codes."""
    lines = (
        f"for the criterion {code}: VERDICT {fresh}: MET or NOT MET"
        for code, fresh in zip(codes, new, strict=True)
    )
    return (
        "Your reply does not end with all the lines that I asked for. Write these lines and "
        "nothing else, each with its new code and your verdict:\n" + "\n".join(lines)
    )


def questions_of(case: Graded, fences: Fences, batch: int) -> Iterator[Question]:
    """The calls for a case: as many criteria in each as may be, each with a code of its own."""
    about = (case.conversation, case.answer)
    fence = fences.code(*about, apart_from=case.criteria)
    rest = iter(case.criteria)
    while part := tuple(islice(rest, batch)):
        codes = [fence]
        place = 1
        while len(codes) < len(part) + 1:
            code = fences.code(f"{place}", *about, *part)
            codes += [] if code in codes else [code]
            place += 1
        yield Question(case, part, fence, tuple(codes[1:]))


def fill(prompt: Prompt, question: Question, inert: Callable[[str], str]) -> str:
    """The judge's prompt; `inert` breaks up control tokens in texts."""
    blocks = (
        f"[BEGIN CRITERION {code}]\n{inert(text)}\n[END CRITERION {code}]"
        for code, text in zip(question.codes, question.criteria, strict=True)
    )
    return prompt.fill(
        conversation=inert(question.case.conversation),
        answer=inert(question.case.answer),
        criteria="\n\n".join(blocks),
        verdicts="\n".join(f"VERDICT {code}: MET or NOT MET" for code in question.codes),
        language=question.case.language,
        code=question.code,
    )


def read_rulings(reply: str | None, codes: Sequence[str]) -> list[bool | None]:
    """Whether a reply says that the criterion of each code is met.

    A verdict is a line with the code and MET or NOT MET, and nothing else. A criterion has None if
    it has no such line or two that differ; and so has each if something stands behind the lines.
    """
    known = set(codes)

    def read(line: str) -> tuple[str, bool] | None:
        match = _VERDICT.fullmatch(line)
        if match is None or match[1] not in known:
            return None
        met = match[4] == "met"
        return None if match["not" if met else "met"] else (match[1], met)

    rulings = coded_statements(said_lines(reply, codes), read)
    return [rulings.get(code) for code in codes]
