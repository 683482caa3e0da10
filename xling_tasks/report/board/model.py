"""What a board is made of: models, endpoints, groups of runs made alike, and cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from xling_metrics.stats.intervals import Interval

from xling_tasks.criteria import Endpoint, Panel, Place
from xling_tasks.report.board.handed_in import HandedIn
from xling_tasks.report.data import Task
from xling_tasks.report.model import Conclusion, Options


@dataclass(frozen=True)
class Made:
    """How a criterion over a dataset was measured.

    Attributes:
        title: What it is called.
        versions: Of its tasks.
        helpers: Role -> the models that had it; several where languages differ.
    """

    title: str
    versions: tuple[str, ...]
    helpers: dict[str, tuple[str, ...]]


class EndpointCell(NamedTuple):
    """An endpoint's value in one language: what a report knows of it.

    Attributes:
        name: The metric as the task calls it.
        endpoint: What was fixed beforehand.
        value: The score over what was read; without logged samples the harness's own number; None
            if undefined.
        interval: Its interval over questions; None without logged samples.
        conclusion: What is concluded against English; None in English.
        unread: Questions (of verdicts: rows) of which the instrument learnt nothing.
    """

    name: str
    endpoint: Endpoint
    value: float | None
    interval: Interval | None
    conclusion: Conclusion | None
    unread: int


@dataclass(frozen=True)
class Entry:
    """One model, with as much of its runs as ranks need.

    Attributes:
        name: Its short name.
        model: The harness's name of its backend, with its arguments; no folders, hosts or keys.
        versions: Of lm_eval and of this package, as (package, versions).
        stamp: The time of its newest run.
        tasks: Place -> task, with the endpoints' values alone.
        cells: (panel, language) -> the endpoint there, English included.
        notes: What to know of its runs.
        made: How its results were made.
        handed_in: What people say of them.
    """

    name: str
    model: str
    versions: tuple[tuple[str, tuple[str, ...]], ...]
    stamp: str
    tasks: dict[Place, Task]
    cells: dict[tuple[Panel, str], EndpointCell]
    notes: tuple[str, ...]
    made: tuple[Made, ...]
    handed_in: tuple[HandedIn, ...]


class Group(NamedTuple):
    """Models whose runs of one criterion and dataset were made alike.

    Attributes:
        number: From 1.
        models: Their names.
        differs: In what its runs differ from those of group 1, a line each.
    """

    number: int
    models: tuple[str, ...]
    differs: tuple[str, ...]


class Rank(NamedTuple):
    """The places that a model can have in one language, on one endpoint, within its group.

    Attributes:
        low: The best.
        high: The worst.
        of: How many models are ranked.
        better: Those that are shown to be better.
        worse: Those that are shown to be worse.
    """

    low: int
    high: int
    of: int
    better: tuple[str, ...]
    worse: tuple[str, ...]


class Square(NamedTuple):
    """One model in one language on one endpoint.

    Attributes:
        panel: The endpoint.
        model: The model's name.
        language: Code of the language.
        group: The number of its group.
        cell: The endpoint's value.
        rank: Its rank; None where it has none.
        unranked: Why it has none; empty if it has one.
    """

    panel: Panel
    model: str
    language: str
    group: int
    cell: EndpointCell
    rank: Rank | None
    unranked: str


class Board(NamedTuple):
    """Everything that a board shows.

    Attributes:
        entries: The models, in the order given.
        endpoints: Panel -> endpoint, in a report's order.
        groups: (criterion, dataset) -> its groups.
        squares: Every endpoint of every model and language.
        notes: What to know before anything is compared.
        options: How the statistics were made.
    """

    entries: tuple[Entry, ...]
    endpoints: dict[Panel, Endpoint]
    groups: dict[tuple[str, str], tuple[Group, ...]]
    squares: tuple[Square, ...]
    notes: tuple[str, ...]
    options: Options
