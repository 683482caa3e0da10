"""Task metric: what any multilingual task of the harness measures, told as it measures it.

A task that is not ours names its metric itself. What counts of it (`logs/families`) is called one
of three things here: right or wrong, a score of which more is better, or one of which less is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xling_tasks.criteria.exam import likelihoods
from xling_tasks.criteria.forms import Column, Criterion, Endpoint, Metric, Told, metrics
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    answer_part,
    as_text,
    field,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.shown import Found, Sample, Shown

RIGHT, SCORE, LOSS = "task_right", "task_score", "task_loss"
OF_SHARES = ("acc", "exact_match")
"""What metrics of right and wrong are called, where no samples say what their values are."""

UNREAD, EMPTY = "unparsed_rate", "empty_rate"


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    return [
        question_part(sample, language),
        Part("Right", field(doc, "right", "")),
        _chosen(sample) if doc.get("candidates") else answer_part(sample, language),
    ]


def _chosen(sample: Sample) -> Part:
    """The candidates with their log-likelihoods, likeliest first: that is the answer."""
    told = (f"{as_text(text)} ({score:.3f})" for score, text in likelihoods(sample))
    return Part(ANSWER, [Passage(text) for text in told], "log-likelihoods, likeliest first")


def _found(sample: Sample, _: str) -> Found:
    if number(sample.get(UNREAD)) == 1:
        return Found("unread")
    right = number(sample.get(RIGHT))
    if right is not None:
        return Found("right" if right == 1 else "wrong", right, right == 1)
    loss, score = number(sample.get(LOSS)), number(sample.get(SCORE))
    return Found(score=score if loss is None else -loss)


TASK_METRIC = Criterion(
    "task_metric",
    "Task of lm_eval",
    "What the task itself measures, with the same questions in every language.",
    metrics(
        (
            Metric(
                RIGHT, label="Answered rightly", range="share of questions, 0 to 1",
                told=Told("Questions answered rightly", "right", "answers"),
            ),
            Metric(
                SCORE, label="The task's score", range="in its own unit", share=False, sized=False,
                told=Told("The task's score", "score"),
            ),
        ),
        (
            UNREAD,
            Metric(
                LOSS, label="The task's loss", range="in its own unit; less is better", share=False,
                sized=False, told=Told("The task's loss, of which less is better", "loss"),
            ),
        ),
        failures=(EMPTY,),
        chance=(RIGHT,),
    ),
    (Endpoint(RIGHT, instead=(SCORE, LOSS)),),
    shown=Shown(_parts, (), _found, tones={"right": "good", "wrong": "bad"}),
    columns=(
        Column(RIGHT, "right", bounds=True, points=True),
        Column(SCORE, "score", bounds=True),
        Column(LOSS, "loss", bounds=True),
        Column(UNREAD, "not read by its filter"),
    ),
    note="The value as the harness has it, in which a reply that its filter could not read is "
    "wrong; conclusions leave such replies out and give them twice and half the odds of the rest.",
)  # fmt: skip
_BEYOND = Told(
    "Questions answered rightly, beyond guessing (0) to all right (1)", "beyond guessing"
)
OTHER_QUESTIONS = replace(
    TASK_METRIC,
    metrics={
        **TASK_METRIC.metrics,
        RIGHT: replace(TASK_METRIC.metrics[RIGHT], share=False, told=_BEYOND),
    },
    key="task_metric_apart",
    title="Task of lm_eval, with questions of its own in each language",
    asks="What the task itself measures. Each language has its own questions, so languages are "
    "compared beyond guessing only.",
    parallel=False,
)
