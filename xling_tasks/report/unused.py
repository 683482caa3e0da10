"""Runs that a report does not use, and why: nothing in the folder goes unmentioned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.logs.families import given_families, known_families
from xling_tasks.logs.joined import members
from xling_tasks.logs.results import TaskResults, read_results
from xling_tasks.output import many
from xling_tasks.report.data import named_folder


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
    """One line per run and reason: of each task a report shows the newest run of a model.

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
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for by_path in runs.values():
        # Of two with one time the report takes the one that it reads last.
        *older, used = sorted(by_path.values(), key=lambda each: each.found.run.stamp)
        for each in older:
            shown = used.path.name if each.folder == used.folder else str(used.path)
            key = (each.beside(used), shown, _why(each, used))
            grouped.setdefault(key, []).append(each.found.task)
    lines = []
    for (path, newer, why), tasks in grouped.items():
        shown = ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        lines.append(f"{path} is not used for {shown}: {newer} has the same and is newer. {why}")
    return lines


def _why(older: _Run, used: _Run) -> str:
    """What is lost by leaving the older run out, and what to do."""
    folders = " ".join(map(str, dict.fromkeys((older.folder, used.folder))))
    apart = "" if older.folder == used.folder else " NAME=FOLDER keeps both."
    data = {(each.found.xling.get("data") or {}).get("sha256") for each in (older, used)} - {None}
    if len(data) > 1:  # questions are told by their numbers, which say nothing of other data
        return f"They are over different data, so their questions may differ.{apart}"
    try:
        own, others = set(_documents(older.found)), set(_documents(used.found))
    except DataError as error:
        return f"Whether it has other questions cannot be told ({error}).{apart}"
    if older.found.run.replay or used.found.run.replay:
        return f"One of them scores the other's answers again.{apart}"
    if not own & others:
        return (
            "They have different questions, as parts of one run do: `xling parts merge "
            f"{folders} --to NEW` scores them as one."
        )
    if own <= others:
        return f"It has no other questions.{apart}"
    told = many(len(own - others), "other question")
    return f"It has {told}; parts of one run would share none.{apart}"


def _documents(result: TaskResults) -> Iterator[int]:
    for _, number in result.samples.stream(lambda row: int(row["doc_id"])):
        yield number
