"""Metrics that several criteria have: did answers come, in what language, and were they of use?

Every criterion that records such a rate is told of it alike: a column in the tables of coverage, a
flag in the viewer, and no part in conclusions by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from xling_tasks.criteria.forms import Endpoint, Metric, Told
from xling_tasks.criteria.labels import JURY_METRICS, NO_RESPONSE


class Rate(NamedTuple):
    """A share of answers of which something is the matter.

    Attributes:
        column: Its heading in tables of coverage; empty for none.
        flag: What the viewer calls an answer that it counts; empty for nothing.
    """

    column: str = ""
    flag: str = ""


RATES = {
    "empty_rate": Rate("empty", "empty"),
    "refused_rate": Rate("filtered", "refused"),
    "declined_rate": Rate("declined in words", "declined"),
    "failed_rate": Rate("call failed", "failed"),
    "unknown_rate": Rate("unknown verdict", "unread"),
    "unparsed_rate": Rate("no letters read", "unread"),
    "no_end_rate": Rate("no [End]"),
    NO_RESPONSE: Rate("no response", "unread"),
    "no_majority": Rate("no majority of judges", "no_majority"),
    "judge_failed_rate": Rate("judge failed", "judge_failed"),
    "translation_failed_rate": Rate("translation failed", "translation_failed"),
    "unscored": Rate("unscored", "unscored"),
    "unscored_rate": Rate("", "unscored"),
    "unverified": Rate("claims unverified", "unread"),
    "unparsed": Rate("", "unread"),
    "abstained": Rate("abstained", "abstained"),
    "order_sensitive_rate": Rate("", "order_sensitive"),
}
"""In the order of the tables of coverage."""

IN_LANGUAGE = ("langid_match", "language_consistency")
"""Whether answers, or their sentences, are in the user's language."""

SECOND_OPINIONS = ("second_language_match", "second_language_consistency")
"""The same by another identifier: shown, never counted."""

COLUMNS = {
    "line_pass_rate": "all lines in language",
    "word_pass_rate": "all words in script",
    "second_line_pass_rate": "all lines in language (second)",
    "identifiers_agree": "identifiers agree",
    "n_judged": "judged",
    "n_claims": "claims per answer",
    "profile": "with a profile",
}
"""What else the tables of coverage tell, with their headings."""

COVERAGE = frozenset(
    {name for name, rate in RATES.items() if rate.column or name == "unparsed"}
    | {*IN_LANGUAGE, *SECOND_OPINIONS, *COLUMNS, *JURY_METRICS}
    | {"language_consistency_published", "unusable_rows"}
)
"""Metrics that say what was measured rather than how well."""


# Declared once

MATCHES = (IN_LANGUAGE[0], SECOND_OPINIONS[0])
"""Whether an answer is in the user's language, by both identifiers."""
SERVED = Metric("served", told=Told("Questions with a usable answer", "served", "answers"))
SERVICE = Endpoint("served", "served")
SENTENCES = Metric(
    "language_consistency", label="In the language asked for", range="share of sentences, 0 to 1"
)
AGREE = "identifiers_agree"
BERTSCORE = (
    *("bertscore_p", "bertscore_r"),
    Metric("bertscore_f1", label="BERTScore F1", range="0 to 1", share=False),
)
UNKNOWN = Metric(
    "unknown_rate", label="Replies without a verdict", range="share of replies, 0 to 1"
)
GLOSSARY = {
    "served, helped": "Share of the questions that got a usable answer: in the user's language, "
    "not empty, declined or held back by a filter. Helped: of all questions, where who was not "
    "served was not helped.",
    "langid_match, language_consistency": "Share of answers, or of their sentences, that are in "
    "the language of the question.",
    "second_language_match, second_language_consistency, second_line_pass_rate": "The same by "
    "another identifier of languages than langid; lines: answers all of whose lines are.",
    "identifiers_agree": "Share of answers of which both identifiers of language say the same.",
}
