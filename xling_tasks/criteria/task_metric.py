"""Task metric: what any multilingual task of the harness measures, told as it measures it.

A task that is not ours names its metric itself. What counts of it (`logs/families`) is called one
of three things here: right or wrong, a score of which more is better, or one of which less is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_tasks.criteria.exam import likelihoods
from xling_tasks.criteria.metric import Metric
from xling_tasks.criteria.rows import criterion
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
from xling_tasks.criteria.sample_view import Sample, SampleResult, SampleView

RIGHT, SCORE, LOSS = "task_acc", "task_score", "task_loss"
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
    """Return the candidates with their log-likelihoods, likeliest first."""
    texts = (f"{as_text(text)} ({score:.3f})" for score, text in likelihoods(sample))
    return Part(ANSWER, [Passage(text) for text in texts], "log-likelihoods, likeliest first")


def _found(sample: Sample, _: str) -> SampleResult:
    if number(sample.get(UNREAD)) == 1:
        return SampleResult("unparsed")
    right = number(sample.get(RIGHT))
    if right is not None:
        return SampleResult("right" if right == 1 else "wrong", right, right == 1)
    loss, score = number(sample.get(LOSS)), number(sample.get(SCORE))
    return SampleResult(score=score if loss is None else -loss)


METRICS = (
    Metric(RIGHT, higher_is_better=True, note="share of questions answered rightly",
           chance=True, known_chance=True),
    Metric(SCORE, higher_is_better=True, note="the task's score", sized=False),
    Metric(LOSS, higher_is_better=False, note="the task's loss", sized=False),
    Metric(UNREAD, higher_is_better=False, note="share of responses its filter could not read"),
    Metric(EMPTY, higher_is_better=False, note="share of empty responses", in_table=False),
)  # fmt: skip
"""What counts of a task that is not ours; made of its own metrics when its results are read."""

_SHOWN = SampleView(_parts, (), _found, tones={"right": "good", "wrong": "bad"})
TASK_METRIC, OTHER_QUESTIONS = (
    criterion(key, METRICS, _SHOWN) for key in ("task_metric", "task_metric_apart")
)
