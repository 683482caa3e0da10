"""The metrics as `evaluate` modules; nothing is downloaded, all code is here.

    import evaluate
    from xling_metrics import hf
    hf.load("ngram_consistency").compute(predictions=[["an answer", "another answer"]])
    evaluate.load(hf.__path__[0], "chrf").compute(predictions=["a text"], references=["a text"])

Of consistency, `predictions` holds for each question its answers. Every score is a plain mapping
with the `value` (the mean over questions, or of the corpus), where there are any the values
`per_question`, and the `signature`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import datasets
import evaluate
from xling_metrics import language as lang
from xling_metrics.base import mean, signature
from xling_metrics.hdp import hdp_words
from xling_metrics.hf import pairs
from xling_metrics.hf.pairs import fields, summary, words_of
from xling_metrics.ngrams import answer_lengths, distinct_answers, ngram_consistency_corpus
from xling_metrics.tokenization import lower_words, published_words, segmenter_name
from xling_metrics.topics import TopicModel, topic_consistencies, topic_corpus, topic_metric

Answers = Sequence[Sequence[str]]


def load(name: str) -> MetricModule:
    """The `evaluate` module of a metric.

    Args:
        name: A key of `MODULES`.

    Raises:
        ValueError: For another name; the message lists the choices.
    """
    _check_name(name)
    return MetricModule(config_name=name, keep_in_memory=True)


def _check_name(name: str) -> None:
    if name not in MODULES:
        raise ValueError(f"unknown metric {name!r}; choose one of {', '.join(MODULES)}")


class MetricModule(evaluate.Metric):  # type: ignore[misc]
    """An `evaluate.Metric` whose `config_name` is the metric."""

    def _info(self) -> evaluate.MetricInfo:
        _check_name(self.config_name)
        compute, inputs = MODULES[self.config_name]
        features = dict(zip(("predictions", "references"), inputs, strict=False))
        return evaluate.MetricInfo(
            description=compute.__doc__ or "",
            citation="arXiv:2310.13132, arXiv:2402.13963, arXiv:2505.21999",
            inputs_description=f"{' and '.join(features)}: see the description",
            features=datasets.Features(features),
        )

    def _download_and_prepare(self, dl_manager: Any) -> None:
        """Nothing is downloaded."""

    def _compute(self, **given: Any) -> dict[str, Any]:
        return MODULES[self.config_name][0](**given)


def ngram_consistency(predictions: Answers, language: str | None = None) -> dict[str, Any]:
    """`sim_1gram` and `sim_2gram`: see `xling_metrics.ngrams`.

    Args:
        predictions: For each question, its answers.
        language: None for the published word pattern (English); a code for words of a language.
    """
    tokenize = partial(lower_words, language=language) if language else published_words
    corpus = ngram_consistency_corpus(predictions, tokenize=tokenize)
    tokens = f"lower_words:{language}" if language else "published_words"
    words = segmenter_name(language) if language else None
    return fields(("sim_1gram", "sim_2gram"), corpus, pairs="all", tokens=tokens, words=words)


def answer_length(predictions: Answers, language: str = "en") -> dict[str, Any]:
    """`length_words`, its standard deviation and `distinct_answers` of each question."""
    lengths = [answer_lengths(answers, language) for answers in predictions]
    distinct = [float(distinct_answers(answers)) for answers in predictions]
    how: Any = {"words": segmenter_name(language), "language": language}
    std = signature("length_words_std", ddof=0, **how)
    return {
        "length_words": summary([item.mean for item in lengths], signature("length_words", **how)),
        "length_words_std": summary([item.std for item in lengths], std),
        "distinct_answers": summary(distinct, signature("distinct_answers")),
    }


def language_consistency(predictions: Answers, language: str) -> dict[str, Any]:
    """`language_consistency`: the share of sentences in `language`, by langid."""
    shares = [
        mean([v for v in lang.language_consistency_corpus(answers, language) if v is not None])
        for answers in predictions
    ]
    sign = signature(
        "language_consistency", split="sentencex", language=language, libraries=("langid",)
    )
    return {"language_consistency": summary(shares, sign)}


def topic_similarity(
    predictions: Answers,
    n_topics: TopicModel = 20,
    seeds: Sequence[int] = (0,),
    language: str | None = None,
) -> dict[str, Any]:
    """`sim_lda<n>` or, for `hdp`, `sim_hdp`, averaged over seeds: see `xling_metrics.topics`."""
    tokenize = partial(lower_words, language=language) if language else published_words
    name = words_of(language) if language else "published_words"
    if n_topics == "hdp" and not language:
        tokenize, name = hdp_words, "gensim_simple_preprocess"
    corpus = topic_corpus(predictions, tokenize=tokenize, tokenizer=name)
    result = topic_consistencies(corpus, models=(n_topics,), seeds=seeds)[n_topics]
    return {
        topic_metric(n_topics): {
            **summary(result.per_question, result.signature),
            "seed_sd": result.seed_sd,
        }
    }


def bertscore_consistency(
    predictions: Answers, model: str = "google-bert/bert-base-uncased", **options: Any
) -> dict[str, Any]:
    """`bertscore_p`, `_r`, `_f1` and `sim_sent` (extra `hf`): see `xling_metrics.bertscore`.

    Args:
        predictions: For each question, its answers.
        model: The encoder's name or folder.
        **options: Further arguments of `xling_metrics.encoder.Encoder.load`.
    """
    from xling_metrics.bertscore import bertscore_signature, score_pairs, sim_sent_signature
    from xling_metrics.encoder import Encoder

    encoder = Encoder.load(model, **options)
    corpus = score_pairs(predictions, encoder)
    names = ("bertscore_p", "bertscore_r", "bertscore_f1")
    signatures = {name: bertscore_signature(encoder) for name in names}
    signatures["sim_sent"] = sim_sent_signature(encoder)
    return {
        name: summary([getattr(item, name) for item in corpus], sign)
        for name, sign in signatures.items()
    }


def bertscore(
    predictions: Sequence[str],
    references: Sequence[str],
    model: str = "google-bert/bert-base-uncased",
    **options: Any,
) -> dict[str, Any]:
    """`bertscore_p`, `_r` and `_f1` of each text (extra `hf`), without rescaling.

    Args:
        predictions: The texts.
        references: Their references.
        model: The encoder's name or folder.
        **options: Further arguments of `xling_metrics.encoder.Encoder.load`.
    """
    from xling_metrics.bertscore import bertscore_signature, score_references
    from xling_metrics.encoder import Encoder

    encoder = Encoder.load(model, **options)
    (made,) = score_references(predictions, references, encoder)
    sign = bertscore_signature(encoder, rescaled=False)
    return {f"bertscore_{kind}": summary(getattr(made, kind), sign) for kind in ("p", "r", "f1")}


_TEXT, _TRUE, _NUMBER = (datasets.Value(kind) for kind in ("string", "bool", "float64"))
_LABEL, _ANSWERS = datasets.Value("int64"), datasets.Sequence(_TEXT)

MODULES: dict[str, tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = {
    "ngram_consistency": (ngram_consistency, (_ANSWERS,)),
    "answer_length": (answer_length, (_ANSWERS,)),
    "language_consistency": (language_consistency, (_ANSWERS,)),
    "topic_consistency": (topic_similarity, (_ANSWERS,)),
    "bertscore_consistency": (bertscore_consistency, (_ANSWERS,)),
    "bertscore": (bertscore, (_TEXT, _TEXT)),
    "bleu": (pairs.bleu, (_TEXT, _TEXT)),
    "rouge": (pairs.rouge_scores, (_TEXT, _TEXT)),
    "chrf": (pairs.chrf, (_TEXT, _TEXT)),
    "verdicts": (pairs.verdicts, (_LABEL, _LABEL)),
    "probabilities": (pairs.probabilities, (_NUMBER, _LABEL)),
    "choices": (pairs.choices, (_ANSWERS, _ANSWERS)),
    "information": (pairs.information, (datasets.Sequence(_TRUE), datasets.Sequence(_TRUE))),
    "rubric": (pairs.rubric_scores, (datasets.Sequence(_TRUE), datasets.Sequence(_NUMBER))),
    "answer_language": (pairs.answer_language, (_TEXT,)),
    "language_confusion": (pairs.language_confusion, (_TEXT,)),
}
"""The metrics by name: the plain function, and what it takes as predictions and references."""
