"""Metrics that several criteria have, declared once."""

from __future__ import annotations

from xling_tasks.criteria.forms import Endpoint, Metric, Told

IN_LANGUAGE = ("langid_match", "second_language_match")
SERVED = Metric("served", told=Told("Questions with a usable answer", "served", "answers"))
SERVICE = Endpoint("served", "served")
SENTENCES = Metric(
    "language_consistency",
    label="In the language asked for",
    range="share of sentences, 0 to 1",
)
AGREE = "identifiers_agree"
BERTSCORE = (
    *("bertscore_p", "bertscore_r"),
    Metric(
        "bertscore_f1",
        label="BERTScore F1",
        range="0 to 1",
        share=False,
    ),
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
