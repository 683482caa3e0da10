"""The judge of correctness: what it is asked, and what its reply says.

An answer under judgement is untrusted text. It may contain the options, fake the end of its
fence, or give orders. Fences and the verdict line carry a code that it cannot know (see
`readers.fences`), and control tokens in it are broken up (see `control_tokens`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xling_tasks.criteria import NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import Second, ask_again
from xling_tasks.models.backend import Backend
from xling_tasks.models.failures import ANSWER, Reply
from xling_tasks.readers.fences import Fences, last_statement, said_lines

UNTIL = ("[BEGIN QUESTION",)
"""Where a reply ends that goes on to invent another case."""

_LABEL_OF = {re.sub(r"\W", "", wording): label for label, wording in OPTIONS.items()}
# Signs that say nothing. Others do: a `!` within, `?`, `/`, `≠` or a crossed-out word.
_SILENT = re.compile(
    r"[\w\s.,:;()\[\]{}|=<>«»…•·。、「」$→⇒➡✔☑✓★☆⚖⚠ℹ\u2010-\u2015\U0001f300-\U0001fad6✅-]*!*"
)
_NEGATIVE = re.compile("[❌✗✘✖🚫⛔🛑👎❎]")


@dataclass(frozen=True)
class Case:
    """What the judge compares: texts in one language."""

    question: str
    reference: str
    answer: str
    language: str

    def code(self, fences: Fences) -> str:
        """The code of its fences and its verdict."""
        return fences.code(self.question, self.reference, self.answer)


@dataclass(frozen=True)
class Judgement:
    """A verdict with its transcript.

    Attributes:
        label: One of `LABELS`, or `no_response`; None if the judge could not be asked (its call
            failed), which says nothing about the answer.
        reply: All the judge said; None if it was not asked or did not answer.
        again: What it said when asked again for the line alone; None where it was not.
        reason: Why it could not be asked (`time-out`, `status 500`, ...); '' where it answered.
    """

    label: str | None
    reply: str | None
    reason: str = ""
    again: str | None = None


def judge(
    cases: Sequence[Case], prompt: Prompt, backend: Backend, fences: Fences
) -> list[Judgement]:
    """One judgement per case, in order, asked in batches; empty answers are not asked about.

    A reply that is not in form is asked about again, once.
    """
    asked = {case: case.code(fences) for case in cases if case.answer.strip()}
    texts = [fill(prompt, case, code, backend.inert) for case, code in asked.items()]
    code_in = dict(zip(texts, asked.values(), strict=True))
    word = label_word(prompt)

    def reads(text: str, reply: str) -> bool:
        return read_verdict(reply, code_in[text], word) != NO_RESPONSE

    replies = dict(zip(texts, backend.replies(texts, until=UNTIL, reads=reads), strict=True))
    second = ask_again(
        backend,
        replies,
        lambda text, reply: int(not reads(text, reply)),
        lambda _, codes: again(codes[0], word),
        fences,
        until=UNTIL,
    )
    text_of = dict(zip(asked, texts, strict=True))
    return [
        _judgement(replies[text], code_in[text], second.get(text), word)
        if (text := text_of.get(case)) is not None
        else Judgement(NO_RESPONSE, None)
        for case in cases
    ]


def _judgement(reply: Reply, code: str, second: Second | None, word: str) -> Judgement:
    if reply.outcome != ANSWER:
        return Judgement(None, None, reply.reason)
    if second is None:
        return Judgement(read_verdict(reply.text, code, word), reply.text)
    if second.reply.outcome != ANSWER:
        return Judgement(None, reply.text, second.reply.reason, again="")
    said = second.reply.text
    return Judgement(read_verdict(said, second.codes[0], word), reply.text, again=said)


def again(code: str, word: str) -> str:
    """What a judge is asked whose reply does not end with its verdict."""
    return (
        "Your reply does not end with the line that I asked for. Write that line and nothing else, "
        "under a new code, with one of these in place of option: "
        f"{'; '.join(OPTIONS.values())}.\n{word.upper()} {code}: option"
    )


def fill(prompt: Prompt, case: Case, code: str, inert: Callable[[str], str]) -> str:
    """The judge's prompt for a case.

    Args:
        prompt: The prompt `judge`.
        case: The case.
        code: Its code.
        inert: What breaks up control tokens in a text.
    """
    return prompt.fill(
        question=inert(case.question),
        reference=inert(case.reference),
        answer=inert(case.answer),
        language=case.language,
        code=code,
    )


def label_word(prompt: Prompt) -> str:
    """The word before the code in the line that a prompt asks for: `verdict` in ours."""
    before = prompt.template.rpartition("{code}")[0].splitlines() or [""]
    words = re.findall(r"[^\W\d_]+", before[-1].casefold())
    return words[-1] if words else "verdict"


def read_verdict(reply: str | None, code: str, word: str = "verdict") -> str:
    """The label that a reply's last verdict line names.

    A verdict line is the word, the code and the whole wording of one option, and nothing else
    but signs that say nothing. It counts where nothing that says something stands behind it.

    Args:
        reply: What the judge said.
        code: The code of the case.
        word: The word that the prompt puts before the code.

    Returns:
        A label; `no_response` if there is none (see `last_statement`).
    """
    lines = said_lines(reply, [code])
    return last_statement(lines, code, lambda line: _verdict(line, code, word)) or NO_RESPONSE


def _verdict(line: str, code: str, word: str) -> str | None:
    if _SILENT.fullmatch(line) is None or _NEGATIVE.search(line):
        return None
    before, _, after = line.partition(code)
    lead = re.sub(r"\W", "", re.sub(r"^\W*\d{1,2}\s*[.):]", "", before))
    if lead not in {f"{start}{name}" for start in _STARTS for name in ("verdict", word)}:
        return None
    after = re.sub(r"^\W*\d\s*[.):]", "", after)
    return _LABEL_OF.get(re.sub(r"\W", "", after))


_STARTS = (
    *("", "final", "my", "the", "myfinal", "thefinal"),
    *("so", "thus", "hence", "therefore", "conclusion", "answer", "finalanswer", "lastline"),
    *(f"{whose}verdictis" for whose in ("the", "my", "final", "myfinal", "thefinal")),
)
"""What may stand before the word, letters alone."""
