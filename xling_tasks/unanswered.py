"""A reply that is no answer: what travels through the harness in an answer's place.

It is an empty text (or what a filter left of an answer), so that whoever does not know of it sees
a model that said nothing; ours tell a refusal and a failed call from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REFUSED = "refused"
"""A content filter held the answer back."""

FAILED = "failed"
"""The service did not work: this says nothing about the model, and is unscored."""


ANSWERED = "n_responses"
"""Where samples say what became of their answers."""


class Unanswered(str):
    """What came in place of an answer.

    Attributes:
        outcome: `REFUSED` or `FAILED`.
        reason: Why, in a few words.
    """

    outcome: str
    reason: str

    @classmethod
    def of(cls, outcome: str, reason: str, text: str = "") -> Unanswered:
        """A reply with an outcome."""
        made = cls(text)
        made.outcome, made.reason = outcome, reason
        return made

    def __eq__(self, other: object) -> bool:
        """Unlike every answer: an empty answer is the model's, and this is not."""
        if not isinstance(other, Unanswered):
            return False
        return str.__eq__(self, other) and self.outcome == other.outcome

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.outcome, str(self)))

    def __reduce__(self) -> tuple[object, ...]:
        return Unanswered.of, (self.outcome, self.reason, str(self))


class Answered(str):
    """An answer with what its service says of it: the finish reason, and tokens by kind."""

    finish: str
    usage: dict[str, int]

    @classmethod
    def of(cls, text: str, finish: str = "", usage: Mapping[str, int] | None = None) -> Answered:
        """A text with these."""
        made = cls(text)
        made.finish, made.usage = finish, dict(usage or {})
        return made


def failed(reply: object) -> bool:
    """Whether a reply is a failed call."""
    return isinstance(reply, Unanswered) and reply.outcome == FAILED


def refused(reply: object) -> bool:
    """Whether a content filter held the reply back."""
    return isinstance(reply, Unanswered) and reply.outcome == REFUSED


def empty(reply: str) -> bool:
    """Whether the model itself said nothing."""
    return not isinstance(reply, Unanswered) and not reply.strip()


def missing_in(sample: Any) -> dict[tuple[int, int], Unanswered]:
    """The replies of a logged sample that are no answers, by request and repeat.

    Raises:
        ValueError, LookupError, TypeError: If it is not as our tasks log it.
    """
    answered = sample.get(ANSWERED) or {"missing": ()}
    return {
        (int(request), int(repeat)): Unanswered.of(str(outcome), str(reason))
        for request, repeat, outcome, reason in answered["missing"]
    }
