"""What other models than the one under test will be asked: foreseen for `xling cost`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xling_tasks.data.prompts import Prompt
from xling_tasks.languages import find
from xling_tasks.models.spec import ModelSpec
from xling_tasks.models.translate.passages import split

STAND_IN = " ".join(
    f"Sentence {i} of an answer to a person who asks about their health is as long as this."
    for i in range(1, 21)
)
"""For costs: an answer of about 350 words, which is what chat models write on such questions."""


@dataclass(frozen=True)
class SideRequest:
    """A request to another model than the one under test.

    Attributes:
        role: `judge` or `translator`.
        prompt: What it is asked.
        max_gen_toks: The most tokens of its reply.
        language: That of the answer it is about; None for the task's.
    """

    role: str
    prompt: str
    max_gen_toks: int
    language: str | None = None


def translation_requests(
    spec: ModelSpec | None,
    prompt: Prompt | None,
    text: str,
    source: str,
    names: Mapping[str, str] | None = None,
) -> list[SideRequest]:
    """What a model of the harness is asked to translate a text to English.

    Args:
        spec: The setting; None for no translator.
        prompt: The prompt `translate`; None for a translator that uses none.
        text: The text, or one of its length (whose sentences may be in any language).
        source: Its language.
        names: Code -> name of languages that only a user's own data know.
    """
    if spec is None or prompt is None or source == "en":
        return []
    names = {"source_language": find(source, names).name, "target_language": find("en").name}
    sentences = dict.fromkeys(split(text, "en" if source == "th" else source).sentences)
    return [
        SideRequest("translator", prompt.fill(text=each, **names), spec.max_gen_toks, source)
        for each in sentences
    ]
