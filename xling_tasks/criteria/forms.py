"""What a criterion declares of itself: the records that rows of `criteria.yaml` become.

This folder says all that is known of a criterion beforehand. Every other room reads it there and
has no list of criteria or metrics of its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from xling_tasks.criteria.metric import DisplayText, Metric
from xling_tasks.criteria.responses import INVALID_ROWS, RESPONSE_METRICS
from xling_tasks.criteria.sample_view import SampleView

ENGLISH = "en"
AVERAGE = "avg"


@dataclass(frozen=True)
class Endpoint:
    """A metric on which conclusions rest.

    Attributes:
        metric: Its name without temperature and language.
        meaning: What it stands for: `harm`, `usable` (a usable answer), `help`, or `quality`.
        at: Which of the temperatures of a run counts; None where there is only one.
        margin: Differences from -margin to margin are about the same, in the metric's unit.
        why: The reason for a margin other than 0.05.
        judged: Whether a judge gives the values, whose own error no interval over questions knows.
        agreement: Whether it is agreement with the English answers themselves.
        instead: Metrics that stand for it where a run has it not, the best first.
    """

    metric: str
    meaning: Literal["harm", "usable", "help", "quality"] = "quality"
    at: Literal["lowest", "highest"] | None = None
    margin: float = 0.05
    why: str = ""
    judged: bool = False
    agreement: bool = False
    instead: tuple[str, ...] = ()


class Submitted(NamedTuple):
    """What `xling submit` shows: main values, the rates beside them, the Hub's name for a task."""

    main: tuple[str, ...]
    beside: tuple[str, ...]
    type: str = "text-generation"


@dataclass(frozen=True)
class Criterion:
    """What one kind of task measures.

    Attributes:
        key: Its name in results.
        title: Its heading.
        asks: What it asks, in plain words.
        table: Its own metrics.
        endpoints: The metrics on which conclusions rest.
        settings: The settings that change what it measures, beside `prompt_language`.
        shown: How a sample is read; None to show every field.
        drawn: The metrics that are drawn over temperature, where a run has several.
        columns: The metrics of its table by language; if it names none, all in a table by metric.
        note: What stands below that table.
        parts: A second table, of metrics whose names begin so; what it is called, and its note.
        submitted: What `xling submit` shows; None for its endpoints.
        needs: What a run lacks that has no endpoint but `usable`: `judge`, `translator` or
            `classifiers`.
        by_topic: Whether its endpoints are shown by topic of the question.
        several_languages: Whether one task has all languages.
        parallel: Whether the questions are the same in every language.
        labelled: Whether each answer gets one of `LABELS`, which people can give as well.
        classic: Whether its paper has classic tests (ANOVA, Tukey's HSD, t).
        common: The metrics that every task has.
    """

    key: str
    title: str
    asks: str
    table: tuple[Metric, ...]
    endpoints: tuple[Endpoint, ...]
    settings: tuple[str, ...] = ()
    shown: SampleView | None = None
    drawn: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    note: str = ""
    parts: tuple[tuple[str, ...], str, str] | None = None
    submitted: Submitted | None = None
    needs: str = ""
    by_topic: bool = True
    several_languages: bool = False
    parallel: bool = True
    labelled: bool = False
    classic: bool = False
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
        meanings = ("harm", "usable", "help", "quality")
        found_meanings = (x.meaning for x in self.endpoints if metric in (x.metric, *x.instead))
        return meanings.index(next(found_meanings, "quality"))

    @property
    def main(self) -> tuple[str, ...]:
        """The endpoints that say how good answers are, not whether there are any."""
        return tuple(item.metric for item in self.endpoints if item.meaning != "usable")

    def agreement(self, metric: str) -> bool:
        """Return whether a primary metric is agreement with the English answers themselves."""
        return any(item.agreement for item in self.endpoints if item.metric == metric)

    @property
    def submission(self) -> Submitted:
        """What is submitted; of a criterion that does not say so its endpoints and all rates."""
        rates = tuple(x.name for x in self.metrics.values() if x.higher_is_better is False)
        return self.submitted or Submitted(self.main, rates)

    def endpoints_among(self, names: Iterable[str]) -> dict[str, Endpoint]:
        """Return the primary metrics of one task, as it calls them (`macro_f1_t0.0`).

        They are at the lowest or highest temperature that there is. Of a task with several
        languages there is one for every language, and none for their means.
        """
        endpoints: dict[str, Endpoint] = {}
        parsed = {name: self.split(name) for name in names}
        names_there = {x.metric for x in parsed.values()}
        for endpoint in self.endpoints:
            chosen = next(
                (m for m in (endpoint.metric, *endpoint.instead) if m in names_there),
                endpoint.metric,
            )
            named = {name: x for name, x in parsed.items() if x.metric == chosen}
            taus = {x.temperature for x in named.values() if x.temperature is not None}
            tau = None
            if endpoint.at is not None and taus:
                tau = min(taus) if endpoint.at == "lowest" else max(taus)
            for name, x in named.items():
                is_mean = self.several_languages and (x.language == AVERAGE or ":" in x.language)
                if x.temperature == tau and not is_mean:
                    endpoints[name] = endpoint
        return endpoints

    def order(self, metric: str) -> int:
        """Return the index of a primary metric, or of the one that a metric stands for."""
        return next(
            index
            for index, endpoint in enumerate(self.endpoints)
            if metric in (endpoint.metric, *endpoint.instead)
        )

    def split(self, name: str) -> MetricName:
        """Split a task's name for a metric."""
        match = _TEMPERATURE.fullmatch(name)
        base, temperature = (match[1], float(match[2])) if match else (name, None)
        language = ""
        if self.several_languages:
            base, language = _split_language(base, self.metrics)
        return MetricName(base, temperature, language)


class MetricName(NamedTuple):
    """A task's name for a metric, taken apart.

    Attributes:
        metric: Without temperature and language.
        temperature: None where the task has only one.
        language: A code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...;
            empty where the task has one language.
    """

    metric: str
    temperature: float | None
    language: str


_TEMPERATURE = re.compile(r"(.+)_t(\d+(?:\.\d+)?)")
_GROUP = re.compile(r"(.+?)_(script|family|branch|train)_(\w+)")


def _split_language(name: str, metrics: Collection[str]) -> tuple[str, str]:
    """Split metric and language, which can be any code in data of users."""
    if group := _GROUP.fullmatch(name):
        return group[1], f"{group[2]}:{group[3]}"
    base, _, code = name.rpartition("_")
    return (base, code) if base in metrics and name not in metrics else (name, AVERAGE)
