"""People's labels beside the judge's: whose they are, and what they make of shares and gaps.

A judge errs, and its errors are in no interval over questions. `xling report --human` takes the
exports of the page of `xling annotate` and corrects the shares of correctness's labels, and their
gaps to English, by prediction-powered inference (`xling_metrics.stats.ppi`). The strata are the
judge's labels of a task, as the page's sample was drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from xling_metrics.stats.ppi import Judged, ppi_contrast, ppi_mean
from xling_metrics.stats.shares import Range

from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.outcomes import HELPED, NOT_SERVED
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import CorrectedShare, Options

_NO_LABEL = "no label"
_NO_MAJORITY = "no_majority"
_USELESS = "not served"
_HELP = "more_comprehensive"


class Labels(NamedTuple):
    """What people said of a task's answers."""

    people: tuple[str, ...]  # Their names.
    given: Mapping[str, tuple[str | None, ...]]  # Question -> each one's label; None for none.

    def share(self, question: str, label: str) -> float | None:
        """1 if most people gave an answer this label, else 0, and a part where several labels lead.

        None where nobody labelled it.
        """
        votes = Counter(name for name in self.given.get(question, ()) if name is not None)
        leading = [name for name, own in votes.items() if own == max(votes.values())]
        return (label in leading) / len(leading) if leading else None

    def apart(self, label: str, strata: Mapping[str, str]) -> dict[str, float] | None:
        """How far the share by each person lies above that by all, over a task's questions.

        By the answers that two or more labelled, stratum by stratum; a stratum without such counts
        as all that were. None where no two labelled one answer.
        """
        sizes = Counter(strata.values())
        above: dict[str, dict[str, list[float]]] = {}
        for question, own in self.given.items():
            said = {n: x == label for n, x in zip(self.people, own, strict=True) if x is not None}
            if len(said) > 1 and question in strata:
                for name, yes in said.items():
                    by_stratum = above.setdefault(name, {}).setdefault(strata[question], [])
                    by_stratum.append(yes - fmean(said.values()))
        if len(above) < 2:
            return None
        return {name: _weighted(own, sizes) for name, own in above.items()}


def _weighted(values: Mapping[str, Sequence[float]], sizes: Mapping[str, int]) -> float:
    """A mean over strata of some sizes; one without values has the mean of all."""
    every = [value for own in values.values() for value in own]
    total = sum(
        size * fmean(values.get(name) or every) for name, size in sizes.items() if name in LABELS
    )
    return total / sum(sizes.values())


Key = tuple[Path, str]
"""A results file and a task in it: two models of one name keep apart."""


class Contrast(NamedTuple):
    """A corrected sum of shares."""

    range: Range  # The sum with interval and p.
    means: list[float | None]  # The corrected share of each side.
    n: int  # Questions that all sides have.
    asked: int  # Questions that one side has.


class Human:
    """People's labels, by results file and task.

    `notes` tell of tasks and gaps that could not be corrected; those of gaps come with `contrast`.
    """

    def __init__(self, labels: Mapping[Key, Labels], notes: Sequence[str]) -> None:
        self._labels = dict(labels)
        self.notes = list(notes)

    def labels_of(self, task: Task) -> Labels | None:
        """A task's labels; None where there are none, or too few for a correction."""
        return self._labels.get(key_of(task))

    def contrast(
        self, name: str, sides: Sequence[tuple[int, Task]], level: float
    ) -> Contrast | None:
        """A corrected sum of shares over the questions that all tasks have, each with its sign.

        Of one of `LABELS`, or `helpful`. None without people's labels of all. Where they labelled
        an answer of each of the judge's labels, but none of the shared questions, a note says so.
        """
        given = [labels for _, task in sides if (labels := self.labels_of(task)) is not None]
        if _label(name) not in LABELS or len(given) < len(sides):
            return None
        strata = [strata_of(task, name) for _, task in sides]
        shared = [key for key in strata[0] if all(key in own for own in strata)]
        made = [
            judged(task, name, labels, kept, shared)
            for (_, task), labels, kept in zip(sides, given, strata, strict=True)
        ]
        for (_, task), side in zip(sides, made, strict=True):
            if empty := unlabelled(side):
                self._note(task, [other for _, other in sides if other is not task], empty)
        if not shared or any(map(unlabelled, made)):
            return None
        signs = [sign for sign, _ in sides]
        apart = [
            labels.apart(_label(name), {key: kept[key] for key in shared})
            for labels, kept in zip(given, strata, strict=True)
        ]
        signed = list(zip(signs, made, strict=True))
        found = ppi_contrast(signed, level, shares=True, people=_together(signs, apart))
        means = [ppi_mean(side, level, shares=True).value for side in made]
        return Contrast(found, means, len(shared), len(set().union(*strata)))

    def _note(self, task: Task, others: Sequence[Task], empty: Sequence[str]) -> None:
        beside = ", ".join(dict.fromkeys(f"{x.model}, {x.results.task}" for x in others))
        note = (
            f"{task.model}, {task.results.task} beside {beside}: of the questions that all have, "
            f"people labelled no answer that the judge calls {' or '.join(empty)}, so the gap is "
            "the judge's alone; label more"
        )
        if note not in self.notes:
            self.notes.append(note)

    def shares(self, models: Iterable[Model], options: Options) -> list[CorrectedShare]:
        """Every share of a label that people's labels correct."""
        corrected = []
        for model in models:
            for task in model.tasks:
                labels = self.labels_of(task)
                if labels is None:
                    continue
                for label in LABELS:
                    strata = strata_of(task, label)
                    side = judged(task, label, labels, strata, list(strata))
                    people = _together([1], [labels.apart(label, strata)])
                    own = ppi_mean(side, options.level, shares=True, people=people)
                    given = sum(labels.share(key, label) is not None for key in strata)
                    corrected.append(CorrectedShare(
                        model.name, task.place.dataset, task.place.language, label,
                        task.scores.get(label), own.value, own.low, own.high, own.n, given,
                    ))  # fmt: skip
        return corrected


def _together(signs: Sequence[int], apart: Sequence[dict[str, float] | None]) -> list[list[float]]:
    """How far each person's sum of sides lies above all people's: a group per set of people.

    Nothing where a side has no answers that two people labelled: the people's own error in it is
    not known.
    """
    groups: dict[frozenset[str], Counter[str]] = {}
    for sign, own in zip(signs, apart, strict=True):
        if own is None:
            return []
        sums = groups.setdefault(frozenset(own), Counter())
        for name, value in own.items():
            sums[name] += sign * value  # type: ignore[assignment]
    return [list(sums.values()) for sums in groups.values()]


def key_of(task: Task) -> Key:
    """Whose labels are a task's."""
    return task.results.run.path, task.results.task


def _label(name: str) -> str:
    """The label whose share a metric is: who was helped got one, of those whom it served."""
    return _HELP if name == HELPED else name


def strata_of(task: Task, name: str) -> dict[str, str]:
    """Question -> the judge's label, of all questions in which a label, or `helpful`, is 0 or 1.

    Answers to which the judge gave no label are a stratum of their own, which nobody labels; of
    who was helped, those that were of no use are another: nobody need label them.
    """
    asked = [label for label in (_NO_MAJORITY, NO_RESPONSE, *LABELS) if label in task.columns]
    if _label(name) not in asked or name not in task.columns:
        return {}
    values = {label: task.columns[label].values(task.ids) for label in asked}
    outcomes = task.outcomes.get(task.place.language, []) if name == HELPED else []
    by_question = zip(task.ids, outcomes, strict=False)
    useless = {key for key, outcome in by_question if outcome in NOT_SERVED}
    return {
        key: _USELESS
        if key in useless
        else next((label for label in asked if values[label][key] == 1.0), _NO_LABEL)
        for key, value in task.columns[name].values(task.ids).items()
        if value is not None
    }


def judged(
    task: Task, name: str, labels: Labels, strata: Mapping[str, str], questions: Sequence[str]
) -> Judged:
    """A side of a correction; answers without a label of the judge stay as they are."""
    values = task.columns[name].values(task.ids)
    judge, human = [], list[float | None]()
    for key in questions:
        value = values[key]
        assert value is not None and not math.isnan(value)
        judge.append(value)
        human.append(labels.share(key, _label(name)) if strata[key] in LABELS else value)
    return Judged(judge, human, [strata[key] for key in questions])


def unlabelled(side: Judged) -> list[str]:
    """The strata that have answers and no label of people."""
    seen = {name for name, value in zip(side.strata, side.human, strict=True) if value is not None}
    return [name for name in dict.fromkeys(side.strata) if name not in seen]
