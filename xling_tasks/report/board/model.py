"""What a board is made of: models, endpoints, groups of runs made alike, and cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from xling_metrics.stats.intervals import Interval

from xling_tasks.criteria import Endpoint, Panel, Place
from xling_tasks.report.board.handed_in import HandedIn
from xling_tasks.report.data import Task
from xling_tasks.report.model import Conclusion, Options


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
        versions: Package (`lm_eval`, `xling-tasks`) -> its versions.
        stamp: The time of its newest run.
        tasks: Place -> task, with the endpoints' values alone.
        cells: (panel, language) -> the endpoint there, English included.
        notes: What to know of its runs.
        made: Of each criterion over a dataset its title, versions of its tasks, and helpers: role
            -> the models that had it, several where languages differ.
        handed_in: What people say of them.
    """

    name: str
    model: str
    versions: dict[str, list[str]]
    stamp: str
    tasks: dict[Place, Task]
    cells: dict[tuple[Panel, str], EndpointCell]
    notes: tuple[str, ...]
    made: tuple[dict[str, Any], ...]
    handed_in: tuple[HandedIn, ...]


class Group(NamedTuple):
    """Models whose runs of one criterion and dataset were made alike; the first has the number 1.

    `differs`: in what its runs differ from those of group 1, a line each.
    """

    number: int
    models: tuple[str, ...]
    differs: tuple[str, ...]


class Rank(NamedTuple):
    """The places that a model can have in one language, on one endpoint, within its group.

    The lowest is the best; None where it is not ranked. Of `ranked` models some are shown to be
    better, and some to be worse.
    """

    rank_low: int | None = None
    rank_high: int | None = None
    ranked: int | None = None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()


class Square(NamedTuple):
    """One model in one language on one endpoint; `unranked` says why it has no rank."""

    panel: Panel
    model: str
    language: str
    group: int
    cell: EndpointCell
    rank: Rank
    unranked: str


class Board(NamedTuple):
    """Everything that a board shows: models in the order given, endpoints in a report's order.

    Groups are by criterion and dataset; notes say what to know before anything is compared.
    """

    entries: tuple[Entry, ...]
    endpoints: dict[Panel, Endpoint]
    groups: dict[tuple[str, str], tuple[Group, ...]]
    squares: tuple[Square, ...]
    notes: tuple[str, ...]
    options: Options
