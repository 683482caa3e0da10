"""Consistency: asked the same question several times, does the model say the same?

XLingEval, section 3.3: k answers at each temperature, compared within the question. One task
sweeps all temperatures; every metric carries its temperature as suffix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal

from xling_metrics import tokenization, topics
from xling_metrics.bertscore import bertscore_signature, score_pairs, sim_sent_signature
from xling_metrics.hdp import hdp_words, require_hdp
from xling_metrics.language import PUBLISHED_LANGUAGES, published_language_consistency_corpus
from xling_metrics.languages import language_code
from xling_metrics.ngrams import answer_lengths, distinct_answers, ngram_consistency_corpus

from xling_tasks.criteria.consistency import SCORED_AS, RepeatedAnswers
from xling_tasks.criteria.metric import Metric, empty_share
from xling_tasks.errors import SettingError
from xling_tasks.failed_response import is_failed
from xling_tasks.harness.backends import is_hosted, takes_seed, uses_answer_cache
from xling_tasks.languages import language_name
from xling_tasks.log import warn_once
from xling_tasks.models.metric_models import load_encoder
from xling_tasks.tasks.auxiliary import (
    STAND_IN,
    AuxiliaryRequest,
    open_translator,
    translation_requests,
)
from xling_tasks.tasks.task import Answered, HealthTask, Request

Kind = Literal["published", "source"]
Values = dict[str, list[Any]]
Texts = Sequence[Sequence[str | None]]
"""For each question its answers; None is a failed translation, which is left out."""

BERTSCORE = ("bertscore_p", "bertscore_r", "bertscore_f1")
LDA_TOPICS: tuple[topics.TopicModel, ...] = (20, 100)


@dataclass(frozen=True)
class Scorer:
    """What scores the answers of one language.

    Two kinds, never mixed in one column: `published` scores English texts (answers in English, or
    translated to it) with the published word pattern and an English encoder; `source` scores the
    answers as they are, with words cut for their language and a multilingual encoder, and its
    metrics end in `_src`.
    """

    language: str  # the language of the texts scored (`en` for translations)
    kind: Kind  # `published` or `source`
    encoder: Any  # an `xling_metrics.encoder.Encoder`; None leaves its metrics out
    topic_seeds: tuple[int, ...]  # one topic model per seed; empty leaves the topic metrics out
    sim_hdp: bool = False  # whether the topic metrics include `sim_hdp`

    def sign(self, name: str) -> str:
        """Return the fields of the signature of a metric, by its name without the kind's ending."""
        if name.startswith("length_words"):
            ddof = "ddof:0|" if name == "length_words_std" else ""
            return (
                f"{ddof}words:{tokenization.segmenter_name(self.language)}|language:{self.language}"
            )
        if name == "sim_sent":
            return sim_sent_signature(self.encoder).partition("|")[2]
        if name in BERTSCORE:
            # The layer and rescaling of the published numbers are in neither paper nor code.
            unsettled = "|published_layer_and_rescaling:unsettled"
            kind = f"kind:{bertscore_signature(self.encoder)}"
            return kind + (unsettled if self.kind == "published" else "")
        signatures = {
            topics.topic_metric(model): topics.topic_signature(model, self.topic_seeds, tokens)
            for models, _, tokens in self._topic_models(tokenization.published_words)
            for model in models
        }
        signed = signatures.get(name.removesuffix("_seed_sd"))
        return signed.partition("|")[2] if signed else f"pairs:all|tokens:{self._token_name}"

    def score(self, questions: Texts, all_questions: Texts, positions: Sequence[int]) -> Values:
        """Return the value of every question by metric; None where it is undefined.

        QUESTIONS are at POSITIONS in ALL_QUESTIONS, of all processes, which topics are fitted on.
        """
        texts_of = [[text for text in answers if text is not None] for answers in questions]
        cache = tokenization.TokenCache(self.language)  # segmenters are slow
        length: Callable[[str], int] | None = cache.length
        tokenize = cache.words
        if self.kind == "published":
            length, tokenize = None, tokenization.published_words
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
        suffix = "_src" if self.kind == "source" else ""
        return {name + suffix: values for name, values in values_of.items()}

    @property
    def _token_name(self) -> str:
        """What cuts texts for n-grams and topics, for signatures."""
        if self.kind == "published":
            return "published_words"
        return f"lower_words:{self.language}:{tokenization.segmenter_name(self.language)}"

    def _topics(
        self, all_questions: Texts, positions: Sequence[int], tokenize: Callable[[str], list[str]]
    ) -> Values:
        values: Values = {}
        for models, cut, name in self._topic_models(tokenize):
            corpus = topics.topic_corpus(all_questions, tokenize=cut, tokenizer=name)
            results = topics.topic_consistencies(corpus, models=models, seeds=self.topic_seeds)
            for model, result in results.items():
                metric = topics.topic_metric(model)
                values[metric] = [result.per_question[i] for i in positions]
                if len(self.topic_seeds) > 1:
                    by_seed = result.per_question_by_seed
                    values[f"{metric}_seed_sd"] = [by_seed[i] for i in positions]
        return values

    def _topic_models(
        self, tokenize: Callable[[str], list[str]]
    ) -> list[tuple[tuple[topics.TopicModel, ...], Callable[[str], list[str]], str]]:
        """Return topic models with the tokenizer of their corpus and its name."""
        if not self.topic_seeds:
            return []
        if self.sim_hdp and self.kind == "published":  # whose HDP has a tokenizer of its own
            return [
                (LDA_TOPICS, tokenize, self._token_name),
                (("hdp",), hdp_words, "gensim_simple_preprocess"),
            ]
        models: tuple[topics.TopicModel, ...] = (*LDA_TOPICS, "hdp") if self.sim_hdp else LDA_TOPICS
        return [(models, tokenize, self._token_name)]


class ConsistencyTask(HealthTask):
    """k answers per question and temperature, compared with each other."""

    criterion = "consistency"
    prompt_name = "consistency"
    other_prompts = ("translate",)
    native_as_published = True
    swept = True
    unused_fields = ("answers", "reference")
    _scorers: tuple[Scorer, ...] = ()

    @property
    def counts(self) -> dict[float, int]:
        """The answers of each temperature: k; at 0 one where all k would be copies."""
        repeated = self.settings.greedy_repeats == "k"
        if self.settings.greedy_repeats is None:
            repeated = self.run.lm is None or is_hosted(self.run.lm)
        k = self.settings.k
        return {tau: k if tau > 0 or repeated else 1 for tau in self.temperatures}

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return all answers at every temperature."""
        return [one for tau, n in self.counts.items() for one in self.generate(doc, tau, n)]

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return translations by a model of the harness; the reference stands in for answers."""
        docs = self.data.docs(self.language)
        references = {row["question_id"]: row["reference"] for row in docs}
        text = references[doc["question_id"]] or STAND_IN
        return translation_requests(self, text, self.language) * sum(self.counts.values())

    def prepare(self) -> None:
        """Load what the scoring needs before anything is generated."""
        lm, greedy = self.run.lm, self.counts.get(0.0, 1)
        if uses_answer_cache(lm) and not takes_seed(lm) and greedy > 1:  # a fake consistency
            raise SettingError(
                f"{self._name}: --use_cache would return one answer {greedy} times at "
                "temperature 0; leave it out, or set --metadata greedy_repeats=once"
            )
        if self.predict_only:
            return
        if self.settings.translator is None:
            tokenization.load_segmenter(self.language)
            if not tokenization.can_segment(self.language):
                raise SettingError(
                    f"{self._name}: {language_name(self.language)} is written without spaces and "
                    "has no word segmenter here, so its answers can only be compared in English: "
                    "set a translator, or leave the language out"
                )
        if self.settings.sim_hdp:
            require_hdp()
        self.translator = open_translator(self)
        self._scorers = tuple(self._load_scorers())

    def _load_scorers(self) -> list[Scorer]:
        """Load published scores for English texts, and source scores where none translates."""
        settings, repeats = self.settings, max(self.counts.values()) > 1
        seeds, hdp = settings.topic_seeds if repeats else (), settings.sim_hdp
        scorers = []
        if self.language == "en" or self.translator is not None:
            encoder = load_encoder(settings.encoder, "encoder") if repeats else None
            scorers.append(Scorer("en", "published", encoder, seeds, hdp))
        if settings.translator is None:
            warn_once(
                "Consistency: no translator is set, so answers are scored in their own language "
                "(metrics ending in _src; English also as published). Set one with --metadata "
                '\'{"translator": {"model": "seq2seq", "model_args": {"pretrained": ...}}}\'.'
            )
            encoder = load_encoder(settings.source_encoder, "source_encoder") if repeats else None
            scorers.append(Scorer(self.language, "source", encoder, seeds, hdp))
        return scorers

    def score(self, answered: Sequence[Answered]) -> list[dict[float, RepeatedAnswers]]:
        """Translate, compare and fit topics once per temperature over all answers."""
        rows: list[dict[float, RepeatedAnswers]] = [{} for _ in answered]
        remaining = [iter(one.texts) for one in answered]
        questions = [one.doc["question_id"] for one in answered]
        for tau, count in self.counts.items():
            answers = [list(islice(texts, count)) for texts in remaining]
            for row, scored in zip(rows, self._score_at(questions, answers), strict=True):
                row[tau] = scored
        return rows

    def _score_at(
        self, questions: Sequence[str], answers: Sequence[Sequence[str]]
    ) -> list[RepeatedAnswers]:
        texts = self._translate(answers)
        # Topic models are fitted on the answers of all processes; nothing else is shared.
        parts = self.run.all_gather(dict(zip(questions, texts, strict=True)))
        everything = {question: repeats for part in parts for question, repeats in part.items()}
        order = [key for doc in self.eval_docs if (key := doc["question_id"]) in everything]
        position = {question: index for index, question in enumerate(order)}
        columns = self._measure_language(answers)
        for scorer in self._scorers:
            columns |= scorer.score(
                texts,
                [everything[question] for question in order],
                [position[question] for question in questions],
            )
        rows = []
        for index, (question_texts, english) in enumerate(zip(answers, texts, strict=True)):
            scores = {name: values[index] for name, values in columns.items()}
            present = [text for text in question_texts if not is_failed(text)]
            translated = None
            if self.translator is not None:
                translated = list(english)
                pairs = zip(question_texts, english, strict=True)
                failed = [new is None for text, new in pairs if not is_failed(text)]
                scores["translation_failed_rate"] = [sum(failed), len(failed)]
            rows.append(RepeatedAnswers(present, scores, translated))
        return rows

    def _translate(self, answers: Sequence[Sequence[str]]) -> list[list[str | None]]:
        """Return the answers as they are scored: in English, if there is a translator."""
        every = dict.fromkeys(chain.from_iterable(answers))
        distinct = [text for text in every if not is_failed(text)]
        translations: Sequence[str | None] = distinct
        if self.translator is not None:
            translations = self.translator.translate(distinct, self.language, "en")
        english = dict(zip(distinct, translations, strict=True))
        return [[english.get(text) for text in texts] for texts in answers]

    def _measure_language(self, answers: Sequence[Sequence[str]]) -> dict[str, list[Any]]:
        """Return whether answers are in the language, distinct, and there; a value per question."""
        present = [[text for text in texts if not is_failed(text)] for texts in answers]
        flat = list(dict.fromkeys(chain.from_iterable(present)))

        def by_question(values: Iterable[Any], combine: Callable[[list[Any]], Any]) -> list[Any]:
            by_text = dict(zip(flat, values, strict=True))
            defined = ([v for text in texts if (v := by_text[text]) is not None]
                       for texts in present)  # fmt: skip
            return [combine(values) for values in defined]

        def mean(values: list[float]) -> float | None:
            return float(sum(values) / len(values)) if values else None

        def count(passes: list[bool]) -> list[int]:
            return [sum(passes), len(passes)]

        language = self.answer_language()
        confusions = language.confusion(flat)
        published: Sequence[Any] = [None] * len(flat)
        if language_code(self.language) in PUBLISHED_LANGUAGES:
            published = published_language_consistency_corpus(flat, self.language)
        return {
            "language_consistency": by_question(language.consistency(flat), mean),
            "line_pass_rate": by_question((item.line_pass for item in confusions), count),
            "word_pass_rate": by_question((item.word_pass for item in confusions), count),
            "language_consistency_published": by_question(published, mean),
            "empty_rate": [empty_share(texts) for texts in present],
            "distinct_answers": [
                float(distinct_answers(texts)) if texts else None for texts in present
            ],
        }

    def extra_record(self, row: dict[float, RepeatedAnswers]) -> dict[str, Any]:
        """Return the translations that were scored, by temperature."""
        if self.translator is None:
            return {}
        return {SCORED_AS: {str(tau): answers.english for tau, answers in row.items()}}

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics per temperature; of one answer alone there are few."""
        return [
            metric.at(tau, count)
            for tau, count in self.counts.items()
            for metric in self.table()
            if count > 1 or not metric.repeats
        ]

    def scorer(self, kind: str) -> Scorer | None:
        """Return what scores English texts (`published`) or the answers as they are (`source`)."""
        return next((scorer for scorer in self._scorers if scorer.kind == kind), None)
