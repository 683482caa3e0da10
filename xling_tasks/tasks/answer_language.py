"""The language of answers: told by script and langid, or by the identifier of a setting."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from xling_metrics.answer_language import (
    answer_language_rule,
    classify_answer_language,
    describe_unchecked,
)
from xling_metrics.base import signature
from xling_metrics.identifiers import labels_for
from xling_metrics.language import (
    LanguageConfusion,
    in_language_rule,
    language_consistency_corpus,
    score_language_confusion,
)
from xling_metrics.languages import in_script
from xling_metrics.tokenization import can_segment, length_words, segmenter_name

from xling_tasks.failed_response import is_empty
from xling_tasks.languages import language_name
from xling_tasks.log import warn_once
from xling_tasks.models.metric_models import load_identifier
from xling_tasks.readers.refusals import is_refusal


class AnswerLanguage:
    """Whether answers to questions in one language are in it.

    With `identifier` (the file of a fastText model) that decides, where it knows the language;
    else script and langid do.
    """

    @classmethod
    @functools.cache
    def load(cls, identifier: str | None, language: str) -> AnswerLanguage:
        """Return the one for a setting and a language."""
        return cls(identifier, language)

    def __init__(self, identifier: str | None, language: str) -> None:
        self._code, self._labels, self._by = language, frozenset[str](), ""
        if identifier is not None:
            self._identifier = load_identifier(identifier)
            self._labels = labels_for(self._identifier.labels, language)
            self._by = f"|by:{self._identifier.name}" if self._labels else ""
        if not self._labels and (unseen := describe_unchecked(language)):
            warn_once(
                f"{language_name(language)}: {unseen}; the setting language_identifier=FILE, a "
                "fastText model such as GlotLID's, may know it"
            )

    def inside(self, texts: Sequence[str]) -> list[bool | None]:
        """Return what the identifier says of each text."""
        matches = self._identifier.in_language(texts, self._labels)
        return [inside and in_script(text, self._code)
                for text, inside in zip(texts, matches, strict=True)]  # fmt: skip

    def match(self, answer: str) -> float | None:
        """Return 1 for an answer in the language, 0 for another one, None if too short to tell."""
        if self._labels:
            (inside,) = self.inside([answer])
        else:
            inside = classify_answer_language([answer], self._code)[0].in_language
        return None if inside is None else float(inside)

    def consistency(self, texts: Sequence[str]) -> list[float | None]:
        """Return the share of each text's sentences that are in the language."""
        return language_consistency_corpus(texts, self._code, **self._decide)

    def confusion(self, texts: Sequence[str]) -> list[LanguageConfusion]:
        """Return whether all lines, and all words, of each text are in the language."""
        return score_language_confusion(texts, self._code, **self._decide)

    def sign(self, metric: str, **fields: str) -> str:
        """Return the fields of the signature of a metric of sentences, lines or words."""
        signed = signature(metric, language=self._code, **fields, libraries=("langid",))
        return signed.partition("|")[2] + (self._by or in_language_rule(self._code))

    def signature_of(self, metric: str) -> str:
        """Return the fields of the signature of `length_words` or `langid_match`."""
        if metric == "length_words":
            return f"language:{self._code}|words:{segmenter_name(self._code)}"
        signed = signature("", language=self._code, libraries=("langid",)).removeprefix("|")
        return signed + (self._by or answer_language_rule(self._code))

    def of_answer(self, answer: str) -> dict[str, float | None]:
        """Return what is measured of every answer; None where it cannot be told."""
        words = length_words(answer, self._code) if can_segment(self._code) else None
        return {
            "length_words": None if words is None else float(words),
            "empty_rate": float(is_empty(answer)),
            "refusal_rate": float(is_refusal(answer)),
            "langid_match": self.match(answer),
        }

    @property
    def _decide(self) -> dict[str, Any]:
        return {"decide": self.inside} if self._labels else {}
