"""The judge of correctness: what it is asked, and what its reply says.

An answer under judgement is untrusted text. It may contain the options, fake the end of its
fence, or give orders. Fences and the verdict line carry a code that it cannot know (see
`readers.fences`), and control tokens in it are broken up (see `control_tokens`).

There is one judge or several, asked about the same answers, perhaps in both orders of the two
answers. The label of an answer is the one that more than half of all judges gave, counted over the
whole jury: of three judges one that failed and two that differ make no majority. A judge that
cannot be asked or read has no vote for a label, and so can't hand its share to the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xling_tasks.criteria import LABELS, NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import Asked, ask_in_form, both_replies
from xling_tasks.models.backend import Backend
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
    word = label_word(prompt)
    codes = {case: case.code(fences) for case in cases if case.answer.strip()}
    texts = {case: fill(prompt, case, code, backend.inert) for case, code in codes.items()}
    asked = ask_in_form(
        backend,
        dict(zip(texts.values(), codes.values(), strict=True)),
        lambda code, reply: [word] if read_verdict(reply, code, word) == NO_RESPONSE else [],
        lambda _, new: again(new[0], word),
        fences,
        until=UNTIL,
    )
    made = {case: _judgement(asked[text], codes[case], word) for case, text in texts.items()}
    return [made.get(case, Judgement(NO_RESPONSE, None)) for case in cases]


def _judgement(asked: Asked, code: str, word: str) -> Judgement:
    first, second, codes = asked
    if first.said is None:
        return Judgement(None, None, first.reason)
    if second is None:
        return Judgement(read_verdict(first.text, code, word), first.text)
    if second.said is None:
        return Judgement(None, first.text, second.reason, again="")
    return Judgement(read_verdict(second.text, codes[0], word), first.text, again=second.text)


def again(code: str, word: str) -> str:
    """What a judge is asked whose reply does not end with its verdict."""
    return (
        "Your reply does not end with the line that I asked for. Write that line and nothing else, "
        "under a new code, with one of these in place of option: "
        f"{'; '.join(OPTIONS.values())}.\n{word.upper()} {code}: option"
    )


def fill(prompt: Prompt, case: Case, code: str, inert: Callable[[str], str]) -> str:
    """The judge's prompt for a case."""
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


_MIRRORED = {"more_comprehensive": "less_comprehensive", "less_comprehensive": "more_comprehensive"}


def mirrored(label: str) -> str:
    """What a label of the second answer says of the first: more and less change places."""
    return _MIRRORED.get(label, label)


@dataclass(frozen=True)
class Vote:
    """What one judge says of one answer.

    Attributes:
        judgement: In the published order: the reference first.
        swapped: In the other order, the label as the judge gave it (not mirrored); None where
            that was not asked.
    """

    judgement: Judgement
    swapped: Judgement | None = None

    @property
    def label(self) -> str | None:
        """The label in the published order, if it is one of the four; else None."""
        return _readable(self.judgement)

    @property
    def order_sensitive(self) -> bool | None:
        """Whether the two orders contradict each other; None unless both have a label."""
        label, other = self.label, _readable(self.swapped)
        return None if label is None or other is None else mirrored(other) != label


@dataclass(frozen=True)
class Verdict:
    """What a jury says of one answer.

    Attributes:
        votes: One per judge, in the order of the setting.
        label: One of `LABELS`, or `no_response`; None without one.
        no_majority: Whether it has no label because no label has more than half of the judges.
        reason: Why most judges could not be asked; '' where they could.
    """

    votes: tuple[Vote, ...]
    label: str | None = None
    no_majority: bool = False
    reason: str = ""


def verdict(votes: Sequence[Vote]) -> Verdict:
    """The verdict of one judge, which is its own, or of several, which is the majority's."""
    judgements = [vote.judgement for vote in votes]
    (label, most), *_ = Counter(item.label for item in judgements).most_common(1)
    if 2 * most <= len(judgements):
        return Verdict(tuple(votes), no_majority=True)
    reason = next((item.reason for item in judgements if item.label is None), "")
    return Verdict(tuple(votes), label, reason=reason if label is None else "")


@dataclass(frozen=True)
class Jury:
    """Judges with their names.

    Attributes:
        judges: The backends, in the order of the setting.
        names: Their names: given, or their numbers from 1.
        both_orders: Whether each is also asked with the two answers exchanged.
    """

    judges: tuple[Backend, ...]
    names: tuple[str, ...]
    both_orders: bool = False

    @property
    def several(self) -> bool:
        """Whether there is more than one judge."""
        return len(self.judges) > 1

    @property
    def signature(self) -> str:
        """That of the one judge; of several how their labels are joined, and each by its name."""
        if not self.several:
            return self.judges[0].signature
        own = (f"{n}={b.signature}" for n, b in zip(self.names, self.judges, strict=True))
        return f"majority_of_{len(self.judges)}[{'; '.join(own)}]"

    def check(self) -> None:
        """Reach every judge.

        Raises:
            BackendError: For the first that does not answer.
        """
        for each in self.judges:
            each.check()

    def verdicts(self, cases: Sequence[Case], prompt: Prompt, fences: Fences) -> list[Verdict]:
        """One verdict per case, in order; empty answers are not asked about."""
        by_judge = [self._votes(each, cases, prompt, fences) for each in self.judges]
        return [verdict(votes) for votes in zip(*by_judge, strict=True)]

    def _votes(
        self, backend: Backend, cases: Sequence[Case], prompt: Prompt, fences: Fences
    ) -> list[Vote]:
        judgements = judge(cases, prompt, backend, fences)
        if not self.both_orders:
            return [Vote(item) for item in judgements]
        there = [case for case in cases if case.answer.strip()]
        turned = judge([swapped(case) for case in there], prompt, backend, fences)
        other = dict(zip(there, turned, strict=True))
        return [Vote(item, other.get(case)) for case, item in zip(cases, judgements, strict=True)]


def swapped(case: Case) -> Case:
    """The case with the reference in the answer's place, and the answer in the reference's."""
    return Case(case.question, case.answer, case.reference, case.language)


def asked_again(verdict: Verdict) -> list[int]:
    """How many of the replies about an answer were asked about again, and how many there are."""
    items = [item for vote in verdict.votes for item in (vote.judgement, vote.swapped)]
    replied = [item for item in items if item is not None and item.reply is not None]
    return [sum(item.again is not None for item in replied), len(replied)]


def _readable(item: Judgement | None) -> str | None:
    return item.label if item is not None and item.label in LABELS else None


# What a sample records


def recorded(verdict: Verdict, jury: Jury) -> dict[str, object]:
    """A verdict as a sample has it: label, reply and judge as of one judge, then every vote."""
    first = verdict.votes[0].judgement if verdict.votes else Judgement(None, None)
    own = both_replies(first.reply, first.again)
    said: dict[str, object] = {
        "label": verdict.label,
        "reply": _replies(verdict, jury) if jury.several else own,
    }
    if verdict.reason:
        said["failed"] = verdict.reason
    if verdict.no_majority:
        said["no_majority"] = True
    said["judge"] = jury.signature
    if jury.several:
        votes = zip(jury.names, verdict.votes, strict=False)
        said["votes"] = [
            {"judge": name, **_told(vote.judgement)}
            | ({} if vote.swapped is None else {"swapped": _told(vote.swapped)})
            for name, vote in votes
        ]
    elif jury.both_orders and verdict.votes and verdict.votes[0].swapped is not None:
        said["swapped"] = _told(verdict.votes[0].swapped)
    return said


def _told(item: Judgement) -> dict[str, object]:
    failed = {"failed": item.reason} if item.reason else {}
    return {"label": item.label, "reply": both_replies(item.reply, item.again), **failed}


def _replies(verdict: Verdict, jury: Jury) -> str | None:
    """All judges' replies as one text, each under the judge's name and label."""
    parts = []
    for name, vote in zip(jury.names, verdict.votes, strict=False):
        label = vote.judgement.label or "failed"
        said = both_replies(vote.judgement.reply, vote.judgement.again)
        if said is not None:
            parts.append(f"[judge {name}: {label.replace('_', ' ')}]\n{said}")
        elif label != NO_RESPONSE:
            parts.append(f"[judge {name}: {label}]")
    return "\n\n".join(parts) or None
