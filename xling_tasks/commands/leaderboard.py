"""`xling leaderboard`: several models by language."""

from __future__ import annotations

import argparse

from xling_tasks.commands.options import add_family, add_folders, add_output
from xling_tasks.commands.report import add_samples, add_statistics
from xling_tasks.report.leaderboard.command import run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling leaderboard`."""
    add_folders(parser)
    add_output(parser, "folder to write", "leaderboard")
    add_samples(parser)
    add_statistics(parser)
    add_family(parser)
    parser.set_defaults(run=run)
