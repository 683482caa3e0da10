"""Metrics that every task has: which responses came, and whether they were of use.

Three things look alike, an empty text, and are not: `empty_rate` (the model said nothing),
`content_filter_rate` (a content filter held the answer back) and `failed_rate` (the service did not
work: unscored, left out of every other metric, and asked again at the next start).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xling_metrics.aggregate import RATIO

from xling_tasks.criteria.metric import Metric, constant, counted, failure
from xling_tasks.failed_response import RESPONSES, is_empty, is_failed, is_filtered
from xling_tasks.outcomes import HELPED, SERVED


class Responses(NamedTuple):
    """What came for one question.

    Attributes:
        texts: The responses, in the order of their requests; log-likelihoods where such were asked.
        record: What its sample keeps of them.
        repeatable: What other questions' responses are compared with; None for nothing.
    """

    texts: Sequence[Any]
    record: Mapping[str, Any] = {}
    repeatable: int | None = None


def most_frequent(digests: Sequence[int]) -> float | None:
    """Return the share of the most frequent text; None of a single one."""
    return max(Counter(digests).values()) / len(digests) if len(digests) > 1 else None


def count_answered(record: Mapping[str, Any]) -> int:
    """Return how many of a question's requests got a response, by its record."""
    return int(record["asked"]) - sum("outcome" in row for row in record["responses"])


RESPONSE_METRICS = (
    failure("failed_rate", lambda own: [sum(map(is_failed, own.texts)), len(own.texts)],
            "share of responses whose request failed; unscored", aggregate=RATIO,
            sign=constant("of:all_answers")),
    failure("content_filter_rate", lambda own: [sum(map(is_filtered, own.texts)), len(own.texts)],
            "share of responses that a content filter held back", aggregate=RATIO,
            sign=constant("of:all_answers")),
    counted(RESPONSES, lambda own: own.record, "responses that came",
          aggregate=lambda own: sum(map(count_answered, own)),
          sign=constant("of:all_answers")),
    counted("repeated_responses", lambda own: own.repeatable,
          "share of the questions that got the most frequent response",
          aggregate=most_frequent, sign=constant("of:first_answers"),
          when=lambda task: task.scores_texts),
)  # fmt: skip
"""The metrics of tasks whose responses are texts; they read `Responses`."""

INVALID_ROWS = counted(
    "invalid_rows", lambda own: 0, "rows of the data that cannot be used",
    aggregate=lambda values: None, sign=constant("count|whole_file:yes"),
)  # fmt: skip
"""How many there are, the task says: it is the same for all questions."""

USABLE = Metric(
    SERVED, higher_is_better=True, note="share of questions with a usable answer (by outcomes)"
)
HELPFUL = Metric(
    HELPED, higher_is_better=True, note="share of questions with a usable answer that helped"
)

LANGID_MATCH = "langid_match"


def of_answer(name: str) -> Any:
    """Return what a row has of its one answer."""
    return lambda row: row.about[name]


ANSWER_METRICS = (
    counted("length_words", of_answer("length_words"), "words of an answer",
          sign=lambda task: task.answer_language().signature_of("length_words"),
          across_languages=False, counted=True),
    failure("empty_rate", of_answer("empty_rate"), "share of empty answers",
            sign=constant("of:all_questions")),
    counted("refusal_rate", of_answer("refusal_rate"), "share of answers that decline in words",
          sign=constant("of:all_questions|reader:ours")),
    Metric(LANGID_MATCH, of_answer(LANGID_MATCH), higher_is_better=True,
           note="share of answers in the question's language",
           sign=lambda task: task.answer_language().signature_of(LANGID_MATCH)),
)  # fmt: skip
"""What is measured of the one answer to a question, also where nothing judges it."""


def empty_share(texts: Sequence[str]) -> list[int]:
    """Return [empty, all] of some texts."""
    return [sum(map(is_empty, texts)), len(texts)]
