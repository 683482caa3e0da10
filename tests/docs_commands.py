"""The commands of README and docs, cut out of their fences and run as a reader would.

Those that need a network, a GPU or a paid service are checked: their options are the harness's, their
tasks exist, their settings are valid.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

NOT_RUN = {
    r"pip (install|download)|unzip ": "needs a network; the tests run in an environment that has it",
    r"pytest$": "would run these tests within themselves",
    r"pre-commit ": "changes the checkout",
    r"--model (hf|vllm) ": "needs a checkpoint of several GB, and a GPU",
    r"path=out/part": "joins what the machines of a cluster have run",
    r"export ": "a key of a service",
    r"openai-chat-completions": "is paid for",
}
"""Pattern -> why a command that has it is checked, not run."""


class Command(NamedTuple):
    """A command of a page.

    Attributes:
        page: Where it stands.
        words: The command, as written.
        why_not: Why it is not run; None if it is.
    """

    page: str
    words: str
    why_not: str | None


def fences(page: Path) -> Iterator[tuple[str, str]]:
    """The language and the text of every fence of a page."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.S | re.M):
        yield match[1], match[2]


def commands() -> list[Command]:
    """Every shell command of all pages, in order, once; a fence without a language is shell."""
    page_of: dict[str, str] = {}
    for page in PAGES:
        for language, text in fences(page):
            for line in logical_lines(text) if language in ("", "bash", "sh") else ():
                for words in line.split(" && "):
                    page_of.setdefault(words, page.name)
    return [
        Command(page, words, next((NOT_RUN[p] for p in NOT_RUN if re.search(p, words)), None))
        for words, page in page_of.items()
    ]


def logical_lines(text: str) -> Iterator[str]:
    """Commands of a fence: comments left out, continued lines and quotes put together."""
    open_ = ""
    for line in text.splitlines():
        if not open_ and (not line.strip() or line.startswith("#")):
            continue
        open_ += line
        if open_.endswith("\\"):
            open_ = open_[:-1]
            continue
        try:
            shlex.split(open_)
        except ValueError:  # a quote goes on in the next line
            open_ += "\n"
            continue
        yield open_
        open_ = ""
    assert not open_, f"a command that does not end: {open_}"


def python_blocks() -> list[str]:
    """Every Python fence of all pages."""
    return [text for page in PAGES for language, text in fences(page) if language == "python"]


def prepare(folder: Path) -> None:
    """Write what the pages take for given: copies of the data, here a few questions."""
    from xling_tasks.data.sources import SAMPLE_FOLDER

    lines = (SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_text("utf-8").splitlines(True)
    (folder / "XLingHealth_Dataset").mkdir()
    for number, name in enumerate(("HealthQA", "LiveQA", "MedicationQA")):
        file = folder / "XLingHealth_Dataset" / f"{name}.jsonl"
        file.write_text("".join(lines[: 100 - 5 * number]), encoding="utf-8")
    (folder / "human").mkdir()
    for ending in ("", "_zu"):
        file = folder / "human" / f"clinical_knowledge_test{ending}.csv"
        file.write_text("Which?,rest,salt,sugar,smoke,A\n", encoding="utf-8")


def run(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with the `lm_eval` and `xling` of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    own = {"PATH": path, "HF_HUB_OFFLINE": "1", "XLING_CACHE": str(folder / ".cache")}
    return subprocess.run(
        ["bash", "-c", words], cwd=folder, env={**os.environ, **own}, capture_output=True,
        text=True, timeout=600,
    )  # fmt: skip


def run_here(words: str, folder: Path, *, table: bool) -> subprocess.CompletedProcess[str]:
    """As `run`, but in this process, which spares every command the imports and the harness's index.

    A command that needs a shell has one. `table` says whether `lm_eval` draws its table of scores.
    """
    import builders

    from xling_tasks.cli import main as xling

    name, *given = shlex.split(words)
    if name not in ("lm_eval", "xling") or set(words) & set("$`|<>*~;&#"):
        return run(words, folder)
    status = 0
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        if name == "lm_eval":
            builders.lm_eval(folder, *given, table=table)
        else:
            with builders.inside(folder):
                status = xling(given)
    return subprocess.CompletedProcess(words, status, said.getvalue(), errors.getvalue())


def check(words: str) -> None:
    """Refuse options, tasks or settings that do not exist, of a command of the harness."""
    split = shlex.split(words)
    if split[0] != "lm_eval":
        return
    from unittest import mock

    from lm_eval._cli import HarnessCLI

    from xling_tasks.settings import Settings

    with mock.patch.object(sys, "argv", split):
        options = HarnessCLI().parse_args()
    asked = options.tasks if isinstance(options.tasks, list) else options.tasks.split(",")
    assert set(asked) <= known_tasks(), f"no such task: {set(asked) - known_tasks()}"
    Settings.parse(options.metadata or {}, {})


@functools.cache
def known_tasks() -> frozenset[str]:
    """The names of our tasks and groups."""
    import builders

    return frozenset(builders.our_tasks().all_tasks)
