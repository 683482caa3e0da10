"""One language of a task over users' own questions: the built-in task, with data from a file."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from xling_tasks.data.custom.dataset import CustomDataset, load_custom_dataset, missing_part
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.tables import natural_key
from xling_tasks.errors import PromptError
from xling_tasks.languages import stop_texts
from xling_tasks.settings import Settings
from xling_tasks.tasks.base import XlingTask


class OwnPart(XlingTask):
    """What the parts share; stands before a built-in task among its bases.

    Attributes:
        needs: What a question must have to be asked, see `data.custom.dataset.missing_part`.
        lacks_instruction: Whether it is asked with an English instruction for want of one in its
            own language.
    """

    needs: tuple[str, ...] = ("question",)
    lacks_instruction = False
    what_to_do = "`xling data check FILE` says what each task can use"
    own: CustomDataset

    @classmethod
    def read(cls, settings: Settings) -> CustomDataset:
        """The user's data."""
        return load_custom_dataset(settings.data_dir)

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The questions usable in this language."""
        self.own = self.read(self.settings)
        self.record, self.provenance = self.own.info, self.own.provenance
        return self.docs()

    def docs(self) -> list[dict[str, Any]]:
        """A document per usable question, as the built-in task has it."""
        return [
            {
                "question_id": item.id,
                "language": self.language,
                "question": item.texts[self.language]["question"],
                **({"category": item.category} if item.category else {}),
                **self.fields(item),
                "parallel": not any(self.lacks(item, code) for code in self.own.languages),
            }
            for item in self.own.questions
            if not self.lacks(item, self.language)
        ]

    def fields(self, item: Question) -> dict[str, Any]:
        """What the task's documents have beside the question."""
        return {}

    def lacks(self, item: Question, language: str) -> str:
        """What a question lacks to be asked in a language, in words; empty if nothing."""
        return missing_part(item, language, self.needs)

    def coverage(self) -> dict[str, Any]:
        """Counts for this language."""
        return self._coverage

    @functools.cached_property
    def _coverage(self) -> dict[str, Any]:
        lacking = {
            item.id: why for item in self.own.questions if (why := self.lacks(item, self.language))
        }
        return {
            "questions": len(self.own.questions),
            "script": self.own.languages[self.language].script,
            "invalid_rows": len(lacking),
            "invalid_reasons": dict(Counter(lacking.values())),
            "unusable_questions": sorted(lacking, key=natural_key),
        }

    @property
    def generation_arguments(self) -> dict[str, Any]:
        """With the stop texts of this language, where the template has those of English."""
        arguments = super().generation_arguments
        if arguments.get("until") == stop_texts("en"):
            arguments["until"] = stop_texts(self.language)
        return arguments

    def instruction_language(self, language: str) -> str:
        """As the built-in task; English where `published` asks for one that has no text."""
        wanted = super().instruction_language(language)
        if wanted == "en" or self.settings.prompt_language == "native":
            return wanted
        try:
            self.prompts.get(self.prompt_name, wanted)
        except PromptError:
            self.lacks_instruction = True
            return "en"
        return wanted
