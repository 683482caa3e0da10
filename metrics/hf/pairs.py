"""Metrics of predictions beside references, and of texts by themselves, for `evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xling_metrics import bleu as bleus
from xling_metrics import claims, classification, overlap, rouge, rubric
from xling_metrics.answer_language import answer_language_rule, classify_answer_language
from xling_metrics.base import mean, signature
from xling_metrics.choices import is_exact_match, jaccard
from xling_metrics.language import score_language_confusion
from xling_metrics.tokenization import lower_words, segmenter_name

Texts = Sequence[str]
Scores = dict[str, Any]


def summary(per_question: Sequence[float | None], sign: str) -> dict[str, Any]:
    """The mean over what is scored, the values, and how they were made."""
    known = [value for value in per_question if value is not None]
    return {"value": mean(known), "per_question": list(per_question), "signature": sign}


def fields(names: Iterable[str], rows: Sequence[Any], **how: Any) -> Scores:
    """A summary of each of some attributes; None where a row is, or has none."""
    return {
        name: summary([None if row is None else getattr(row, name) for row in rows],
                      signature(name, **how))
        for name in names
    }  # fmt: skip


def words_of(language: str) -> str:
    """What cuts texts into lower-cased words, for signatures."""
    return f"lower_words:{language}:{segmenter_name(language)}"


def bleu(predictions: Texts, references: Texts, language: str = "en") -> Scores:
    """`sacrebleu` of the corpus, in percent, and the mean of `bleu1` to `bleu4` and `bleu`."""
    corpus = bleus.corpus_bleu(predictions, references, language)
    rows = [
        bleus.sentence_bleu(lower_words(one, language), lower_words(other, language))
        for one, other in zip(predictions, references, strict=True)
    ]
    return {
        "sacrebleu": {"value": corpus.score_percent, "signature": corpus.signature},
        **fields(bleus.SentenceBleu._fields, rows, tokens=words_of(language)),
    }


def rouge_scores(predictions: Texts, references: Texts, language: str = "en") -> Scores:
    """`rouge1`, `rouge2`, `rougeL` as the package `rouge`, `*_standard` as `rouge-score`."""
    pairs = list(zip(predictions, references, strict=True))
    own = [rouge.rouge(one, other) for one, other in pairs]
    words = [(lower_words(one, language), lower_words(other, language)) for one, other in pairs]
    standard = [rouge.rouge_standard(one, other) for one, other in words]
    return {
        **fields(rouge.Rouge._fields, own, tokens="white_space"),
        **fields(rouge.StandardRouge._fields, standard, tokens=words_of(language)),
    }


def chrf(predictions: Texts, references: Texts) -> Scores:
    """`chrf2` of each text, in percent."""
    rows = [overlap.chrf(one, other) for one, other in zip(predictions, references, strict=True)]
    return {"chrf2": summary(rows, overlap.chrf_signature())}


def verdicts(predictions: Sequence[int | None], references: Sequence[int]) -> Scores:
    """Macro precision, recall and F1, accuracy, hard AUC of 0 and 1; None: no verdict."""
    scores = classification.classification_scores(references, predictions)
    return _of_corpus(scores, classification.classification_signature)


def probabilities(predictions: Sequence[float | None], references: Sequence[int]) -> Scores:
    """`auc`, `ece` and `brier` of the probability of 1; None: undefined."""
    scores = classification.probability_scores(references, predictions)
    return _of_corpus(scores, classification.probability_signature)


def _of_corpus(scores: Any, sign: Any) -> Scores:
    made = {
        name: {"value": value, "signature": sign(name)}
        for name, value in scores._asdict().items()
        if name != "n"
    }
    return {**made, "n": scores.n}


def choices(predictions: Sequence[Texts | None], references: Sequence[Texts]) -> Scores:
    """`acc` (all right letters and no other) and `jaccard`, of lists of letters."""
    pairs = list(zip(predictions, references, strict=True))
    return {
        "acc": summary(
            [float(is_exact_match(*pair)) for pair in pairs], signature("acc", equal="letter_sets")
        ),
        "jaccard": summary([jaccard(*pair) for pair in pairs], signature("jaccard")),
    }


def information(
    predictions: Sequence[claims.Verdicts | None], references: Sequence[claims.Verdicts | None]
) -> Scores:
    """`information_f1` of verdicts on the claims of answers and of reference answers."""
    rows = [claims.claim_scores(*pair) for pair in zip(predictions, references, strict=True)]
    f1 = {"value": claims.information_f1(rows), "signature": signature("information_f1")}
    return {"information_f1": f1, **fields(claims.ClaimScores._fields, rows)}


def rubric_scores(
    predictions: Sequence[Sequence[bool | None]], references: Sequence[Sequence[float]]
) -> Scores:
    """`rubric_score`: points of the criteria that are met over those that could be."""
    rows = [rubric.rubric_score(*pair) for pair in zip(predictions, references, strict=True)]
    return {"rubric_score": summary(rows, signature("rubric_score"))}


def answer_language(predictions: Texts, language: str) -> Scores:
    """`in_users_language`: whether each answer is; None where it is too short to tell."""
    inside = [row.in_language for row in classify_answer_language(predictions, language)]
    rows = [None if value is None else float(value) for value in inside]
    how = signature("in_users_language", language=language, libraries=("langid",))
    sign = how + answer_language_rule(language)
    return {"in_users_language": summary(rows, sign)}


def language_confusion(predictions: Texts, language: str) -> Scores:
    """`line_pass` and `word_pass` of each answer: the Language Confusion Benchmark's."""
    rows = score_language_confusion(predictions, language)
    return {
        name: summary(
            [None if getattr(row, name) is None else float(getattr(row, name)) for row in rows],
            signature(name, language=language, libraries=("langid",)),
        )
        for name in ("line_pass", "word_pass")
    }
