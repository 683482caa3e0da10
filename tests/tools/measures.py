"""How large the house is, how many places a fact has, and how far one reply's way is.

    python -m tests.tools.measures          sizes, and the places of facts
    python -m tests.tools.measures --way    and the way of a Yes or No to its sentence (half a minute)

It measures the packages that it can import: `PYTHONPATH` of another checkout measures that one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import xling_metrics
import xling_task_yaml
from xling_metrics.languages import KNOWN

import xling_tasks
from xling_tasks.criteria import CRITERIA

TESTS = Path(__file__).resolve().parents[1]
PACKAGES = [Path(p.__file__ or "").parent for p in (xling_tasks, xling_metrics, xling_task_yaml)]
NAMES = {*CRITERIA, *(name for criterion in CRITERIA.values() for name in criterion.metrics)}
KEYS = 3
"""So many keys of a table that are codes of languages make it one by language."""


def files(root: Path) -> list[Path]:
    """The Python files below a folder."""
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


def lines(path: Path) -> int:
    """The lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def rooms(root: Path) -> dict[str, tuple[int, int]]:
    """Room -> its files and lines; a room is a folder, and `.` what lies beside them."""
    count: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for path in files(root):
        inside = path.relative_to(root).parts
        room = inside[0] if len(inside) > 1 else "."
        count[room] += 1
        size[room] += lines(path)
    return {room: (count[room], size[room]) for room in sorted(count)}


def literals(path: Path) -> Iterator[str]:
    """The texts of a module, but for what documents it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def naming(root: Path) -> dict[str, set[str]]:
    """File -> the criteria and metrics that it names in literals."""
    found = {path.relative_to(root).as_posix(): NAMES.intersection(literals(path))
             for path in files(root)}  # fmt: skip
    return {path: named for path, named in found.items() if named}


def keyed_by_language(root: Path) -> list[str]:
    """Files with a table whose keys are languages."""

    def has_table(path: Path) -> bool:
        tables = (
            n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Dict)
        )
        keys = ({k.value for k in own.keys if isinstance(k, ast.Constant)} for own in tables)
        return any(len(own & KNOWN.keys()) >= KEYS for own in keys)

    return [path.relative_to(root).as_posix() for path in files(root) if has_table(path)]


def way() -> dict[Path, int]:
    """The files that one Yes or No passes, each with the lines of the functions that run.

    From `process_results` of the demo's first question over the files of the run to the sentences
    that conclude it.
    """
    sys.path.insert(0, str(TESTS))
    from builders import lm_eval

    from xling_tasks.report import lists, summary
    from xling_tasks.report.data import read_models
    from xling_tasks.report.verdicts import Options
    from xling_tasks.tasks.task import HealthTask

    passed = Passed()
    score = HealthTask.process_results

    def first(task: Any, *given: Any) -> Any:
        HealthTask.process_results = score
        with passed:
            return score(task, *given)

    with tempfile.TemporaryDirectory() as folder:
        HealthTask.process_results = first
        tasks = "xlinghealth_verifiability_demo_en,xlinghealth_verifiability_demo_es"
        with contextlib.redirect_stdout(io.StringIO()):
            lm_eval(
                Path(folder), "--model", "xling_baseline", "--tasks", tasks, "--limit", "40",
                "--log_samples", "--output_path", "out", "--metadata", "k=2",
                XLING_CACHE=f"{folder}/cache",
            )  # fmt: skip
        with passed:
            record = lists.make_record(read_models([f"{folder}/out"]), Options()).rows()
            told = list(summary.summarize(record))
    assert told, "the demo comes to no sentence"
    return passed.files()


class Passed:
    """What of the packages runs within it: `with Passed() as it`."""

    def __init__(self) -> None:
        self._ran: set[CodeType] = set()

    def __enter__(self) -> Passed:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, given: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            self._ran.add(frame.f_code)

    def files(self) -> dict[Path, int]:
        """File -> the lines of its functions that ran."""
        found: dict[Path, set[int]] = {}
        for code in self._ran:
            path = Path(code.co_filename)
            if any(path.is_relative_to(package) for package in PACKAGES):
                ran = {line for _, _, line in code.co_lines() if line}
                found.setdefault(path, set()).update(range(min(ran), max(ran) + 1))
        return {path: len(ran) for path, ran in found.items()}


def main() -> int:
    """Print the measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--way", action="store_true", help="run the demo and follow one reply")
    parser.add_argument("--json", action="store_true", help="JSON instead of lines")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for name, roots in {"product": PACKAGES, "tests": [TESTS]}.items():
        own = {f"  {root.name}/{room}": [*n] for root in roots for room, n in rooms(root).items()}
        found[f"{name}: files, lines"] = [sum(column) for column in zip(*own.values())]
        found |= own
    every = [path for root in PACKAGES for path in files(root)]
    found["files over 400 lines"] = [p.name for p in every if lines(p) > 400]
    found["files that name a criterion or a metric"] = len(naming(PACKAGES[0]))
    tables = [name for root in PACKAGES for name in keyed_by_language(root)]
    found["files with a table by language"] = tables
    if options.way:
        passed = way()
        ways = [len(passed), sum(map(lines, passed)), sum(passed.values())]
        found["a Yes or No: files, their lines, lines of the functions that run"] = ways
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            print(f"{name}: {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
