"""Reading annotations, and finding the answers of a report that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.logs.annotations import LABEL, Annotation, answer_digest, read_annotations
from xling_tasks.report.data import Model, Task
from xling_tasks.report.human import Human, Key, Labels, judged, key_of, strata_of, unlabelled


def read_human(paths: Sequence[Path], models: Sequence[Model]) -> Human:
    """Read exports of `xling annotate` and match them with the answers of MODELS.

    Raises:
        DataError: If a file is no export, or is about none of the answers as they are now.
    """
    by_task: dict[tuple[str, str, str], list[Annotation]] = {}
    for a in read_annotations(paths):
        if a.form == LABEL and a.label:
            by_task.setdefault((a.annotator, a.model, a.task), []).append(a)
    tasks = [(model.name, task) for model in models for task in model.tasks]
    matched: dict[Key, list[Annotation]] = {}
    misfits: list[str] = []
    for (_, _, name), of_task in by_task.items():
        reasons = {
            (model, key_of(task)): _misfit(of_task, task)
            for model, task in tasks
            if task.results.task == name
        }
        if all(reasons.values()):
            misfits += [f"{model}: {reason}" for (model, _), reason in reasons.items()][:1]
        for (_, key), reason in reasons.items():
            if not reason:
                matched.setdefault(key, []).extend(of_task)
    if misfits or not matched:
        reason = misfits[0] if misfits else "the folders have no results of its tasks"
        raise DataError(
            f"--human {', '.join(map(str, paths))}: is about other answers than this report's "
            f"({reason}); give the folder that its page was made from"
        )
    labels: dict[Key, Labels] = {}
    notes: list[str] = []
    for model, task in tasks:
        if key_of(task) in matched:
            given = _labels(matched[key_of(task)])
            if reason := _too_few(task, given):
                notes.append(f"{model}, {task.results.task}: {reason}")
            else:
                labels[key_of(task)] = given
    return Human(labels, [*dict.fromkeys(notes), *_one_sided(models, labels)])


def _labels(annotations: Sequence[Annotation]) -> Labels:
    """Return the annotators of a task, and their labels by question."""
    people = tuple(dict.fromkeys(a.annotator for a in annotations))
    given: dict[str, dict[str, str]] = {}
    for a in annotations:
        given.setdefault(a.question_id, {})[a.annotator] = a.label
    rows = {key: tuple(own.get(name) for name in people) for key, own in given.items()}
    return Labels(people, rows)


def _misfit(annotations: Sequence[Annotation], task: Task) -> str:
    """Return what was annotated otherwise than a task's samples have it; empty if nothing."""
    name, strata = task.results.task, strata_of(task, LABELS[0])
    if not strata:
        return f"{name} has no samples with a judge's labels; run with --log_samples"
    offsets = dict(zip(task.ids, task.offsets, strict=True))
    answers: dict[str, str] = {}
    for a in annotations:
        if strata.get(a.question_id) != a.judge_label:
            here = strata.get(a.question_id, "not there")
            return f"{name}, {a.question_id!r} is {a.judge_label} in the file and {here} here"
        if a.question_id not in answers:
            sample = task.results.samples.at(offsets[a.question_id])
            answers[a.question_id] = answer_digest(sample)
        if answers[a.question_id] != a.answer:
            return f"{name}, {a.question_id!r} has another answer here than people read"
    return ""


def _too_few(task: Task, labels: Labels) -> str:
    """Why a task's shares cannot be corrected; empty if they can."""
    strata = strata_of(task, LABELS[0])
    empty = unlabelled(judged(task, LABELS[0], labels, strata, list(strata)))
    if empty:
        sizes = Counter(strata.values())
        listed = " and ".join(f"the {sizes[name]} that the judge calls {name}" for name in empty)
        return (
            f"people labelled none of {listed}, so its shares are not corrected; label more, or "
            "make a page of one dataset (--datasets)"
        )
    return ""


def _one_sided(models: Sequence[Model], labels: Mapping[Key, Labels]) -> list[str]:
    """Languages whose gap is not corrected, because English or they have no labels."""
    notes = []
    for model in models:
        tasks = [task for task in model.tasks if CRITERIA[task.place.criterion].labelled]
        for dataset in dict.fromkeys(task.place.dataset for task in tasks):
            own = {t.place.language: key_of(t) for t in tasks if t.place.dataset == dataset}
            given = {code for code, key in own.items() if key in labels}
            if given and (lacking := [code for code in own if code not in given]):
                listed = ", ".join(map(language_name, lacking))
                what = "no gap" if ENGLISH in lacking else f"the gap of {listed} is not"
                notes.append(
                    f"{model.name}, correctness, {dataset}: no usable labels of people for "
                    f"{listed}: {what} corrected"
                )
    return notes
