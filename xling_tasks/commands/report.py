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
    text = "correct judge scores with human annotations (exports of `xling annotate`)"
    parser.add_argument("--human", nargs="+", type=user_path, metavar="FILE", help=text)
    text = "topics of questions, as `xling topics` writes them"
    parser.add_argument("--topics", type=user_path, metavar="FILE", help=text)
    parser.add_argument(
        "--price", action="extend", nargs="+", default=[], metavar="MODEL=IN/OUT",
        help="dollars per million tokens sent and received, such as gpt-4o=2.5/10",
    )  # fmt: skip
    add_samples(parser)
    text = "leave out the published values of the papers"
    parser.add_argument("--no-published", action="store_true", help=text)
    add_statistics(parser)
    add_family(parser)
    parser.set_defaults(run=report)


def add_samples(parser: argparse.ArgumentParser) -> None:
    """Add `--samples`."""
    text = "folder of a page of `xling samples`, to link to it (default samples, if there)"
    parser.add_argument("--samples", type=user_path, metavar="DIR", help=text)


def add_statistics(parser: argparse.ArgumentParser) -> None:
    """Add the options of verdicts."""
    add_margin(parser)
    text = "confidence level of intervals (default %(default)s)"
    parser.add_argument("--confidence", type=float, default=LEVEL, metavar="P", help=text)


def add_margin(parser: argparse.ArgumentParser) -> None:
    """Add `--margin`."""
    text = "largest difference that counts as equivalent (default 0.05; of harm 0.02)"
    parser.add_argument("--margin", type=float, metavar="D", help=text)
