"""What is measured of every answer, also where nothing judges it: length, language, refusal."""

from __future__ import annotations

from collections.abc import Sequence

from xling_metrics.aggregate import MEAN
from xling_metrics.base import signature
from xling_metrics.language import in_language, match_rule
from xling_metrics.words import can_segment, length_words, segmenter_name

from xling_tasks.readers.refusals import declines
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


def metrics(language: str, scripts: Sequence[str]) -> list[Metric]:
    """Their metrics.

    Args:
        language: Of the question.
        scripts: Its scripts, where they decide.
    """
    words = signature("length_words", language=language, words=segmenter_name(language))
    declined = signature("declined_rate", of="all_questions", reader="ours")
    inside = signature("langid_match", language=language, libraries=("langid",))
    return [
        Metric("length_words", MEAN, None, words),
        Metric("empty_rate", MEAN, False, signature("empty_rate", of="all_questions")),
        Metric("declined_rate", MEAN, None, declined),
        Metric("langid_match", MEAN, True, inside + match_rule(scripts)),
    ]
