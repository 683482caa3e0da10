"""What is measured of every answer, also where nothing judges it: length, language, refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xling_metrics.base import signature
from xling_metrics.language import in_language, match_rule
from xling_metrics.words import can_segment, length_words, segmenter_name

from xling_tasks.readers.refusals import declines
from xling_tasks.scorers.values import defined_mean
from xling_tasks.tasks.metric import Metric
from xling_tasks.unanswered import empty


def values(answer: str, language: str, scripts: Sequence[str]) -> dict[str, float | None]:
    """An answer's length in words and three rates; None where a language is not known so well."""
    inside = in_language([answer], language, scripts)[0]
    words = length_words(answer, language) if can_segment(language) else None
    return {
        "length_words": None if words is None else float(words),
        "empty_rate": float(empty(answer)),
        "declined_rate": float(declines(answer)),
        "langid_match": None if inside is None else float(inside),
    }


def metrics(
    language: str, scripts: Sequence[str], average: Callable[[Any], Any] = defined_mean
) -> list[Metric]:
    """Their metrics.

    Args:
        language: Of the question.
        scripts: Its scripts, where they decide.
        average: The mean of what every answer has; the harness has a standard error for its own.
    """
    words = signature("length_words", language=language, words=segmenter_name(language))
    declined = signature("declined_rate", of="all_questions", reader="ours")
    inside = signature("langid_match", language=language, libraries=("langid",))
    length = average if can_segment(language) else defined_mean
    return [
        Metric("length_words", length, None, words),
        Metric("empty_rate", average, False, signature("empty_rate", of="all_questions")),
        Metric("declined_rate", average, None, declined),
        Metric("langid_match", defined_mean, True, inside + match_rule(scripts)),
    ]
