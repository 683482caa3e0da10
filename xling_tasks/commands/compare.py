"""`xling compare`: two models on the same questions."""

from __future__ import annotations

import argparse

from xling_metrics.stats.estimate import LEVEL

from xling_tasks.commands.options import add_family, add_json
from xling_tasks.commands.report import add_margin
from xling_tasks.errors import user_path
from xling_tasks.report.compare.command import compare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling compare`."""
    for name in ("a", "b"):
        text = f"--output_path of lm_eval, or NAME=OUT: model {name.upper()}"
        parser.add_argument(name, metavar=name.upper(), help=text)
    text = "folder to write (default compare; with --json none)"
    parser.add_argument("--to", type=user_path, metavar="DIR", help=text)
    add_json(parser)
    parser.add_argument("--force", action="store_true", help="compare runs with different settings")
    parser.add_argument("--metrics", nargs="+", metavar="NAME", help="only these metrics")
    text = "correct judge scores of A and B with human annotations (exports of `xling annotate`)"
    parser.add_argument("--human", nargs="+", type=user_path, metavar="FILE", help=text)
    text = "exit status 1 where B is worse, 3 where that cannot be told"
    parser.add_argument("--fail-if", choices=("worse",), help=text)
    add_margin(parser)
    add_family(parser)
    parser.set_defaults(run=compare, confidence=LEVEL)
