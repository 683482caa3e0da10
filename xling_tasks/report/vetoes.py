"""What keeps a result from being compared at all: too much of it was never measured.

A share of harmful answers says nothing of a language in which the model answers in English, or of
which the judge could not read a third. Each rate has a threshold; above it the results of that task
in that language are `not comparable`, in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from xling_metrics.language import identify
from xling_metrics.languages import language_code

from xling_tasks.criteria import CRITERIA, ENGLISH, form_of
from xling_tasks.languages import language_name
from xling_tasks.logs.results import Samples, TaskResults

THRESHOLDS = {
    "off_language": 0.10,
    "empty": 0.05,
    "refused": 0.05,
    "failed": 0.05,
    "unread": 0.10,
    "judge_failed": 0.05,
    "translation_failed": 0.05,
}
"""Rates above these make a result not comparable."""

_IN_LANGUAGE = ("langid_match", "language_consistency")
_SECOND = ("second_language_match", "second_language_consistency")
_RATES = {
    "empty": ("empty_rate",),
    "refused": ("refused_rate",),
    "failed": ("failed_rate",),
    "unread": (
        *("unknown_rate", "unparsed_rate", "unparsed", "unverified", "unscored"),
        "unscored_rate",
        "no_majority",
    ),
    "judge_failed": ("judge_failed_rate",),
    "translation_failed": ("translation_failed_rate",),
}
_SAID = {
    "empty": "{share} of the answers are empty",
    "refused": "{share} of the answers were refused",
    "failed": "{share} of the requests failed",
    "judge_failed": "the judge failed on {share} of the answers",
    "translation_failed": "{share} of the answers could not be translated",
}
_UNREAD = {
    "unknown_rate": "{share} of the verdicts could not be read",
    "unparsed_rate": "no letters could be read in {share} of the replies",
    "unparsed": "{share} of the claim lists could not be read",
    "unverified": "{share} of the claims got no readable verdict",
    "unscored": "{share} of the answers could not be scored",
    "unscored_rate": "{share} of the answers could not be scored",
    "no_majority": "no label has a majority of the judges for {share} of the answers",
    "no_response": "the judge gave no readable label to {share} of the answers",
}


class Veto(NamedTuple):
    """One reason why a result is not comparable.

    Attributes:
        kind: A key of `THRESHOLDS`.
        rate: The rate that is above its threshold.
        text: The reason in words.
    """

    kind: str
    rate: float
    text: str


class Rates:
    """A task's rates by metric, language and temperature."""

    def __init__(self, task: TaskResults, scores: Mapping[str, float | None]) -> None:
        place = task.place
        self.task, self.criterion = task, place.criterion if place else ""
        self._alone = place.language if place else ""
        self._rates: dict[tuple[str, str, float | None], float] = {}
        for name, value in scores.items():
            if value is not None and self.criterion:
                metric, tau, language = CRITERIA[self.criterion].split(name)
                self._rates[metric, language or self._alone, tau] = value

    def of(self, metric: str, language: str, tau: float | None) -> float | None:
        """A rate at a temperature, or at none where the task does not split it."""
        rate = self._rates.get((metric, language, tau))
        return self._rates.get((metric, language, None)) if rate is None else rate


def vetoes(rates: Rates, language: str, tau: float | None = None) -> list[Veto]:
    """Why a task's results in a language (at a temperature) are not comparable.

    Args:
        rates: The task's rates.
        language: Code of the language.
        tau: The temperature of the result; None where there is only one.

    Returns:
        Every rate above its threshold, the answers' language first; empty if all is well.
    """
    reasons = []
    inside = next((r for m in _IN_LANGUAGE if (r := rates.of(m, language, tau)) is not None), None)
    if inside is not None and 1 - inside > THRESHOLDS["off_language"]:
        text = _off_language(rates, language, 1 - inside)
        second = next((r for m in _SECOND if (r := rates.of(m, language, tau)) is not None), None)
        if second is not None:
            text += f" (by a second identifier {percent(1 - second)} not in it)"
        reasons.append(Veto("off_language", 1 - inside, text))
    for kind, metric, rate in _measured(rates, language, tau):
        if rate > THRESHOLDS[kind]:
            said = _unread(metric, rates.criterion) if kind == "unread" else _SAID[kind]
            reasons.append(Veto(kind, rate, said.format(share=percent(rate))))
    return reasons


def _unread(metric: str, criterion: str) -> str:
    if metric == "unparsed_rate" and form_of(criterion).by_likelihood:
        return "in {share} of the questions several answers were equally likely"
    return _UNREAD[metric]


def _measured(rates: Rates, language: str, tau: float | None) -> Iterator[tuple[str, str, float]]:
    """(kind, metric, rate) of everything but the language of answers."""
    for kind, metrics in _RATES.items():
        for metric in metrics:
            rate = rates.of(metric, language, tau)
            if rate is not None:
                yield kind, metric, rate
    unlabelled = rates.of("no_response", language, tau)
    if unlabelled is not None:
        # An empty answer is no response rightly; the judge is not asked about it.
        empty = rates.of("empty_rate", language, tau) or 0.0
        yield "unread", "no_response", max(0.0, unlabelled - empty)


def percent(rate: float) -> str:
    """A rate in words, never as all or nothing where it is not."""
    shown = f"{rate:.0%}"
    if shown == "100%" and rate < 1:
        return "more than 99%"
    return "less than 1%" if shown == "0%" and rate > 0 else shown


# Which language it was instead


def _off_language(rates: Rates, language: str, rate: float) -> str:
    """'99% of the answers were in English', or 'not in Spanish' where they were in several."""
    counts = Counter(_languages_of(rates.task, language))
    asked = counts.pop(language_code(language), 0)
    total = asked + sum(counts.values())
    if counts:
        code, most = max(counts.items(), key=lambda item: item[1])
        told = code == ENGLISH or not _by_script(rates.task, language)
        if (
            told
            and most >= 0.8 * sum(counts.values())
            and most / total > THRESHOLDS["off_language"]
        ):
            return f"{percent(most / total)} of the answers were in {language_name(code)}"
    return f"{percent(rate)} of the answers were not in {language_name(language)}"


def _by_script(task: TaskResults, language: str) -> bool:
    """Whether langid's labels say nothing of this language but that it is not English."""
    signs = (task.xling.get("signatures") or {}).values()
    return any("|by:script_" in sign and f"language:{language}|" in sign for sign in signs)


def _languages_of(task: TaskResults, language: str) -> tuple[str, ...]:
    """The language of every logged answer that has one; none without logged samples."""
    path = task.samples.path
    if not path.is_file():
        return ()
    return _languages_in(task.samples, language, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _languages_in(samples: Samples, language: str, changed: int) -> tuple[str, ...]:
    answers: list[str] = []
    for _, own in samples.stream(lambda sample: _answers(sample, language)):
        answers += own
    return tuple(code for code in identify(answers) if code is not None)


def _answers(sample: Mapping[str, Any], language: str) -> Sequence[str]:
    if sample.get("filter", "none") != "none":
        return []
    replies = [str(reply) for group in sample.get("resps") or () for reply in group]
    texts = sample["doc"].get("text")
    if isinstance(texts, Mapping):  # One document with all languages, a reply each.
        return [reply for code, reply in zip(texts, replies, strict=False) if code == language]
    return replies


def why(own: Sequence[Veto], english: Sequence[Veto]) -> str:
    """The reasons of both sides as one text; empty if there is none."""
    parts = [veto.text for veto in own]
    parts += [f"in {language_name(ENGLISH)} {veto.text}" for veto in english]
    return "; ".join(parts)
