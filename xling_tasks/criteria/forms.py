"""What a criterion declares of itself: the records that rows of `criteria.yaml` become.

This folder says all that is known of a criterion beforehand. Every other room reads it there and
has no list of criteria or metrics of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from xling_tasks.criteria.sample import ANSWER
from xling_tasks.criteria.shown import Behind, Read, Shown, Side, drops

ENGLISH = "en"
AVERAGE = "avg"


@dataclass(frozen=True)
class Told:
    """How an endpoint is told to a reader.

    Attributes:
        heading: What it is about, in plain words.
        brief: What stands behind the value where there is little room.
        unit: `answers` are counted (19 of 100), `pairs` too, `percent` is a share of something
            else, `score` is none.
    """

    heading: str
    brief: str
    unit: Literal["answers", "pairs", "percent", "score"] = "score"


@dataclass(frozen=True)
class Metric:
    """Facts about one metric of a criterion.

    Attributes:
        name: Its name without temperature and language.
        higher_is_better: None where neither is.
        across_languages: Whether its values in two languages can be compared. They cannot where
            the value depends on the language's words, characters or encoder.
        chance: Whether guessing earns some of it, and how much depends on the question.
        known_chance: Whether it is known how much, so that it can be taken off.
        label: Its name in words, for an axis.
        range: What its values are, for an axis.
        share: Whether its values are shares, told in percent.
        told: How it is told; None for what is no endpoint.
        bookkeeping: Whether it counts what was asked, came or failed, or describes texts, and is
            no score: it stands in the task's record, not in the harness's table of scores.
        sized: Whether its unit is known, so that a margin fixed beforehand means something.
        counted: Whether it is a count or a size; 0 or 1 throughout makes it no share.
        unmoved_by: The settings of its criterion that do not change it.
    """

    name: str
    higher_is_better: bool | None = None
    across_languages: bool = True
    chance: bool = False
    known_chance: bool = False
    label: str = ""
    range: str = ""
    share: bool = True
    told: Told | None = None
    bookkeeping: bool = False
    sized: bool = True
    counted: bool = False
    unmoved_by: tuple[str, ...] = ()

    @property
    def per_100(self) -> bool:
        """Whether so many of a hundred is what it says; a score is none, whatever its range."""
        return self.told.unit != "score" if self.told else self.share

    def amount(self, size: float, step: str = ".3g") -> str:
        """A difference of that size in words, in the unit in which its values are told."""
        unit = self.told.unit if self.told else "score"
        ending = {"score": "", "percent": " percentage points"}.get(unit, " per 100")
        return f"{size if unit == 'score' else 100 * size:{step}}{ending}"

    @property
    def heading(self) -> str:
        """What it is about, in plain words; its name where nobody wrote any."""
        return self.told.heading if self.told else self.name


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


class Drawn(NamedTuple):
    """A picture of the criterion.

    Attributes:
        kinds: How, the first that there are values for: `labels`, `lines`, `dots`.
        metrics: Which metric: of those that a run has the `pick`.
        pick: The `first`, the `last`, or `each`.
    """

    kinds: str
    metrics: tuple[str, ...] = ()
    pick: Literal["first", "last", "each"] = "each"


@dataclass(frozen=True)
class Column:
    """How a metric is shown in a table with a row per language.

    Attributes:
        metric: Its name.
        title: Its column's heading.
        bounds: Whether columns with its interval's ends follow.
        points: Whether a column with its decrease against English in points follows.
        drop: Whether a column with its relative drop against English follows.
        multiple: Whether a column with its multiple of English follows.
    """

    metric: str
    title: str
    bounds: bool = False
    points: bool = False
    drop: bool = False
    multiple: bool = False


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
        metrics: All its metrics by name.
        endpoints: The metrics on which conclusions rest.
        settings: The settings that change what it measures, beside `prompt_language`.
        shown: How a sample is read; None to show every field.
        drawn: Its pictures; its endpoints if it names none.
        columns: Of its table by language.
        note: What stands below that table.
        parts: A second table, of metrics whose names begin so; what it is called, and its note.
        papers_form: Whether a module of `report/tables` makes its tables, in a paper's form.
        submitted: What `xling submit` shows; None for its endpoints.
        needs: What a run lacks that has no endpoint but who was served, and what was then not
            measured.
        glossary: Terms of its tables and pictures.
        by_topic: Whether its endpoints are shown by topic of the question.
        highest: Whether pictures show the highest temperature, not the lowest.
        several_languages: Whether one task has all languages.
        parallel: Whether the questions are the same in every language.
        of_right: Whether it says if a model's own answers are right.
        labelled: Whether each answer gets one of `LABELS`, which people can give as well.
        classic: Whether its paper has classic tests (ANOVA, Tukey's HSD, t).
    """

    key: str
    title: str
    asks: str
    metrics: Mapping[str, Metric]
    endpoints: tuple[Endpoint, ...]
    settings: tuple[str, ...] = ()
    shown: Shown | None = None
    drawn: tuple[Drawn, ...] = ()
    columns: tuple[Column, ...] = ()
    note: str = ""
    parts: tuple[tuple[str, ...], str, str] | None = None
    papers_form: bool = False
    submitted: Submitted | None = None
    needs: str = ""
    glossary: Mapping[str, str] | None = None
    by_topic: bool = True
    highest: bool = False
    several_languages: bool = False
    parallel: bool = True
    of_right: bool = True
    labelled: bool = False
    classic: bool = False

    def metric(self, name: str) -> Metric:
        """What is known of a metric; its name alone where it is none of the criterion's."""
        return self.metrics.get(name) or Metric(name)

    def of(self, name: str) -> Metric:
        """What is known of one of a task's metrics, such as `empty_rate_t0.5`."""
        return self.metric(self.split(name).metric)

    @property
    def main(self) -> tuple[str, ...]:
        """The endpoints that say how good answers are, not whether there are any."""
        return tuple(item.metric for item in self.endpoints if item.meaning != "usable")

    def agreement(self, metric: str) -> bool:
        """Whether an endpoint is agreement with the English answers themselves."""
        return any(item.agreement for item in self.endpoints if item.metric == metric)

    @property
    def submission(self) -> Submitted:
        """What is submitted; of a criterion that does not say so its endpoints and all rates."""
        rates = tuple(x.name for x in self.metrics.values() if x.higher_is_better is False)
        return self.submitted or Submitted(self.main, rates)

    @property
    def read(self) -> Read:
        """What of a language that is behind is shown beside English."""
        declared = self.shown.read if self.shown else None
        return declared or Read(self._behind, {"Question": "Question", ANSWER: "Answer"})

    def _behind(self, own: Side, english: Side) -> Iterator[Behind]:
        """The questions on which an endpoint is worse than in English."""
        for name, endpoint in self.endpoints_among(own.names).items():
            metric = self.metrics[endpoint.metric]
            found = drops(own, english, name, metric.heading, 2, metric.higher_is_better is False)
            yield from (each._replace(meaning=endpoint.meaning) for each in found)

    @property
    def pictures(self) -> tuple[Drawn, ...]:
        """Its pictures, in their order."""
        endpoints = tuple(item.metric for item in self.endpoints)
        return self.drawn or (Drawn("lines", endpoints),)

    def endpoints_among(self, names: Iterable[str]) -> dict[str, Endpoint]:
        """The endpoints among the metrics of one task, as it calls them (`macro_f1_t0.0`).

        They are at the lowest or highest temperature that there is. Of a task with several
        languages there is one for every language, and none for their means.
        """
        endpoints: dict[str, Endpoint] = {}
        read = {name: self.split(name) for name in names}
        there = {x.metric for x in read.values()}
        for endpoint in self.endpoints:
            chosen = next(
                (m for m in (endpoint.metric, *endpoint.instead) if m in there), endpoint.metric
            )
            own = {name: x for name, x in read.items() if x.metric == chosen}
            taus = {x.temperature for x in own.values() if x.temperature is not None}
            tau = None
            if endpoint.at is not None and taus:
                tau = min(taus) if endpoint.at == "lowest" else max(taus)
            for name, x in own.items():
                alone = self.several_languages and (x.language == AVERAGE or ":" in x.language)
                if x.temperature == tau and not alone:
                    endpoints[name] = endpoint
        return endpoints

    def order(self, metric: str) -> int:
        """The place of a metric among the endpoints, or of what stands for one."""
        return next(
            at
            for at, endpoint in enumerate(self.endpoints)
            if metric in (endpoint.metric, *endpoint.instead)
        )

    def split(self, name: str) -> MetricName:
        """A task's name for a metric, taken apart."""
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
    """Metric and language: of users' own data it can be any code."""
    if group := _GROUP.fullmatch(name):
        return group[1], f"{group[2]}:{group[3]}"
    base, _, code = name.rpartition("_")
    return (base, code) if base in metrics and name not in metrics else (name, AVERAGE)


def metrics(
    up: Iterable[str | Metric] = (),
    down: Iterable[str | Metric] = (),
    neither: Iterable[str | Metric] = (),
    *,
    counts: Iterable[str] = (),
    failures: Iterable[str] = (),
    within: Collection[str] = (),
    chance: Collection[str] = (),
    known_chance: Collection[str] = (),
    counted: Collection[str] = (),
) -> dict[str, Metric]:
    """Metrics by direction; `neither` is a score of which neither more nor less is better.

    `counts` (what is counted or described) and `failures` (shares of what did not come or could not
    be used) are bookkeeping. What the other sets say of those that they name stands in `Metric`.
    """
    every: list[tuple[bool | None, bool, Iterable[str | Metric]]] = [
        (None, False, neither),
        (None, True, (*counts, "invalid_rows", "n_responses")),
        (False, True, (*failures, "failed_rate", "content_filter_rate")),
        (True, False, up),
        (False, False, down),
    ]
    made = {}
    for better, kept, group in every:
        for item in group:
            one = item if isinstance(item, Metric) else Metric(item)
            across = one.across_languages and one.name not in within
            made[one.name] = replace(
                one,
                higher_is_better=better,
                across_languages=across,
                chance=one.name in chance or one.name in known_chance,
                known_chance=one.name in known_chance,
                counted=one.name in counted,
                bookkeeping=kept,
            )
    return made
