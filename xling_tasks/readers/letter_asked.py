"""Whether a sentence answers the question in the question's own words.

'The agent of tuberculosis is M. tuberculosis' answers 'Which is the causal agent of
tuberculosis?' whatever its verb is: but for the option, it says little that the question doesn't.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex

from xling_tasks.readers.kinds import ASKS
from xling_tasks.readers.lexicon import CHARACTER, WORDS, lexicon, plain
from xling_tasks.readers.options import stem
from xling_tasks.readers.plain import one_form

_HEAD = 5  # characters by which words of one root are the same ('causal', 'causa')
_ENDING = 3  # characters in which they may differ ('contraindicated', '-ion')
_SHORTEST = 4  # characters of a word that may say something; with one more it does
_MOST = 0.6  # of the roots of the question's last sentence are said again
_ENDS = regex.compile(r"(?<=[.?!。？！;；])\s*|\n")
_SHORT = 30  # characters: with fewer the sentence before says what is asked for, too
_DENSE = 4  # letters more that a Chinese or Japanese character stands for
_OF_CHARACTER = 2  # a Chinese or Japanese character says as much as two letters
HIRAGANA = regex.compile(r"\p{Hiragana}")
_GRAMMAR = regex.compile(r"[\p{Hiragana}的这此该]")  # characters that say nothing by themselves
_SIGN = regex.compile(r".*\d|[b-df-np-tv-xz]$")  # 'B1', 'vitamin C'; 'a', 'y', 'o', 'e' are words


_CLOSED_BY = {"(": ")", "[": "]", "【": "】"}


class Asked(NamedTuple):
    """What a question says.

    Attributes:
        every: The roots of its words.
        last: Those of its last sentence.
        words: Its words.
        asks: What its last sentence asks for: what is 'false', 'not' so, 'against' it, or ''.
        wrong: Whether that sentence calls something wrong ('is incorrect'; 'except' calls nothing).
    """

    every: frozenset[str]
    last: frozenset[str]
    words: frozenset[str]
    asks: str
    wrong: bool


@functools.lru_cache(maxsize=4096)
def asked_words(question: str) -> Asked:
    """What a question says."""
    parts = [part for part in _ENDS.split(one_form(question)) if part and part.strip()]
    said = [[plain(word) for word in WORDS.findall(part) if not word.isspace()] for part in parts]
    last = said[-1] if said else []
    asks = _phrases(_unconditional(last), ASKS)
    wrong = bool(_phrases(last, "wrong"))
    size = len(parts[-1]) + _DENSE * len(CHARACTER.findall(parts[-1])) if parts else 0
    if size < _SHORT and len(said) > 1:  # '..., EXCEPT one. Which?'; no 'she is not pale'
        asks |= _phrases(said[-2], ASKS) - {"asks_not"}
        wrong = wrong or bool(_phrases(said[-2], "wrong"))
    every = [word for words in said for word in words]
    # False statements before what is not so; 'not contraindicated' is not what speaks against.
    first = min(asks - {"asks_against"} or asks, default="").removeprefix("asks_")
    return Asked(roots(every), roots(last), frozenset(map(stem, every)), first, wrong)


def _unconditional(words: list[str]) -> list[str]:
    """Words without what stands in brackets or in a condition ('if she does not smoke, ...')."""
    kept, until = list[str](), ""
    for at, word in enumerate(words):
        found = lexicon(names="supposing").longest(words, at) if not until else None
        until = until or _CLOSED_BY.get(word, "") or ("," if found else "")
        if not until:
            kept.append(word)
        elif word == until:
            until = ""
    return kept


def _phrases(words: list[str], kinds: str) -> set[str]:
    """The kinds of a dictionary's phrases that words have, but for what asks for nothing."""
    found, at = set(), 0
    while at < len(words):
        phrase = lexicon(names=kinds).longest(words, at)
        found |= {phrase[1]} if phrase else set()
        at += phrase[0] if phrase else 1
    return found - {"asks_nothing"}


def roots(words: Iterable[str]) -> frozenset[str]:
    """The roots of words that say something; of Chinese and Japanese their characters."""
    found = set()
    for word in words:
        if CHARACTER.match(word):
            found |= set() if _GRAMMAR.match(word) else {word}
        elif len(word) >= _SHORTEST or _SIGN.match(word):
            found.add(word[: max(_HEAD, len(word) - _ENDING)])
    return frozenset(found)


def within(said: Iterable[str], asked: Iterable[str]) -> frozenset[str]:
    """The roots that are among others; of two long ones the shorter begins the other."""
    every = frozenset(asked)
    long = [root for root in every if len(root) >= _HEAD]
    return frozenset(
        root
        for root in said
        if root in every
        or (len(root) >= _HEAD and any(a.startswith(root) or root.startswith(a) for a in long))
    )


def echoes(said: Iterable[str], asked: Asked) -> bool:
    """Whether words say nothing that the question doesn't."""
    found = roots(said)
    return found == within(found, asked.every)


def of_something_else(said: Iterable[str], whole: Iterable[str], asked: Asked) -> bool:
    """Whether words are of another matter than the question's.

    Args:
        said: The words beside the option's and those of phrases.
        whole: Those of phrases, too.
        asked: The question.

    Returns:
        Whether one is not the question's: a number or a character ('type 1', not 2), or another
        one where the question's last sentence is not mostly said ('in gout', not 'in asthma').
    """
    own = roots(said)
    extra = {root for root in own - within(own, asked.every) if len(root) != _SHORTEST}
    if not extra:
        return False
    if len(extra) > 1 or any(CHARACTER.match(root) or _SIGN.match(root) for root in extra):
        return True
    return len(within(asked.last, roots(whole))) < _MOST * len(asked.last)


def answers(
    said: Sequence[str], whole: Iterable[str], later: Iterable[str], asked: Asked
) -> bool | None:
    """Whether a clause says little but what was asked (else None), and nothing but that (True).

    Args:
        said: The words of a clause, without the option's and those of phrases.
        whole: Those of phrases, too.
        later: Those of the rest of its sentence: what was asked is not said in two halves
            ('Lisinopril is for hypertension; in pregnancy ...').
        asked: The question.

    Returns:
        True where it says words of the question alone, or most of its last sentence; False where
        it says a little more; None where it says something else.
    """
    all_said = roots(said)
    known = within(all_said, asked.every)
    own = {root for root in all_said if len(root) != _SHORTEST or root in known}
    weight = sum(_OF_CHARACTER if CHARACTER.match(root) else len(root) for root in known)
    in_last = within(known, asked.last)
    halves = within(roots(later), asked.last - within(asked.last, known))
    light = weight < _SHORTEST and not (asked.asks and known and known == own)
    if light or halves or 2 * len(in_last) <= len(known):
        return None
    if of_something_else(said, whole, asked):
        return None
    if asked.asks and known != own:
        return None  # 'not an early sign' of what is no sign
    return known == own or len(in_last) >= _MOST * len(asked.last)
