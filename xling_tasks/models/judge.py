"""The judge of correctness: what it is asked, and what its reply says.

An answer under judgement is untrusted text. It may contain the options, fake the end of its
fence, or give orders. Two things keep it from deciding its own verdict: fences and the verdict
line carry a code that is derived from the texts and occurs in none of them; and only the reply's
last line counts, and only if it has the code and names exactly one option. A judge that merely
repeats what it reads therefore yields no verdict.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from xling_tasks.criteria import NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import Prompt
from xling_tasks.models.backend import Backend

UNTIL = ("[BEGIN QUESTION",)
"""Where a reply ends that goes on to invent another case."""

_ZERO_WIDTH = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]")


@dataclass(frozen=True)
class Case:
    """What the judge compares: texts in one language."""

    question: str
    reference: str
    answer: str
    language: str

    @property
    def code(self) -> str:
        """The code of its fences and its verdict."""
        return fence_code(self.question, self.reference, self.answer)


def fence_code(*texts: str) -> str:
    """Six letters that follow from the texts and occur in none of them."""
    joined = "\0".join(texts)
    lowered = joined.casefold()
    for attempt in range(1000):
        digest = hashlib.sha256(f"{attempt}\0{joined}".encode()).digest()
        code = base64.b32encode(digest).decode().lower().translate(_LETTERS_ONLY)[:6]
        if len(code) == 6 and code not in lowered:
            return code
    raise AssertionError("a text of finite length cannot contain a thousand codes by chance")


_LETTERS_ONLY = {ord(digit): None for digit in "234567"}


@dataclass(frozen=True)
class Judgement:
    """A verdict with its transcript.

    Attributes:
        label: One of `LABELS`, or `no_response`; None if the judge could not be asked (its call
            failed), which says nothing about the answer.
        reply: All the judge said; None if it was not asked or did not answer.
    """

    label: str | None
    reply: str | None


def judge(cases: Sequence[Case], prompt: Prompt, backend: Backend) -> list[Judgement]:
    """One judgement per case, in order, asked in batches; empty answers are not asked about."""
    asked = [case for case in cases if case.answer.strip()]
    texts = [fill(prompt, case) for case in asked]
    replies = dict(zip(asked, backend.ask(texts, until=UNTIL), strict=True))
    with_code = "code" in prompt.fields
    found = []
    for case in cases:
        reply = replies.get(case)
        failed = case in replies and reply is None
        label = None if failed else read_verdict(reply, case, with_code=with_code)
        found.append(Judgement(label, reply))
    return found


def fill(prompt: Prompt, case: Case) -> str:
    """The judge's prompt for a case."""
    return prompt.fill(
        question=case.question,
        reference=case.reference,
        answer=case.answer,
        language=case.language,
        code=case.code,
    )


def read_verdict(reply: str | None, case: Case, *, with_code: bool = True) -> str:
    """The label that a reply's last line names.

    Args:
        reply: What the judge said.
        case: What it was asked about.
        with_code: Whether the prompt asked for the code (ours does). If not, a last line that
            also stands in one of the texts is no verdict.

    Returns:
        A label; `no_response` if the last line lacks the code, or is not exactly one option.
    """
    lines = [line for line in map(_plain, (reply or "").splitlines()) if line]
    if not lines:
        return NO_RESPONSE
    last = lines[-1]
    if with_code:
        if not re.search(rf"\b{case.code}\b", last):
            return NO_RESPONSE
    elif any(last in _plain(text) for text in (case.question, case.reference, case.answer)):
        return NO_RESPONSE
    said = re.sub(rf".*\b{case.code}\b", "", last) if with_code else re.sub(".*:", "", last)
    # The whole wording and nothing else: 'not contradictory' names no option.
    said = re.sub(r"^[\W\d]+|\W+$", "", said)
    return {wording: label for label, wording in OPTIONS.items()}.get(said, NO_RESPONSE)


def _plain(text: str) -> str:
    """Text for comparison: compatibility forms, no invisible marks or markdown, one case."""
    text = _ZERO_WIDTH.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(re.sub(r"[*_`#>\"']", " ", text).casefold().split())
