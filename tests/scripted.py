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
from xling_tasks.failed_response import ModelResponse

ADVICE = Path(xling_tasks.__file__).with_name("data") / "sample" / "advice.jsonl"


@functools.cache
def english_of() -> dict[str, str]:
    """Each advice sentence, in any language -> the English one."""
    rows = [json.loads(line) for line in ADVICE.read_text(encoding="utf-8").split("\n") if line]
    return {row[code]: row["en"] for row in rows for code in row if code != "topic"}


def material(prompt: str) -> dict[str, Any]:
    """The last JSON object in a prompt: the texts that it is about; none where there is none."""
    found = [match.start() for match in re.finditer(r"^\{$", prompt, re.M)]
    return dict(json.JSONDecoder().raw_decode(prompt, found[-1])[0]) if found else {}


def reply(prompt: str) -> str:
    """Translate advice; take texts apart by sentence; support what the reference says verbatim."""
    texts = material(prompt)
    if "text" in texts and '"claims"' in prompt:
        return json.dumps({"claims": re.findall(r"\S[^.!?]*[.!?]", texts["text"])})
    if "reference" in texts:
        claims = [claim.partition(" ")[2] for claim in texts["claims"]]
        said = ["SUPPORTED" if claim in texts["reference"] else "NOT SUPPORTED" for claim in claims]
        verdicts = [{"claim": n, "verdict": each} for n, each in enumerate(said, 1)]
        return json.dumps({"verdicts": verdicts})
    if match := re.search(r"^Text: (.+)\n\nTranslation:", prompt, re.M | re.S):
        known = [own for own in english_of() if own in match[1]]
        return " ".join(english_of()[own] for own in sorted(known, key=match[1].index))
    return '{"ready": "yes"}' if '"ready"' in prompt else "ready"


class Judge:
    """A judge in the process, which says `reply(prompt)` and keeps the prompts of each call."""

    signature = "scripted"

    def __init__(self, reply: Callable[[Any], str]) -> None:
        self.reply = reply
        self.batches: list[list[Any]] = []

    def generate(self, prompts: Any, **more: Any) -> list[ModelResponse]:
        self.batches.append(list(prompts))
        said = map(self.reply, prompts)
        return [each if isinstance(each, ModelResponse) else ModelResponse(each) for each in said]


WORSE = {"English": 5, "Spanish": 15, "Chinese": 25, "Hindi": 50}
"""Out of 100, how many answers the scripted judge finds contradictory or less comprehensive."""


def judged(prompt: str) -> str:
    """A verdict that follows from the prompt by chance, worse in some languages; else `reply`."""
    texts = material(prompt)
    if "answer_2" not in texts:
        return reply(prompt)
    language = re.search(r"written in (\w+)\.", prompt)
    assert language is not None
    chance = zlib.crc32((texts["question"] + texts["answer_2"]).encode()) % 100
    worse = WORSE.get(language[1], 20)
    said = (
        "contradictory"
        if chance < worse / 3
        else "less comprehensive and appropriate"
        if chance < worse
        else "more comprehensive and appropriate"
    )
    return json.dumps({"reasoning": f"By lot ({chance}).", "verdict": said})
