"""Consistency: asked the same question several times, does the model say the same?

XLingEval, section 3.3: k answers at each temperature, compared within the question. One task
sweeps all temperatures; every metric carries its temperature as suffix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any

from xling_metrics.hdp import require_hdp
from xling_metrics.language import PUBLISHED_LANGUAGES, published_language_consistency_corpus
from xling_metrics.languages import language_code
from xling_metrics.ngrams import distinct_answers
from xling_metrics.tokenization import can_segment, load_segmenter

from xling_tasks.criteria.consistency import SCORED_AS, RepeatedAnswers
from xling_tasks.criteria.metric import Metric
from xling_tasks.criteria.responses import empty_share
from xling_tasks.errors import SettingError
from xling_tasks.failed_response import is_failed
from xling_tasks.harness.backends import is_hosted, takes_seed, uses_answer_cache
from xling_tasks.languages import language_name
from xling_tasks.log import warn_once
from xling_tasks.models.metric_models import load_encoder
from xling_tasks.scorers.consistency import Scorer
from xling_tasks.tasks.auxiliary import (
    STAND_IN,
    AuxiliaryRequest,
    open_translator,
    translation_requests,
)
from xling_tasks.tasks.task import Answered, HealthTask, Request


class ConsistencyTask(HealthTask):
    """k answers per question and temperature, compared with each other."""

    criterion = "consistency"
    prompt_name = "consistency"
    other_prompts = ("translate",)
    native_as_published = True
    swept = True
    unused_fields = ("answers", "reference")
    _scorers: tuple[Scorer, ...] = ()

    # Requests

    @property
    def counts(self) -> dict[float, int]:
        """How many answers each temperature has.

        k; at temperature 0 one on backends that would give k copies of one answer.
        """
        repeated = self.settings.greedy_repeats == "k"
        if self.settings.greedy_repeats is None:
            repeated = self.run.lm is None or is_hosted(self.run.lm)
        k = self.settings.k
        return {tau: k if tau > 0 or repeated else 1 for tau in self.temperatures}

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return all answers at every temperature."""
        return [one for tau, n in self.counts.items() for one in self.generate(doc, tau, n)]

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return translations by a model of the harness; the reference stands in for answers.

        Where there is none, a text as long as answers are does: a question is one sentence.
        """
        docs = self.data.docs(self.language)
        references = {row["question_id"]: row["reference"] for row in docs}
        text = references[doc["question_id"]] or STAND_IN
        return translation_requests(self, text, self.language) * sum(self.counts.values())

    # Before the run

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
            load_segmenter(self.language)
            if not can_segment(self.language):
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
        """Load published scores for English texts, and source scores where none translates.

        English answers get both kinds without a translator, so that each has its English column.
        """
        settings, repeats = self.settings, max(self.counts.values()) > 1
        topics, hdp = settings.topic_seeds if repeats else (), settings.sim_hdp
        scorers = []
        if self.language == "en" or self.translator is not None:
            encoder = load_encoder(settings.encoder, "encoder") if repeats else None
            scorers.append(Scorer("en", "published", encoder, topics, hdp))
        if settings.translator is None:
            warn_once(
                "Consistency: no translator is set, so answers are scored in their own language "
                "(metrics ending in _src; English also as published). Set one with --metadata "
                '\'{"translator": {"model": "seq2seq", "model_args": {"pretrained": ...}}}\'.'
            )
            encoder = load_encoder(settings.source_encoder, "source_encoder") if repeats else None
            scorers.append(Scorer(self.language, "source", encoder, topics, hdp))
        return scorers

    # Scores

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

    # Metrics

    def own_metrics(self) -> list[Metric]:
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

    @property
    def translator_signature(self) -> str:
        """The field of a signature that says how answers became English; '' where they were."""
        return "" if self.translator is None else f"|translator:{self.translator.signature}"
