"""What a reasoning model thought before it answered, where its reply still holds it.

Thoughts come between tags of several names (`<think>`, `[THINK]`, `<unused94>`, ...) at the head
of a reply, or in a channel of their own. Often only the closing tag is there, because the chat
template opened the thought; and a reply that was cut off within a thought has no answer at all.
"""

from __future__ import annotations

import regex

_NAME = (
    r"(?:seed:|antml:)?(?:think|thinking|thoughts?|thought_process|reasoning|reason|reflection|"
    r"scratchpad|analysis|internal_?monologue|cot)"
)
# Tags are read as models write them: one with a space in it was made inert.
_TAG = regex.compile(
    rf"(?P<close></{_NAME}>|\[/{_NAME}\]|◁/{_NAME}▷|<\|?/?end_of_(?:thought|thinking)\|?>|"
    r"<\|/think\|>|<unused95>|<\|begin_of_solution\|>)"
    rf"|(?P<heading>\[(?!think|thought){_NAME}\])"
    rf"|<{_NAME}(?:\s[^<>]{{0,80}})?>|\[{_NAME}\]|◁{_NAME}▷"
    r"|<\|?begin_of_(?:thought|thinking)\|?>|<\|think\|>|<unused94>",
    regex.I,
)
# The channels of OpenAI's open models, with their tokens and without.
_FINAL_CHANNEL = regex.compile(r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|message\|>)?", regex.I)
_OTHER_CHANNEL = regex.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b", regex.I)
_BARE_CHANNEL = regex.compile(r"\s*analysis(?=\p{Lu})")
_BARE_FINAL = "assistantfinal"


def strip_reasoning(reply: str) -> str | None:
    """The reply without its thoughts; None where it was cut off within one.

    Thoughts are blocks between tags at the head of the reply or of a line, and what stands before
    a closing tag without an opening one. A tag elsewhere is quoted and opens nothing, and so does
    a heading in brackets (`[Analysis]`) that nothing closes.
    """
    text = _after_channels(reply)
    if text is None:
        return None
    said: list[str] = []  # what is no thought, up to the place that is looked at
    at, blank = 0, True
    closes = iter([match.start() for match in _TAG.finditer(text) if match["close"]])
    close_at = next(closes, -1)
    while tag := _TAG.search(text, at):
        before = text[at : tag.start()]
        while -1 < close_at < tag.start():
            close_at = next(closes, -1)
        blank = blank and not (before.strip(_BLANK))
        heads = blank or before.rstrip(_CLOTHES)[-1:] == "\n"
        if tag["close"] or (heads and close_at >= 0):
            end = tag.end() if tag["close"] else _end_of_tag(text, close_at)
            if tag["close"]:
                said, blank = [" "], True
            else:
                said += [before, " "]
            at = end
            continue
        if blank and not tag["heading"]:
            return None
        said += [before, "" if heads else tag[0]]
        at = tag.end()
    return "".join([*said, text[at:]])


_CLOTHES = " \t*_#>"
_BLANK = _CLOTHES + "\r\n"


def _end_of_tag(text: str, start: int) -> int:
    tag = _TAG.match(text, start)
    return tag.end() if tag else start


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
