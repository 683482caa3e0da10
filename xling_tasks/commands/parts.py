"""`xling parts`: a run cut into parts for many machines, and the parts scored as one.

A mean over all questions follows from the parts; topic models, corpus BLEU, macro F1 and the like
do not. So the answers of all parts are scored again together, by the model `xling_replay` and with
the settings of the parts. A judge's verdicts and translations come from the cache.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from xling_tasks.commands.cost import load_tasks
from xling_tasks.commands.options import read_metadata
from xling_tasks.discovery import register_models, task_folder
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.alike import differences
from xling_tasks.logs.results import Results, TaskResults, read_results
from xling_tasks.output import many, refuse_full
from xling_tasks.report.documents import filled
from xling_tasks.settings import Settings


def shard(options: argparse.Namespace) -> str:
    """Write one `--samples` file per part; returns how to use them.

    Raises:
        SettingError: If there are fewer questions than parts, or the folder is not empty.
    """
    refuse_full(options.to)
    settings = read_metadata(options.metadata)
    tasks = load_tasks(options.tasks, settings)
    counts = {str(task.config.task): len(task.dataset["test"]) for task in tasks}
    if options.limit is not None:
        counts = {task: min(count, options.limit) for task, count in counts.items()}
    shards = cut(counts, options.parts)
    options.to.mkdir(parents=True, exist_ok=True)
    width = len(str(options.parts - 1))
    for number, samples in enumerate(shards):
        path = options.to / f"part-{number:0{width}d}.json"
        path.write_text(json.dumps(samples), encoding="utf-8")
    names = ",".join(counts)
    lines = [
        f"{options.to}: {options.parts} parts of {many(sum(counts.values()), 'question')} "
        f"in {many(len(counts), 'task')}.",
        "Run each: lm_eval ... --samples PART.json --log_samples --output_path OUT/PART with "
        "--tasks naming those in the file; then: xling parts merge OUT/* --to WHOLE",
    ]
    if options.slurm is not None:
        lines[1] = _write_slurm(options, names, width)
    return "\n".join(lines)


def cut(counts: dict[str, int], parts: int) -> list[dict[str, list[int]]]:
    """Split documents over parts, every task over all of them, as evenly as can be.

    Every task is in every part, since the harness wants to be asked for something in each; a task
    with fewer questions than parts cannot be.

    Args:
        counts: Task -> its documents.
        parts: How many.

    Returns:
        Per part its documents by task; each is in exactly one part.

    Raises:
        SettingError: If a task has fewer documents than there are parts.
    """
    for task, count in counts.items():
        if count < parts:
            has = many(count, "question")
            raise SettingError(f"--parts {parts}: {task} has {has}; cut it into at most {count}")
    return [
        {task: list(range(n, count, parts)) for task, count in counts.items()} for n in range(parts)
    ]


def _write_slurm(options: argparse.Namespace, names: str, width: int) -> str:
    """The array's script and the merge step's; returns how to start them."""
    folder = shlex.quote(str(options.to.resolve()))
    settings = "".join(f" {shlex.quote(word)}" for word in options.metadata)
    command = f"lm_eval {options.slurm} --tasks {shlex.quote(names)}"
    array, merge = options.to / "array.sh", options.to / "merge.sh"
    for path, part in ((array, True), (merge, False)):
        script = filled(
            "slurm.j2", part=part, last=options.parts - 1, folder=folder, width=width,
            command=command, settings=settings,
        )  # fmt: skip
        path.write_text(f"{script}\n", encoding="utf-8")
    return (
        f"Start: job=$(sbatch --parsable {array}); sbatch --dependency=afterok:$job {merge}\n"
        f"The whole run is then in {options.to / 'whole'}."
    )


_NOT_REPEATED = frozenset({"given", "xling_resume", "xling_cache"})


def merge(options: argparse.Namespace) -> str:
    """Score the parts as one run, and write it as `lm_eval` does; returns what was joined.

    Raises:
        DataError: If the parts do not belong together.
        SettingError: If the new folder is not empty.
    """
    refuse_full(options.to)
    parts = _parts(options.parts, options.tasks)
    settings = settings_of(parts) | read_metadata(options.metadata)
    samples = {task: _documents(task, of_task) for task, of_task in parts.items()}
    _score(options, parts, settings, samples)
    lines = [_joined(task, of_task, len(samples[task])) for task, of_task in parts.items()]
    return "\n".join([*lines, f"Written to {options.to}; `xling report {options.to}` reads it."])


def _joined(task: str, parts: Sequence[TaskResults], questions: int) -> str:
    """What was joined of a task, and whether a part is missing."""
    whole = max(int(part.count.get("original") or 0) for part in parts)
    said = f"{task}: {many(questions, 'question')} of {many(len(parts), 'part')}"
    if questions >= whole:
        return said
    return (
        f"{said}. {whole - questions:,} of the task's {whole:,} questions are in none of them: "
        "unless you meant to leave them out, name the missing parts too"
    )


def _parts(folders: Sequence[Path], names: str | None) -> dict[str, list[TaskResults]]:
    """The runs of each task, which must be alike.

    Raises:
        DataError: If there are none, or some were made differently.
    """
    parts: dict[str, list[TaskResults]] = {}
    wanted = set(names.split(",")) if names else None
    for folder in folders:
        runs = [run for run in read_results(folder, whole=True) if not run.replay]
        if not runs:
            raise DataError(f"{folder}: no results of lm_eval in it; give a part's --output_path")
        for run in runs:
            for task in sorted(run.tasks):
                part = TaskResults(task, run)
                # Its place is unknown only to a version that is older than the run.
                if part.xling and part.place is not None and (wanted is None or task in wanted):
                    parts.setdefault(task, []).append(part)
    if missing := (wanted or set()) - parts.keys():
        raise DataError(f"--tasks {', '.join(sorted(missing))}: not in these folders")
    if not parts:
        raise DataError(f"{folders[0]}: no results of our tasks in it; give parts of them")
    for task, of_task in parts.items():
        for part in of_task:
            if not part.samples.path.exists():
                raise DataError(
                    f"{part.samples.path}: is not there; parts need --log_samples (or take the "
                    "answers' own files: --model xling_replay --model_args path=...)"
                )
        for other in of_task[1:]:
            unlike = differences([(of_task[0], other)])
            if unlike:
                first = unlike[0]
                raise DataError(
                    f"{task}: {of_task[0].run.path} and {other.run.path} are no parts of one run: "
                    f"{first.what} is {first.first} there and {first.other} here"
                )
    return parts


def settings_of(parts: Mapping[str, Sequence[TaskResults]]) -> dict[str, Any]:
    """What was given with `--metadata`, the same in all parts.

    Raises:
        DataError: If tasks were run with different settings.
    """
    known = {item.name for item in fields(Settings)} - _NOT_REPEATED
    given: dict[str, Any] = {}
    for task, of_task in parts.items():
        for part in of_task:
            metadata = part.config.get("metadata") or {}
            for key in known & metadata.keys():
                if given.setdefault(key, metadata[key]) != metadata[key]:
                    raise DataError(
                        f"{task}: {key} is {metadata[key]!r} in {part.run.path}, and "
                        f"{given[key]!r} in another part; merge the tasks one by one (--tasks)"
                    )
    return given


def _documents(task: str, parts: Iterable[TaskResults]) -> list[int]:
    """The numbers of the documents that the parts have."""
    numbers: dict[int, Path] = {}
    for part in parts:
        here = numbers_of(part)
        for number in here:
            if number in numbers:
                raise DataError(
                    f"{task}: question {number} is in {numbers[number]} and in "
                    f"{part.samples.path}, so these are no parts of one run; leave one folder out"
                )
        numbers |= dict.fromkeys(here, part.samples.path)
    return sorted(numbers)


def numbers_of(part: TaskResults) -> set[int]:
    """The numbers of the documents whose samples a run has."""
    return {number for _, number in part.samples.stream(lambda row: int(row["doc_id"]))}


def _score(
    options: argparse.Namespace,
    parts: Mapping[str, Sequence[TaskResults]],
    settings: dict[str, Any],
    samples: dict[str, list[int]],
) -> None:
    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    register_models()
    run = next(iter(parts.values()))[0].run
    asked = _asked(run)
    folders = list(dict.fromkeys(str(part) for part in options.parts))
    tracker = EvaluationTracker(output_path=str(options.to))
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=settings
    )
    with contextlib.redirect_stdout(io.StringIO()):
        evaluated = lm_eval.simple_evaluate(
            model="xling_replay",
            model_args={"path": folders, "run": "all"},
            tasks=list(parts),
            samples=samples,
            task_manager=manager,
            evaluation_tracker=tracker,
            bootstrap_iters=0,
            **asked,
        )
    # Else the folder would be called after the paths of the parts.
    tracker.general_config_tracker.model_name_sanitized = "merged"
    rows = evaluated.pop("samples")
    tracker.save_results_aggregated(results=evaluated, samples=rows)
    for task in parts:
        tracker.save_results_samples(task_name=task, samples=rows[task])


def _asked(run: Results) -> dict[str, Any]:
    """The options of `lm_eval` that shape prompts and arguments, as the run had them."""
    content, config = run.content, run.content.get("config") or {}
    shots = {value for value in (content.get("n-shot") or {}).values() if isinstance(value, int)}
    if len(shots) > 1:
        raise DataError(f"{run.path}: tasks with different numbers of examples; use --tasks")
    arguments = config.get("gen_kwargs")
    return {
        "apply_chat_template": content.get("chat_template") is not None,
        "system_instruction": content.get("system_instruction"),
        "fewshot_as_multiturn": bool(content.get("fewshot_as_multiturn")),
        "num_fewshot": max(shots, default=0) or None,
        "gen_kwargs": json.loads(json.dumps(arguments)) if arguments else None,
    }
