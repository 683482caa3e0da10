"""Submissions from the harness's own output files: `xling submit`.

MMedBench's leaderboard takes two files of replies, two of scores and a description of the model.
All of it is read from `results_*.json` and `samples_*.jsonl`; nothing is generated or scored anew.
For the Hugging Face Hub see `submit_hf`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from xling_tasks.commands.submit.hf import add_hf
from xling_tasks.commands.submit.mmedbench import DESCRIPTION, cautions, write_files
from xling_tasks.commands.submit.parts import KINDS, checked_parts
from xling_tasks.output import refuse_files
from xling_tasks.report.options import add_to


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling submit` takes."""
    kinds = parser.add_subparsers(title="submissions", required=True)
    _add_mmedbench(kinds)
    add_hf(kinds)


def _add_mmedbench(commands: Any) -> None:
    parser = commands.add_parser("mmedbench", help="the files of MMedBench's leaderboard")
    parser.add_argument("out_dir", metavar="OUT", help="--output_path of lm_eval")
    add_to(parser)
    parser.add_argument("--only", choices=list(KINDS), help="one half of the submission")
    parser.add_argument(
        "--ft", action=argparse.BooleanOptionalAction, default=None,
        help="the _ft tasks, or the others; needed only where OUT holds both",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """`xling submit mmedbench`: write the files, and say what they hold.

    Raises:
        DataError: If the runs in `OUT` are no full submission; the message says what is
            missing and the command that gets it.
    """
    out, to = Path(options.out_dir), options.to
    kinds = [options.only] if options.only else list(KINDS)
    names = [name for kind in kinds for name in (KINDS[kind].results, KINDS[kind].scores)]
    refuse_files(to, [*names, DESCRIPTION])
    parts = checked_parts(out, kinds, options.ft)
    write_files(out, to, parts, [*names, DESCRIPTION])
    lines = [f"{to / name}" for name in [*names, DESCRIPTION]]
    return "\n".join([*lines, *cautions(parts), f"Fill in the lines with TODO in {DESCRIPTION}."])
