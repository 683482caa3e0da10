"""Consistency: the same question is asked several times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from xling_metrics.aggregate import RATIO, SPREAD
from xling_metrics.base import signature
from xling_metrics.language import PUBLISHED_LANGUAGES, has_own_script
from xling_metrics.languages import language_code

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.metric import Metric, constant, counted, failure, rate
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answers_by_temperature,
    as_text,
    listing,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.sample_view import SampleResult, SampleView

SIMILAR = ("sim_sent", "bertscore_f1", "sim_1gram")
"""The similarities that stand for all, the first that a run has."""

SCORED_AS = "english"
"""Where a sample's record of its answers has the translations that were scored, by temperature."""


class RepeatedAnswers(NamedTuple):
    """The answers to one question at one temperature.

    Attributes:
        answers: Those that came.
        scores: What is measured of them together with those of other questions, by metric.
        english: The texts that were scored, None for a failed translation; None without a
            translator.
    """

    answers: list[str]
    scores: Mapping[str, Any]
    english: list[str | None] | None = None


def _scored(name: str) -> Callable[[RepeatedAnswers], Any]:
    return lambda row: row.scores.get(name)


def _of_texts(
    name: str, note: str, *, needs: Callable[[Any], Any] = bool, **options: Any
) -> tuple[Metric, Metric]:
    """Return a score of English texts, and the same of the answers in their own language.

    NEEDS says of the scorer of either kind whether it makes the score.
    """

    def when(kind: Literal["published", "source"]) -> Callable[[Any], bool]:
        return lambda task: bool((scorer := task.scorer(kind)) and needs(scorer))

    source = f"{name}_src"
    return (
        Metric(name, _scored(name), note=note, when=when("published"),
               sign=lambda task: task.scorer("published").sign(name) + task.translator_signature,
               **options),
        Metric(source, _scored(source), note=f"{note}, in the answers' own language",
               when=when("source"), sign=lambda task: task.scorer("source").sign(name),
               **{**options, "across_languages": False}),
    )  # fmt: skip


def _similarity(name: str, note: str, **options: Any) -> tuple[Metric, Metric]:
    return _of_texts(name, note, higher_is_better=True, repeats=True, **options)


def _has_encoder(scorer: Any) -> bool:
    return scorer.encoder is not None


def _topics(name: str, note: str) -> tuple[Metric, ...]:
    def needs(minimum: int) -> Callable[[Any], bool]:
        return lambda scorer: (
            len(scorer.topic_seeds) >= minimum and (name != "sim_hdp" or scorer.sim_hdp)
        )

    return (
        *_similarity(name, note, needs=needs(1)),
        *_of_texts(f"{name}_seed_sd", "spread of the same over seeds", needs=needs(2),
                   aggregate=SPREAD, repeats=True, in_table=False),
    )  # fmt: skip


def _sign_published(task: Any) -> str:
    fields = {"labels": ",".join(PUBLISHED_LANGUAGES), "language": language_code(task.language)}
    return signature("", split="published", **fields, libraries=("langid",)).removeprefix("|")


METRICS = (
    Metric("language_consistency", _scored("language_consistency"), higher_is_better=True,
           note="share of an answer's sentences that are in the language",
           sign=lambda task: task.answer_language().sign("language_consistency", split="sentencex"),
           unmoved_by=("encoder", "topic_seeds", "sim_hdp", "k", "greedy_repeats", "translator")),
    rate("line_pass_rate", _scored("line_pass_rate"), True,
         "share of answers of which all lines are in the language",
         sign=lambda task: task.answer_language().sign("line_pass_rate")),
    failure("empty_rate", _scored("empty_rate"), "share of empty answers", aggregate=RATIO,
            sign=constant("of:all_answers")),
    Metric("language_consistency_published", _scored("language_consistency_published"),
           higher_is_better=True, note="the same with the published split and labels",
           when=lambda task: language_code(task.language) in PUBLISHED_LANGUAGES,
           sign=_sign_published),
    rate("word_pass_rate", _scored("word_pass_rate"), True,
         "share of answers of which all words are in the script",
         when=lambda task: has_own_script(task.language),
         sign=lambda task: f"language:{language_code(task.language)}|of:answers_that_pass_by_line"),
    counted("distinct_answers", _scored("distinct_answers"), "different answers to a question",
          repeats=True, counted=True, sign=lambda task: f"of:{task.settings.k}"),
    failure("translation_failed_rate", _scored("translation_failed_rate"),
            "share of answers that could not be translated", aggregate=RATIO,
            when=lambda task: task.translator is not None,
            sign=lambda task: f"of:all_answers{task.translator_signature}"),
    *_of_texts("length_words", "mean length in words", in_table=False, counted=True),
    *_of_texts("length_words_std", "spread of the lengths", in_table=False, counted=True,
               repeats=True),
    *_similarity("sim_1gram", "Jaccard similarity of words"),
    *_similarity("sim_2gram", "Jaccard similarity of pairs of words"),
    *_similarity("bertscore_p", "precision of BERTScore", needs=_has_encoder),
    *_similarity("bertscore_r", "recall of BERTScore", needs=_has_encoder),
    *_similarity("bertscore_f1", "F1 of BERTScore", needs=_has_encoder),
    *_similarity("sim_sent", "cosine of sentence embeddings", needs=_has_encoder),
    *_topics("sim_lda20", "cosine of 20 topics"),
    *_topics("sim_lda100", "cosine of 100 topics"),
    *_topics("sim_hdp", "cosine of topics, as many as the data ask for"),
)  # fmt: skip


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    by_temperature, remaining = answers_by_temperature(sample, language)
    scored = mapping(mapping(sample.get("n_responses")).get(SCORED_AS))
    parts = []
    for tau, (count, passages) in by_temperature.items():
        parts.append(Part(f"Answers at temperature {tau} ({count})", passages))
        if english := listing(scored.get(tau)):
            texts = [
                Passage(as_text(text or ""), ENGLISH, "" if text else "none") for text in english
            ]
            parts.append(Part("The same in English, as they were scored", texts))
    return [question_part(sample, language), *parts, Part("Answers", remaining)]


def _found(sample: Mapping[str, Any], _: str) -> SampleResult:
    """Return the first similarity that there is, at the highest temperature."""
    for stem in SIMILAR:
        for suffix in ("", "_src"):
            names = [n for n in sample if re.fullmatch(rf"{stem}{suffix}_t[\d.]+", n)]
            if names:
                return SampleResult(score=number(sample[max(names, key=_tau)]))
    return SampleResult()


def _tau(name: str) -> float:
    return float(name.rpartition("_t")[2].rstrip(".") or 0)


CONSISTENCY = criterion(
    "consistency",
    METRICS,
    SampleView(_parts, (), _found),
)
