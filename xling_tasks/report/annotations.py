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
from typing import NamedTuple

from xling_metrics.stats.bounded_means import unseen
from xling_metrics.stats.ppi import PpiInput, ppi_contrast, ppi_mean

from xling_tasks.criteria import CRITERIA, LABELS, NO_RESPONSE
from xling_tasks.errors import DataError
from xling_tasks.outcomes import HELPED, NOT_SERVED
from xling_tasks.report import annotation_files as files
from xling_tasks.report.annotation_files import Annotation
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
        means = {}
        for name, values in excess.items():
            every = [value for item in values.values() for value in item]
            parts = (n * fmean(values.get(s) or every) for s, n in sizes.items() if s in LABELS)
            means[name] = sum(parts) / sum(sizes.values())
        return means


class Annotations:
    """People's labels, by results file and task, with remarks on what could not be corrected."""

    def __init__(self, labels: Mapping[Key, Labels], remarks: Iterable[Remark] = ()) -> None:
        self.labels = dict(labels)
        self.remarks = list(remarks)

    def contrast(self, groups: Sequence[Group], level: float) -> Contrast | None:
        """Return a corrected signed sum of shares over the questions that all groups have.

        Of one of `LABELS`, or `helpful`. None where people labelled none of the shared questions
        with some label of the judge.
        """
        label = _label(groups[0].name)
        keys = [key_of(group.task) for group in groups]
        if label not in LABELS or not self.labels.keys() >= set(keys):
            return None
        supplied = [self.labels[key] for key in keys]
        strata = [strata_of(group) for group in groups]
        shared = [key for key in strata[0] if all(key in item for item in strata)]
        inputs = [
            _input(group, labels, item, shared)
            for group, labels, item in zip(groups, supplied, strata, strict=True)
        ]
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

    def shares(self, models: Iterable[Model], level: float) -> Iterator[Remark]:
        """Yield every share of a label that people's labels correct."""
        for task in (task for model in models for task in model.tasks):
            labels = self.labels.get(key_of(task))
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
    matched = _match(paths, [task for model in models for task in model.tasks])
    labels: dict[Key, Labels] = {}
    remarks: list[Remark] = []
    for model in models:
        languages: dict[str, dict[str, bool]] = {}
        for task in model.tasks:
            items, group = matched.get(key_of(task), []), Group(1, task, LABELS[0])
            people = tuple(dict.fromkeys(item.annotator for item in items))
            given: dict[str, dict[str, str]] = {}
            for item in items:
                given.setdefault(item.question_id, {})[item.annotator] = item.label
            supplied = Labels(people, {k: tuple(map(by.get, people)) for k, by in given.items()})
            strata = strata_of(group)
            empty = _unlabelled(_input(group, supplied, strata, list(strata))) if items else []
            if empty:
                subject = {"model": model.name, "task": task.results.task, "labels": empty}
                remarks.append(Remark("people_too_few", subject))
            elif items:
                labels[key_of(task)] = supplied
            if CRITERIA[task.task_key.criterion].labelled:
                by_language = languages.setdefault(task.task_key.dataset, {})
                by_language[task.task_key.language] = key_of(task) in labels
        for dataset, by_language in languages.items():  # a gap needs labels in English, too
            missing = [code for code, is_labelled in by_language.items() if not is_labelled]
            if missing and len(missing) < len(by_language):
                subject = {"model": model.name, "dataset": dataset, "languages": missing}
                remarks.append(Remark("people_one_side", subject))
    return Annotations(labels, remarks)


def _match(paths: Sequence[Path], tasks: Sequence[Task]) -> dict[Key, list[Annotation]]:
    """Return the annotations of each task whose answers people read."""
    by_task: dict[tuple[str, str, str], list[Annotation]] = {}
    for item in files.read_annotations(paths):
        if item.form == files.LABEL and item.label:
            by_task.setdefault((item.annotator, item.model, item.task), []).append(item)
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
    return matched


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
