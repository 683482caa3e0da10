"""Wrong answers to users' own questions: those of the file, else the answer to another question."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xling_tasks.data.custom.dataset import CustomDataset
from xling_tasks.data.custom.questions import Question, is_same_answer

_MAX_TRIES = 100


class Negative(NamedTuple):
    """A wrong answer to a question.

    Attributes:
        id: `wrong_1`, ... of the file; `of_QUESTION` of another question's answer.
        texts: Language -> text, where there is one.
        is_shared: Whether every language has it that has any wrong answer to the question. Others
            are shown in none: with more wrong answers in one language than in another, scores
            would differ by that alone.
    """

    id: str
    texts: dict[str, str]
    is_shared: bool = True

    def is_usable(self, language: str) -> bool:
        """Return whether it is shown in a language."""
        return self.is_shared and language in self.texts

    @property
    def is_drawn(self) -> bool:
        """Whether it is the answer to another question."""
        return self.id.startswith("of_")


@functools.lru_cache(maxsize=8)
def negatives_of(dataset: CustomDataset) -> dict[str, tuple[Negative, ...]]:
    """Return the wrong answers to every question; none to one without an answer.

    A question without any in the file gets the answer to another question, the same one in all
    languages. It is drawn by a generator of the question's id, among those that have an answer
    wherever this question has, and whose question and answer differ from its in every language.
    """
    pool = [
        question
        for question in dataset.questions
        if any("answer" in t for t in question.texts.values())
    ]
    negatives = {
        question.id: tuple(_given(question)) or tuple(_draw(question, pool)) for question in pool
    }
    return {key: found for key, found in negatives.items() if found}


def _given(question: Question) -> Iterator[Negative]:
    kinds = {k for texts in question.texts.values() for k in texts if k.startswith("wrong_answer_")}
    askable = {c: t for c, t in question.texts.items() if {"question", "answer"} <= t.keys()}
    needed = {code for code, texts in askable.items() if kinds & texts.keys()}
    for kind in sorted(kinds, key=lambda name: int(name.rpartition("_")[2])):
        texts = {code: by_kind[kind] for code, by_kind in question.texts.items() if kind in by_kind}
        yield Negative(f"wrong_{kind.rpartition('_')[2]}", texts, needed <= texts.keys())


def _draw(question: Question, pool: Sequence[Question]) -> Iterator[Negative]:
    draw = random.Random(f"0\0{question.id}")
    tried = (pool[draw.randrange(len(pool))] for _ in range(_MAX_TRIES))
    for donor in (*tried, *pool):
        if _fits(question, donor):
            texts = {
                code: by_kind["answer"]
                for code, by_kind in donor.texts.items()
                if "answer" in by_kind
            }
            yield Negative(f"of_{donor.id}", texts)
            return


def _fits(question: Question, donor: Question) -> bool:
    """Return whether another question's answer is a wrong answer to this one, in all languages."""
    for code, texts in question.texts.items():
        other = donor.texts_in(code)
        if "answer" in texts and "answer" not in other:
            return False
        kinds = [kind for kind in ("question", "answer") if kind in texts]
        if any(is_same_answer(texts[kind], other.get(kind)) for kind in kinds):
            return False
    return donor.id != question.id
