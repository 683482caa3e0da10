"""`xling path`: the folder of the task files."""

from __future__ import annotations

import argparse

from xling_tasks.discovery import task_folder


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling path` takes."""
    parser.set_defaults(run=path)


def path(options: argparse.Namespace) -> str:
    """`xling path`: where the task files are."""
    return str(task_folder())
