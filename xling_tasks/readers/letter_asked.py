"""Whether a sentence answers the question in the question's own words.

'The agent of tuberculosis is M. tuberculosis' answers 'Which is the causal agent of
tuberculosis?' whatever its verb is: but for the option, it says little that the question doesn't.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

import regex

from xling_tasks.readers.lexicon import CHARACTER, WORDS, lexicon, plain
from xling_tasks.readers.options import stem
from xling_tasks.readers.plain import one_form

_HEAD = 5  # characters by which words of one root are the same ('causal', 'causa')
_SHORTEST = 4  # characters of a word that may say something; with one more it does
_MOSTLY = 0.66  # of the roots of a sentence are the question's
_MOST = 0.6  # of the roots of the question's last sentence are said again
_ENDS = regex.compile(r"(?<=[.?!。？！;；])\s*|\n")
_OF_CHARACTER = 2  # a Chinese or Japanese character says as much as two letters
_KANA = regex.compile(r"\p{Hiragana}")
_SIGN = regex.compile(r".*\d|[a-df-np-tv-xz]$")  # 'B1', 'vitamin C'; 'y', 'o', 'e' are words


class Asked(NamedTuple):
    """What a question says.

    Attributes:
        every: The roots of its words.
        last: Those of its last sentence.
        words: Its words.
        false: Whether its last sentence calls something false ('is incorrect', not 'except').
    """

    every: frozenset[str]
    last: frozenset[str]
    words: frozenset[str]
    false: bool


@functools.lru_cache(maxsize=4096)
def asked_words(question: str) -> Asked:
    """What a question says."""
    text = one_form(question)
    parts = [part for part in _ENDS.split(text) if part and part.strip()]
    words = [plain(word) for word in WORDS.findall(text)]
    last = WORDS.findall(parts[-1]) if parts else []
    low = [plain(word) for word in last if not word.isspace()]
    wrong = lexicon(names="wrong")
    false = any(wrong.longest(low, at) for at in range(len(low)))
    return Asked(roots(words), roots(low), frozenset(map(stem, words)), false)


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


def answers(said: Iterable[str], later: Iterable[str], asked: Asked) -> bool | None:
    """Whether a sentence says what was asked: False where it says little else, None where it does.

    Args:
        said: The words of a clause, without the option's and those of phrases.
        later: Those of the rest of its sentence: what was asked is not said in two halves
            ('Lisinopril is for hypertension; in pregnancy ...').
        asked: The question.

    Returns:
        True where it says nothing but words of the question, or most of its last sentence.
    """
    all_said = roots(said)
    known = all_said & asked.every
    own = {root for root in all_said if len(root) != _SHORTEST or root in known}
    weight = sum(_OF_CHARACTER if CHARACTER.match(root) else len(root) for root in known)
    halves = roots(later) & (asked.last - known)
    if weight < _SHORTEST or halves or not known & asked.last or len(known) < _MOSTLY * len(own):
        return None
    return known == own or len(known & asked.last) >= _MOST * len(asked.last)
