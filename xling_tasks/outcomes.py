"""What becomes of a question: every one that was asked has exactly one outcome.

It was scored; or the response was of no use, which is the model's doing and counts against it; or
it was not measured, which is the instrument's and counts against nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SERVED, HELPED = "usable", "helpful"
"""The endpoints that follow from outcomes."""

SCORED = "scored"

HELD_BACK, EMPTY, DECLINED, ANOTHER_LANGUAGE = NOT_SERVED = (
    "content_filter", "empty", "refusal", "wrong_language",
)  # fmt: skip
"""Responses that are of no use to who asked."""

CALL_FAILED, UNREAD, TOO_SHORT = "request_failed", "unparsed", "too_short"
UNTRANSLATED, JUDGE_FAILED = "translation_failed", "judge_failed"
JUDGE_UNPARSED = "judge_unparsed"
NOT_MEASURED = (CALL_FAILED, UNTRANSLATED, JUDGE_FAILED, JUDGE_UNPARSED, UNREAD, TOO_SHORT)
"""Questions of which the instrument learnt nothing, or less than it asked."""

UNFILTERED, UNJUDGED, TIED = "unfiltered", "unjudged", "tie"
"""A task's own filter found nothing, and it is not ours to ask again; a judge was not in form; two
answers are equally likely."""

RATES: Mapping[str, tuple[str, ...]] = {
    CALL_FAILED: ("failed_rate",),
    UNTRANSLATED: ("translation_failed_rate",),
    JUDGE_FAILED: ("judge_failed_rate",),
    JUDGE_UNPARSED: ("no_response", "no_majority"),
    UNREAD: ("unscored", "unscored_rate", "unparsed_rate"),
}
"""The metrics that count what was not measured."""

OF_A_JUDGE = frozenset({"unscored", "unscored_rate"})
"""Those of them that count what a judge's reply left, and no reply of the model under test."""

OUTCOME = "outcome"
"""Where a sample's record of its answers (`n_responses`) has them, by language."""

OUTCOMES = (SCORED, ANOTHER_LANGUAGE, EMPTY, DECLINED, HELD_BACK, *NOT_MEASURED)
"""The closed list, in the order of tables."""


def outcome_of(values: Mapping[str, Any], suffix: str = "", *, inside: bool | None) -> str:
    """Return the outcome of one answer.

    The first that applies, in the order in which things happen: an answer that did not come is not
    judged, and one in another language is of no use whatever the judge says of it.

    Args:
        values: What the task measured of it: rates and labels by name, 0 or 1, or `[hits, of]`.
        suffix: Of the names, where a task has several languages: `_es`.
        inside: Whether it is in the user's language; None where it is too short to tell.
    """

    def yes(*names: str) -> bool:
        rates = (values.get(name + suffix) for name in names)
        return any(value[0] == value[1] > 0 if isinstance(value, (list, tuple)) else value == 1
                   for value in rates if value)  # fmt: skip

    if yes(*RATES[CALL_FAILED]):
        return CALL_FAILED
    if yes("content_filter_rate"):
        return HELD_BACK
    if yes("empty_rate"):
        return EMPTY
    if yes("refusal_rate"):
        return DECLINED
    if inside is False:
        return ANOTHER_LANGUAGE
    for outcome, rates in RATES.items():
        if yes(*rates):
            return outcome
    return TOO_SHORT if inside is None else SCORED


def served(outcome: str | None) -> float | None:
    """Return 1 for a usable answer, 0 for one that is not, None where that is not known."""
    if outcome in NOT_SERVED:
        return 0.0
    return None if outcome in (None, CALL_FAILED, TOO_SHORT) else 1.0
