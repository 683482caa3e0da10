"""The tasks over users' own questions that are built-in tasks over other data.

Information compares the languages of a question with one another, so that it is a task with several
languages by itself; the others have a part for each language.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from xling_tasks.data.custom.dataset import (
    CustomDataset,
    invalid_choices,
    load_custom_dataset,
    missing_part,
)
from xling_tasks.data.custom.negatives import Negative, negatives_of
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.prompt_sets import PromptSet
from xling_tasks.data.tables import natural_key
from xling_tasks.errors import DataError
from xling_tasks.tasks.consistency import ConsistencyTask
from xling_tasks.tasks.correctness import CorrectnessTask
from xling_tasks.tasks.exam import FlaggedChoices
from xling_tasks.tasks.information import InformationTask
from xling_tasks.tasks.mmedbench import McqaTask
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask
from xling_tasks.tasks.requests import STAND_IN
from xling_tasks.tasks.verifiability import VerifiabilityLLTask, VerifiabilityTask


class OwnConsistencyPart(OwnPart, ConsistencyTask):
    """Consistency in one language."""

    @functools.cached_property
    def _references(self) -> dict[str, str]:
        """For costs: a text about as long as an answer."""
        return {
            item.id: own.get("answer") or STAND_IN
            for item in self.own.questions
            for own in [item.texts_in(self.language)]
        }


class OwnConsistencyTask(OwnTask):
    """`xling_custom_consistency`."""

    part = OwnConsistencyPart


class OwnCorrectnessPart(OwnPart, CorrectnessTask):
    """Correctness in one language."""

    needs = ("question", "answer")

    def fields(self, item: Question) -> dict[str, Any]:
        """The reference answer."""
        return {"reference": item.texts[self.language]["answer"]}


class OwnCorrectnessTask(OwnTask):
    """`xling_custom_correctness`."""

    part = OwnCorrectnessPart


class _Rows(OwnPart):
    """A question with its right answer and its wrong ones."""

    needs = ("question", "answer")

    def wrong(self, item: Question, language: str) -> list[Negative]:
        """The wrong answers that are usable in a language."""
        own = negatives_of(self.own).get(item.id, ())
        return [each for each in own if each.is_usable(language)]

    def lacks(self, item: Question, language: str) -> str:
        """Also a wrong answer."""
        lacking = missing_part(item, language, self.needs)
        if lacking or self.wrong(item, language):
            return lacking
        own = negatives_of(self.own).get(item.id, ())
        if any(language in each.texts for each in own):
            return "other wrong answers than in other languages"
        return "wrong answer missing"

    def fields(self, item: Question) -> dict[str, Any]:
        """The answers with their labels, the right one first."""
        right = {"answer_id": "right", "label": 1, "text": item.texts[self.language]["answer"]}
        wrong = [
            {"answer_id": each.id, "label": 0, "text": each.texts[self.language]}
            for each in self.wrong(item, self.language)
        ]
        return {"answers": [right, *wrong]}

    def coverage(self) -> dict[str, Any]:
        """Also how many wrong answers are the file's, and how many drawn."""
        every = [each for own in negatives_of(self.own).values() for each in own]
        drawn = sum(each.is_drawn for each in every)
        told = {"given": len(every) - drawn, "drawn": drawn}
        told["without_text"] = sum(self.language not in each.texts for each in every)
        told["not_in_all"] = sum(not each.is_shared for each in every)
        return {**super().coverage(), "wrong_answers": told}


class OwnVerifiabilityPart(_Rows, VerifiabilityTask):
    """Generated verdicts in one language."""


class OwnVerifiabilityLLPart(_Rows, VerifiabilityLLTask):
    """Verdicts by log-likelihood in one language."""


class OwnVerifiabilityTask(OwnTask):
    """`xling_custom_verifiability`."""

    part = OwnVerifiabilityPart


class OwnVerifiabilityLLTask(OwnTask):
    """`xling_custom_verifiability_ll`."""

    reads_keys = frozenset({"description"})
    part = OwnVerifiabilityLLPart


class OwnMcqaPart(FlaggedChoices, OwnPart, McqaTask):
    """Letters in one language, generated."""

    criterion = "mcqa"
    needs = ("question", "choice")

    def check_run(self) -> None:
        """There are no further questions that could be examples."""
        self.refuse_examples("your own questions have no training part")
        super().check_run()

    @functools.cached_property
    def _several(self) -> bool:
        return any(len(item.correct) > 1 for item in self.own.questions)

    def fields(self, item: Question) -> dict[str, Any]:
        """Options and right letters; `several` where some question of the file has several."""
        return {
            "options": item.options(self.language),
            "answer": list(item.correct),
            "several": self._several,
            **({"flagged": why} if (why := self.flawed.get(item.id)) else {}),
        }

    @property
    def flawed(self) -> dict[str, str]:
        """Over all languages of the file."""
        return invalid_choices(self.own)

    @functools.cached_property
    def _coverage(self) -> dict[str, Any]:
        """With the questions that are asked and left out of the scores in every language."""
        return {**super()._coverage, **({"flagged": self.flawed} if self.flawed else {})}


class OwnMcqaTask(OwnTask):
    """`xling_custom_mcqa`."""

    part = OwnMcqaPart


class OwnInformationTask(InformationTask):
    """`xling_custom_information`: each answer's claims against those of the English answer."""

    own: CustomDataset
    what_to_do = "`xling data check FILE` says what each task can use"

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The questions that have a text in English and in another language of this run."""
        self.own = load_custom_dataset(self.settings.data_dir)
        self.record, self.provenance = self.own.info, self.own.provenance
        codes = self.record.languages
        if codes[0] != "en":
            raise DataError(
                f"{self._name}: answers are compared with the English one, but the file has "
                f"questions in {', '.join(codes)} only; add question_en"
            )
        prompts = tuple(
            {
                "id": item.id,
                **({"category": item.category} if item.category else {}),
                "text": {code: item.texts_in(code).get("question") for code in codes},
            }
            for item in self.own.questions
        )
        self.data = PromptSet(codes, prompts, self.provenance)
        return self.documents(self.data)

    def coverage(self) -> dict[str, Any]:
        """Also the questions without English, which are asked in no language."""
        unasked = {
            str(item["id"]): "no other language" if item["text"]["en"] else "English text missing"
            for item in self.data.prompts
            if not item["text"]["en"] or not any(item["text"][c] for c in self.languages[1:])
        }
        return {
            **super().coverage(),
            "questions_left_out": sorted(unasked, key=natural_key),
            "reasons_left_out": dict(Counter(unasked.values())),
        }
