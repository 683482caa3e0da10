"""Texts that are one for different questions: answers, in whatever language, and questions.

A model that declines everything, or has one way to answer, is measured as it is: its answers count,
and the report says how many of them are that text.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA, ENGLISH, Place
from xling_tasks.outcomes import SERVED

_QUESTIONS = 3
_SHARE = 0.1
_SHOWN = 80


class Said(NamedTuple):
    """A text that several questions got."""

    text: str  # Its beginning.
    times: int  # Questions that got it.
    asked: int  # Questions with an answer.


class OneText:
    """Counts the answers of a task by language and text, where answers are free text."""

    def __init__(self, place: Place) -> None:
        self._place, self._free = place, SERVED in CRITERIA[place.criterion].metrics
        self._times: Counter[tuple[str, int]] = Counter()
        self._asked: Counter[str] = Counter()
        self._shown: dict[tuple[str, int], str] = {}

    def add(self, sample: Mapping[str, Any]) -> None:
        """Count a sample's answers, each question and language once."""
        texts = sample["doc"].get("text") or () if self._free else ()
        own = [self._place.language] if self._place.language and self._free else texts
        for code, replies in zip(own, sample.get("resps") or (), strict=False):
            said = str(replies[0]) if isinstance(replies, list) and replies else ""
            words = " ".join(said.split())
            if any(map(str.isalpha, words)):
                kind = (code, hash(words.casefold()))
                self._times[kind] += 1
                self._asked[code] += 1
                self._shown.setdefault(kind, words[:_SHOWN])

    def found(self) -> Iterator[tuple[str, Said]]:
        """By language the texts that several and many questions got, the commonest first."""
        for (code, kind), times in self._times.most_common():
            if times >= max(_QUESTIONS, _SHARE * self._asked[code]):
                yield code, Said(self._shown[code, kind], times, self._asked[code])


def text_number(doc: Mapping[str, Any]) -> int:
    """A number that is the same for questions with the same text, whatever their ids."""
    text = doc.get("text", doc.get("question"))
    text = text.get(ENGLISH) if isinstance(text, Mapping) else text
    plain = " ".join(str(text or doc["question_id"]).split()).casefold()
    digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
