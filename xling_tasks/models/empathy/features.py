"""What the linear empathy classifier sees of a pair of posts: terms, and numbers.

All is English: the classifier is asked about translations. The word classes were written for this
project, from what the mechanisms are defined by (EPITOME, arXiv 2009.08441).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

_ENDS = re.compile(r"(?<=[.!?…])[\"')]*\s+")
_TOKEN = re.compile(r"\w+(?:'\w+)?|[?!.…]+|[:;][-']?[)(dp]|<3|❤")
_WORD = re.compile(r"\w+(?:'\w+)*")
_SMILE = re.compile(r"[:;=]-?[)(dp]|<3|❤|♥")

_ME = frozenset("i me my mine myself im i'm ive i've i'd i'll".split())  # noqa: SIM905
_YOU = frozenset("you your yours u ur youre you're you've you'd you'll".split())  # noqa: SIM905
_CLASSES = {
    "me": " ".join(_ME),
    "you": " ".join(_YOU),
    "feeling": "sorry sad hope hoping glad happy proud love loved care worried worry concerned "
    "scared afraid heartbreaking heartbroken breaks awful terrible horrible upset upsetting "
    "painful hurts hurt sucks wish feel feeling felt hugs hug excited grateful thankful "
    "appreciate sympathy sympathize empathize touched moved",
    "advice": "should try need must could consider suggest recommend advice see go talk call get "
    "take start stop find make",
    "likeness": "same too also similar relate understand know been went through experienced "
    "exactly likewise",
    "negation": "not don't dont never no can't cant won't isn't wasn't didn't doesn't",
}
_CLASS_OF = {word: name for name, words in _CLASSES.items() for word in words.split()}


class Text(NamedTuple):
    """A pair taken apart.

    Attributes:
        spans: Where each sentence of the response starts and ends; at least one.
        sentences: The terms of each sentence.
        numbers: 13 numbers of each sentence: whether it asks, whom it speaks of, length, place.
        response: The terms of the whole response.
        seeker: The words of the seeker's post.
        whole: 23 numbers of the pair: questions, pronouns, lengths, and the share of the
            response's words that the seeker's post has.
    """

    spans: tuple[tuple[int, int], ...]
    sentences: tuple[list[str], ...]
    numbers: tuple[tuple[float, ...], ...]
    response: list[str]
    seeker: list[str]
    whole: tuple[float, ...]


def read(seeker: str, response: str) -> Text:
    """Take apart a seeker's post and a response, both with single spaces."""
    spans = _spans(response)
    theirs = _WORD.findall(_lower(seeker))
    lowered = [_lower(response[start:end]) for start, end in spans]
    return Text(
        spans=spans,
        sentences=tuple(list(_terms(sentence)) for sentence in lowered),
        numbers=tuple(
            _sentence_numbers(sentence, place == 0, place == len(lowered) - 1)
            for place, sentence in enumerate(lowered)
        ),
        response=list(_terms(_lower(response))),
        seeker=theirs,
        whole=_pair_numbers(frozenset(theirs), _lower(response), lowered),
    )


def covered(text: Text, response: str, rationales: Sequence[str]) -> np.ndarray:
    """The share of each sentence's characters that is in a rationale, in [0, 1]."""
    inside = np.zeros(len(response))
    for rationale in rationales:
        place = response.find(rationale)
        while place >= 0:
            inside[place : place + len(rationale)] = 1
            place = response.find(rationale, place + 1)
    return np.array([inside[start:end].mean() for start, end in text.spans])


def _spans(response: str) -> tuple[tuple[int, int], ...]:
    """Where sentences start and end; the white space between them is in none."""
    starts, ends = [0], []
    for gap in _ENDS.finditer(response):
        ends.append(gap.start())
        starts.append(gap.end())
    ends.append(len(response))
    spans = tuple((start, end) for start, end in zip(starts, ends, strict=True) if start < end)
    return spans or ((0, len(response)),)


def _lower(text: str) -> str:
    return text.lower().replace("’", "'")


def _terms(text: str) -> Iterator[str]:
    """Tokens, bigrams, bigrams with word classes, and which classes occur and follow each other.

    Classes start with `|`, which no token does.
    """
    tokens = _TOKEN.findall(text)
    yield from tokens
    yield from map(" ".join, pairwise(tokens))
    classed = [f"|{_CLASS_OF[token]}" if token in _CLASS_OF else token for token in tokens]
    for first, second in pairwise(classed):
        if first[0] == "|" or second[0] == "|":
            yield f"{first} {second}"
    bars = [token for token in classed if token[0] == "|"]
    yield from map("".join, pairwise(bars))
    yield from dict.fromkeys(bars)


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"') ").endswith("?")


def _sentence_numbers(sentence: str, first: bool, last: bool) -> tuple[float, ...]:
    words = _WORD.findall(sentence)
    me, you = not _ME.isdisjoint(words), not _YOU.isdisjoint(words)
    asks, n = "?" in sentence, len(words)
    flags = (_asks(sentence), asks, me, you, me and you, asks and you, sentence.endswith("!"))
    place = (n < 4, n < 8, n > 25, first, last)
    return (*map(float, flags + place), math.log1p(n) / 2)


def _pair_numbers(
    theirs: frozenset[str], response: str, sentences: Sequence[str]
) -> tuple[float, ...]:
    words, total = _WORD.findall(response), len(sentences)
    n, asking = max(len(words), 1), [sentence for sentence in sentences if _asks(sentence)]
    asked = sum(not _YOU.isdisjoint(_WORD.findall(sentence)) for sentence in asking)
    long = [word for word in words if len(word) > 3]
    me, you = (sum(word in some for word in words) for some in (_ME, _YOU))
    flags = (
        *(bool(asking), "?" in response, asked > 0, len(asking) == total, me > 0, you > 0),
        *(_asks(sentences[0]), _asks(sentences[-1]), words[:1] in (["i"], ["i'm"])),
        *(n < 12, n < 25, n > 100, bool(_SMILE.search(response))),
    )
    shares = (
        *(len(asking) / total, asked / total, me / n, you / n),
        len(theirs.intersection(words)) / max(len(set(words)), 1),
        sum(word in theirs for word in long) / max(len(long), 1),
    )
    counts = (min(len(asking), 3), min(response.count("!"), 3))
    lengths = (math.log1p(len(words)), math.log1p(total))
    return (*map(float, flags), *shares, *map(float, counts), *lengths)


View = Literal["response", "sentence", "seeker"]
"""Which texts a scorer looks at."""


def rows_of(view: View, texts: Sequence[Text]) -> tuple[list[list[str]], np.ndarray | None]:
    """What a scorer sees: the terms of each row, and the numbers that stand beside them, if any.

    A row is a sentence of a response, in their order, or else a pair.
    """
    if view == "sentence":
        numbers = np.array([row for text in texts for row in text.numbers]) / 2
        return [terms for text in texts for terms in text.sentences], numbers
    return [text.response if view == "response" else text.seeker for text in texts], None
