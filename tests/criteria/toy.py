"""A criterion that the package does not know, with its task: does the answer say please?

It is all that somebody writes who adds one; `test_contract` runs every command over it.
"""

from __future__ import annotations

from typing import Any

from xling_metrics.aggregate import MEAN

from xling_tasks.criteria.forms import Criterion, Endpoint
from xling_tasks.criteria.metric import DisplayText, Metric
from xling_tasks.criteria.rows import metrics_by_name
from xling_tasks.criteria.sample import answer_part, number, question_part
from xling_tasks.criteria.shown import Found, Shown
from xling_tasks.tasks.metric import Metric as TaskMetric
from xling_tasks.tasks.sampling import GreedyTask
from xling_tasks.tasks.xlinghealth import XLingHealthTask

NAME = "says_please"

METRICS = (
    Metric(NAME, higher_is_better=True,
           display=DisplayText("Answers that say please", "Polite", "Does the answer say please?",
                            "share", "count")),
    Metric("empty_rate", higher_is_better=False),
    Metric("n_please", in_table=False, counted=True),
)  # fmt: skip

TOY = Criterion(
    "toy",
    "Politeness of toys",
    "A toy is asked.",
    metrics_by_name(METRICS, {}),
    (Endpoint(NAME),),
    shown=Shown(
        lambda sample, code, _: [question_part(sample, code), answer_part(sample, code)],
        found=lambda sample, _: Found(
            "polite" if sample.get(NAME) else "curt", number(sample[NAME])
        ),
        tones={"polite": "good", "curt": "bad"},
    ),
    columns=(NAME,),
    note="A toy says please, or it does not.",
)


class ToyTask(GreedyTask, XLingHealthTask):
    """One answer per question."""

    criterion = "toy"
    prompt_name = "answer"

    def docs(self) -> list[dict[str, Any]]:
        """All questions."""
        return list(self.data.docs(self.language))

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The question with its instruction."""
        language = self.record.language_names[self.language]
        return self.used_prompts()["answer"].fill(question=doc["question"], language=language)

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """Nothing is expected."""
        return ""

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Whether it says please."""
        (answer,) = results[0] if isinstance(results[0], list) else results
        return {
            NAME: float("please" in answer),
            "empty_rate": float(not answer.strip()),
            "n_please": float(answer.count("please")),
        }

    def metrics(self) -> list[TaskMetric]:
        """Shares of the answers, and a count."""
        return [TaskMetric(name, MEAN, name) for name in (NAME, "empty_rate", "n_please")]
