"""A scripted judge and translator for the bundled advice, whose right answers are known."""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import xling_tasks
from xling_tasks.models.control_tokens import common
from xling_tasks.models.failures import Reply

ADVICE = Path(xling_tasks.__file__).with_name("data") / "sample" / "advice.jsonl"


@functools.cache
def english_of() -> dict[str, str]:
    """Each advice sentence, in any language -> the English one."""
    rows = [json.loads(line) for line in ADVICE.read_text(encoding="utf-8").split("\n") if line]
    return {row[code]: row["en"] for row in rows for code in row if code != "topic"}


def between(prompt: str, what: str) -> str:
    """The material between two fences."""
    match = re.search(rf"\[BEGIN {what} \w+\]\n(.*?)\n\[END {what}", prompt, re.S)
    assert match is not None, prompt
    return match[1]


def code_of(prompt: str) -> str:
    """The code that the lines of a reply must carry."""
    match = re.search(r"\[BEGIN [A-Z0-9 ]*?([a-z]{6})\]", prompt)
    assert match is not None, prompt
    return match[1]


def with_code(prompt: str, lines: str) -> str:
    """Lines of a reply, each with the prompt's code before it."""
    code = code_of(prompt)
    return "\n".join(f"{code} {line}" for line in lines.splitlines())


def reply(prompt: str) -> str:
    """Translate advice; take texts apart by sentence; support what the reference says verbatim."""
    if "[BEGIN TEXT" in prompt:
        sentences = re.findall(r"\S[^.!?]*[.!?]", between(prompt, "TEXT"))
        numbered = [f"{i}. {s}" for i, s in enumerate(sentences, 1)]
        return with_code(prompt, "\n".join([*numbered, "END OF CLAIMS"]))
    if "[BEGIN CLAIMS" in prompt:
        claims = re.findall(r"^(\d+)\. (.+)$", between(prompt, "CLAIMS"), re.M)
        reference = between(prompt, "REFERENCE")
        said = (
            f"{n}: {'SUPPORTED' if claim in reference else 'NOT SUPPORTED'}" for n, claim in claims
        )
        return with_code(prompt, "\n".join(said))
    if match := re.search(r"^Sentence: (.+)\n\nTranslation:", prompt, re.M):
        # A splitter may leave two sentences together.
        known = [own for own in english_of() if own in match[1]]
        return " ".join(english_of()[own] for own in sorted(known, key=match[1].index))
    return "ready"


ECHOES: dict[str, Callable[[str, str], str]] = {
    "the prompt": lambda prompt, what: prompt,
    "the prompt in upper case": lambda prompt, what: prompt.upper(),
    "the material": between,
    "the last line of the material": lambda prompt, what: between(prompt, what).splitlines()[-1],
    "the prompt up to the end of the material": lambda prompt, what: prompt[
        : prompt.rindex("[END")
    ],
    "the prompt wrapped to 30 columns": lambda prompt, what: "\n".join(
        prompt[i : i + 30] for i in range(0, len(prompt), 30)
    ),
    "the lines with the code": lambda prompt, what: "\n".join(
        line for line in prompt.splitlines() if code_of(prompt) in line
    ),
}
"""Judges that repeat a part of what they read: of the prompt, whose material has such fences."""


class Judge:
    """A judge in the process, which says `reply(prompt)` and keeps the prompts of each call."""

    signature = "scripted"
    inert = staticmethod(common)

    def __init__(self, reply: Callable[[Any], str | Reply]) -> None:
        self.reply = reply
        self.batches: list[list[Any]] = []

    def replies(self, prompts: Any, **more: Any) -> list[Reply]:
        self.batches.append(list(prompts))
        said = map(self.reply, prompts)
        return [each if isinstance(each, Reply) else Reply(each) for each in said]


WORSE = {"English": 5, "Spanish": 15, "Chinese": 25, "Hindi": 50}
"""Out of 100, how many answers the scripted judge finds contradictory or less comprehensive."""


def judged(prompt: str) -> str:
    """A verdict that follows from the prompt by chance, worse in some languages; else `reply`."""
    verdict = re.search(r"VERDICT (\w+): option", prompt)
    if not verdict:
        return reply(prompt)
    language = re.search(r"written in (\w+)\.", prompt)
    assert language is not None
    texts = between(prompt, "QUESTION") + between(prompt, "ANSWER 2")
    chance = zlib.crc32(texts.encode()) % 100
    worse = WORSE.get(language[1], 20)
    said = (
        "contradictory"
        if chance < worse / 3
        else "less comprehensive and appropriate"
        if chance < worse
        else "more comprehensive and appropriate"
    )
    return f"By lot ({chance}).\nVERDICT {verdict[1]}: {said}"
