"""Consistency: the same question is asked several times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from xling_metrics.aggregate import RATIO, SPREAD
from xling_metrics.base import signature
from xling_metrics.language import PUBLISHED_LANGUAGES, has_own_script
from xling_metrics.languages import language_code

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import ENGLISH, Endpoint, Submitted, criterion
from xling_tasks.criteria.metric import DisplayText, Metric, constant, counted, failure

SIMILAR = ("sim_sent", "bertscore_f1", "sim_1gram")
"""The similarities that stand for all, the first that a run has."""

SCORED_AS = "english"
"""Where a sample's record of its answers has the translations that were scored, by temperature."""


class RepeatedAnswers(NamedTuple):
    """The answers to one question at one temperature."""

    answers: list[str]  # those that came
    # what is measured of them together with those of other questions, by metric
    scores: Mapping[str, Any]
    # the texts that were scored, None for a failed translation; None without a translator
    english: list[str | None] | None = None


def _scored(name: str) -> Callable[[RepeatedAnswers], Any]:
    return lambda row: row.scores.get(name)


def _of_texts(
    name: str, *, needs: Callable[[Any], Any] = bool, **options: Any
) -> tuple[Metric, Metric]:
    """Return a score of English texts, and the same of the answers in their own language.

    NEEDS says of the scorer of either kind whether it makes the score.
    """

    def when(kind: Literal["published", "source"]) -> Callable[[Any], bool]:
        return lambda task: bool((scorer := task.scorer(kind)) and needs(scorer))

    source = f"{name}_src"
    return (
        Metric(name, _scored(name), when=when("published"),
               sign=lambda task: task.scorer("published").sign(name) + task.translator_signature,
               **options),
        Metric(source, _scored(source), when=when("source"),
               sign=lambda task: task.scorer("source").sign(name),
               **{**options, "across_languages": False}),
    )  # fmt: skip


_similarity = partial(_of_texts, higher_is_better=True, repeats=True)
_of_encoder = partial(_similarity, needs=lambda scorer: scorer.encoder is not None)


def _topics(name: str) -> tuple[Metric, ...]:
    def needs(minimum: int) -> Callable[[Any], bool]:
        return lambda scorer: (
            len(scorer.topic_seeds) >= minimum and (name != "sim_hdp" or scorer.sim_hdp)
        )

    return (
        *_similarity(name, needs=needs(1)),
        *_of_texts(f"{name}_seed_sd", needs=needs(2),
                   aggregate=SPREAD, repeats=True, in_table=False),
    )  # fmt: skip


def _sign_published(task: Any) -> str:
    fields = {"labels": ",".join(PUBLISHED_LANGUAGES), "language": language_code(task.language)}
    return signature("", split="published", **fields, libraries=("langid",)).removeprefix("|")


METRICS = (
    Metric("language_consistency", _scored("language_consistency"), higher_is_better=True,
           sign=lambda task: task.answer_language().sign("language_consistency", split="sentencex"),
           unmoved_by=("encoder", "topic_seeds", "sim_hdp", "k", "greedy_repeats", "translator")),
    Metric("line_pass_rate", _scored("line_pass_rate"), RATIO, True,
           sign=lambda task: task.answer_language().sign("line_pass_rate")),
    failure("empty_rate", _scored("empty_rate"), aggregate=RATIO, sign=constant("of:all_answers")),
    Metric("language_consistency_published", _scored("language_consistency_published"),
           higher_is_better=True,
           when=lambda task: language_code(task.language) in PUBLISHED_LANGUAGES,
           sign=_sign_published),
    Metric("word_pass_rate", _scored("word_pass_rate"), RATIO, True,
           lambda task: has_own_script(task.language),
           sign=lambda task:
           f"language:{language_code(task.language)}|of:answers_that_pass_by_line"),
    counted("distinct_answers", _scored("distinct_answers"), repeats=True, counted=True,
            sign=lambda task: f"of:{task.settings.k}"),
    failure("translation_failed_rate", _scored("translation_failed_rate"), aggregate=RATIO,
            when=lambda task: task.translator is not None,
            sign=lambda task: f"of:all_answers{task.translator_signature}"),
    *_of_texts("length_words", in_table=False, counted=True),
    *_of_texts("length_words_std", in_table=False, counted=True, repeats=True),
    *_similarity("sim_1gram"),
    *_similarity("sim_2gram"),
    *_of_encoder("bertscore_p"),
    *_of_encoder("bertscore_r"),
    *_of_encoder("bertscore_f1"),
    *_of_encoder("sim_sent"),
    *_topics("sim_lda20"),
    *_topics("sim_lda100"),
    *_topics("sim_hdp"),
)  # fmt: skip


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    """Return the answers by temperature, and those of them that were translated."""
    passages: dict[str, list[view.Passage]] = {}
    requests = view.mapping(sample.get("arguments")).values()
    for request, passage in zip(requests, view.answers(sample, language), strict=True):
        passages.setdefault(str(float(request["arg_1"]["temperature"])), []).append(passage)
    scored = (sample.get("n_responses") or {}).get(SCORED_AS) or {}
    parts = [view.question_part(sample, language)]
    for tau, answers in passages.items():
        parts.append(view.Part(f"Answers at temperature {tau} ({len(answers)})", answers))
        if texts := scored.get(tau):
            english = [view.Passage(text or "", ENGLISH, "" if text else "none") for text in texts]
            parts.append(view.Part("The same in English, as they were scored", english))
    return parts


def _find_similarity(sample: view.Sample, _: str) -> view.SampleResult:
    """Return the first similarity that there is, at the highest temperature."""
    for stem in SIMILAR:
        for suffix in ("", "_src"):
            names = [n for n in sample if re.fullmatch(rf"{stem}{suffix}_t[\d.]+", n)]
            if names:
                name = max(names, key=view.temperature_of)
                score, tau = view.number(sample[name]), view.temperature_of(name)
                return view.SampleResult(score=score, temperature=tau)
    return view.SampleResult()


_SAME = "Does the model say the same when it is asked again?"

CONSISTENCY = criterion(
    "consistency",
    METRICS,
    {
        "sim_sent": DisplayText("Same meaning when asked again", "Same again", _SAME,
                                noun="Similarity"),
        "sim_1gram": DisplayText("Same words when asked again", "Same again", _SAME,
                                 noun="Similarity"),
        "bertscore_f1": DisplayText("Same words in context when asked again (BERTScore F1)",
                                    "BERTScore F1"),
    },
    position=2,
    title="Consistency",
    asks="Each question is asked several times, and the answers are compared with one another.",
    # Questions of the published runs differ by a standard deviation of 0.019, and a margin of 0.05
    # passes twice as many incoherent answers as the same.
    endpoints=(Endpoint("sim_sent", at="highest", margin=0.02, instead=("sim_1gram",)),),
    settings=("temperatures", "k", "greedy_repeats", "translator", "encoder", "source_encoder",
              "topic_seeds", "sim_hdp"),
    drawn=("sim_sent", "bertscore_f1", "sim_1gram", "language_consistency"),
    submitted=Submitted(tuple(f"{name}{end}" for end in ("", "_src") for name in SIMILAR),
                        ("translation_failed_rate", "empty_rate")),
    needs="translator",
    by_topic=False,
    classic=True,
    shown=view.SampleView(_parts, (), _find_similarity),
)  # fmt: skip
