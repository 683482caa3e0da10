"""One judge or several, asked about the same answers, perhaps in both orders of the two answers.

The label of an answer is the one that more than half of all judges gave, counted over the whole
jury: of three judges one that failed and two that differ make no majority. A judge that cannot
be asked or read has no vote for a label, and so can't hand its share to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import both_replies
from xling_tasks.models.backend import Backend
from xling_tasks.models.judge import Case, Judgement, judge
from xling_tasks.readers.fences import Fences

_MIRRORED = {
    "more_comprehensive": "less_comprehensive",
    "less_comprehensive": "more_comprehensive",
}


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
        said["votes"] = [{"judge": name, **_vote(vote)} for name, vote in votes]
    elif jury.both_orders and verdict.votes and verdict.votes[0].swapped is not None:
        said["swapped"] = _judgement(verdict.votes[0].swapped)
    return said


def _vote(vote: Vote) -> dict[str, object]:
    other = {} if vote.swapped is None else {"swapped": _judgement(vote.swapped)}
    return {**_judgement(vote.judgement), **other}


def _judgement(item: Judgement) -> dict[str, object]:
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
