"""What a reasoning model thought before it answered, where its reply still holds it.

Thoughts come between tags of several names (`<think>`, `[THINK]`, `<unused94>`, ...) or in a
channel of their own. Often only the closing tag is there, because the chat template opened the
thought; and a reply that was cut off within a thought has no answer at all.
"""

from __future__ import annotations

import regex

_NAME = (
    r"(?:seed:|antml:)?(?:think|thinking|thoughts?|thought_process|reasoning|reason|reflection|"
    r"scratchpad|analysis|internal_?monologue|cot)"
)
_CLOSED = regex.compile(
    rf"(?:<\s*/\s*{_NAME}\s*>|\[/{_NAME}\]|◁/{_NAME}▷|<\|?/?end_of_(?:thought|thinking)\|?>|"
    r"<\|/think\|>|<unused95>|<\|begin_of_solution\|>)",
    regex.I,
)
_OPEN = regex.compile(
    rf"(?:<\s*{_NAME}(?:\s[^<>]{{0,80}})?>|\[{_NAME}\]|◁{_NAME}▷|"
    r"<\|?begin_of_(?:thought|thinking)\|?>|<\|think\|>|<unused94>)",
    regex.I,
)
# The channels of OpenAI's open models, with their tokens and without.
_FINAL_CHANNEL = regex.compile(r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|message\|>)?", regex.I)
_OTHER_CHANNEL = regex.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b", regex.I)
_BARE_CHANNEL = regex.compile(r"\s*analysis(?=\p{Lu})")
_BARE_FINAL = "assistantfinal"


def without_thinking(reply: str) -> str | None:
    """The reply after its last thought; None where it was cut off within one."""
    text = _after_channels(reply)
    if text is None:
        return None
    closed = 0
    for match in _CLOSED.finditer(text):
        closed = match.end()
    if closed:
        text = " " + text[closed:]
    return None if _OPEN.search(text) else text


def holds_thinking(reply: str) -> bool:
    """Whether there is any."""
    return without_thinking(reply) != reply


def _after_channels(text: str) -> str | None:
    final = 0
    for match in _FINAL_CHANNEL.finditer(text):
        final = match.end()
    if final:
        return text[final:]
    if _OTHER_CHANNEL.search(text):
        return None
    if _BARE_CHANNEL.match(text):
        return text.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in text else None
    return text
