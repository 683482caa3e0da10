"""Whether a sentence answers the question in the question's own words.

'The agent of tuberculosis is M. tuberculosis' answers 'Which is the causal agent of
tuberculosis?' whatever its verb is: but for the option, it says little that the question doesn't.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

import regex

from xling_tasks.readers.lexicon import CHARACTER, WORDS, plain
from xling_tasks.readers.options import stem
from xling_tasks.readers.plain import one_form

_HEAD = 5  # characters by which words of one root are the same ('causal', 'causa')
_SHORTEST = 4  # characters of a word that may say something; with one more it does
_MOSTLY = 0.75  # of the roots of a sentence are the question's
_MOST = 0.6  # of the roots of the question's last sentence are said again
_ENDS = regex.compile(r"(?<=[.?!。？！;；])\s*|\n")
_OF_CHARACTER = 2  # a Chinese or Japanese character says as much as two letters
_KANA = regex.compile(r"\p{Hiragana}")
_SIGN = regex.compile(r".*\d|[a-df-np-tv-xz]$")  # 'B1', 'vitamin C'; 'y', 'o', 'e' are words


class Asked(NamedTuple):
    """The roots of a question's words, and of those of its last sentence."""

    every: frozenset[str]
    last: frozenset[str]
    words: frozenset[str]


@functools.lru_cache(maxsize=4096)
def asked_words(question: str) -> Asked:
    """What a question says."""
    text = one_form(question)
    parts = [part for part in _ENDS.split(text) if part and part.strip()]
    words = [plain(word) for word in WORDS.findall(text)]
    last = WORDS.findall(parts[-1]) if parts else []
    return Asked(roots(words), roots(map(plain, last)), frozenset(map(stem, words)))


def roots(words: Iterable[str]) -> frozenset[str]:
    """The roots of words that say something; of Chinese and Japanese their characters."""
    found = set()
    for word in words:
        if CHARACTER.match(word):
            found |= set() if _KANA.match(word) else {word}
        elif len(word) >= _SHORTEST or _SIGN.match(word):
            found.add(word[:_HEAD])
    return frozenset(found)


def echoes(said: Iterable[str], asked: Asked) -> bool:
    """Whether words say nothing that the question doesn't."""
    return roots(said) <= asked.every


def answers(said: Iterable[str], asked: Asked) -> bool | None:
    """Whether a sentence says what was asked: False where it says little else, None where it does.

    Args:
        said: The words of the sentence, without the option's and those of phrases.
        asked: The question.

    Returns:
        True where it says nothing but words of the question, or most of its last sentence.
    """
    all_said = roots(said)
    known = all_said & asked.every
    own = {root for root in all_said if len(root) != _SHORTEST or root in known}
    weight = sum(_OF_CHARACTER if CHARACTER.match(root) else len(root) for root in known)
    if weight < _SHORTEST or not known & asked.last or len(known) < _MOSTLY * len(own):
        return None
    return known == own or len(known & asked.last) >= _MOST * len(asked.last)
