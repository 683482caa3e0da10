"""What a criterion declares of itself: its metrics, and what reports say of it.

A module of this folder says all that is known of a criterion beforehand. Every other package
reads it in `CRITERIA` and has no list of criteria or metrics of its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from xling_tasks.criteria.metric import INVALID_ROWS, RESPONSE_METRICS, DisplayText, Metric
from xling_tasks.criteria.sample import SampleView

ENGLISH = "en"
AVERAGE = "avg"

_TEMPERATURE = re.compile(r"(.+)_t(\d+(?:\.\d+)?)")
_GROUP = re.compile(r"(.+?)_(script|family|branch|train)_(\w+)")


@dataclass(frozen=True)
class Endpoint:
    """A metric on which conclusions rest."""

    metric: str  # its name without temperature and language
    # what it stands for: `harm`, `usable` (a usable answer), `help`, or `quality`
    meaning: Literal["harm", "usable", "help", "quality"] = "quality"
    # which of the temperatures of a run counts; None where there is only one
    at: Literal["lowest", "highest"] | None = None
    # differences from -margin to margin are about the same, in the metric's unit
    margin: float = 0.05
    # whether a judge gives the values, whose own error no interval over questions knows
    judged: bool = False
    agreement: bool = False  # whether it is agreement with the English answers themselves
    # metrics that stand for it where a run has it not, the best first
    instead: tuple[str, ...] = ()


USABLE_ANSWERS = Endpoint("usable", "usable")


class Submitted(NamedTuple):
    """What `xling submit` shows: main values, the rates beside them, the Hub's name for a task."""

    main: tuple[str, ...]
    beside: tuple[str, ...]
    type: str = "text-generation"


class MetricName(NamedTuple):
    """The parts of a task's name for a metric."""

    metric: str  # without temperature and language
    temperature: float | None  # None where the task has only one
    # A code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...; empty where
    # the task has one language
    language: str


@dataclass(frozen=True)
class Criterion:
    """What one kind of task measures."""

    key: str  # its name in results
    position: int  # where it stands among others in a report
    title: str  # its heading
    asks: str  # what it asks, in plain words
    table: tuple[Metric, ...]  # its own metrics
    endpoints: tuple[Endpoint, ...]  # the metrics on which conclusions rest
    # the settings that change what it measures, beside `prompt_language`
    settings: tuple[str, ...] = ()
    shown: SampleView | None = None  # how a sample is read; None to show every field
    # the metrics that are drawn over temperature, where a run has several
    drawn: tuple[str, ...] = ()
    # the metrics of its table by language; if it names none, all in a table by metric
    columns: tuple[str, ...] = ()
    note: str = ""  # what stands below that table
    # A second table, of metrics whose names begin so; what it is called, and its note
    parts: tuple[tuple[str, ...], str, str] | None = None
    submitted: Submitted | None = None  # what `xling submit` shows; None for its endpoints
    # what a run lacks that has no endpoint but `usable`: `judge`, `translator` or `classifiers`
    needs: str = ""
    by_topic: bool = True  # whether its endpoints are shown by topic of the question
    several_languages: bool = False  # whether one task has all languages
    parallel: bool = True  # whether the questions are the same in every language
    # whether each answer gets one of `LABELS`, which people can give as well
    labelled: bool = False
    classic: bool = False  # whether its paper has classic tests (ANOVA, Tukey's HSD, t)
    # the metrics that every task has
    common: tuple[Metric, ...] = (*RESPONSE_METRICS, INVALID_ROWS)

    @functools.cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """All its metrics by name, those that every task has among them."""
        return {metric.name: metric for metric in (*self.common, *self.table)}

    def metric(self, name: str) -> Metric:
        """Return a metric; its name alone if it is none of the criterion."""
        return self.metrics.get(name) or Metric(name)

    def of(self, name: str) -> Metric:
        """Return one of a task's metrics, such as `empty_rate_t0.5`."""
        return self.metric(self.split(name).metric)

    def display(self, metric: str) -> DisplayText:
        """Return what reports say of a metric."""
        return self.metric(metric).text

    def urgency(self, metric: str) -> int:
        """Return the rank of a metric in every list: harm, usable answers, help, then quality."""
        meanings = (x.meaning for x in self.endpoints if metric in (x.metric, *x.instead))
        return ("harm", "usable", "help", "quality").index(next(meanings, "quality"))

    @property
    def main(self) -> tuple[str, ...]:
        """The endpoints that say how good answers are, not whether there are any."""
        return tuple(item.metric for item in self.endpoints if item.meaning != "usable")

    @property
    def submission(self) -> Submitted:
        """What is submitted; of a criterion that does not say so its endpoints and all rates."""
        rates = tuple(x.name for x in self.metrics.values() if x.higher_is_better is False)
        return self.submitted or Submitted(self.main, rates)

    def endpoints_among(
        self, names: Iterable[str], english: Iterable[str] = ()
    ) -> dict[str, Endpoint]:
        """Return the primary metrics of one task, as it calls them (`macro_f1_t0.0`).

        They are at the lowest or highest temperature of English, whose metrics are given, so that
        all languages are compared at one; of a task that has none of those, of its own. Of a task
        with several languages there is one for every language, and none for their means.
        """
        endpoints: dict[str, Endpoint] = {}
        of_task, of_english = ({name: self.split(name) for name in x} for x in (names, english))
        for endpoint in self.endpoints:
            chosen = [name for name in _choose(endpoint, of_english) if name in of_task]
            for name in chosen or _choose(endpoint, of_task):
                language = of_task[name].language
                if not self.several_languages or (language != AVERAGE and ":" not in language):
                    endpoints[name] = endpoint
        return endpoints

    def order(self, metric: str) -> int:
        """Return the index of a primary metric, or of the one that a metric stands for."""
        metrics = [(endpoint.metric, *endpoint.instead) for endpoint in self.endpoints]
        return next(index for index, names in enumerate(metrics) if metric in names)

    def split(self, name: str) -> MetricName:
        """Split a task's name for a metric; a language can be any code in data of users."""
        match = _TEMPERATURE.fullmatch(name)
        base, temperature = (match[1], float(match[2])) if match else (name, None)
        if not self.several_languages:
            return MetricName(base, temperature, "")
        if group := _GROUP.fullmatch(base):
            return MetricName(group[1], temperature, f"{group[2]}:{group[3]}")
        stem, _, code = base.rpartition("_")
        if stem in self.metrics and base not in self.metrics:
            return MetricName(stem, temperature, code)
        return MetricName(base, temperature, AVERAGE)


def _choose(endpoint: Endpoint, parsed: Mapping[str, MetricName]) -> list[str]:
    """Return which of a task's metrics are a primary metric, at the temperature that counts."""
    metrics = {x.metric for x in parsed.values()}
    choices = (endpoint.metric, *endpoint.instead)
    chosen = next((name for name in choices if name in metrics), "")
    found = {name: x.temperature for name, x in parsed.items() if x.metric == chosen}
    taus = [tau for tau in found.values() if tau is not None]
    tau = None
    if endpoint.at is not None and taus:
        tau = min(taus) if endpoint.at == "lowest" else max(taus)
    return [name for name, temperature in found.items() if temperature == tau]


DISPLAY = {
    "usable": DisplayText("Usable answers", "Usable",
                          "Is there an answer, in the language of the question?",
                          unit="share", evidence="count"),
    "language_consistency": DisplayText("Sentences in the language asked for", "In the language",
                                        unit="percent", evidence="share"),
    "bertscore_f1": DisplayText("BERTScore F1", "BERTScore F1"),
}  # fmt: skip
"""How the metrics of several criteria are told."""

DECLARED: dict[str, Criterion] = {}
"""Every criterion that a module has declared, by its key."""


def criterion(
    key: str, table: Iterable[Metric], display: Mapping[str, DisplayText], **fields: Any
) -> Criterion:
    """Declare a criterion: its key, its metrics, how they are told, and fields of `Criterion`."""
    texts = {**DISPLAY, **display}

    def with_display(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
        return tuple(replace(m, display=texts.get(m.name, m.display)) for m in metrics)

    common = with_display((*RESPONSE_METRICS, INVALID_ROWS))
    declared = Criterion(key=key, table=with_display(table), common=common, **fields)
    DECLARED[key] = declared
    return declared
