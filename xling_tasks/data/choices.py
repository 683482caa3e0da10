"""Questions of multiple choice that cannot be scored fairly, by their options alone.

Translators write two terms by one word. If a wrong option then reads like a right one, who chooses
it is right and counts as wrong: the damage is the translation's, not the model's.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Mapping

MISSING, EQUAL = "option text missing", "wrong option equals a right one"
"""Why a question cannot be scored fairly."""

_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")


@functools.lru_cache(maxsize=100_000)
def normalize_option(text: str) -> str:
    """Return an option without what does not tell it from another: case, spaces, width.

    Superscripts, other letters and punctuation stay: 10² is not 102, and Rh+ is not Rh-.
    """
    narrow = "".join(
        unicodedata.normalize("NFKC", char)
        if unicodedata.decomposition(char).startswith(("<wide>", "<narrow>"))
        else char
        for char in text
    )
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", narrow)).casefold().split())


def find_problem(options: Mapping[str, str], correct: Collection[str]) -> str:
    """Return why options (letter -> text) cannot be scored fairly; empty if they can."""
    texts = {letter: normalize_option(text) for letter, text in options.items()}
    if not all(texts.values()):
        return MISSING
    good = {text for letter, text in texts.items() if letter in correct}
    return EQUAL if any(texts[letter] in good for letter in texts.keys() - set(correct)) else ""
