"""What is measured of every answer, also where nothing judges it: length, language, refusal."""

from __future__ import annotations

from xling_metrics.aggregate import MEAN
from xling_metrics.base import signature
from xling_metrics.words import can_segment, length_words, segmenter_name

from xling_tasks.readers.refusals import declines
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.second import SecondOpinion
from xling_tasks.unanswered import empty


def values(answer: str, language: str, second: SecondOpinion) -> dict[str, float | None]:
    """An answer's length in words and three rates.

    None where words cannot be cut, and where the answer is too short to tell its language.

    Args:
        answer: The answer.
        language: Of the question.
        second: The second opinion on its language, if there is one.
    """
    words = length_words(answer, language) if can_segment(language) else None
    return {
        "length_words": None if words is None else float(words),
        "empty_rate": float(empty(answer)),
        "declined_rate": float(declines(answer)),
        "langid_match": second.in_users_language(answer),
    }


def metrics(language: str, second: SecondOpinion) -> list[Metric]:
    """Their metrics; the arguments are those of `values`."""
    words = signature("length_words", language=language, words=segmenter_name(language))
    declined = signature("declined_rate", of="all_questions", reader="ours")
    return [
        Metric("length_words", MEAN, None, words),
        Metric("empty_rate", MEAN, False, signature("empty_rate", of="all_questions")),
        Metric("declined_rate", MEAN, None, declined),
        Metric("langid_match", MEAN, True, second.signature_of_match()),
    ]
