"""What becomes of a question: every one that was asked has exactly one outcome.

It was measured; or the user was not served, which is the model's doing and counts against it; or it
was not measured, which is the instrument's and counts against nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SERVED, HELPED = "usable", "helpful"
"""The endpoints that follow from outcomes."""

MEASURED = "scored"

HELD_BACK, EMPTY, DECLINED, ANOTHER_LANGUAGE = (
    "content_filter",
    "empty",
    "refusal",
    "wrong_language",
)
NOT_SERVED: Mapping[str, str] = {
    ANOTHER_LANGUAGE: "in another language",
    EMPTY: "empty",
    DECLINED: "declined in words",
    HELD_BACK: "held back by the service",
}
"""Answers that are of no use to who asked, with their words."""

CALL_FAILED, UNREAD, TOO_SHORT, TIED = "request_failed", "unparsed", "too_short", "tie"
UNTRANSLATED = "translation_failed"
UNFILTERED, UNJUDGED = "unfiltered", "unjudged"
"""A task's own filter found nothing, and it is not ours to ask again; a judge was not in form."""

NOT_MEASURED: Mapping[str, str] = {
    CALL_FAILED: "the call failed",
    UNTRANSLATED: "not translated",
    "judge_failed": "the judge failed",
    "judge_unparsed": "without a label of the judge",
    UNREAD: "unread",
    TOO_SHORT: "too short to tell the language",
}
"""Questions of which the instrument learnt nothing, or less than it asked, with their words."""

REMEDIES: Mapping[str, str] = {
    CALL_FAILED: "start the same command once more, which makes failed calls again",
    UNTRANSLATED: "set a translator, or another one, or start the same command once more",
    "judge_failed": "start the same command once more, or take another judge",
    "judge_unparsed": "take another judge, or have people label what it left (`xling annotate`)",
    UNREAD: "have a model read them (`answer_extractor`)",
    EMPTY: "see which answers are empty (`xling samples`); a model that thinks first needs more "
    "room (`--gen_kwargs max_gen_toks=`)",
    HELD_BACK: "see what held the answers back (`xling samples`), and ask a service that does not",
    TOO_SHORT: "have people read the answers that are too short to tell their language",
    UNJUDGED: "take another judge: this one's replies could not be read",
    UNFILTERED: "see what the task's filter left (`xling samples`), mend its YAML and run it again",
    TIED: "run the written form: asking again changes no tie of probabilities",
}
"""What to do about each kind of what was not measured; ties are of forms by log-likelihood."""

RATES: Mapping[str, tuple[str, ...]] = {
    CALL_FAILED: ("failed_rate",),
    UNTRANSLATED: ("translation_failed_rate",),
    "judge_failed": ("judge_failed_rate",),
    "judge_unparsed": ("no_response", "no_majority"),
    UNREAD: ("unscored", "unscored_rate", "unparsed_rate"),
}
"""The metrics that count what was not measured."""

OF_A_JUDGE = frozenset({"unscored", "unscored_rate"})
"""Those of them that count what a judge's reply left, and no reply of the model under test."""

OUTCOME = "outcome"
"""Where a sample's record of its answers (`n_responses`) has them, by language."""

OUTCOMES = (MEASURED, *NOT_SERVED, *NOT_MEASURED)
"""The closed list."""


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
        found = (values.get(name + suffix) for name in names)
        return any(_share(value) == 1 for value in found if value)

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
    return TOO_SHORT if inside is None else MEASURED


def served(outcome: str | None) -> float | None:
    """Return 1 for a usable answer, 0 for one that is not, None where that is not known."""
    if outcome in NOT_SERVED:
        return 0.0
    return None if outcome in (None, CALL_FAILED, TOO_SHORT) else 1.0


def not_measured(rates: Mapping[str, float | None]) -> float:
    """Return the rate of answers whose measurement failed, by a task's rates.

    An empty answer has no label rightly: the judge is not asked about it.
    """
    silent = max(0.0, (rates.get("no_response") or 0.0) - (rates.get("empty_rate") or 0.0))
    rates_without_empty = {**rates, "no_response": silent}
    return min(
        1.0,
        sum(
            max(rates_without_empty.get(name) or 0.0 for name in names) for names in RATES.values()
        ),
    )


def percent(rate: float) -> str:
    """Format a rate, never as all or nothing where it is not."""
    text = f"{rate:.0%}"
    if text == "100%" and rate < 1:
        return "more than 99%"
    return "less than 1%" if text == "0%" and rate > 0 else text


def _share(value: Any) -> float | None:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return value[0] / value[1] if value[1] else None
    return value if isinstance(value, (int, float)) else None
