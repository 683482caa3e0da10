"""`xling submit`: submissions made of lm_eval's output."""

from __future__ import annotations

import argparse

from xling_tasks.commands.options import add_folder, add_output
from xling_tasks.errors import user_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling submit mmedbench` and `xling submit hf`."""
    from xling_tasks.commands.submit import hf, mmedbench

    kinds = parser.add_subparsers(title="submissions", required=True)
    summary = "write the files that MMedBench's leaderboard takes"
    bench = kinds.add_parser("mmedbench", help=summary, description=summary)
    add_folder(bench)
    add_output(bench, "folder to write")
    bench.add_argument("--only", choices=["mcqa", "rationale"], help="one half of the submission")
    text = "the _ft tasks, or the others; needed only where OUT holds both"
    bench.add_argument("--ft", action=argparse.BooleanOptionalAction, help=text)
    bench.set_defaults(run=mmedbench.run)
    summary = "write results into a model card for the Hub"
    hub = kinds.add_parser("hf", help=summary, description=summary)
    add_folder(hub)
    hub.add_argument("--model-id", required=True, metavar="ORG/NAME", help="model on the Hub")
    text = "your own questions (xling_custom_*) on the Hub"
    hub.add_argument("--dataset-id", metavar="ORG/NAME", help=text)
    add_output(hub, "folder to write")
    text = "the model's card, to which the results are added (hf download ORG/NAME README.md)"
    hub.add_argument("--card", type=user_path, metavar="FILE", help=text)
    hub.set_defaults(run=hf.run)
