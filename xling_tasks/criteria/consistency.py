"""Consistency: the same question is asked several times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from xling_tasks.criteria.forms import (
    ENGLISH,
    Criterion,
    Drawn,
    Endpoint,
    Metric,
    Submitted,
    Told,
    metrics,
    names,
)
from xling_tasks.criteria.rates import AGREE, BERTSCORE, SENTENCES
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
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side, drops

SIMILAR = ("sim_sent", "bertscore_f1", "sim_1gram")
"""The similarities that stand for all, the first that a run has."""

SCORED_AS = "english"
"""Where a sample's record of its answers has the translations that were scored, by temperature."""

_READ_OF = 3
"""Of several sampled answers, as many are shown."""

_SAME = Metric(
    "sim_sent",
    label="Similarity of repeated answers, sentence embeddings",
    range="cosine, -1 to 1",
    share=False,
    told=Told("Same meaning when asked again", "same meaning again"),
)
_WORDS = Metric(
    "sim_1gram",
    label="Similarity of repeated answers, words",
    range="0 to 1",
    told=Told("Same words when asked again", "same words again"),
)
_TOPICS = ("sim_lda20", "sim_lda100", "sim_hdp")
_SIMILARITIES: tuple[str | Metric, ...] = (_WORDS, "sim_2gram", _SAME, *_TOPICS, *BERTSCORE)
_SIZES = ("length_words", "length_words_std", *(f"{name}_seed_sd" for name in _TOPICS))
_IN_SOURCE = tuple(f"{name}_src" for name in names((*_SIMILARITIES, *_SIZES)))


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    by_temperature, others = answers_by_temperature(sample, language)
    scored = mapping(mapping(sample.get("n_answered")).get(SCORED_AS))
    parts = []
    for tau, (count, own) in by_temperature.items():
        parts.append(Part(f"Answers at temperature {tau} ({count})", own))
        if english := listing(scored.get(tau)):
            texts = [
                Passage(as_text(text or ""), ENGLISH, "" if text else "none") for text in english
            ]
            parts.append(Part("The same in English, as they were scored", texts))
    return [question_part(sample, language), *parts, Part("Answers", others)]


def _found(sample: Mapping[str, Any], _: str) -> Found:
    """The first similarity that there is, at the highest temperature."""
    for stem in SIMILAR:
        for suffix in ("", "_src"):
            own = [n for n in sample if re.fullmatch(rf"{stem}{suffix}_t[\d.]+", n)]
            if own:
                return Found(score=number(sample[max(own, key=_tau)]))
    return Found()


def _behind(own: Side, english: Side) -> Iterator[Behind]:
    """Drops in the first similarity of translations, at the highest temperature, that both have.

    Similarities of answers in their own language say nothing of two languages.
    """
    both = set(own.names) & set(english.names)
    swept = (sorted((n for n in both if re.fullmatch(rf"{stem}_t[\d.]+", n)), key=_tau)
             for stem in SIMILAR)  # fmt: skip
    name = next((found[-1] for found in swept if found), "")
    return drops(own, english, name, name, 3)


def _tau(name: str) -> float:
    return float(name.rpartition("_t")[2].rstrip(".") or 0)


def _answers(name: str, language: str, english: Sample | None, other: Sample) -> Iterator[Beside]:
    """The first answers at the temperature at which the language is behind."""
    sides, tau = [], name.rpartition("_t")[2]
    for sample, code in ((english or {}, ENGLISH), (other, language)):
        by_temperature, others = answers_by_temperature(sample, code)
        if others:  # A temperature is lacking, so that the answers are not where they seem to be.
            raise LookupError("empty_rate")
        sides.append(by_temperature[tau][1])
    most = max(map(len, sides))
    title = f"Answers at temperature {tau}"
    title += f" (the first {_READ_OF} of {most})" if most > _READ_OF else ""
    yield Beside(title, *([own._replace(mark="") for own in side[:_READ_OF]] for side in sides))


_SHARES = len(_SIMILARITIES)

CONSISTENCY = Criterion(
    "consistency",
    "Consistency",
    "Does the model say the same when it is asked again? Each question is asked several times, "
    "and the answers are compared with one another.",
    metrics(
        (
            *(*_SIMILARITIES, *_IN_SOURCE[:_SHARES]),
            *(SENTENCES, "language_consistency_published", "line_pass_rate", "word_pass_rate"),
            *("second_language_consistency", "second_line_pass_rate"),
        ),
        counts=(*_SIZES, *_IN_SOURCE[_SHARES:], "distinct_answers", AGREE),
        failures=("empty_rate", "translation_failed_rate"),
        within=_IN_SOURCE,
    ),
    (
        Endpoint(
            "sim_sent",
            at="highest",
            margin=0.02,
            why="questions of the published runs differ by a standard deviation of 0.019, and 0.05 "
            "passes twice as many incoherent answers as the same",
            instead=("sim_1gram",),
        ),
    ),
    settings=(
        *("temperatures", "k", "greedy_repeats", "translator"),
        *("encoder", "source_encoder", "topic_seeds"),
    ),
    shown=Shown(_parts, (), _found, Read(_behind, {"Question": "Question"}, _answers)),
    drawn=(
        Drawn("lines", SIMILAR, "first"),
        Drawn("lines", SIMILAR, "last"),
        Drawn("heat dots", ("language_consistency",)),
        Drawn("boxes", SIMILAR, "first"),
    ),
    submitted=Submitted(
        (*SIMILAR, *(f"{name}_src" for name in SIMILAR)), ("translation_failed_rate", "empty_rate")
    ),
    needs="a translator (--metadata translator=...) or several answers a question: whether answers "
    "are alike was not measured in a way that languages can be compared by",
    glossary={
        "sim_sent": "How alike several answers to one question are in meaning: 1 is the same.",
        "bertscore_f1, BERTScore": "How alike two texts are word by word, with words in their "
        "context.",
        "sim_1gram, sim_2gram": "Words, or pairs of words, that two answers share.",
        "sim_lda20, sim_lda100, sim_hdp": "How alike the topics of two answers are, with 20 or 100 "
        "topics, or (sim_hdp, made with hdp=true only) as many as the data ask for.",
        "_src": "Made on the answers in their own language instead of their translation: for "
        "comparing models, never languages.",
    },
    by_topic=False,
    highest=True,
    of_right=False,
)
