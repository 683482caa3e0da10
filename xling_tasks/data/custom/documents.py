"""Users' own questions as documents of the tasks: one task a language, for each criterion.

What a question must have to be asked in a language follows from the criterion. A document has the
form of the built-in data, so that the tasks need not know where it came from.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xling_tasks.data.custom.dataset import (
    RUBRIC_SAMPLE,
    CustomDataset,
    invalid_choices,
    load_custom_dataset,
    missing_part,
)
from xling_tasks.data.custom.questions import Question, is_same_answer
from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.data.tables import natural_key

RECORD = "custom"
"""The record of users' own questions in task files."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "correctness": ("question", "answer"),
    "consistency": ("question",),
    "verifiability": ("question", "answer"),
    "verifiability_ll": ("question", "answer"),
    "mcqa": ("question", "choice"),
    "rubric": ("question", "rubric"),
}
"""The kinds of task with a task for each language -> what their questions need."""

_WITH_NEGATIVES = ("verifiability", "verifiability_ll")


@dataclass(frozen=True)
class CustomDocuments:
    """A user's questions as one kind of task asks them.

    Attributes:
        kind: A key of `NEEDS`.
        dataset: The user's file.
    """

    kind: str
    dataset: CustomDataset

    @classmethod
    def load(cls, kind: str, data_dir: str | None) -> CustomDocuments:
        """Read and check the user's file, once."""
        sample = RUBRIC_SAMPLE if kind == "rubric" else None
        return cls(kind, load_custom_dataset(data_dir, sample))

    @property
    def info(self) -> DatasetInfo:
        """What is known of the file as a data set."""
        return self.dataset.info

    @property
    def provenance(self) -> dict[str, Any]:
        """Name and digest of the file."""
        return self.dataset.provenance

    def docs(self, language: str) -> list[dict[str, Any]]:
        """Return a document per question that can be asked in a language."""
        return [
            {
                "question_id": question.id,
                "language": language,
                "question": question.texts[language]["question"],
                **({"category": question.category} if question.category else {}),
                **self._fields(question, language),
                "parallel": not any(self.lack(question, code) for code in self.dataset.languages),
            }
            for question in self.dataset.questions
            if not self.lack(question, language)
        ]

    def coverage(self, language: str) -> dict[str, Any]:
        """Return how many questions there are, and which cannot be asked in a language and why."""
        lacks = {question.id: self.lack(question, language) for question in self.dataset.questions}
        reasons = {key: reason for key, reason in lacks.items() if reason}
        counts: dict[str, Any] = {
            "questions": len(lacks),
            "script": self.dataset.languages[language].script,
            "invalid_rows": len(reasons),
            "invalid_reasons": dict(Counter(reasons.values())),
            "unusable_questions": sorted(reasons, key=natural_key),
        }
        if self.kind in _WITH_NEGATIVES:
            every = [n for group in negatives_of(self.dataset).values() for n in group]
            n_drawn = sum(negative.is_drawn for negative in every)
            counts["wrong_answers"] = {"given": len(every) - n_drawn, "drawn": n_drawn}
        if self.flagged:
            counts["flagged"] = self.flagged
        if canaries := sorted({q.canary for q in self.dataset.questions if q.canary}):
            counts["canary"] = canaries
        return counts

    def languages(self) -> Iterator[str]:
        """Yield the languages in which some question can be asked, English first."""
        for code in self.dataset.languages:
            if not all(self.lack(question, code) for question in self.dataset.questions):
                yield code

    def lack(self, question: Question, language: str) -> str:
        """Return what a question lacks to be asked in a language, in words; '' if nothing."""
        if reason := missing_part(question, language, NEEDS[self.kind]):
            return reason
        negatives = negatives_of(self.dataset).get(question.id, ())
        if self.kind not in _WITH_NEGATIVES or any(n.is_usable(language) for n in negatives):
            return ""
        if any(language in negative.texts for negative in negatives):
            return "other wrong answers than in other languages"
        return "wrong answer missing"

    def _fields(self, question: Question, language: str) -> dict[str, Any]:
        """Return what a document has beside the question."""
        if self.kind == "mcqa":
            flagged = self.flagged.get(question.id)
            return {
                "options": question.options(language),
                "answer": list(question.correct),
                "several": self._several,
                **({"flagged": flagged} if flagged else {}),
            }
        if self.kind == "rubric":  # the canary stays with the data, in logs too
            categories = list(question.agreed_categories)
            return {
                "turns": [dict(turn) for turn in question.turns_in(language)],
                "criteria": [
                    {**item._asdict(), "tags": list(item.tags)} for item in question.rubric
                ],
                "themes": list(question.themes),
                **({"categories": categories} if categories else {}),
                **({"canary": question.canary} if question.canary else {}),
            }
        answer = question.texts[language].get("answer")
        if self.kind not in _WITH_NEGATIVES:
            return {"reference": answer}
        answers = [{"answer_id": "right", "label": 1, "text": answer}]
        for negative in negatives_of(self.dataset).get(question.id, ()):
            if negative.is_usable(language):
                text = negative.texts[language]
                answers.append({"answer_id": negative.id, "label": 0, "text": text})
        return {"reference": answer, "answers": answers}

    @property
    def flagged(self) -> dict[str, str]:
        """Question -> why its options are unfair in some language; the same in all languages."""
        return invalid_choices(self.dataset) if self.kind == "mcqa" else {}

    @functools.cached_property
    def _several(self) -> bool:
        return any(len(question.correct) > 1 for question in self.dataset.questions)


# Wrong answers

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
    return {key: group for key, group in negatives.items() if group}


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
