"""The models in some output folders, each with the newest result of every task."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, user_path
from xling_tasks.harness.arguments import identity_of
from xling_tasks.logs.align_questions import with_groups
from xling_tasks.logs.inspect_logs import with_inspect_logs
from xling_tasks.logs.results import Results, TaskResults, read_results
from xling_tasks.logs.task_groups import (
    TITLES,
    TaskGroup,
    describe_tasks,
    known_groups,
    member,
    parse_group,
)


@dataclass
class ModelResults:
    """The newest results of one model; `full`: its name and arguments.

    `notes`: what to know of its files, as rows of remarks: results that are not used, and tasks
    that are not read.
    """

    name: str
    full: str
    tasks: dict[str, TaskResults]
    notes: list[dict[str, Any]] = field(default_factory=list)


def find_models(
    folders: Iterable[Path | str], families: Sequence[str] | None = None, *, only_ours: bool = True
) -> list[ModelResults]:
    """Return every model in some output folders.

    Args:
        folders: As `lm_eval --output_path` wrote them, or Inspect's logs; `NAME=FOLDER` names the
            model in a folder.
        families: As of `--family`, beside those that are known; None for tasks of ours alone.
        only_ours: Whether a folder without tasks of ours is an error.

    Raises:
        DataError: If a folder has no results, a name stands for several models, or a file is
            broken.
    """
    given, folders = list(map(parse_group, families or ())), with_inspect_logs(folders)
    groups = [] if families is None else [*given, *known_groups()]
    by_model: dict[tuple[str, str], list[tuple[Path, Results]]] = {}
    external: set[str] = set()
    for item in folders:
        name, folder = named_folder(item)
        runs = read_results(folder)
        if not runs or (
            only_ours and not any(_is_ours_or_of(groups, r, t) for r in runs for t in r.places)
        ):
            tasks = {task for run in runs for task in run.places}
            hint = f"; {describe_tasks(tasks)}" if tasks and families is not None else ""
            raise DataError(
                f"{folder}: no results of our tasks in it; give lm_eval's --output_path{hint}"
            )
        if name and len({run.model for run in runs}) > 1:
            raise DataError(f"{folder}: holds several models; a name can stand for one only")
        for run in runs:
            by_model.setdefault((name, run.model), []).append((folder, run))
            external |= {task for task, subject in run.places.items() if subject is None}
    paths = ", ".join(map(str, folders))
    for group in given:
        if not any(member(task, [group]) for task in external):
            raise DataError(
                f"--family {group.pattern}: no task in {paths} fits; {describe_tasks(external)}"
            )
    names = _names({key: found[0][1] for key, found in by_model.items()})
    models = []
    for key, found in by_model.items():
        newest, notes = _newest(found, groups)
        read, not_read = with_groups(newest, groups)
        models.append(ModelResults(names[key], key[1], read, [*notes, *not_read]))
        for task in read.values():
            data = task.xling.get("data") or {}
            if task.task_key and data.get("kind") == "own":
                # A stranger's file may be called anything, and pages are also Markdown.
                title = re.sub(r"[^\w .,:'’&+-]+", " ", str(data["dataset"]))
                TITLES[task.task_key.dataset] = title.strip()[:80] or task.task_key.dataset
    if only_ours and not any(task.task_key for model in models for task in model.tasks.values()):
        notes = [note for model in models for note in model.notes if "why" in note]
        reasons = "; ".join(f"{note['task']}: {note['why']}" for note in notes)
        raise DataError(f"{paths}: nothing in it can be read: {reasons}")
    return models


def _is_ours_or_of(groups: Sequence[TaskGroup], run: Results, task: str) -> bool:
    return bool(run.places[task] or member(task, groups))


def named_folder(item: Path | str) -> tuple[str, Path]:
    """Return name (empty without one) and folder of `NAME=FOLDER` or `FOLDER`."""
    name, sign, folder = str(item).partition("=")
    if sign and not os.path.exists(item):
        return name, user_path(folder)
    return "", user_path(item)


def _newest(
    runs: Sequence[tuple[Path, Results]], groups: Sequence[TaskGroup]
) -> tuple[dict[str, TaskResults], list[dict[str, Any]]]:
    """Return the newest result of each task; of two of one time, the one that was read last.

    The tasks over users' own questions have one name for every file; each file is another dataset.
    """
    newest: dict[tuple[str, str], tuple[Path, Results]] = {}
    older: dict[tuple[str, str], list[str]] = {}
    seen: set[str] = set()
    for folder, run in sorted(runs, key=lambda pair: pair[1].stamp):
        if run.digest in seen:  # a copy
            continue
        seen.add(run.digest)
        for task, subject in run.places.items():
            key = task, subject.dataset if subject else ""
            if key in newest and _is_ours_or_of(groups, run, task):
                other_folder, other = newest[key]
                names = (str(other.path), str(run.path))
                if other_folder == folder:
                    names = str(other.path.relative_to(other_folder)), run.path.name
                older.setdefault(names, []).append(task)
            newest[key] = folder, run
    notes = [
        {"kind": "unused_run", "path": path, "newer": newer, "tasks": tasks}
        for (path, newer), tasks in older.items()
    ]
    tasks: dict[str, TaskResults] = {}
    for (task, dataset), (_, run) in newest.items():
        tasks[f"{task} ({dataset})" if task in tasks else task] = TaskResults(task, run)
    return tasks, notes


def _names(runs: Mapping[tuple[str, str], Results]) -> dict[tuple[str, str], str]:
    """Return short names; where models would share one, with the arguments in which they differ."""
    short, arguments = {}, {key: identity_of(run.model_args) for key, run in runs.items()}
    for key, run in runs.items():
        args = run.model_args
        name = args.get("peft") or args.get("pretrained") or args.get("model")
        last = str(name or run.config.get("model") or "model").rstrip("/").rpartition("/")[2]
        short[key] = key[0] or last
    names: dict[tuple[str, str], str] = {}
    counts = Counter(short.values())
    for key, name in short.items():
        if counts[name] > 1:
            same = [arguments[other] for other in short if short[other] == name]
            differing = [
                f"{argument}={value}"
                for argument, value in arguments[key].items()
                if any(args.get(argument) != value for args in same)
            ]
            name = ", ".join([name, *differing])
        numbered = (name if n == 1 else f"{name} ({n})" for n in range(1, len(runs) + 2))
        names[key] = next(label for label in numbered if label not in names.values())
    return names
