"""Runs on disk for the tests: what the `lm_eval` command writes, without a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

ONLY_OURS = """
from pathlib import Path
import lm_eval.tasks.manager as manager
every = manager.TaskIndex._iter_yaml_files
own = Path(manager.__file__).parent
manager.TaskIndex._iter_yaml_files = staticmethod(lambda root: () if root == own else every(root))
"""
"""Code for a fresh interpreter: the harness's own 16,000 task files are not read (seconds)."""

COMMAND = f"{ONLY_OURS}\nfrom lm_eval.__main__ import cli_evaluate\ncli_evaluate()\n"
"""Code for `python -c CODE WORDS`, where the process itself is what is tested."""


def lm_eval(cwd: Path, *words: str, **environment: str) -> None:
    """Run the command `lm_eval WORDS` from a folder, in this process.

    It is the harness's own command line from its parser on. What it leaves out is a process (the
    imports, seconds each) and the harness's own task files. An error of ours is raised.
    """
    from lm_eval._cli import HarnessCLI
    from lm_eval.tasks.manager import TaskIndex

    every, own = TaskIndex._iter_yaml_files, Path(sys.modules["lm_eval.tasks"].__file__).parent

    def ours(root: Path) -> Any:
        return () if root == own else every(root)

    before = Path.cwd()
    os.chdir(cwd)
    try:
        with (
            mock.patch.object(sys, "argv", ["lm_eval", *words]),
            mock.patch.object(TaskIndex, "_iter_yaml_files", staticmethod(ours)),
            mock.patch.dict(os.environ, environment),
        ):
            cli = HarnessCLI()
            cli.execute(cli.parse_args())
    finally:
        os.chdir(before)
