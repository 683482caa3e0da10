"""What `xling submit hf` submits: the newest run of each of our tasks, all checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands.submit.hf_task import HubTask, hub_task
from xling_tasks.errors import DataError
from xling_tasks.logs import alike
from xling_tasks.logs.results import Results, read_results, refuse_mixed_models
from xling_tasks.secrets import publishable_text


class Words(NamedTuple):
    """Conclusions and flags for people, and for programs.

    Attributes:
        conclusions: A line per dataset, language and criterion.
        flags: What to know of them: partial runs, missing languages, a judge's own error.
        records: The conclusions as plain values.
    """

    conclusions: list[str]
    flags: list[str]
    records: list[dict[str, Any]]


class Submission(NamedTuple):
    """What is submitted.

    Attributes:
        parts: The tasks, by group and in the order of the languages.
        cautions: What should keep a reader from trusting it, if it was forced.
        others: Tasks in the folder that are not ours.
        words: The conclusions and flags in words.
    """

    parts: list[HubTask]
    cautions: list[str]
    others: list[str]
    words: Words = Words([], [], [])

    def groups(self) -> dict[str, list[HubTask]]:
        """The tasks by criterion and dataset."""
        grouped: dict[str, list[HubTask]] = {}
        for part in self.parts:
            grouped.setdefault(part.group, []).append(part)
        return grouped

    @property
    def newest(self) -> Results:
        """The newest of the runs."""
        return max((part.run for part in self.parts), key=lambda run: run.stamp)


def gather(out: Path, force: bool, own_dataset: str | None = None) -> Submission:
    """The newest run of each of our tasks, checked.

    Args:
        out: The folder of runs.
        force: Whether what is wrong with them becomes a caution.
        own_dataset: Where the user's own questions lie on the Hub.

    Raises:
        DataError: If there is none; or, unless forced, listing all that is wrong.
    """
    runs = read_results(out)
    newest = {task: run for run in runs for task in sorted(run.tasks)}
    ours = [part for task, run in newest.items() if (part := hub_task(task, run, own_dataset))]
    if not ours:
        raise DataError(f"{out}: no results of xling-tasks' own tasks in it")
    parts = sorted(ours, key=lambda part: (part.group, part.language != "en", part.task))
    submission = Submission(parts, [], sorted(set(newest) - {part.task for part in parts}))
    submission.cautions.extend(_cautions(out, submission))
    if own_dataset and not any(part.hub_dataset == own_dataset for part in parts):
        raise DataError(
            f"--dataset-id {own_dataset}: it is where questions of your own lie on the Hub, and "
            f"{out} has no result over such questions (xling_own_*)"
        )
    if submission.cautions and not force:
        raise DataError(
            f"{out}: not ready to submit: {'; '.join(submission.cautions)}. Run again without "
            "that, or move those results away; --force writes with this as a caution inside"
        )
    told = [publishable_text(text) for text in submission.cautions]
    return submission._replace(cautions=told)


def _cautions(out: Path, submission: Submission) -> Iterator[str]:
    try:
        used = {part.run.path: part.run for part in submission.parts}
        refuse_mixed_models(out, sorted(used.values(), key=lambda run: run.stamp))
    except DataError as error:
        yield str(error).removeprefix(f"{out}: ").partition("; give the folder")[0]
    by_reason: dict[str, list[str]] = {}
    for part in submission.parts:
        for reason in part.problems():
            by_reason.setdefault(reason, []).append(part.task)
    for reason, tasks in by_reason.items():
        yield f"{', '.join(tasks)}: {reason}"
    for group in submission.groups().values():
        yield from _differences(group)


def _differences(group: Sequence[HubTask]) -> Iterator[str]:
    """In what the languages of a criterion were run differently."""
    first = group[0]
    for item in alike.differences([(first, part) for part in group[1:]], across_languages=True):
        yield f"the languages were not run alike: {item.told(first.task)}"
    models: dict[str, dict[str, list[str]]] = {}
    for part in group:
        for what, model in dict.fromkeys(part.models()):
            models.setdefault(what, {}).setdefault(model, []).append(part.task)
    for what, by_model in models.items():
        if len(by_model) > 1:
            told = ", but ".join(f"{model} in {', '.join(t)}" for model, t in by_model.items())
            yield f"the languages were not run alike: {what} is {told}"
