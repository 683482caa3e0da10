"""All consistency scores of a corpus of answers: from texts to one value per question and metric.

Two kinds, never mixed in one column: `published` scores English texts (answers in English, or
translated to it) with the published word pattern and an English encoder; `source` scores the
answers as they are, with words cut for their language and a multilingual encoder, and its metrics
end in `_src`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xling_metrics.bertscore import bertscore_signature, score_pairs, sim_sent_signature
from xling_metrics.hdp import hdp_words
from xling_metrics.ngrams import answer_lengths, ngram_consistency_corpus
from xling_metrics.tokenization import TokenCache, published_words, segmenter_name
from xling_metrics.topics import (
    TopicModel,
    topic_consistencies,
    topic_corpus,
    topic_metric,
    topic_signature,
)

Kind = Literal["published", "source"]
Values = dict[str, list[Any]]
Texts = Sequence[Sequence[str | None]]
"""For each question its answers; None is a failed translation, which is left out."""

BERTSCORE = ("bertscore_p", "bertscore_r", "bertscore_f1")
LDA_TOPICS: tuple[TopicModel, ...] = (20, 100)


@dataclass(frozen=True)
class Scorer:
    """What scores the answers of one language.

    Attributes:
        language: The language of the texts scored (`en` for translations).
        kind: `published` or `source`.
        encoder: An `xling_metrics.encoder.Encoder`; None leaves its metrics out.
        topic_seeds: One topic model per seed; empty leaves the topic metrics out.
        sim_hdp: Whether the topic metrics include `sim_hdp`.
    """

    language: str
    kind: Kind
    encoder: Any
    topic_seeds: tuple[int, ...]
    sim_hdp: bool = False

    @property
    def suffix(self) -> str:
        """What the names of this kind's metrics end in."""
        return "_src" if self.kind == "source" else ""

    def sign(self, name: str) -> str:
        """Return the fields of the signature of a metric, by its name without the kind's ending."""
        if name.startswith("length_words"):
            ddof = "ddof:0|" if name == "length_words_std" else ""
            return f"{ddof}words:{segmenter_name(self.language)}|language:{self.language}"
        if name == "sim_sent":
            return sim_sent_signature(self.encoder).partition("|")[2]
        if name in BERTSCORE:
            # The layer and rescaling of the published numbers are in neither paper nor code.
            unsettled = "|published_layer_and_rescaling:unsettled"
            kind = f"kind:{bertscore_signature(self.encoder)}"
            return kind + (unsettled if self.kind == "published" else "")
        topics = {
            topic_metric(model): topic_signature(model, self.topic_seeds, tokens)
            for models, _, tokens in self._topic_models(published_words)
            for model in models
        }
        signed = topics.get(name.removesuffix("_seed_sd"))
        return signed.partition("|")[2] if signed else f"pairs:all|tokens:{self._token_name}"

    def score(self, questions: Texts, all_questions: Texts, positions: Sequence[int]) -> Values:
        """Return, per metric, the value of every question; None where it is undefined.

        QUESTIONS are this process's, at POSITIONS in ALL_QUESTIONS: those of all processes, which
        the topic models are fitted on.
        """
        texts_of = [[text for text in answers if text is not None] for answers in questions]
        cache = TokenCache(self.language)  # for lengths, n-grams and topics: segmenters are slow
        length, tokenize = (
            (None, published_words) if self.kind == "published" else (cache.length, cache.words)
        )
        lengths = [answer_lengths(texts, self.language, length=length) for texts in texts_of]
        values_of: Values = {"length_words": [length.mean for length in lengths]}
        if max(map(len, all_questions), default=0) > 1:
            values_of["length_words_std"] = [length.std for length in lengths]
            ngrams = ngram_consistency_corpus(texts_of, tokenize=tokenize)
            values_of["sim_1gram"] = [item.sim_1gram for item in ngrams]
            values_of["sim_2gram"] = [item.sim_2gram for item in ngrams]
            if self.encoder is not None:
                results = score_pairs(questions, self.encoder)
                for name in (*BERTSCORE, "sim_sent"):
                    values_of[name] = [getattr(result, name) for result in results]
            values_of |= self._topics(all_questions, positions, tokenize)
        return {name + self.suffix: values for name, values in values_of.items()}

    @property
    def _token_name(self) -> str:
        """What cuts texts for n-grams and topics, for signatures."""
        if self.kind == "published":
            return "published_words"
        return f"lower_words:{self.language}:{segmenter_name(self.language)}"

    def _topics(
        self, all_questions: Texts, positions: Sequence[int], tokenize: Callable[[str], list[str]]
    ) -> Values:
        values: Values = {}
        for models, cut, name in self._topic_models(tokenize):
            corpus = topic_corpus(all_questions, tokenize=cut, tokenizer=name)
            results = topic_consistencies(corpus, models=models, seeds=self.topic_seeds)
            for model, result in results.items():
                metric = topic_metric(model)
                values[metric] = [result.per_question[i] for i in positions]
                if len(self.topic_seeds) > 1:
                    by_seed = result.per_question_by_seed
                    values[f"{metric}_seed_sd"] = [by_seed[i] for i in positions]
        return values

    def _topic_models(
        self, tokenize: Callable[[str], list[str]]
    ) -> list[tuple[tuple[TopicModel, ...], Callable[[str], list[str]], str]]:
        """Return topic models with the tokenizer of their corpus and its name."""
        if not self.topic_seeds:
            return []
        if self.sim_hdp and self.kind == "published":  # whose HDP has a tokenizer of its own
            return [
                (LDA_TOPICS, tokenize, self._token_name),
                (("hdp",), hdp_words, "gensim_simple_preprocess"),
            ]
        models: tuple[TopicModel, ...] = (*LDA_TOPICS, "hdp") if self.sim_hdp else LDA_TOPICS
        return [(models, tokenize, self._token_name)]
