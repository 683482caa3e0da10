"""A second question in the same conversation, for the one line that a first reply lacks.

What counts in a judge's reply is a line with a code at its end. A reply that is not in that form
is asked about once more, for the line alone and under a new code, so that nothing of the first
reply can be taken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from xling_tasks.models.backend import Backend, Conversation
from xling_tasks.models.failures import ANSWER, Reply
from xling_tasks.readers.fences import Fences
from xling_tasks.readers.thinking import without_thinking

T = TypeVar("T")

ASKED_AGAIN = "asked_again_rate"
"""The metric that counts replies that were asked about again."""


class Asked(NamedTuple):
    """What came back for a prompt.

    Attributes:
        first: The reply to it.
        second: What came when it was asked about again; None where it was not.
        codes: New codes of the second, one for each line that the first lacks.
    """

    first: Reply
    second: Reply | None = None
    codes: tuple[str, ...] = ()


def ask_in_form(
    backend: Backend,
    prompts: Mapping[str, T],
    lacking: Callable[[T, str], Sequence[Any]],
    request: Callable[[Any, Sequence[str]], str],
    fences: Fences,
    *,
    reads: Callable[[T, str], bool] | None = None,
    **how: Any,
) -> dict[str, Asked]:
    """What comes back for prompts, each asked about again where its reply lacks what counts.

    Args:
        backend: Whom to ask.
        prompts: Prompt -> what its reply is read by.
        lacking: Of that and a reply: the lines that it lacks; none if it is read.
        request: What to ask for, of these and as many new codes.
        fences: Where codes come from.
        reads: Whether a reply holds what was asked for (see `Backend.replies`); by default one that
            lacks nothing.
        how: `until` and others of `Backend.replies`.
    """

    def holds(prompt: str, reply: str) -> bool:
        return reads(prompts[prompt], reply) if reads else not lacking(prompts[prompt], reply)

    replies = backend.replies(list(prompts), reads=holds, **how)
    first = dict(zip(prompts, replies, strict=True))
    asked: dict[Conversation, tuple[str, tuple[str, ...]]] = {}
    for prompt, reply in first.items():
        lines = lacking(prompts[prompt], reply.text) if reply.outcome == ANSWER else ()
        codes: tuple[str, ...] = ()
        while len(codes) < len(lines):
            codes += (fences.code("asked again", prompt, reply.text, *codes),)
        if codes:
            said = backend.inert((without_thinking(reply.text) or "").strip() or "...")
            asked[Conversation(prompt, said, request(lines, codes))] = (prompt, codes)
    came = {prompt: Asked(reply) for prompt, reply in first.items()}
    if asked:
        codes_of: dict[str, tuple[str, ...]] = {text: codes for text, (_, codes) in asked.items()}
        later = backend.replies(
            list(asked),
            reads=lambda prompt, reply: any(code in reply for code in codes_of[prompt]),
            **how,
        )
        for (prompt, codes), second in zip(asked.values(), later, strict=True):
            came[prompt] = Asked(first[prompt], second, codes)
    return came


def both_replies(first: str | None, second: str | None) -> str | None:
    """Both replies as one text, for what a sample records."""
    return first if second is None else f"{first or ''}\n\n[asked again]\n{second}"
