"""The metrics of corpora as modules of `evaluate`; nothing is downloaded.

    import evaluate
    from xling_metrics import hf
    hf.load("ngram_consistency").compute(predictions=[["an answer", "another answer"]])
    evaluate.load(hf.__path__[0], "rouge").compute(predictions=["a text"], references=["a text"])

For consistency, `predictions` holds the answers to each question. Every score is a mapping with
the `value` (the mean over questions, or of the corpus), the values `per_question` where there are
any, and the `signature`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import datasets
import evaluate
from xling_metrics import bleu as bleu_scores
from xling_metrics import rouge
from xling_metrics.base import mean, signature
from xling_metrics.hdp import hdp_words
from xling_metrics.language import language_consistency_corpus
from xling_metrics.ngrams import answer_lengths, distinct_answers, ngram_consistency_corpus
from xling_metrics.tokenization import lower_words, published_words, segmenter_name
from xling_metrics.topics import TopicModel, topic_consistencies, topic_corpus, topic_metric

Texts = Sequence[str]
Answers = Sequence[Sequence[str]]
Scores = dict[str, Any]
BERT = "google-bert/bert-base-uncased"


class MetricModule(evaluate.Metric):  # type: ignore[misc]
    """An `evaluate.Metric` whose `config_name` is the metric."""

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name not in MODULES:
            choices = ", ".join(MODULES)
            raise ValueError(f"unknown metric {self.config_name!r}; choose one of {choices}")
        compute, inputs = MODULES[self.config_name]
        features = dict(zip(("predictions", "references"), inputs, strict=False))
        return evaluate.MetricInfo(
            description=compute.__doc__ or "",
            citation="arXiv:2310.13132, arXiv:2402.13963, arXiv:2505.21999",
            inputs_description=f"{' and '.join(features)}: see the description",
            features=datasets.Features(features),
        )

    def _download_and_prepare(self, dl_manager: Any) -> None:
        """Download nothing."""

    def _compute(self, **inputs: Any) -> Scores:
        return MODULES[self.config_name][0](**inputs)


def load(name: str) -> MetricModule:
    """Return the `evaluate` module of a metric, by its key in `MODULES`.

    Raises:
        ValueError: For another name; the message lists the choices.
    """
    return MetricModule(config_name=name, keep_in_memory=True)


def _summarize(values: Iterable[float | None], sign: str) -> Scores:
    """Return the mean of what is scored, the values, and the signature."""
    rows = [None if value is None else float(value) for value in values]
    scored = [value for value in rows if value is not None]
    return {"value": mean(scored), "per_question": rows, "signature": sign}


def _summarize_fields(names: Iterable[str], rows: Sequence[Any], **fields: Any) -> Scores:
    """Summarize each of some attributes; None where a row is, or has none."""
    return {
        name: _summarize((row and getattr(row, name) for row in rows), signature(name, **fields))
        for name in names
    }


def _name_words(code: str) -> str:
    return f"lower_words:{code}:{segmenter_name(code)}"


# Repeated answers


def ngram_consistency(predictions: Answers, language: str | None = None) -> Scores:
    """Return `sim_1gram` and `sim_2gram`, by the published or a language's words."""
    tokenize = partial(lower_words, language=language) if language else published_words
    tokens = _name_words(language) if language else "published_words"
    rows = ngram_consistency_corpus(predictions, tokenize=tokenize)
    return _summarize_fields(("sim_1gram", "sim_2gram"), rows, pairs="all", tokens=tokens)


def answer_length(predictions: Answers, language: str = "en") -> Scores:
    """Return `length_words`, its standard deviation and `distinct_answers` of each question."""
    rows = [answer_lengths(answers, language) for answers in predictions]
    distinct = map(distinct_answers, predictions)
    fields: Any = {"words": segmenter_name(language), "language": language}
    std = signature("length_words_std", ddof=0, **fields)
    return {
        "length_words": _summarize((row.mean for row in rows), signature("length_words", **fields)),
        "length_words_std": _summarize((row.std for row in rows), std),
        "distinct_answers": _summarize(distinct, signature("distinct_answers")),
    }


def language_consistency(predictions: Answers, language: str) -> Scores:
    """Return `language_consistency`: the rate of sentences in a language, by langid."""
    rates = (
        mean([rate for rate in language_consistency_corpus(answers, language) if rate is not None])
        for answers in predictions
    )
    fields: Any = {"split": "sentencex", "language": language, "libraries": ("langid",)}
    return {"language_consistency": _summarize(rates, signature("language_consistency", **fields))}


def topic_similarity(
    predictions: Answers,
    n_topics: TopicModel = 20,
    seeds: Sequence[int] = (0,),
    language: str | None = None,
) -> Scores:
    """Return `sim_lda<n>` or `sim_hdp`, averaged over seeds: see `xling_metrics.topics`."""
    tokenize, name = published_words, "published_words"
    if language:
        tokenize, name = partial(lower_words, language=language), _name_words(language)
    elif n_topics == "hdp":
        tokenize, name = hdp_words, "gensim_simple_preprocess"
    corpus = topic_corpus(predictions, tokenize=tokenize, tokenizer=name)
    result = topic_consistencies(corpus, models=(n_topics,), seeds=seeds)[n_topics]
    summary = _summarize(result.per_question, result.signature)
    return {topic_metric(n_topics): summary | {"seed_sd": result.seed_sd}}


def bertscore_consistency(predictions: Answers, model: str = BERT, **options: Any) -> Scores:
    """Return `bertscore_p`, `_r`, `_f1`, `sim_sent` (extra `hf`; options: `Encoder.load`)."""
    from xling_metrics.bertscore import bertscore_signature, score_pairs, sim_sent_signature
    from xling_metrics.encoder import Encoder

    encoder = Encoder.load(model, **options)
    rows = score_pairs(predictions, encoder)
    signs = dict.fromkeys(("bertscore_p", "bertscore_r", "bertscore_f1"), bertscore_signature)
    return {
        name: _summarize((getattr(row, name) for row in rows), sign(encoder))
        for name, sign in {**signs, "sim_sent": sim_sent_signature}.items()
    }


# Texts beside references


def bleu(predictions: Texts, references: Texts, language: str = "en") -> Scores:
    """Return `sacrebleu` of the corpus, in percent, and mean `bleu1` to `bleu4` and `bleu`."""
    corpus = bleu_scores.corpus_bleu(predictions, references, language)
    rows = [
        bleu_scores.sentence_bleu(lower_words(one, language), lower_words(other, language))
        for one, other in zip(predictions, references, strict=True)
    ]
    return {
        "sacrebleu": {"value": corpus.score_percent, "signature": corpus.signature},
        **_summarize_fields(bleu_scores.SentenceBleu._fields, rows, tokens=_name_words(language)),
    }


def rouge_scores(predictions: Texts, references: Texts, language: str = "en") -> Scores:
    """Return `rouge1`, `rouge2`, `rougeL` as the package `rouge`, `*_standard` as `rouge-score`."""
    pairs = list(zip(predictions, references, strict=True))
    words = [(lower_words(one, language), lower_words(other, language)) for one, other in pairs]
    published = [rouge.rouge(*pair) for pair in pairs]
    standard = [rouge.rouge_standard(*pair) for pair in words]
    return {
        **_summarize_fields(rouge.Rouge._fields, published, tokens="white_space"),
        **_summarize_fields(rouge.StandardRouge._fields, standard, tokens=_name_words(language)),
    }


_TEXT = datasets.Value("string")
_ANSWERS = datasets.Sequence(_TEXT)

MODULES: dict[str, tuple[Callable[..., Scores], tuple[Any, ...]]] = {
    "ngram_consistency": (ngram_consistency, (_ANSWERS,)),
    "answer_length": (answer_length, (_ANSWERS,)),
    "language_consistency": (language_consistency, (_ANSWERS,)),
    "topic_consistency": (topic_similarity, (_ANSWERS,)),
    "bertscore_consistency": (bertscore_consistency, (_ANSWERS,)),
    "bleu": (bleu, (_TEXT, _TEXT)),
    "rouge": (rouge_scores, (_TEXT, _TEXT)),
}
"""The metrics by name: the function, and the features of predictions and references."""
