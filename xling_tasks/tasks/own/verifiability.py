"""Verifiability of the user's own answers: is a right one told from a wrong one?"""

from __future__ import annotations

from typing import Any

from xling_tasks.data.own.load import missing
from xling_tasks.data.own.rows import Item
from xling_tasks.data.own.wrong import Wrong, wrong_answers
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask
from xling_tasks.tasks.verifiability import VerifiabilityLLTask, VerifiabilityTask


class _Rows(OwnPart):
    """A question with its right answer and its wrong ones."""

    needs = ("question", "answer")

    def wrong(self, item: Item, language: str) -> list[Wrong]:
        """The wrong answers that are usable in a language."""
        own = wrong_answers(self.own, self.settings.wrong_answers_seed).get(item.id, ())
        return [each for each in own if each.usable(language)]

    def lacks(self, item: Item, language: str) -> str:
        """Also a wrong answer."""
        lacking = missing(item, language, self.needs)
        if lacking or self.wrong(item, language):
            return lacking
        own = wrong_answers(self.own, self.settings.wrong_answers_seed).get(item.id, ())
        if any(each.contradicts for each in own):
            return "wrong answer equals the correct one"
        if any(language in each.text for each in own):
            return "other wrong answers than in other languages"
        return "wrong answer missing"

    def fields(self, item: Item) -> dict[str, Any]:
        """The answers with their labels, the right one first."""
        right = {"answer_id": "right", "label": 1, "text": item.texts[self.language]["answer"]}
        wrong = [
            {"answer_id": each.id, "label": 0, "text": each.text[self.language]}
            for each in self.wrong(item, self.language)
        ]
        return {"answers": [right, *wrong]}

    def coverage(self) -> dict[str, Any]:
        """Also how many wrong answers are the file's, and how many drawn."""
        seed = self.settings.wrong_answers_seed
        every = [each for own in wrong_answers(self.own, seed).values() for each in own]
        drawn = sum(each.drawn for each in every)
        told = {"given": len(every) - drawn, "drawn": drawn}
        told |= {"seed": seed} if drawn else {}
        told["without_text"] = sum(self.language not in each.text for each in every)
        told["not_in_all"] = sum(not each.shared and not each.contradicts for each in every)
        return {**super().coverage(), "wrong_answers": told}


class OwnVerifiabilityPart(_Rows, VerifiabilityTask):
    """Generated verdicts in one language."""


class OwnVerifiabilityLLPart(_Rows, VerifiabilityLLTask):
    """Verdicts by log-likelihood in one language."""


class OwnVerifiabilityTask(OwnTask):
    """`xling_own_verifiability`."""

    part = OwnVerifiabilityPart


class OwnVerifiabilityLLTask(OwnTask):
    """`xling_own_verifiability_ll`."""

    reads_keys = frozenset({"description"})
    part = OwnVerifiabilityLLPart
