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
from types import MappingProxyType
from typing import NamedTuple

from xling_metrics.stats.ppi import Judged, ppi_contrast, ppi_mean
from xling_metrics.stats.shares import Range

from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.outcomes import HELPED, NOT_SERVED
from xling_tasks.report.data import Model, Task
from xling_tasks.report.inference import ScoreDifference
from xling_tasks.report.model import CorrectedShare, Options

_NO_LABEL = "no label"
_NO_MAJORITY = "no_majority"
_USELESS = "not served"
_HELP = "more_comprehensive"


class Labels(NamedTuple):
    """What people said of a task's answers.

    Attributes:
        people: Their names.
        given: Question -> the label of each, None where they gave none.
        settled: Question -> the label that was decided where theirs differ.
    """

    people: tuple[str, ...]
    given: Mapping[str, tuple[str | None, ...]]
    settled: Mapping[str, str] = MappingProxyType({})

    def share(self, question: str, label: str) -> float | None:
        """1 if most people gave an answer this label, else 0, and a part where several labels lead.

        None where nobody labelled it; what was decided where they differ is in place of all.
        """
        if question in self.settled:
            return float(self.settled[question] == label)
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
    """A corrected sum of shares.

    Attributes:
        range: The sum with interval and p.
        means: The corrected share of each side.
        n: Questions.
    """

    range: Range
    means: list[float | None]
    n: int


class Human:
    """People's labels, by results file and task.

    Attributes:
        notes: What a reader must know: tasks and gaps that could not be corrected. Those of gaps
            come with the gaps (`contrast`).
    """

    def __init__(self, labels: Mapping[Key, Labels], notes: Sequence[str]) -> None:
        self._labels = dict(labels)
        self.notes = list(notes)

    def labels_of(self, task: Task) -> Labels | None:
        """A task's labels; None where there are none, or too few for a correction."""
        return self._labels.get(key_of(task))

    def difference(
        self, label: str, side: tuple[Task, Task], level: float
    ) -> tuple[ScoreDifference, int] | None:
        """The gap of a label's share between two tasks over the questions that both have.

        Args:
            label: One of `LABELS`, or `helped`.
            side: The task and its baseline.
            level: Coverage.

        Returns:
            The corrected gap, and the questions that one or the other has; None without people's
            labels of both.
        """
        contrast = self.contrast(label, [(1, side[0]), (-1, side[1])], level)
        if contrast is None:
            return None
        own = _HELP if label == HELPED else label
        asked = {key for task in side for key in strata_of(task, own, label)}
        return ScoreDifference(contrast.range, contrast.means[0], contrast.means[1]), len(asked)

    def contrast(
        self, label: str, sides: Sequence[tuple[int, Task]], level: float
    ) -> Contrast | None:
        """A sum of a label's shares in several tasks over the questions that all have.

        Args:
            label: One of `LABELS`, or `helped`.
            sides: Sign (1 or -1) and task.
            level: Coverage.

        Returns:
            The corrected sum; None without people's labels of all. Where they labelled an answer
            of each of the judge's labels, but none among the questions that all tasks have, a note
            says so.
        """
        labels = [self.labels_of(task) for _, task in sides]
        given = [own for own in labels if own is not None]
        column, label = label, _HELP if label == HELPED else label
        if label not in LABELS or len(given) < len(sides):
            return None
        strata = [strata_of(task, label, column) for _, task in sides]
        shared = [key for key in strata[0] if all(key in own for own in strata)]
        made = [
            judged(task, label, own, kept, shared, column)
            for (_, task), own, kept in zip(sides, given, strata, strict=True)
        ]
        for (_, task), side in zip(sides, made, strict=True):
            if empty := unlabelled(side):
                self._note(task, [other for _, other in sides if other is not task], empty)
        if not shared or any(map(unlabelled, made)):
            return None
        signed = [(sign, side) for (sign, _), side in zip(sides, made, strict=True)]
        means = [ppi_mean(side, level, shares=True).value for side in made]
        apart = [
            own.apart(label, {key: kept[key] for key in shared})
            for own, kept in zip(given, strata, strict=True)
        ]
        people = _together([sign for sign, _ in sides], apart)
        return Contrast(ppi_contrast(signed, level, shares=True, people=people), means, len(shared))

    def _note(self, task: Task, others: Sequence[Task], empty: Sequence[str]) -> None:
        beside = ", ".join(dict.fromkeys(
            f"{other.model}, {other.results.task}" for other in others
        ))  # fmt: skip
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


def strata_of(task: Task, label: str, column: str = "") -> dict[str, str]:
    """Question -> the judge's label, of all questions in which `label` is 0 or 1.

    Answers to which the judge gave no label are a stratum of their own, which nobody labels; of
    who was helped (`column`), those that were of no use are another: nobody need label them.
    """
    asked = [name for name in (_NO_MAJORITY, NO_RESPONSE, *LABELS) if name in task.columns]
    if label not in asked or (column and column not in task.columns):
        return {}
    values = {name: task.columns[name].values(task.ids) for name in asked}
    own = task.columns[column or label].values(task.ids)
    useless = _useless(task) if column == HELPED else set[str]()
    return {
        key: _USELESS
        if key in useless
        else next((name for name in asked if values[name][key] == 1.0), _NO_LABEL)
        for key in task.ids
        if own[key] is not None
    }


def _useless(task: Task) -> set[str]:
    """The questions whose answer is of no use to who asked."""
    outcomes = task.outcomes.get(task.place.language, [])
    return {key for key, outcome in zip(task.ids, outcomes, strict=False) if outcome in NOT_SERVED}


def judged(
    task: Task, label: str, labels: Labels, strata: Mapping[str, str], questions: Sequence[str],
    column: str = "",
) -> Judged:  # fmt: skip
    """A side of a correction; answers without a label of the judge stay as they are."""
    values = task.columns[column or label].values(task.ids)
    judge, human = [], list[float | None]()
    for key in questions:
        value = values[key]
        assert value is not None and not math.isnan(value)
        judge.append(value)
        human.append(labels.share(key, label) if strata[key] in LABELS else value)
    return Judged(judge, human, [strata[key] for key in questions])


def unlabelled(side: Judged) -> list[str]:
    """The strata that have answers and no label of people."""
    seen = {name for name, value in zip(side.strata, side.human, strict=True) if value is not None}
    return [name for name in dict.fromkeys(side.strata) if name not in seen]
