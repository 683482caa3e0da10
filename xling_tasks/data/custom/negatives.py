"""Wrong answers to users' own questions: those of the file, else the right answer to another."""

from __future__ import annotations

import functools
import random
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import regex

from xling_tasks.data.custom.dataset import CustomDataset
from xling_tasks.data.custom.questions import Question

_TRIES = 100


class Negative(NamedTuple):
    """One wrong answer to a question.

    Attributes:
        id: `wrong_1`, ... of the file; `of_QUESTION` of another question's answer.
        text: Language -> text, where there is one.
        contradicts: Languages in which it equals the right answer, which makes it useless in all.
        shared: Whether all languages have it that have a wrong answer to the question. Others are
            shown in none: with more wrong answers in one language than in another, scores would
            differ by that alone.
    """

    id: str
    text: dict[str, str]
    contradicts: tuple[str, ...] = ()
    shared: bool = True

    def usable(self, language: str) -> bool:
        """Whether it is shown in a language."""
        return language in self.text and self.shared and not self.contradicts

    @property
    def drawn(self) -> bool:
        """Whether it is the answer to another question."""
        return self.id.startswith("of_")


@functools.lru_cache(maxsize=8)
def negatives_of(data: CustomDataset) -> dict[str, tuple[Negative, ...]]:
    """The wrong answers to every question; none to one that has no answer itself.

    Those of the file go first; a question without any gets one that is drawn: the answer to
    another question, the same one in all languages. It is drawn by a generator of the question's
    own (by its id), among those that have an answer wherever this question has, and whose
    question and answer differ from its own in every language.
    """
    pool = [item for item in data.questions if any("answer" in own for own in item.texts.values())]
    wrong = {}
    for item in pool:
        own = tuple(_given(item)) or tuple(_drawn(item, pool))
        if own:
            shared = _shared(item, own)
            wrong[item.id] = tuple(each._replace(shared=each.id in shared) for each in own)
    return wrong


def _given(item: Question) -> Iterator[Negative]:
    kinds = {k for own in item.texts.values() for k in own if k.startswith("wrong_answer_")}
    for kind in sorted(kinds, key=lambda name: int(name.rpartition("_")[2])):
        text = {code: own[kind] for code, own in item.texts.items() if kind in own}
        same = tuple(code for code, own in text.items() if _same(own, item.texts[code], "answer"))
        yield Negative(f"wrong_{kind.rpartition('_')[2]}", text, same)


def _shared(item: Question, wrong: Sequence[Negative]) -> set[str]:
    """The ids of the wrong answers that every language has which has any.

    A language that has none in common with English goes without; so does the one with the fewest,
    while there is none that all have.
    """
    good = [each for each in wrong if not each.contradicts]
    codes = sorted(item.texts, key=lambda code: code != "en")
    ids = {code: {each.id for each in good if code in each.text} for code in codes}
    left = [
        code for code in codes if ids[code] and {"question", "answer"} <= item.texts[code].keys()
    ]
    while left:
        common = set.intersection(*(ids[code] for code in left))
        if common:
            return common
        rest = [code for code in left[1:] if not ids[code] & ids[left[0]]] or left[1:]
        left.remove(min(rest, key=lambda code: len(ids[code])))
    return set()


def _drawn(item: Question, pool: Sequence[Question]) -> Iterator[Negative]:
    draw = random.Random(f"0\0{item.id}")
    tried = (pool[draw.randrange(len(pool))] for _ in range(_TRIES))
    for donor in (*tried, *pool):
        if _fits(item, donor):
            text = {code: own["answer"] for code, own in donor.texts.items() if "answer" in own}
            yield Negative(f"of_{donor.id}", text)
            return


def _fits(item: Question, donor: Question) -> bool:
    """Whether another question's answer is a wrong answer to this one, in all its languages."""
    if donor.id == item.id:
        return False
    for code, own in item.texts.items():
        other = donor.said(code)
        if "answer" in own and "answer" not in other:
            return False
        if any(kind in own and _same(own[kind], other, kind) for kind in ("question", "answer")):
            return False
    return True


def _same(text: str, other: Mapping[str, str], kind: str) -> bool:
    """Whether a text is another's, up to case, spaces and the signs around it: 'Yes.' is 'yes'."""
    return kind in other and _bare(text) == _bare(other[kind])


@functools.lru_cache(maxsize=100_000)
def _bare(text: str) -> str:
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _AROUND.sub("", words) or words


_AROUND = regex.compile(r"""^[\p{Pi}\p{Pf}\p{Ps}"'¿¡\s]+|[\p{Pi}\p{Pf}\p{Pe}"'.,;:!?。।؟،۔\s]+$""")
"""Quotes, brackets and ends of sentences; '.5', '-5', '5%' and 'Rh-' are other answers without."""
