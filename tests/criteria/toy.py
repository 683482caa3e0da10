"""A criterion that the package does not know, with its task: does the answer say please?

It is all that somebody writes who adds one; `test_contract` runs every command over it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria.forms import Criterion, Endpoint
from xling_tasks.criteria.metric import DisplayText, Metric, counted, failure
from xling_tasks.criteria.sample import answer_part, number, question_part
from xling_tasks.criteria.sample_view import SampleResult, SampleView
from xling_tasks.tasks.task import Answered, HealthTask

NAME = "says_please"

METRICS = (
    Metric(NAME, lambda answer: float("please" in answer), higher_is_better=True,
           display=DisplayText("Answers that say please", "Polite", "Does the answer say please?",
                            "share", "count")),
    failure("empty_rate", lambda answer: float(not answer.strip()), "share of empty answers"),
    counted("n_please", lambda answer: float(answer.count("please")), "how often", counted=True),
)  # fmt: skip

TOY = Criterion(
    "toy",
    "Politeness of toys",
    "A toy is asked.",
    METRICS,
    (Endpoint(NAME),),
    shown=SampleView(
        lambda sample, code, _: [question_part(sample, code), answer_part(sample, code)],
        found=lambda sample, _: SampleResult(
            "polite" if sample.get(NAME) else "curt", number(sample[NAME])
        ),
        tones={"polite": "good", "curt": "bad"},
    ),
    columns=(NAME,),
    note="A toy says please, or it does not.",
)


class ToyTask(HealthTask):
    """One answer per question."""

    criterion = "toy"
    prompt_name = "answer"

    def score(self, answered: Sequence[Answered]) -> list[str]:
        """Return the answers as they are."""
        return [one.texts[0] for one in answered]
