"""The judge of correctness: what it is asked, and what its verdict is.

There is one judge or several, perhaps asked in both orders of the two answers. The label of an
answer is the one that more than half of all judges gave; one that cannot be asked or read has no
vote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xling_tasks.criteria import LABELS, NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.form import Answer, ask_json, material, schema
from xling_tasks.readers.reasoning import strip_reasoning

_FORM = schema(reasoning="string", verdict=list(OPTIONS.values()))
_LABEL = {wording: label for label, wording in OPTIONS.items()}
_MIRRORED = {"more_comprehensive": "less_comprehensive", "less_comprehensive": "more_comprehensive"}


class Case(NamedTuple):
    """What is compared: texts in one language."""

    question: str
    reference: str
    answer: str
    language: str


class Judgement(NamedTuple):
    """A label, `no_response` where none was given, None where the call failed (`reason`)."""

    label: str | None
    replies: tuple[str, ...] = ()
    reason: str = ""


def judge(cases: Sequence[Case], prompt: PromptTemplate, backend: Backend) -> list[Judgement]:
    """One judgement per case, in order; empty answers are not asked about."""
    texts = {case: fill(prompt, case) for case in cases if case.answer.strip()}
    if "material" in prompt.fields:
        came = ask_json(backend, [*texts.values()], _FORM)
    else:
        came = _in_words(backend, list(dict.fromkeys(texts.values())))
    made = {}
    for case, text in texts.items():
        value, replies, reason = came[text]
        label = None if not replies else NO_RESPONSE if value is None else _LABEL[value["verdict"]]
        made[case] = Judgement(label, replies, reason)
    return [made.get(case, Judgement(NO_RESPONSE)) for case in cases]


def _in_words(backend: Backend, prompts: Sequence[str]) -> dict[str, Answer]:
    """Ask with the published prompt, which wants an option on the last line."""
    came = {}
    for prompt, reply in zip(prompts, backend.replies(prompts), strict=True):
        said = () if reply.said is None else (reply.said,)
        option = last_line(reply.text)
        came[prompt] = Answer({"verdict": option} if option else None, said, reply.reason)
    return came


def last_line(reply: str) -> str | None:
    """Return the option that the last line of a reply consists of, perhaps behind a label."""
    lines = [line for line in (strip_reasoning(reply) or "").splitlines() if line.strip()]
    said = " ".join(re.findall(r"[a-z]+", lines[-1].casefold())) if lines else ""
    said = re.sub(r"^(?:the )?(?:final )?(?:verdict|answer|label|option)(?: is)? ", "", said)
    return said if said in _LABEL else None


def fill(prompt: PromptTemplate, case: Case) -> str:
    """The judge's prompt for a case."""
    texts = material(question=case.question, answer_1=case.reference, answer_2=case.answer)
    return prompt.fill(material=texts, **case._asdict())


@dataclass(frozen=True)
class Vote:
    """What one judge says: in the published order, and in the other one if that was asked."""

    judgement: Judgement
    swapped: Judgement | None = None

    @property
    def label(self) -> str | None:
        """The label, if it is one of the four."""
        return self.judgement.label if self.judgement.label in LABELS else None

    @property
    def order_sensitive(self) -> bool | None:
        """Whether the two orders contradict each other; None unless both have a label."""
        other = self.swapped.label if self.swapped else None
        if self.label is None or other not in LABELS:
            return None
        return _MIRRORED.get(other, other) != self.label


@dataclass(frozen=True)
class Verdict:
    """What all judges say of one answer; `label` is None for a failed call or no majority."""

    votes: tuple[Vote, ...]
    label: str | None = None
    no_majority: bool = False

    @property
    def reason(self) -> str:
        """Why most judges could not be asked; '' where they could."""
        failed = self.votes and self.label is None and not self.no_majority
        return (
            next((v.judgement.reason for v in self.votes if v.judgement.reason), "")
            if failed
            else ""
        )


def verdict(votes: Sequence[Vote]) -> Verdict:
    """The majority's label."""
    (label, most), *_ = Counter(vote.judgement.label for vote in votes).most_common(1)
    if 2 * most <= len(votes):
        return Verdict(tuple(votes), no_majority=True)
    return Verdict(tuple(votes), label)


@dataclass(frozen=True)
class Jury:
    """Judges with their names; those of `both_orders` are also asked with the answers exchanged."""

    judges: tuple[Backend, ...]
    names: tuple[str, ...]
    both_orders: tuple[bool, ...]

    @property
    def several(self) -> bool:
        """Whether there is more than one judge."""
        return len(self.judges) > 1

    @property
    def signature(self) -> str:
        """That of the one judge, or of each by its name."""
        if not self.several:
            return self.judges[0].signature
        own = (f"{n}={b.signature}" for n, b in zip(self.names, self.judges, strict=True))
        return f"majority_of_{len(self.judges)}[{'; '.join(own)}]"

    def check(self) -> None:
        """Reach every judge."""
        for each in self.judges:
            each.check()

    def verdicts(self, cases: Sequence[Case], prompt: PromptTemplate) -> list[Verdict]:
        """One verdict per case, in order."""
        by_judge = [
            self._votes(each, cases, prompt, both)
            for each, both in zip(self.judges, self.both_orders, strict=True)
        ]
        return [verdict(votes) for votes in zip(*by_judge, strict=True)]

    def _votes(
        self, backend: Backend, cases: Sequence[Case], prompt: PromptTemplate, both_orders: bool
    ) -> list[Vote]:
        own = judge(cases, prompt, backend)
        if not both_orders:
            return [Vote(item) for item in own]
        asked = [case for case in cases if case.answer.strip()]
        other = judge([swapped(case) for case in asked], prompt, backend)
        turned = dict(zip(asked, other, strict=True))
        return [Vote(item, turned.get(case)) for item, case in zip(own, cases, strict=True)]


def swapped(case: Case) -> Case:
    """The case with the reference in the answer's place, and the answer in the reference's."""
    return case._replace(reference=case.answer, answer=case.reference)


def asked_again(found: Verdict) -> list[int]:
    """How many of the replies about an answer were asked for again, and how many there are."""
    items = [
        item for v in found.votes for item in (v.judgement, v.swapped) if item and item.replies
    ]
    return [sum(len(item.replies) > 1 for item in items), len(items)]


def recorded(found: Verdict, jury: Jury) -> dict[str, object]:
    """A verdict as a sample has it: its label, every vote with its replies, and the judges."""
    votes = [
        {"judge": name, **_told(vote.judgement)}
        | ({"swapped": _told(vote.swapped)} if vote.swapped else {})
        for name, vote in zip(jury.names, found.votes, strict=False)
    ]
    first = votes[0] if votes else {}
    replies = first.get("reply")
    if jury.several:  # each under the judge's name and label
        said = (
            f"[judge {vote['judge']}: {str(vote['label'] or 'failed').replace('_', ' ')}]\n"
            f"{vote['reply'] or ''}"
            for vote in votes
            if vote["reply"] or vote["label"] != NO_RESPONSE
        )
        replies = "\n\n".join(map(str.rstrip, said)) or None
    told: dict[str, object] = {"label": found.label, "reply": replies, "judge": jury.signature}
    told |= {"failed": found.reason} if found.reason else {}
    told |= {"no_majority": True} if found.no_majority else {}
    if jury.several:
        return told | {"votes": votes}
    return told | ({"swapped": first["swapped"]} if "swapped" in first else {})


def _told(item: Judgement) -> dict[str, object]:
    failed = {"failed": item.reason} if item.reason else {}
    return {
        "label": item.label,
        "reply": "\n\n[asked again]\n".join(item.replies) or None,
        **failed,
    }
