"""Metrics that several criteria have, declared once."""

from __future__ import annotations

from xling_tasks.criteria.forms import Endpoint, Metric, Told

IN_LANGUAGE = (
    Metric(
        "langid_match",
        told=Told(
            "Answers in the user's language", "are in the user's language", "in the language",
            "answers",
        ),
    ),
    Metric("second_language_match"),
)  # fmt: skip
LANGUAGE = Endpoint("langid_match", "language")
SENTENCES = Metric(
    "language_consistency",
    label="In the language asked for",
    range="share of sentences, 0 to 1",
    told=Told(
        "Sentences in the user's language", "{} of the sentences are in the user's language",
        "in the language", "percent",
    ),
)  # fmt: skip
AGREE = "identifiers_agree"
BERTSCORE = (
    *("bertscore_p", "bertscore_r"),
    Metric(
        "bertscore_f1",
        label="BERTScore F1",
        range="0 to 1",
        share=False,
        told=Told(
            "Same words when asked again",
            "answers to the same question are alike in words by {} (1: the same)",
            "same words again",
        ),
    ),
)
UNKNOWN = Metric(
    "unknown_rate", label="Replies without a verdict", range="share of replies, 0 to 1"
)
GLOSSARY = {
    "langid_match, language_consistency": "Share of answers, or of their sentences, that are in "
    "the language of the question.",
    "second_language_match, second_language_consistency, second_line_pass_rate": "The same by "
    "another identifier of languages than langid; lines: answers all of whose lines are.",
    "identifiers_agree": "Share of answers of which both identifiers of language say the same.",
}
