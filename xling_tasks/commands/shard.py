"""`xling parts cut`: the files that cut a run into parts for many machines, and a SLURM script."""

from __future__ import annotations

import argparse
import json
import shlex

from xling_tasks.commands.cost import load_tasks
from xling_tasks.commands.options import read_metadata
from xling_tasks.errors import SettingError
from xling_tasks.report.documents import filled


def shard(options: argparse.Namespace) -> str:
    """Write one `--samples` file per part; returns how to use them.

    Raises:
        SettingError: If there are fewer questions than parts, or the folder is not empty.
    """
    if options.to.exists() and any(options.to.iterdir()):
        raise SettingError(f"--to {options.to}: is not empty; name a new folder")
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
        f"{options.to}: {options.parts} parts of {sum(counts.values()):,} questions in "
        f"{len(counts)} tasks.",
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
            raise SettingError(
                f"--parts {parts}: {task} has {count} questions; cut it into at most {count}"
            )
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
