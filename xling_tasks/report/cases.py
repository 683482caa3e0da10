"""What is asked of a run: the cases that conclusions are made of, two sides on one endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xling_tasks.criteria import CRITERIA, ENGLISH, Endpoint, Panel, panel_of
from xling_tasks.outcomes import SERVED
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Comparison, Sides
from xling_tasks.report.paired import Ends
from xling_tasks.report.stats import Statistics, english_pairs
from xling_tasks.report.unlike import made_unlike
from xling_tasks.report.unread import as_wrong, measured, unread

LEFT_OUT, AS_WRONG = "left_out", "as_wrong"
WAYS = {LEFT_OUT: measured, AS_WRONG: as_wrong}
"""How replies that were not read are counted, where it is not as the tables do."""

Key = tuple[Panel, str]
"""An endpoint in a language."""


@dataclass(frozen=True)
class Case:
    """Two sides on one endpoint, before it is concluded.

    Attributes:
        endpoint: What is known of it beforehand.
        comparison: The difference, with interval and p.
        apart: Why the two are not comparable; empty if they are.
        bounded: The interval that "about the same" rests on; None where the scores have no bounds.
        others: By a way to count replies that were not read (`LEFT_OUT`, `AS_WRONG`), the case with
            these; none where all was read, or counted so anyway.
        unread: Questions or rows that were not read, of the side and of its baseline.
        why: What most of these were: one of `outcomes.REMEDIES`.
        outcomes: As of `Conclusion`.
        recalls: The same.
        against_one: Whether the value is itself an agreement with English, whose floor (how much
            two English answers agree) was not measured.
        sized: Whether its margin means something: one of a score whose unit nobody knows does not,
            unless a user says which difference matters.
    """

    endpoint: Endpoint
    comparison: Comparison
    apart: str = ""
    bounded: Ends | None = None
    others: Mapping[str, Case] = field(default_factory=dict)
    unread: tuple[int, int] = (0, 0)
    why: str = ""
    outcomes: tuple[tuple[str, int], ...] = ()
    recalls: tuple[int, ...] = ()
    against_one: bool = False
    sized: bool = True

    @property
    def about(self) -> Key:
        """Its metric, and its language or model."""
        return self.comparison.panel, self.comparison.side

    @property
    def family(self) -> str:
        """`harm`, or `rest`: what is corrected together."""
        return "harm" if self.endpoint.meaning == "harm" else "rest"

    @property
    def tested(self) -> float | None:
        """p, where it is one of a family."""
        return None if self.apart or self.against_one else self.comparison.p


def cases_of(statistics: Statistics, model: Model) -> Iterator[Case]:
    """Every endpoint of every language but English."""
    paired_with: set[tuple[int, str]] = set()
    for english, task, name, base_name in english_pairs(model):
        endpoint = task.endpoints.get(name)
        if endpoint is None or exploratory_beside(task, model):
            continue
        paired_with.add((id(task), name))
        panel, language = panel_of(task.place, name)
        sides = Sides((task, name), (english, base_name), language, ENGLISH, model.name)
        apart = made_unlike(task, english, panel)
        yield case_of(statistics, endpoint, sides, apart, paired=task.place.parallel)
    for task in model.tasks:
        for name, endpoint in task.endpoints.items():
            language = panel_of(task.place, name)[1]
            alone = (id(task), name) not in paired_with and language != ENGLISH
            if alone and endpoint.agreement:
                yield _agreement(statistics, model, task, name, endpoint)


def exploratory_beside(task: Task, model: Model) -> bool:
    """Whether another form of a task's criterion, which counts, was run on the same questions.

    Probabilities of Yes (`_ll`) are another view of the verdicts that the model writes: where both
    were run, those that users would read are concluded on.
    """
    key = task.place.criterion.removesuffix("_ll")
    written = task.place._replace(criterion=key)
    return written != task.place and any(other.place == written for other in model.tasks)


def case_of(
    statistics: Statistics, endpoint: Endpoint, sides: Sides, apart: str, *, paired: bool
) -> Case:
    """The case of two sides, and the same with what was not read counted otherwise."""
    first = _case(statistics, endpoint, sides, apart, paired=paired)
    if apart or not any(first.unread):
        return first
    return replace(
        first,
        others={
            how: _case(statistics, endpoint, other, apart, paired=paired)
            for how, other in otherwise(statistics, sides)
        },
    )


def otherwise(statistics: Statistics, sides: Sides) -> Iterator[tuple[str, Sides]]:
    """The ways to count what was not read that change the values of one of two sides."""
    (task, name), (base, base_name) = sides.side, sides.baseline
    for how, change in WAYS.items():
        own, other = statistics.changed(task, change), statistics.changed(base, change)
        if any(x.columns.get(y) is not z.columns.get(y) or x.rows is not z.rows
               for x, y, z in ((own, name, task), (other, base_name, base))):  # fmt: skip
            yield how, replace(sides, side=(own, name), baseline=(other, base_name))


def _case(
    statistics: Statistics, endpoint: Endpoint, sides: Sides, apart: str, *, paired: bool
) -> Case:
    (task, name), (base, base_name) = sides.side, sides.baseline
    panel, _ = panel_of(task.place, name)
    made = statistics.compare(panel, sides, paired=paired)
    lost = unread(task, name), unread(base, base_name)
    plain = paired and not apart and not made.method.startswith("ppi")
    bounded = statistics.bounded(sides) if plain else None
    known = CRITERIA[panel.criterion].metric(panel.metric).sized
    if bounded is not None and known and not made.binary:
        made = replace(made, low=bounded[0][0], high=bounded[0][1], p=bounded[1], method="gaffke")
    served = statistics.outcomes(sides) if endpoint.meaning == SERVED else {}
    return Case(
        endpoint, made, apart, None if bounded is None else bounded[0],
        unread=(lost[0].count, lost[1].count),
        why=max(lost, key=lambda own: own.count).why, outcomes=tuple(served.items()),
        recalls=statistics.recalls(sides),
        sized=known or statistics.options.margin is not None,
    )  # fmt: skip


def _agreement(
    statistics: Statistics, model: Model, task: Task, name: str, endpoint: Endpoint
) -> Case:
    """An endpoint that is itself an agreement with English, where its floor was not measured."""
    panel, language = panel_of(task.place, name)
    made, lost = statistics.below_one(model, task, panel, language, name), unread(task, name)
    return Case(endpoint, made, against_one=True, unread=(lost.count, 0), why=lost.why)
