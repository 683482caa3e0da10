"""`xling parts merge`: the parts of a run, scored as one.

A mean over all questions follows from the parts; topic models, corpus BLEU, macro F1 and the like
do not. So the answers of all parts are scored again together, by the model `xling_replay` and with
the settings of the parts. A judge's verdicts and translations come from the cache.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import read_metadata
from xling_tasks.discovery import register_models, task_folder
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.alike import differences
from xling_tasks.logs.results import Results, TaskResults, read_results
from xling_tasks.settings import Settings

_NOT_REPEATED = frozenset({"given", "xling_resume", "xling_cache"})


def merge(options: argparse.Namespace) -> str:
    """Score the parts as one run, and write it as `lm_eval` does; returns what was joined.

    Raises:
        DataError: If the parts do not belong together.
        SettingError: If the new folder is not empty.
    """
    if options.to.exists() and any(options.to.iterdir()):
        raise SettingError(f"--to {options.to}: is not empty; name a new folder")
    parts = _parts(options.parts, options.tasks)
    settings = settings_of(parts) | read_metadata(options.metadata)
    samples = {task: _documents(task, of_task) for task, of_task in parts.items()}
    _score(options, parts, settings, samples)
    lines = [_joined(task, of_task, len(samples[task])) for task, of_task in parts.items()]
    return "\n".join([*lines, f"Written to {options.to}; `xling report {options.to}` reads it."])


def _joined(task: str, parts: Sequence[TaskResults], questions: int) -> str:
    """What was joined of a task, and whether a part is missing."""
    whole = max(int(part.count.get("original") or 0) for part in parts)
    said = f"{task}: {questions:,} questions of {len(parts)} parts"
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
            raise DataError(f"{folder}: no results of lm_eval in it")
        for run in runs:
            for task in sorted(run.tasks):
                part = TaskResults(task, run)
                # Its place is unknown only to a version that is older than the run.
                if part.xling and part.place is not None and (wanted is None or task in wanted):
                    parts.setdefault(task, []).append(part)
    if missing := (wanted or set()) - parts.keys():
        raise DataError(f"--tasks {', '.join(sorted(missing))}: not in these folders")
    if not parts:
        raise DataError(f"{folders[0]}: no results of our tasks in it")
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
