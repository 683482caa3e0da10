"""Remove the reasoning that a model wrote before its answer.

It comes between tags of several names (`<think>`, `[THINK]`, `<unused94>`, ...) at the head of a
response, or in a channel. Often only the closing tag is there, because the chat template opened the
reasoning; and a response that was cut off within its reasoning has no answer.
"""

from __future__ import annotations

import regex

_NAME = (
    r"(?:seed:|antml:|mm:|longcat_)?(?:think|thinking|thoughts?|thought_process|reasoning|reason|"
    r"reflection|scratchpad|analysis|internal_?monologue|cot)"
)
_TAG = regex.compile(
    rf"(?P<close></{_NAME}>|\[/{_NAME}\]|◁/{_NAME}▷|<\|?/?end_of_(?:thought|thinking)\|?>|"
    r"<\|/think\|>|<unused95>|<\|begin_of_solution\|>|<channel\|>|<\|END_THINKING\|>|"
    r"<\|inner_suffix\|>)"
    rf"|(?P<heading>\[(?!think|thought){_NAME}\])"
    rf"|<{_NAME}(?:\s[^<>]{{0,80}})?>|\[{_NAME}\]|◁{_NAME}▷"
    r"|<\|?begin_of_(?:thought|thinking)\|?>|<\|think\|>|<unused94>|<\|channel>|"
    r"<\|START_THINKING\|>|<\|inner_prefix\|>",
    regex.I,
)
# The channels of OpenAI's open models, with their tokens and without.
_FINAL_CHANNEL = regex.compile(
    r"<\|channel\|>\s*final\b(?:[^<]{0,40}<\|(?:constrain|message)\|>)*", regex.I
)
_OTHER_CHANNEL = regex.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b", regex.I)
_BARE_CHANNEL = regex.compile(r"\s*analysis(?=\p{Lu})")
_BARE_FINAL = "assistantfinal"
_MARKUP = " \t*_#>"


def strip_reasoning(response: str) -> str | None:
    """Return a response without its reasoning; None where it was cut off within it.

    Reasoning is what stands between tags at the head of the response or of a line, and before a
    closing tag without an opening one. A tag elsewhere is quoted and opens nothing, and so does a
    heading in brackets (`[Analysis]`) that nothing closes.
    """
    text = _read_final_channel(response)
    if text is None:
        return None
    closing = [tag for tag in _TAG.finditer(text) if tag["close"]]
    answer, position = "", 0
    while tag := _TAG.search(text, position):
        answer, position = answer + text[position : tag.start()], tag.end()
        opens_response = not answer.strip(_MARKUP + "\r\n")
        opens_line = opens_response or answer.rstrip(_MARKUP)[-1:] == "\n"
        if tag["close"]:
            answer = " "
        elif opens_line and (close := next((c for c in closing if c.start() >= position), None)):
            answer, position = answer + " ", close.end()
        elif opens_response and not tag["heading"]:
            return None
        elif not opens_line:
            answer += tag[0]
    return answer + text[position:]


def _read_final_channel(text: str) -> str | None:
    if final := [match.end() for match in _FINAL_CHANNEL.finditer(text)]:
        return text[final[-1] :]
    if _OTHER_CHANNEL.search(text):
        return None
    if _BARE_CHANNEL.match(text):
        return text.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in text else None
    return text
