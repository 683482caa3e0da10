"""Reading people's exports, and finding the answers of a report that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.logs.annotations import Export, answer_digest, read_pages
from xling_tasks.report.data import Model, Task
from xling_tasks.report.human import Human, Key, Labels, judged, key_of, strata_of, unlabelled


def read_human(paths: Sequence[Path], models: Sequence[Model]) -> Human:
    """People's exports, given to the models whose answers they are about.

    DataError if a file is no export, two pages are about one task, a page is about none of the
    models' answers as they are now, or somebody disagrees with a label and names none.
    """
    labels: dict[Key, Labels] = {}
    notes: list[str] = []
    pages: dict[Key, Path] = {}
    for exports in read_pages(paths).values():
        said_of = _said(exports)
        for model in _fitting(exports, models):
            for task in model.tasks:
                own = said_of.get(task.results.task)
                if own is None:
                    continue
                key = key_of(task)
                if key in pages:
                    raise DataError(
                        f"--human {pages[key]} and {exports[0].path}: two pages about "
                        f"{key[1]} of {model.name}; give the exports of one"
                    )
                pages[key] = exports[0].path
                said = _too_few(task, own)
                if not said:
                    labels[key] = own
                notes += [f"{model.name}, {task.results.task}: {said}"] if said else []
    return Human(labels, [*dict.fromkeys(notes), *_one_sided(models, labels)])


def _said(exports: Sequence[Export]) -> dict[str, Labels]:
    """Task -> what one page's annotators said."""
    people = tuple(export.annotator for export in exports)
    given: dict[str, dict[str, tuple[str | None, ...]]] = {}
    for name, item in exports[0].items.items():
        checks = [export.items[name] for export in exports]
        for export, check in zip(exports, checks, strict=True):
            if check.agree_label is False and check.label is None:
                raise DataError(
                    f"{export.path}, item {name!r}: disagrees with the judge and names no label; "
                    "choose one in the page and export again, or the correction would lean to the "
                    "judge"
                )
        labels = tuple(check.label for check in checks)
        given.setdefault(item.task, {})[item.question_id] = labels
    return {task: Labels(people, own) for task, own in given.items()}


def _fitting(exports: Sequence[Export], models: Sequence[Model]) -> list[Model]:
    """The models whose answers a page shows: all with its labels of the judge."""
    wrong, fitting = [], []
    for model in models:
        tasks = {task.results.task: task for task in model.tasks}
        asked = {item.task for item in exports[0].items.values()} & tasks.keys()
        said = [text for name in sorted(asked) if (text := _misfit(exports[0], tasks[name]))]
        if asked and not said:
            fitting.append(model)
        wrong += [f"{model.name}: {text}" for text in said[:1]]
    if not fitting:
        why = wrong[0] if wrong else "the folders have no results of its tasks"
        raise DataError(
            f"--human {exports[0].path}: is about no answers of this report ({why}); give the "
            "folder that its page was made from"
        )
    return fitting


def _misfit(export: Export, task: Task) -> str:
    """What of a page is otherwise in a task's samples; empty if all is the same."""
    name = task.results.task
    strata = strata_of(task, LABELS[0])
    if not strata:
        return f"{name} has no samples with a judge's labels; run with --log_samples"
    for item in export.items.values():
        if item.task == name and strata.get(item.question_id) != item.judge_label:
            there = strata.get(item.question_id, "not there")
            return f"{name}, {item.question_id!r} is {item.judge_label} there and {there} here"
    if changed := _other_answer(export, task):
        return f"{name}, {changed!r} has another answer here than people read"
    sizes = Counter(strata.values())
    for label in LABELS if export.strata else ():
        own = export.strata.get((name, label))
        size = 0 if own is None else own.population
        if size != sizes[label]:
            return f"{name} has {size} answers that are {label} there and {sizes[label]} here"
    return ""


def _other_answer(export: Export, task: Task) -> str:
    """A question whose answer is not the one that the page showed; empty if there is none."""
    offsets = dict(zip(task.ids, task.offsets, strict=True))
    for item in export.items.values():
        if item.task == task.results.task and item.id in export.answers:
            sample = task.results.samples.at(offsets[item.question_id])
            if answer_digest(sample) != export.answers[item.id]:
                return item.question_id
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
