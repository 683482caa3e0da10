"""A criterion that the package does not know, with its task: does the answer say please?

It is all that somebody writes who adds one; `test_contract` runs every command over it.
"""

from __future__ import annotations

from typing import Any

from xling_metrics.aggregate import MEAN

from xling_tasks.criteria.forms import Column, Criterion, Drawn, Endpoint
from xling_tasks.criteria.metric import Metric, Told
from xling_tasks.criteria.rows import metrics_by_name
from xling_tasks.criteria.sample import ANSWER, answer_part, number, question_part
from xling_tasks.criteria.shown import Found, Read, Shown, drops
from xling_tasks.tasks.metric import Metric as TaskMetric
from xling_tasks.tasks.sampling import GreedyTask
from xling_tasks.tasks.xlinghealth import XLingHealthTask

NAME = "says_please"

METRICS = (
    Metric(NAME, higher_is_better=True, label="Says please", range="share of answers, 0 to 1",
           told=Told("Answers that say please", "polite", "answers")),
    Metric("empty_rate", higher_is_better=False),
    Metric("n_please", in_table=False, counted=True),
)  # fmt: skip

TOY = Criterion(
    "toy",
    "Politeness of toys",
    "Does the answer say please?",
    metrics_by_name(METRICS, {}),
    (Endpoint(NAME),),
    shown=Shown(
        lambda sample, code, _: [question_part(sample, code), answer_part(sample, code)],
        found=lambda sample, _: Found(
            "polite" if sample.get(NAME) else "curt", number(sample[NAME])
        ),
        read=Read(
            lambda own, english: drops(own, english, NAME, "please", 0),
            {"Question": "Asked of the toy", ANSWER: "Said by the toy"},
        ),
        tones={"polite": "good", "curt": "bad"},
    ),
    drawn=(Drawn("dots", (NAME,)),),
    columns=(Column(NAME, "please", bounds=True, points=True),),
    note="A toy says please, or it does not.",
    glossary={NAME: "Share of answers with the word please."},
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
