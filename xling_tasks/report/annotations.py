"""People's labels beside the judge's: whose they are, and what they make of shares and gaps.

A judge errs, and its errors are in no interval over questions. `xling report --human` takes the
exports of the page of `xling annotate` and corrects the shares of correctness's labels, and their
gaps to English, by prediction-powered inference (`xling_metrics.stats.ppi`). The strata are the
judge's labels of a task, as the page's sample was drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from xling_metrics.stats.bounded_means import unseen
from xling_metrics.stats.ppi import PpiInput, ppi_contrast, ppi_mean

from xling_tasks.criteria import CRITERIA, LABELS, NO_RESPONSE
from xling_tasks.errors import DataError
from xling_tasks.logs import annotations as files
from xling_tasks.logs.annotations import Annotation
from xling_tasks.outcomes import HELPED, NOT_SERVED
from xling_tasks.report.data import Model, Task
from xling_tasks.report.estimates import Contrast, Group
from xling_tasks.report.record import Remark

_NO_LABEL = "no label"
_NO_MAJORITY = "no_majority"
_NOT_USABLE = "not usable"
_HELP = "more_comprehensive"

Key = tuple[Path, str]
"""A results file and a task in it: two models of one name stay separate."""


class Labels(NamedTuple):
    """People's labels of a task's answers: their names, and question -> each one's label."""

    people: tuple[str, ...]
    given: Mapping[str, tuple[str | None, ...]]

    def share(self, question: str, label: str) -> float | None:
        """Return 1 if most people gave an answer this label, else 0; a part where several lead.

        None where nobody labelled it.
        """
        votes = Counter(name for name in self.given.get(question, ()) if name is not None)
        leading = [name for name, n in votes.items() if n == max(votes.values())]
        return (label in leading) / len(leading) if leading else None

    def deviations(self, label: str, strata: Mapping[str, str]) -> dict[str, float] | None:
        """Return how far the share by each person lies above that by all, over some questions.

        By the answers that two or more labelled, stratum by stratum; a stratum without such counts
        as all that were. None where no two labelled one answer.
        """
        sizes = Counter(strata.values())
        excess: dict[str, dict[str, list[float]]] = {}
        for question, supplied in self.given.items():
            votes = {
                n: x == label for n, x in zip(self.people, supplied, strict=True) if x is not None
            }
            if len(votes) > 1 and question in strata:
                for name, yes in votes.items():
                    by_stratum = excess.setdefault(name, {}).setdefault(strata[question], [])
                    by_stratum.append(yes - fmean(votes.values()))
        if len(excess) < 2:
            return None
        return {name: _weighted_mean(values, sizes) for name, values in excess.items()}


def _weighted_mean(values: Mapping[str, Sequence[float]], sizes: Mapping[str, int]) -> float:
    """Return a mean over strata of some sizes; one without values has the mean of all."""
    every = [value for item in values.values() for value in item]
    total = sum(
        size * fmean(values.get(name) or every) for name, size in sizes.items() if name in LABELS
    )
    return total / sum(sizes.values())


class Annotations:
    """People's labels, by results file and task, with remarks on what could not be corrected."""

    def __init__(self, labels: Mapping[Key, Labels], remarks: Iterable[Remark] = ()) -> None:
        self._labels = dict(labels)
        self.remarks = list(remarks)

    def labels_of(self, task: Task) -> Labels | None:
        """Return a task's labels; None where there are none, or too few for a correction."""
        return self._labels.get(key_of(task))

    def contrast(self, groups: Sequence[Group], level: float) -> Contrast | None:
        """Return a corrected signed sum of shares over the questions that all groups have.

        Of one of `LABELS`, or `helpful`. None without people's labels of all. Where they labelled
        an answer of each of the judge's labels, but none of the shared questions, a remark says so.
        """
        label = _label(groups[0].name)
        supplied = [labels for x in groups if (labels := self.labels_of(x.task)) is not None]
        if label not in LABELS or len(supplied) < len(groups):
            return None
        strata = [strata_of(group) for group in groups]
        shared = [key for key in strata[0] if all(key in item for item in strata)]
        inputs = [
            _input(group, labels, item, shared)
            for group, labels, item in zip(groups, supplied, strata, strict=True)
        ]
        for group, item in zip(groups, inputs, strict=True):
            if empty := _unlabelled(item):
                self._note(group.task, [x.task for x in groups if x is not group], empty)
        if not shared or any(map(_unlabelled, inputs)):
            return None
        signs = [group.sign for group in groups]
        deviations = [
            labels.deviations(label, {key: item[key] for key in shared})
            for labels, item in zip(supplied, strata, strict=True)
        ]
        signed = list(zip(signs, inputs, strict=True))
        found = ppi_contrast(signed, level, shares=True, people=_by_people(signs, deviations))
        values = tuple(ppi_mean(item, level, shares=True).value for item in inputs)
        wide = None
        if found.ci_low is not None and found.ci_high is not None:
            bound = unseen(len(shared), level)
            wide = min(found.ci_low, -bound), max(found.ci_high, bound)
        return Contrast(found, values, shared, len(set().union(*strata)), wide)

    def _note(self, task: Task, others: Sequence[Task], empty: Sequence[str]) -> None:
        remark = Remark("people_not_shared", {
            "model": task.model, "task": task.results.task, "labels": list(empty),
            "others": [f"{other.model}, {other.results.task}" for other in others],
        })  # fmt: skip
        if remark not in self.remarks:
            self.remarks.append(remark)

    def shares(self, models: Iterable[Model], level: float) -> Iterator[Remark]:
        """Yield every share of a label that people's labels correct."""
        for task in (task for model in models for task in model.tasks):
            labels = self.labels_of(task)
            if labels is None:
                continue
            for label in LABELS:
                group = Group(1, task, label)
                strata = strata_of(group)
                people = _by_people([1], [labels.deviations(label, strata)])
                rows = ppi_mean(
                    _input(group, labels, strata, list(strata)), level, shares=True, people=people
                )
                n_labels = sum(labels.share(key, label) is not None for key in strata)
                yield Remark("people_share", {
                    "model": task.model, "criterion": task.task_key.criterion,
                    "dataset": task.task_key.dataset, "language": task.task_key.language,
                    "label": label, "judge": task.scores.get(label), "value": rows.value,
                    "ci_low": rows.ci_low, "ci_high": rows.ci_high, "n": rows.n, "labels": n_labels,
                })  # fmt: skip


def _by_people(
    signs: Sequence[int], deviations: Sequence[dict[str, float] | None]
) -> list[list[float]]:
    """Return how far each person's signed sum lies above all people's, for each set of people.

    Nothing where a group has no answers that two people labelled: their error in it is not known.
    """
    sums: dict[frozenset[str], dict[str, float]] = {}
    for sign, item in zip(signs, deviations, strict=True):
        if item is None:
            return []
        total = sums.setdefault(frozenset(item), dict.fromkeys(item, 0.0))
        for name, value in item.items():
            total[name] += sign * value
    return [list(item.values()) for item in sums.values()]


def key_of(task: Task) -> Key:
    """Return by what a task's labels are known."""
    return task.results.run.path, task.results.task


def _label(name: str) -> str:
    """Return the label whose share a metric is: helpful answers have one, if they are usable."""
    return _HELP if name == HELPED else name


def strata_of(group: Group) -> dict[str, str]:
    """Return question -> the judge's label, where a share of a label, or `helpful`, has a value.

    Answers to which the judge gave no label are a stratum that nobody labels; for `helpful` those
    that are not usable are another: nobody need label them.
    """
    task, column = group.task, group.column
    labels = [label for label in (_NO_MAJORITY, NO_RESPONSE, *LABELS) if label in task.columns]
    if _label(group.name) not in labels or column is None:
        return {}
    values = {label: task.columns[label].values(task.ids) for label in labels}
    outcomes = task.outcomes.get(task.task_key.language, []) if group.name == HELPED else []
    pairs = zip(task.ids, outcomes, strict=False)
    useless = {key for key, outcome in pairs if outcome in NOT_SERVED}
    return {
        key: _NOT_USABLE
        if key in useless
        else next((label for label in labels if values[label][key] == 1.0), _NO_LABEL)
        for key, value in column.values(task.ids).items()
        if value is not None
    }


def _input(
    group: Group, labels: Labels, strata: Mapping[str, str], questions: Sequence[str]
) -> PpiInput:
    """Return the labels of some questions; answers without the judge's label stay as they are."""
    values = {} if group.column is None else group.column.values(group.task.ids)
    judge = [values[key] or 0.0 for key in questions]
    human = [
        labels.share(key, _label(group.name)) if strata[key] in LABELS else values[key]
        for key in questions
    ]
    return PpiInput(judge, human, [strata[key] for key in questions])


def _unlabelled(group: PpiInput) -> list[str]:
    """Return the strata that have answers and no label of people."""
    pairs = zip(group.strata, group.human, strict=True)
    labelled = {name for name, value in pairs if value is not None}
    return [name for name in dict.fromkeys(group.strata) if name not in labelled]


# Files of annotations, and the answers that they are about


def read_annotations(paths: Sequence[Path], models: Sequence[Model]) -> Annotations:
    """Read exports of `xling annotate` and match them with the answers of some models.

    Raises:
        DataError: If a file is no export, or is about none of the answers as they are now.
    """
    by_task: dict[tuple[str, str, str], list[Annotation]] = {}
    for item in files.read_annotations(paths):
        if item.form == files.LABEL and item.label:
            by_task.setdefault((item.annotator, item.model, item.task), []).append(item)
    tasks = [task for model in models for task in model.tasks]
    matched: dict[Key, list[Annotation]] = {}
    wrong: list[str] = []
    for (_, _, name), group in by_task.items():
        misfits = {key_of(t): _misfit(group, t) for t in tasks if t.results.task == name}
        for key in (key for key, reason in misfits.items() if not reason):
            matched.setdefault(key, []).extend(group)
        wrong += [] if "" in misfits.values() else list(misfits.values())
    if wrong or not matched:
        reason = wrong[0] if wrong else "the folders have no results of its tasks"
        raise DataError(
            f"--human {', '.join(map(str, paths))}: is about other answers than this report's "
            f"({reason}); give the folder that its page was made from"
        )
    labels: dict[Key, Labels] = {}
    remarks: list[Remark] = []
    for task in tasks:
        if key_of(task) in matched:
            supplied = _labels_of(matched[key_of(task)])
            if empty := _too_few(task, supplied):
                subject = {"model": task.model, "task": task.results.task, "labels": empty}
                remarks.append(Remark("people_too_few", subject))
            else:
                labels[key_of(task)] = supplied
    return Annotations(labels, [*remarks, *_one_sided(models, labels)])


def _labels_of(annotations: Sequence[Annotation]) -> Labels:
    people = tuple(dict.fromkeys(item.annotator for item in annotations))
    supplied: dict[str, dict[str, str]] = {}
    for item in annotations:
        supplied.setdefault(item.question_id, {})[item.annotator] = item.label
    return Labels(people, {key: tuple(map(group.get, people)) for key, group in supplied.items()})


def _misfit(annotations: Sequence[Annotation], task: Task) -> str:
    """Return what people read otherwise than a task's samples have it; empty if nothing."""
    name, strata = task.results.task, strata_of(Group(1, task, LABELS[0]))
    if not strata:
        return f"{name} has no samples with a judge's labels; run with --log_samples"
    by_question = {item.question_id: item for item in annotations}
    for key, item in by_question.items():
        label = strata.get(key, "not there")
        if label != item.judge_label:
            return f"{name}, {key!r} is {item.judge_label} in the file and {label} here"
    for _, sample in task.results.samples.stream(dict):
        found = by_question.get(str(sample["doc"]["question_id"]))
        if found is not None and found.answer != files.answer_digest(sample):
            return f"{name}, {found.question_id!r} has another answer here than people read"
    return ""


def _too_few(task: Task, labels: Labels) -> list[str]:
    """Return the judge's labels with answers of which people labelled none."""
    group = Group(1, task, LABELS[0])
    strata = strata_of(group)
    return _unlabelled(_input(group, labels, strata, list(strata)))


def _one_sided(models: Sequence[Model], labels: Mapping[Key, Labels]) -> Iterator[Remark]:
    """Yield languages whose gap is not corrected, because English or they have no labels."""
    for model in models:
        tasks = [task for task in model.tasks if CRITERIA[task.task_key.criterion].labelled]
        for dataset in dict.fromkeys(task.task_key.dataset for task in tasks):
            keys = {t.task_key.language: key_of(t) for t in tasks if t.task_key.dataset == dataset}
            missing = [code for code, key in keys.items() if key not in labels]
            if missing and len(missing) < len(keys):
                values: dict[str, Any] = {"model": model.name, "dataset": dataset}
                values |= {"languages": missing}
                yield Remark("people_one_side", values)
