"""`xling` alone: what lies in this folder, and what to do with it."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from pathlib import Path

from xling_tasks.output import many

DEEPEST = 3
"""Folders below this one that are looked into: lm_eval writes OUT/MODEL/results_*.json."""

TABLES = (".csv", ".jsonl", ".parquet", ".xlsx")

START = (
    "No results of lm_eval lie in this folder. A first run, on the bundled sample:\n"
    "  lm_eval --model xling_baseline --tasks xlinghealth_demo --output_path out --log_samples\n"
    "With a model of your own: xling doctor says whether all is there, xling cost what it asks for."
)


def here(options: argparse.Namespace) -> str:
    """What to type next, from the names of the files in `options.folder`; none is read."""
    folder = Path(options.folder)
    runs = _runs(folder)
    blocks = [_with_runs(runs) if runs else START]
    tables = sorted(
        path.name for path in folder.iterdir()
        if path.suffix.lower() in TABLES and not path.name.startswith((".", "samples_"))
    )  # fmt: skip
    if tables:
        blocks.append(
            "Questions of your own?\n"
            + "\n".join(f"  xling data check {_q(t)}" for t in tables[:3])
        )
    return "\n\n".join([*blocks, "All commands: xling --help"])


def _runs(folder: Path) -> dict[str, dict[str, int]]:
    """Output folder -> model's folder in it -> how many results files lie there."""
    below = (folder.glob("*/" * depth + "results_*.json") for depth in range(DEEPEST + 1))
    places = (path.relative_to(folder).parts[:-1] for paths in below for path in paths)
    counts = Counter(parts for parts in places if not any(p.startswith(".") for p in parts))
    runs: dict[str, dict[str, int]] = {}
    for parts, count in sorted(counts.items()):
        out, *model = parts or (".",)
        runs.setdefault(out, {})["/".join(model)] = count
    return dict(sorted(runs.items()))


def _with_runs(runs: dict[str, dict[str, int]]) -> str:
    lines = ["Results of lm_eval in this folder:"]
    for out, models in runs.items():
        named = ", ".join(model or "." for model in models)
        count = sum(models.values())
        lines.append(f"  {out}: {many(count, 'results file')} ({named})")
    first, *others = runs
    lines += [
        "",
        f"  xling report {_q(first)} --to report   who is served worse, and is it real",
        f"  xling view {_q(first)}   read every sample, languages side by side",
    ]
    if others:
        every = " ".join(map(_q, runs))
        lines.append(
            f"  xling compare {_q(first)} {_q(others[0])}   is the second better than the first"
        )
        lines.append(f"  xling board {every} --to board   many models by many languages")
    return "\n".join(lines)


def _q(name: str) -> str:
    """A name as the shell takes it, also one that looks like an option."""
    return shlex.quote(f"./{name}" if name.startswith("-") else name)
