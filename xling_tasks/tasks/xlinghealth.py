"""What the XLingHealth tasks share: their data."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.xlinghealth import XLingHealthData, load
from xling_tasks.tasks.base import XlingTask


class XLingHealthTask(XlingTask):
    """Base of the XLingHealth tasks."""

    data: XLingHealthData

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """Load the dataset and take this task's part of it."""
        self.record = DATASETS[record]
        self.data = load(self.record, self.settings.data_dir)
        self.provenance = self.data.provenance
        return self.docs()

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The question with its instruction."""
        prompt = self.used_prompts()[self.prompt_name]
        return prompt.fill(question=doc["question"], language=self.language_name)

    def coverage(self) -> dict[str, Any]:
        """Counts for this language."""
        return self.data.coverage(self.language)

    @abstractmethod
    def docs(self) -> list[dict[str, Any]]:
        """The task's documents."""
