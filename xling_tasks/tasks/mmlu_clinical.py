"""MMLU's clinical subjects in 11 African languages: letters generated, and by log-likelihood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from xling_tasks.data.mmlu_clinical import Exam, load
from xling_tasks.data.records import MMLU_CLINICAL
from xling_tasks.errors import DataError
from xling_tasks.tasks.exam import FlaggedChoices
from xling_tasks.tasks.mmedbench import McqaLLTask, McqaTask


class _Clinical(FlaggedChoices):
    """Data and counts of both; the questions are the same in every language."""

    exam: Exam
    language: str
    settings: Any
    config: Any
    provenance: Mapping[str, Any]

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """Every question of the language."""
        self.record = MMLU_CLINICAL[record]
        self.exam = load(self.record, self.settings.data_dir, self.settings.dataset)
        self.provenance = self.exam.provenance
        if self.language not in self.exam.questions:
            raise DataError(
                f"{self.record.title}: no files in {self.record.language_names[self.language]!r} "
                f"(there are {', '.join(self.exam.questions)}); leave its tasks out"
            )
        return [
            {
                "question_id": each.id,
                "language": self.language,
                "category": each.subject,
                "question": each.question,
                "options": dict(each.options),
                "answer": [each.answer],
                "several": False,
                "parallel": True,
                **({"flagged": self.flawed[each.id]} if each.id in self.flawed else {}),
            }
            for each in self.exam.questions[self.language]
        ]

    @property
    def flawed(self) -> Mapping[str, str]:
        """Over all languages that are there."""
        return self.exam.flawed

    def coverage(self) -> dict[str, Any]:
        """Counts; a question that is flagged is asked, and left out of the scores everywhere."""
        questions = self.exam.questions[self.language]
        return {
            "questions": len(questions),
            "subjects": dict(Counter(each.subject for each in questions)),
            "translation": self.record.translation,
            **({"texts_in": "en"} if self.record.file == "bt" else {}),
            "unusable_rows": 0,
            "unusable_reasons": {},
            "unusable_questions": [],
            "flagged": dict(self.flawed),
            "flagged_by": list(self.exam.questions),
        }

    def check_run(self) -> None:
        """There are no examples in the data that is read."""
        self.refuse_examples("these tasks have no examples")  # type: ignore[attr-defined]
        super().check_run()  # type: ignore[misc]


class ClinicalTask(_Clinical, McqaTask):
    """`mmlu_clinical_mcqa_*`."""

    criterion = "mcqa"


class ClinicalLLTask(_Clinical, McqaLLTask):
    """`mmlu_clinical_mcqa_ll_*`."""

    criterion = "mcqa_ll"
