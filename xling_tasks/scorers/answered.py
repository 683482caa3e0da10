"""How many answers there are: what failed is not the model's, what a filter held back is no answer.

Three things that look alike, an empty text, and are not: `empty_rate` (the model said nothing),
`content_filter_rate` (a content filter held the answer back) and `failed_rate` (the service did not
work; unscored, left out of every other metric, and asked again at the next start).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from xling_metrics.aggregate import RATIO
from xling_metrics.base import signature

from xling_tasks.failed_response import (
    RESPONSES,
    FailedResponse,
    details_of,
    is_failed,
    is_filtered,
)
from xling_tasks.harness.backends import clean_reply
from xling_tasks.outcomes import OUTCOME, OUTCOMES

Aggregate = Callable[[list[Any]], Any]


def about_answers(replies: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A document's counts of failed and refused answers, and which they are; of each request's."""
    flat = [reply for several in replies for reply in several]
    return {
        "failed_rate": [sum(map(is_failed, flat)), len(flat)],
        "content_filter_rate": [sum(map(is_filtered, flat)), len(flat)],
        RESPONSES: {"asked": len(flat), "responses": details_of(replies)},
    }


def outcomes_by_language(values: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Language -> how many questions had each outcome, of the records under `n_responses`."""
    counts: dict[str, Counter[str]] = {}
    for value in values:
        for code, outcome in value.get(OUTCOME, {}).items():
            counts.setdefault(code, Counter())[outcome] += 1
    return {
        code: {outcome: own[outcome] for outcome in OUTCOMES if own[outcome]}
        for code, own in counts.items()
    }


ANSWER_METRICS: tuple[tuple[str, Aggregate, str], ...] = tuple(
    (name, RATIO, signature(name, of="all_answers"))
    for name in ("failed_rate", "content_filter_rate")
)
"""Name, aggregate and signature."""

ANSWERED_SIGNATURE = signature(RESPONSES, of="all_answers")


def unanswered_again(instance: Any) -> None:
    """Put replies that are no answers back where filters made plain texts of them."""
    if not any(isinstance(reply, FailedResponse) for reply in instance.resps):
        return
    for key, kept in instance.filtered_resps.items():
        if not isinstance(kept, list):
            instance.filtered_resps[key] = instance.resps[0]
        elif len(kept) == len(instance.resps):
            pairs = zip(kept, instance.resps, strict=True)
            instance.filtered_resps[key] = [
                reply if isinstance(reply, FailedResponse) else text for text, reply in pairs
            ]


def replies_of(result: Any) -> list[str]:
    """The replies in one filtered result: a text, or a list of them."""
    return [clean_reply(item) for item in (result if isinstance(result, list) else [result])]


def defined_mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are defined; None if none is."""
    known = [value for value in values if value is not None]
    return float(sum(known) / len(known)) if known else None
