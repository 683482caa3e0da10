"""`xling path`: the folder of the task files."""

from __future__ import annotations

import argparse
from typing import Any

from xling_tasks.discovery import task_folder


def add_path(commands: Any) -> None:
    """Add `xling path` to the commands."""
    parser = commands.add_parser("path", help="the folder of the task files, for --include_path")
    parser.set_defaults(run=path)


def path(options: argparse.Namespace) -> str:
    """`xling path`: where the task files are."""
    return str(task_folder())
