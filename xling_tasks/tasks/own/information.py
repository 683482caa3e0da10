"""Information consistency of answers to the user's own questions: no reference is needed.

Here the languages of a question are compared with one another, so that this one is a task with
several languages by itself, and not made of parts.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from xling_tasks.data.cells import natural
from xling_tasks.data.own.load import OwnData, load, scripts_that_decide
from xling_tasks.data.prompt_sets import PromptSet
from xling_tasks.errors import DataError
from xling_tasks.tasks.information import InformationTask


class OwnInformationTask(InformationTask):
    """`xling_own_information`: each answer's claims against those of the English answer."""

    own: OwnData
    what_to_do = "`xling data check FILE` says what each task can use"

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The questions that have a text in English and in another language of this run."""
        self.own = load(self.settings.data_dir, self.settings.scripts)
        self.record, self.provenance = self.own.record, self.own.provenance
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
                "text": {code: item.said(code).get("question") for code in codes},
            }
            for item in self.own.items
        )
        self.data = PromptSet(codes, prompts, self.provenance)
        return self.documents(self.data)

    def scripts_of(self, language: str) -> tuple[str, ...]:
        """Of languages that langid does not know."""
        return self._scripts[language]

    @functools.cached_property
    def _scripts(self) -> dict[str, tuple[str, ...]]:
        return {code: scripts_that_decide(self.own, code) for code in self.languages}

    def coverage(self) -> dict[str, Any]:
        """Also the questions without English, which are asked in no language."""
        counts = super().coverage()
        lacking = Counter(
            "English text missing" if not item["text"]["en"] else "no other language"
            for item in self.data.prompts
            if not item["text"]["en"] or not any(item["text"][c] for c in self.languages[1:])
        )
        unasked = [
            str(item["id"])
            for item in self.data.prompts
            if not item["text"]["en"] or not any(item["text"][c] for c in self.languages[1:])
        ]
        return {
            **counts,
            "questions_left_out": sorted(unasked, key=natural),
            "reasons_left_out": dict(lacking),
        }
