"""The models in some output folders, each with the newest result of every task."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, user_path
from xling_tasks.harness.arguments import identity_of
from xling_tasks.logs.align_questions import is_readable, refuse_unmatched, with_groups
from xling_tasks.logs.inspect_logs import with_inspect_logs
from xling_tasks.logs.results import Results, TaskResults, read_results
from xling_tasks.logs.task_groups import TaskGroup, describe_tasks, given_groups, known_groups


@dataclass
class ModelResults:
    """One model's results.

    Attributes:
        name: Its short name; the argument that differs is in it where two models share one.
        full: Its name and arguments.
        tasks: The newest result of each task.
        notes: What to know of its files, as rows of remarks: results that are not used, and tasks
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
    given, folders = given_groups(families or ()), with_inspect_logs(folders)
    known = [] if families is None else [*given, *known_groups()]
    runs = _read_folders(folders, known if only_ours else None, families is not None)
    everything = [run for _, _, run in runs]
    refuse_unmatched(given, everything, ", ".join(map(str, folders)))
    by_model: dict[tuple[str, str], list[tuple[Path, Results]]] = {}
    for name, folder, run in runs:
        by_model.setdefault((name, run.model), []).append((folder, run))
    names = _names({key: [run for _, run in own] for key, own in by_model.items()})
    models = []
    for key, own in by_model.items():
        newest, notes = _newest(own, known)
        tasks, not_read = with_groups(newest, known)
        models.append(ModelResults(names[key], key[1], tasks, [*notes, *not_read]))
    if only_ours and not any(task.task_key for model in models for task in model.tasks.values()):
        why = "; ".join(
            f"{note['task']}: {note['why']}" for m in models for note in m.notes if "why" in note
        )
        raise DataError(f"{', '.join(map(str, folders))}: nothing in it can be read: {why}")
    return models


def _read_folders(
    folders: Iterable[Path | str], groups: Sequence[TaskGroup] | None, describe: bool
) -> list[tuple[str, Path, Results]]:
    """Return each run with the name of its model and the folder, oldest first in each folder."""
    runs = []
    for item in folders:
        name, folder = named_folder(item)
        found = read_results(folder)
        has_ours = groups is None or any(is_readable(run, groups) for run in found)
        if not found or not has_ours:
            tasks = {task for run in found for task in run.tasks}
            hint = f"; {describe_tasks(tasks)}" if tasks and describe else ""
            raise DataError(
                f"{folder}: no results of our tasks in it; give lm_eval's --output_path{hint}"
            )
        if name and len({run.model for run in found}) > 1:
            raise DataError(f"{folder}: holds several models; a name can stand for one only")
        runs += [(name, folder, run) for run in found]
    return runs


def named_folder(item: Path | str) -> tuple[str, Path]:
    """Return name (empty without one) and folder of `NAME=FOLDER` or `FOLDER`."""
    name, sign, folder = str(item).partition("=")
    if sign and not os.path.exists(item):
        return name, user_path(folder)
    return "", user_path(item)


def _newest(
    runs: Sequence[tuple[Path, Results]], groups: Sequence[TaskGroup]
) -> tuple[dict[str, TaskResults], list[dict[str, Any]]]:
    """Return the newest result of each task; of two of one time, the one that was read last."""
    newest: dict[str, tuple[Path, Results]] = {}
    older: dict[tuple[str, str], list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for folder, run in sorted(runs, key=lambda pair: pair[1].stamp):
        for task in sorted(run.tasks):
            if (task, run.digest) in seen:  # a copy
                continue
            seen.add((task, run.digest))
            if task in newest and is_readable(run, groups, task):
                other_folder, other = newest[task]
                names = (str(other.path), str(run.path))
                if other_folder == folder:
                    names = str(other.path.relative_to(other_folder)), run.path.name
                older.setdefault(names, []).append(task)
            newest[task] = folder, run
    notes = [
        {"kind": "unused_run", "path": path, "newer": newer, "tasks": tasks}
        for (path, newer), tasks in older.items()
    ]
    return {task: TaskResults(task, run) for task, (_, run) in newest.items()}, notes


# Names


def _names(runs: Mapping[tuple[str, str], Sequence[Results]]) -> dict[tuple[str, str], str]:
    """Return short names; where models would share one, with the arguments in which they differ."""
    short = {key: key[0] or _short_name(model_runs[0]) for key, model_runs in runs.items()}
    names: dict[tuple[str, str], str] = {}
    counts = Counter(short.values())
    for key, name in short.items():
        if counts[name] > 1:
            same = [
                identity_of(runs[k][0].model_args) for k, other in short.items() if other == name
            ]
            name = ", ".join([name, *_differing(identity_of(runs[key][0].model_args), same)])
        numbered = (name if n == 1 else f"{name} ({n})" for n in range(1, len(runs) + 2))
        names[key] = next(label for label in numbered if label not in names.values())
    return names


def _differing(args: Mapping[str, Any], same: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the arguments that are not equal in all models of one name."""
    for key in dict.fromkeys(key for arguments in same for key in arguments):
        if any(arguments.get(key) != same[0].get(key) for arguments in same) and key in args:
            yield f"{key}={args[key]}"


def _short_name(run: Results) -> str:
    args = run.model_args
    name = args.get("peft") or args.get("pretrained") or args.get("model")
    return str(name or run.config.get("model") or "model").rstrip("/").rpartition("/")[2]
