"""Runs that a report does not use: nothing in the folder goes unmentioned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from xling_tasks.logs.families import given_families, known_families
from xling_tasks.logs.joined import members
from xling_tasks.logs.results import TaskResults, read_results
from xling_tasks.report.data import named_folder

_HINT = "NAME=FOLDER keeps both; --model xling_replay --model_args path=A+B joins parts of one run."


class _Run(NamedTuple):
    """One task's results, and the folder that they were found in."""

    found: TaskResults
    folder: Path

    @property
    def path(self) -> Path:
        return self.found.run.path

    def beside(self, other: _Run) -> str:
        """Its file as the other's reader knows it: within a folder that both are in."""
        inside = self.folder == other.folder
        return str(self.path.relative_to(self.folder) if inside else self.path)


def unused_runs(folders: Iterable[Path | str], families: Sequence[str] = ()) -> list[str]:
    """One line per run: of each task a report shows the newest run of a model.

    Runs of one model in several folders are one model's, unless the folders are named.
    """
    known = [*given_families(families), *known_families()]
    runs: dict[tuple[str, str, str], dict[Path, _Run]] = {}
    for item in folders:
        name, folder = named_folder(item)
        for run in read_results(folder):
            about = members(run, known)
            for task in sorted(run.tasks):
                if about.get(task) is not None:
                    own = runs.setdefault((name, run.model, task), {})
                    own.setdefault(run.path.resolve(), _Run(TaskResults(task, run), folder))
    grouped: dict[tuple[str, str], list[str]] = {}
    for by_path in runs.values():
        # Of two with one time the report takes the one that it reads last.
        *older, used = sorted(by_path.values(), key=lambda each: each.found.run.stamp)
        for each in older:
            shown = used.path.name if each.folder == used.folder else str(used.path)
            key = (each.beside(used), shown)
            grouped.setdefault(key, []).append(each.found.task)
    lines = []
    for (path, newer), tasks in grouped.items():
        shown = ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        lines.append(f"{path} is not used for {shown}: {newer} has the same and is newer. {_HINT}")
    return lines
