"""Consistency: asked the same question several times, does the model say the same?

XLingEval, section 3.3: k answers at each temperature, compared within the question. One task
sweeps all temperatures; every metric carries its temperature as suffix.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from xling_metrics.aggregate import MEAN, RATIO, SPREAD
from xling_metrics.base import signature
from xling_metrics.hdp import require_hdp
from xling_metrics.language import (
    PUBLISHED_LANGUAGES,
    has_own_script,
    published_language_consistency_corpus,
)
from xling_metrics.languages import language_code
from xling_metrics.ngrams import distinct_answers
from xling_metrics.tokenization import can_segment, load_segmenter

from xling_tasks.criteria.consistency import SCORED_AS
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.failed_response import is_empty, is_failed
from xling_tasks.harness.backends import is_hosted, takes_seed, uses_answer_cache
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.languages import language_name
from xling_tasks.log import warn_once
from xling_tasks.models.encoders import load_encoder
from xling_tasks.scorers.answered import defined_mean, replies_of
from xling_tasks.scorers.consistency import Scorer, Texts
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.requests import STAND_IN, Request, SideRequest
from xling_tasks.tasks.sampling import SweepTask, generation_arguments
from xling_tasks.tasks.translated import TranslatedTask
from xling_tasks.tasks.xlinghealth import XLingHealthTask

_SCORED_AS = f"{SCORED_AS}_of_answers"


class Replies(list[str]):
    """A document's replies to one request, which remember the filter they came through."""

    def __init__(self, replies: Sequence[str], filter_key: str) -> None:
        super().__init__(replies)
        self.filter_key = filter_key


class ConsistencyTask(SweepTask, TranslatedTask, XLingHealthTask):
    """k answers per question and temperature, compared with each other."""

    criterion = "consistency"
    native_as_published = True

    prompt_name = "consistency"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._scorers: list[Scorer] = []
        self._scores: dict[str, dict[int, dict[str, Any]]] = {}
        super().__init__(config)

    def docs(self) -> list[dict[str, Any]]:
        """All questions usable in this language; the answers in the data are not needed."""
        dropped = ("answers", "reference")
        return [
            {key: value for key, value in doc.items() if key not in dropped}
            for doc in self.data.docs(self.language)
        ]

    # Requests

    def answers_at(self, temperature: float) -> int:
        """k; at temperature 0 once on backends that would give k copies of one answer."""
        if temperature > 0:
            return self.settings.k
        lm = current().lm
        hosted = lm is None or is_hosted(lm)
        repeats = self.settings.greedy_repeats or ("k" if hosted else "once")
        return self.settings.k if repeats == "k" else 1

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """Per temperature one request with all its answers."""
        return [
            ("generate_until", (context, generation_arguments(self, tau)), self.answers_at(tau))
            for tau in self.temperatures
        ]

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Translations by a model of the harness; the reference stands in for answers to come.

        Where there is none, a text as long as answers are does: a question is one sentence.
        """
        requests = self.translation_requests(self._references[doc["question_id"]], self.language)
        return requests * sum(self.answers_at(tau) for tau in self.temperatures)

    @functools.cached_property
    def _references(self) -> dict[str, str]:
        docs = self.data.docs(self.language)
        return {doc["question_id"]: doc["reference"] or STAND_IN for doc in docs}

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """The question's prompt, and the one for translation by a model of the harness."""
        return super().used_prompts() | self.translate_prompt()

    # Scoring

    def check_run(self) -> None:
        """Load what the scoring needs before anything is generated."""
        super().check_run()
        self._answers = {tau: self.answers_at(tau) for tau in self.temperatures}
        lm, count = current().lm, self._answers.get(0.0, 1)
        if uses_answer_cache(lm) and not takes_seed(lm) and count > 1:  # a fake consistency
            raise SettingError(
                f"{self.config.task}: --use_cache would return one answer {count} times at "
                "temperature 0; leave it out, or set --metadata greedy_repeats=once"
            )
        if self.predict_only:
            return
        if self.settings.translator is None:
            load_segmenter(self.language)
        if self.settings.translator is None and not can_segment(self.language):
            raise SettingError(
                f"{self.config.task}: {language_name(self.language)} is written without spaces and "
                "has no word segmenter here, so its answers can only be compared in English: set a "
                "translator, or leave the language out"
            )
        if self.settings.sim_hdp:
            require_hdp()
        self.load_translator()
        self._scorers = self._make_scorers()

    def _make_scorers(self) -> list[Scorer]:
        """Published scores for English texts; scores in the source language where none translates.

        English answers get both kinds without a translator, so that each has its English column.
        """
        several = max(self._answers.values()) > 1
        topics = self.settings.topic_seeds if several else ()
        scorers = []
        if self.language == "en" or self._translator is not None:
            encoder = load_encoder(self.settings.encoder, "encoder") if several else None
            scorers.append(Scorer("en", "published", encoder, topics, self.settings.sim_hdp))
        if self.settings.translator is None:
            warn_once(
                "Consistency: no translator is set, so answers are scored in their own language "
                "(metrics ending in _src; English also as published). Set one with --metadata "
                '\'{"translator": {"model": "seq2seq", "model_args": {"pretrained": ...}}}\'.'
            )
            setting = self.settings.source_encoder
            encoder = load_encoder(setting, "source_encoder") if several else None
            hdp = self.settings.sim_hdp
            scorers.append(Scorer(self.language, "source", encoder, topics, hdp))
        return scorers

    def score(self) -> None:
        """Translate, compare and fit topics once over all answers, per filter and temperature."""
        for key in list(self.instances[0].filtered_resps) if self.instances else ["none"]:
            answers = self._answers_by_doc(key)
            scores: dict[int, dict[str, Any]] = {doc_id: {} for doc_id in answers}
            for tau in self.temperatures:
                values_of = self._score_at(list(answers), [a[tau] for a in answers.values()])
                for name, values in values_of.items():
                    for doc_id, value in zip(answers, values, strict=True):
                        scores[doc_id][f"{name}_t{tau}"] = value
            self._scores[key] = scores
            for instance in self.instances:
                replies = replies_of(instance.filtered_resps[key])
                instance.filtered_resps[key] = Replies(replies, key)

    def _answers_by_doc(self, key: str) -> dict[int, dict[float, list[str]]]:
        """Every document's answers by temperature, in the order in which they were asked for."""
        answers = {}
        for instances in self.by_document():
            texts = [r for item in instances for r in replies_of(item.filtered_resps[key])]
            if len(texts) != sum(self._answers.values()):
                raise XlingError(
                    f"{self.config.task}: filter {key!r} leaves {len(texts)} of "
                    f"{sum(self._answers.values())} answers per question; consistency needs all "
                    "of them (leave out filters such as take_first)"
                )
            rest = iter(texts)
            answers[instances[0].doc_id] = {
                tau: list(islice(rest, n)) for tau, n in self._answers.items()
            }
        return answers

    def _score_at(self, doc_ids: list[int], answers: list[list[str]]) -> dict[str, list[Any]]:
        texts = self._in_english(answers)
        own = dict(zip(doc_ids, texts, strict=True))
        everything = {i: t for part in all_ranks(own) for i, t in part.items()}
        order = {doc_id: position for position, doc_id in enumerate(sorted(everything))}
        ordered = [everything[doc_id] for doc_id in order]
        where = [order[doc_id] for doc_id in doc_ids]
        values = self._about_language(answers)
        if self._translator is not None:
            pairs = [_there(t, own) for t, own in zip(texts, answers, strict=True)]
            values["translation_failed_rate"] = [[p.count(None), len(p)] for p in pairs]
            values[_SCORED_AS] = list(texts)
        for scorer in self._scorers:
            values |= scorer.score(texts, ordered, where)
        return values

    def _in_english(self, answers: list[list[str]]) -> Texts:
        """The answers as they are scored: translated if there is a translator."""
        distinct = [a for a in dict.fromkeys(chain.from_iterable(answers)) if not is_failed(a)]
        if self._translator is None:
            translations: Sequence[str | None] = distinct
        else:
            translations = self._translator.translate(distinct, self.language, "en")
        english = dict(zip(distinct, translations, strict=True))
        return [[english.get(answer) for answer in per] for per in answers]

    def _about_language(self, answers: list[list[str]]) -> dict[str, list[Any]]:
        """Whether the answers are in the language asked for, distinct, and there at all."""
        answers = [_there(per, per) for per in answers]
        flat = list(dict.fromkeys(chain.from_iterable(answers)))

        def by_question(of_texts: Sequence[Any], combine: Callable[[list[Any]], Any]) -> list[Any]:
            known = dict(zip(flat, of_texts, strict=True))
            return [combine([known[answer] for answer in per]) for per in answers]

        told = self.answer_language()
        passes = told.confusion(flat)
        values = {
            "language_consistency": by_question(told.consistency(flat), defined_mean),
            "line_pass_rate": by_question([each.line_pass for each in passes], _counts),
            "empty_rate": by_question(list(map(is_empty, flat)), _counts),
        }
        if language_code(self.language) in PUBLISHED_LANGUAGES:
            counted = published_language_consistency_corpus(flat, self.language)
            values["language_consistency_published"] = by_question(counted, defined_mean)
        if has_own_script(self.language):
            values["word_pass_rate"] = by_question([each.word_pass for each in passes], _counts)
        if max(map(len, answers), default=0) > 1:
            values["distinct_answers"] = [
                float(distinct_answers(per)) if per else None for per in answers
            ]
        return values

    # Results

    def all_values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Also the translations that were scored, which are no metric, by temperature."""
        values = super().all_values(doc, results)
        kept = [name for name in values if name.startswith(_SCORED_AS)]
        if kept:
            english = {name.rpartition("_t")[2]: values.pop(name) for name in kept}
            values["n_responses"][SCORED_AS] = english
        return values

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """What `score` found for this document."""
        return dict(self._scores[results[0].filter_key][self._doc_ids[doc["question_id"]]])

    @functools.cached_property
    def _doc_ids(self) -> dict[str, int]:
        return {instance.doc["question_id"]: instance.doc_id for instance in self.instances}

    def metrics(self) -> list[Metric]:
        """Per temperature: means over questions of their values; rates pooled over answers."""
        return [
            replace(
                each,
                name=f"{each.name}_t{tau}",
                signature=f"{each.signature}|temperature:{tau}|k:{count}",
            )
            for tau, count in self._answers.items()
            for each in self._metrics_at(count)
        ]

    def _metrics_at(self, count: int) -> list[Metric]:
        code = language_code(self.language)
        langid: dict[str, Any] = {"language": code, "libraries": ("langid",)}
        told = self.answer_language()
        sentences = told.signature("language_consistency", split="sentencex")
        metrics = [
            Metric("language_consistency", MEAN, sentences),
            Metric("line_pass_rate", RATIO, told.signature("line_pass_rate")),
            Metric("empty_rate", RATIO, signature("empty_rate", of="all_answers")),
        ]
        if code in PUBLISHED_LANGUAGES:
            name = "language_consistency_published"
            labels = ",".join(PUBLISHED_LANGUAGES)
            sign = signature(name, split="published", labels=labels, **langid)
            metrics.append(Metric(name, MEAN, sign))
        if has_own_script(self.language):
            sign = signature("word_pass_rate", language=code, of="answers_that_pass_by_line")
            metrics.append(Metric("word_pass_rate", RATIO, sign))
        if count > 1:
            sign = signature("distinct_answers", of=count)
            metrics.append(Metric("distinct_answers", MEAN, sign))
        via = ""
        if self._translator is not None:
            via = f"|translator:{self._translator.signature}"
            sign = signature("translation_failed_rate", of="all_answers") + via
            metrics.append(Metric("translation_failed_rate", RATIO, sign))
        for scorer in self._scorers:
            for name, sign in scorer.signatures(several=count > 1).items():
                spread = "_seed_sd" in name
                metrics.append(Metric(name, SPREAD if spread else MEAN, sign + via))
        return metrics


def _there(values: Sequence[Any], answers: Sequence[str]) -> list[Any]:
    """The values of those answers that came, failed calls aside."""
    return [value for value, answer in zip(values, answers, strict=True) if not is_failed(answer)]


def _counts(passes: Sequence[bool | None]) -> list[int]:
    """[passed, scored] of some answers."""
    scored = [item for item in passes if item is not None]
    return [sum(scored), len(scored)]
