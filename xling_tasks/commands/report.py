"""`xling report`: the gap to English for each language."""

from __future__ import annotations

import argparse

from xling_metrics.stats.estimate import LEVEL

from xling_tasks.commands.options import add_family, add_folders, add_output
from xling_tasks.errors import user_path
from xling_tasks.report.command import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling report`."""
    add_folders(parser)
    add_output(parser, "folder to write", "report")
    parser.add_argument(
        "--human", nargs="+", type=user_path, metavar="FILE",
        help="correct judge scores with human annotations (exports of `xling annotate`)",
    )  # fmt: skip
    parser.add_argument(
        "--topics", type=user_path, metavar="FILE",
        help="topics of questions, as `xling topics` writes them",
    )  # fmt: skip
    parser.add_argument(
        "--price", action="extend", nargs="+", default=[], metavar="MODEL=IN/OUT",
        help="dollars per million tokens sent and received, such as gpt-4o=2.5/10",
    )  # fmt: skip
    add_samples(parser)
    parser.add_argument(
        "--no-published", action="store_true", help="leave out the published values of the papers"
    )
    add_statistics(parser)
    add_family(parser)
    parser.set_defaults(run=report)


def add_samples(parser: argparse.ArgumentParser) -> None:
    """Add `--samples`."""
    parser.add_argument(
        "--samples", type=user_path, metavar="DIR",
        help="folder of a page of `xling samples`, to link to it (default samples, if there)",
    )  # fmt: skip


def add_statistics(parser: argparse.ArgumentParser) -> None:
    """Add the options of verdicts."""
    add_margin(parser)
    parser.add_argument(
        "--confidence", type=float, default=LEVEL, metavar="P",
        help="confidence level of intervals (default %(default)s)",
    )  # fmt: skip


def add_margin(parser: argparse.ArgumentParser) -> None:
    """Add `--margin`."""
    parser.add_argument(
        "--margin", type=float, metavar="D",
        help="largest difference that counts as equivalent (default 0.05; of harm 0.02)",
    )  # fmt: skip
