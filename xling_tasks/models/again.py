"""A second question in the same conversation, for the one line that a first reply lacks.

What counts in a judge's reply is a line with a code at its end. A reply that is not in that form
is asked about once more, for the line alone and under a new code, so that nothing of the first
reply can be taken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.models.backend import Backend
from xling_tasks.models.failures import ANSWER, Reply
from xling_tasks.models.turns import Conversation
from xling_tasks.readers.fences import Fences
from xling_tasks.readers.thinking import without_thinking

ASKED_AGAIN = "asked_again_rate"
"""The metric that counts replies that were asked about again."""


class Second(NamedTuple):
    """A second reply, and the codes under which it was asked for.

    Attributes:
        reply: The reply.
        codes: New codes, one for each line that was asked for.
    """

    reply: Reply
    codes: tuple[str, ...]


def ask_again(
    backend: Backend,
    first: Mapping[str, Reply],
    lacking: Callable[[str, str], int],
    request: Callable[[str, Sequence[str]], str],
    fences: Fences,
    **how: Any,
) -> dict[str, Second]:
    """The second replies, by first prompt, where a first reply lacks what counts.

    Args:
        backend: Whom to ask.
        first: The first replies by prompt; what failed is not asked about again.
        lacking: How many lines a reply to a prompt lacks; 0 if it is read.
        request: What to ask for, of a prompt and as many new codes.
        fences: Where codes come from.
        how: `until` and others of `Backend.replies`.
    """
    asked: dict[Conversation, tuple[str, tuple[str, ...]]] = {}
    for prompt, reply in first.items():
        lines = lacking(prompt, reply.text) if reply.outcome == ANSWER else 0
        codes: tuple[str, ...] = ()
        while len(codes) < lines:
            codes += (fences.code("asked again", prompt, reply.text, *codes),)
        if codes:
            said = backend.inert((without_thinking(reply.text) or "").strip() or "...")
            asked[Conversation(prompt, said, request(prompt, codes))] = (prompt, codes)
    if not asked:
        return {}

    def reads(prompt: str, reply: str) -> bool:
        return any(code in reply for code in codes_of[prompt])

    codes_of: dict[str, tuple[str, ...]] = {asking: codes for asking, (_, codes) in asked.items()}
    replies = backend.replies(list(asked), reads=reads, **how)
    return {
        prompt: Second(reply, codes)
        for (prompt, codes), reply in zip(asked.values(), replies, strict=True)
    }


def both_replies(first: str | None, second: str | None) -> str | None:
    """Both replies as one text, for what a sample records."""
    return first if second is None else f"{first or ''}\n\n[asked again]\n{second}"
