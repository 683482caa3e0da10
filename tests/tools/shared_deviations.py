"""Deviations from the English that several languages share: one language was copied from another, or all
from an earlier English.

What somebody has read and found right stands in `cases/terms/shared_read.tsv` with the reason;
`test_prompt_texts` holds the rest to be empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_gates import UNSAID
from prompt_terms import FOLDER, concepts, rows, terms

from xling_tasks.data.dataset_info import PROMPT_SETS
from xling_tasks.data.prompt_sets import load_prompts

LEAST = 3
"""Languages that share a deviation; of fewer, the blind back-translation is the better reader."""
WIDE = 6
"""Of a language, a pattern that meets more texts without the concept than this says nothing."""
REASONS = {"word", "meant", "pattern"}
"""Why a deviation is none: a language's word for what the English has contains it (weekend: week); the English says
it by another word (she: daughter); the pattern meets another word."""

_SAID = {
    "women": r"she|hers?|wom[ae]n|girl\w*|\w*mother|mum|wife|sister|\w*daughter|aunt|pregnan\w+",
    "men": r"he|him|his|m[ae]n|boy\w*|\w*father|dad|husband|brothers?|\w*son|uncle|nephew|gay",
    "breast": r"breast\w*|chest|heart|mammogram",
    "machine": r"machines?|devices?|car|phone|flight|flying",
}


class Shared(NamedTuple):
    """A concept that a text has in several languages, and not in English."""

    text: str
    concept: str
    languages: tuple[str, ...]
    english: str


def shared() -> Iterator[Shared]:
    """Every deviation that LEAST languages share, the widest first."""
    texts = {
        p["id"]: p["text"] for record in PROMPT_SETS.values() for p in load_prompts(record).prompts
    }
    yield from sorted(
        (item for item in (*_terms(texts), *_marks(texts)) if len(item.languages) >= LEAST),
        key=lambda item: (-len(item.languages), item),
    )


def _terms(texts: dict[str, dict[str, str]]) -> Iterator[Shared]:
    lower = {
        key: {code: own.lower().replace("i\u0307", "i") for code, own in text.items()}
        for key, text in texts.items()
    }
    for concept, pattern in concepts().items():
        without = [key for key, text in lower.items() if not pattern.search(text["en"])]
        found: dict[str, list[str]] = {key: [] for key in without}
        for code in next(iter(texts.values())).keys() - {"en"}:
            own = [k for k in without if terms(code)[concept].pattern.search(lower[k][code])]
            for key in own if len(own) <= WIDE else ():
                found[key].append(code)
        for key, codes in found.items():
            yield Shared(key, concept, tuple(sorted(codes)), texts[key]["en"])


def _marks(texts: dict[str, dict[str, str]]) -> Iterator[Shared]:
    for what, patterns in UNSAID.items():
        for key, text in texts.items():
            if not re.search(rf"\b({_SAID[what]})\b", text["en"], re.I):
                codes = (c for c, own in patterns.items() if re.search(own, text[c], re.I))
                yield Shared(key, what, tuple(sorted(codes)), text["en"])


def read() -> dict[tuple[str, str], str]:
    """(text, concept) -> why it is no deviation."""
    return {(text, concept): why for text, concept, why in rows(FOLDER / "shared_read.tsv", 3, 2)}
