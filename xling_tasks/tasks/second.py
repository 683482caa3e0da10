"""The language of answers, and a second opinion on it, in columns beside langid's.

`second_*` is what another identifier says; `language_consistency` and the others without the prefix
remain langid's. Only `langid_match`, which says whether an answer serves its reader, listens to
both.
"""

from __future__ import annotations

from collections.abc import Sequence

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.answer_language import in_users_language, not_checked, rule, tell
from xling_metrics.base import signature
from xling_metrics.language import (
    Confusion,
    in_language,
    language_confusion_corpus,
    language_consistency_corpus,
    match_rule,
)
from xling_metrics.languages import language_code
from xling_metrics.words import can_segment, length_words, segmenter_name

from xling_tasks.languages import language_name
from xling_tasks.log import warn_once
from xling_tasks.models.identifiers import labels_for, second_identifier
from xling_tasks.readers.refusals import declines
from xling_tasks.tasks.metric import Metric
from xling_tasks.unanswered import empty

MATCH = "second_language_match"
AGREE = "identifiers_agree"
CONSISTENCY = "second_language_consistency"
LINES = "second_line_pass_rate"


class SecondOpinion:
    """What another identifier says of answers to questions in one language; nothing without one."""

    def __init__(self, name: str | None, language: str, scripts: Sequence[str] = ()) -> None:
        self._language, self._scripts = language, tuple(scripts)
        self._identifier, self._wanted = None, frozenset[str]()
        if name is None:
            if unseen := not_checked(language, scripts):
                warn_once(
                    f"{language_name(language)}: langid does not know it as it is written here, so "
                    f"{unseen}; second_identifier=... may know it"
                )
            return
        self._identifier = second_identifier(name)
        self._wanted = labels_for(self._identifier.labels, language, scripts)
        if not self._wanted:
            warn_once(
                f"second_identifier={name} does not know {language_name(language)} as it is "
                "written here, so there is no second opinion on it"
            )

    @property
    def there(self) -> bool:
        """Whether there is a second opinion on this language."""
        return bool(self._wanted)

    def inside(self, texts: Sequence[str]) -> list[bool | None]:
        """Whether each text is in the language; None for one without letters."""
        assert self._identifier is not None
        return self._identifier.in_language(texts, self._wanted)

    def in_users_language(self, answer: str) -> float | None:
        """1 for an answer in the language, 0 for another one; None where it is too short to tell.

        It is told by script and by langid's odds; where there is a second opinion, an answer is in
        another language only by both.
        """
        (told,) = tell([answer], self._language, self._scripts, self.inside if self.there else None)
        return in_users_language(told)

    def signature_of_match(self) -> str:
        """How `in_users_language` is told."""
        second = self._identifier.name if self._identifier is not None and self.there else ""
        sign = signature("langid_match", language=self._language, libraries=("langid",))
        return sign + rule(self._scripts, second)

    def agreed(
        self, texts: Sequence[str], inside: Sequence[bool | None] | None = None
    ) -> list[bool | None]:
        """Whether both identifiers say the same: in the language, or not; None as for `inside`.

        What that says of the texts is given where it is known.
        """
        second = self.inside(texts) if inside is None else inside
        first = in_language(texts, self._language, self._scripts)
        return [
            None if None in pair else pair[0] == pair[1] for pair in zip(first, second, strict=True)
        ]

    def consistency(self, texts: Sequence[str]) -> list[float | None]:
        """`language_consistency` by this identifier."""
        return language_consistency_corpus(texts, self._language, decide=self.inside)

    def confusion(self, texts: Sequence[str]) -> list[Confusion]:
        """`line_pass` by this identifier (and words by their script)."""
        return language_confusion_corpus(texts, self._language, decide=self.inside)

    def values(self, answer: str, suffix: str = "") -> dict[str, float | None]:
        """What is said of one answer."""
        if not self.there:
            return {}
        inside = self.inside([answer])
        said = {MATCH: inside[0], AGREE: self.agreed([answer], inside)[0]}
        return {
            name + suffix: None if value is None else float(value) for name, value in said.items()
        }

    def metrics(self, suffix: str = "") -> list[Metric]:
        """The metrics of `values`."""
        if not self.there:
            return []
        return [
            Metric(MATCH + suffix, MEAN, self.signature(MATCH)),
            Metric(AGREE + suffix, MEAN, self.signature(AGREE)),
        ]

    def of_answer(self, answer: str) -> dict[str, float | None]:
        """What is measured of every answer, also where nothing judges it.

        Length in words (None where words cannot be cut), and whether it is empty, declines and is
        in the language (None where it is too short to tell); then `values`.
        """
        words = length_words(answer, self._language) if can_segment(self._language) else None
        return {
            "length_words": None if words is None else float(words),
            "empty_rate": float(empty(answer)),
            "declined_rate": float(declines(answer)),
            "langid_match": self.in_users_language(answer),
            **self.values(answer),
        }

    def metrics_of_answer(self) -> list[Metric]:
        """The metrics of `of_answer`."""
        code = self._language
        words = signature("length_words", language=code, words=segmenter_name(code))
        declined = signature("declined_rate", of="all_questions", reader="ours")
        return [
            Metric("length_words", MEAN, words),
            Metric("empty_rate", MEAN, signature("empty_rate", of="all_questions")),
            Metric("declined_rate", MEAN, declined),
            Metric("langid_match", MEAN, self.signature_of_match()),
            *self.metrics(),
        ]

    def metrics_of_corpus(self) -> list[Metric]:
        """What is said of whole corpora of answers."""
        if not self.there:
            return []
        return [
            Metric(CONSISTENCY, MEAN, self.signature(CONSISTENCY)),
            Metric(LINES, RATIO, self.signature(LINES)),
            Metric(AGREE, RATIO, self.signature(AGREE)),
        ]

    def signature(self, metric: str) -> str:
        """How a metric is made; the agreement names langid too."""
        assert self._identifier is not None
        split = "sentencex" if metric == CONSISTENCY else None
        langid = ("langid",) if metric == AGREE else ()
        fields = {"language": language_code(self._language), "split": split}
        fields |= {"identifier": self._identifier.name, "labels": ",".join(sorted(self._wanted))}
        sign = signature(metric, libraries=langid, **fields)
        return sign + (match_rule(self._scripts) if langid else "")
