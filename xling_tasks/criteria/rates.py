"""Metrics of several criteria that say what was measured rather than how well."""

from __future__ import annotations

from typing import NamedTuple

from xling_tasks.criteria.labels import JURY_METRICS


class Rate(NamedTuple):
    """A share of answers of which something is the matter."""

    column: str = ""  # its heading in tables of coverage; empty for none
    flag: str = ""  # what the viewer calls an answer that it counts; empty for nothing


RATES = {
    "empty_rate": Rate("empty", "empty"),
    "content_filter_rate": Rate("filtered", "content_filter"),
    "refusal_rate": Rate("declined in words", "refusal"),
    "failed_rate": Rate("call failed", "failed"),
    "unparsed_rate": Rate("no answer read", "unparsed"),
    "no_end_rate": Rate("no [End]"),
    "no_response": Rate("no response", "unparsed"),
    "no_majority": Rate("no majority of judges", "no_majority"),
    "judge_failed_rate": Rate("judge failed", "judge_failed"),
    "translation_failed_rate": Rate("translation failed", "translation_failed"),
    "unscored": Rate("unscored", "unscored"),
    "unscored_rate": Rate(flag="unscored"),
    "unverified": Rate("claims unverified", "unparsed"),
    "abstained": Rate("abstained", "abstained"),
    "order_sensitive_rate": Rate(flag="order_sensitive"),
}
"""In the order of the tables of coverage."""

IN_LANGUAGE = ("langid_match", "language_consistency")
"""Whether answers, or their sentences, are in the user's language."""

COLUMNS = {
    "line_pass_rate": "all lines in language",
    "word_pass_rate": "all words in script",
    "n_judged": "judged",
    "n_claims": "claims per answer",
    "profile": "with a profile",
}
"""What else the tables of coverage tell, with their headings."""

COVERAGE = frozenset(
    {name for name, rate in RATES.items() if rate.column}
    | {*IN_LANGUAGE, *COLUMNS, *JURY_METRICS}
    | {"language_consistency_published", "invalid_rows"}
)
"""The metrics that say what was measured."""
