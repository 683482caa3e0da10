"""Reports of every criterion, kept as digests: what should show nothing to a reader shows nothing.

    python -m tests.kept_reports             the files that are not what was kept
    python -m tests.kept_reports REVISION    and, line by line, what that revision wrote
    python -m tests.kept_reports --write     keep what is made now

They are made of what version 0.1.0 wrote, and of runs of this version for what that one did not have:
rubrics, own multiple choice, empathy, models fine-tuned on exams. After a merge of two changes the
digests of neither are right: write them anew.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import io
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).resolve().parent
KEPT = TESTS / "cases" / "kept_reports.txt"
_FEW = ("--n-resamples", "1000")
_LONG = re.compile(r"-?\d+\.\d{10,}(?:e-?\d+)?|-?\d+(?:\.\d+)?e-\d+")
"""Numbers with digits that are the processor's, not ours."""


_OF_THE_MOMENT = {
    *("date", "start_time", "end_time", "total_evaluation_time_seconds"),
    *("git_hash", "pretty_env_info", "transformers_version", "lm_eval_version"),
}
"""What the harness notes of one run and not of the next."""


def texts(folder: Path) -> dict[str, str]:
    """What the commands write of all runs in an empty folder, and the viewer says of their samples.

    By file; numbers have nine decimals at most.
    """
    with tarfile.open(TESTS / "cases" / "v0_1_0" / "kept.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    _new_runs(folder)
    commands = {
        "old": ("report", "one", "two", "--no-pictures", *_FEW),
        "demo": ("report", "demo", *_FEW),
        "compare": ("compare", "one", "two"),
        "board": ("board", "one", "two", *_FEW),
        "new": ("report", "own", "exams", "empathy", *_FEW),
        "new_compare": ("compare", "own", "own"),
        "new_board": ("board", "own", "exams", "empathy", *_FEW),
    }
    for name, words in commands.items():
        _xling(folder, *words, "--to", f"made/{name}")
    runs = ("one", "demo", "own", "exams", "empathy")
    made = sorted(
        path
        for path in (folder / "made").rglob("*.*")
        if path.suffix != ".svg" and path.name != "view.html"
    )
    return {
        **{path.relative_to(folder / "made").as_posix(): _plain(path) for path in made},
        **{f"viewer/{name}": _as_viewed(folder / name) for name in runs},
    }


def digests(made: dict[str, str]) -> str:
    """A line for each file: its digest and its name."""
    lines = (f"{hashlib.sha256(text.encode()).hexdigest()[:12]}  {name}\n"
             for name, text in sorted(made.items()))  # fmt: skip
    return "".join(lines)


def differing(made: dict[str, str]) -> list[str]:
    """The names of files that are not what was kept, that are new, or that are gone."""
    kept, now = (
        dict(reversed(line.split("  ", 1)) for line in text.splitlines())
        for text in (KEPT.read_text(encoding="utf-8"), digests(made))
    )
    return [name for name in sorted(kept | now) if kept.get(name) != now.get(name)]


def _xling(folder: Path, *words: str) -> None:
    from builders import inside

    from xling_tasks.cli import main

    # PNGs take seconds and are the SVGs of the page again.
    without = mock.patch("xling_tasks.report.command.as_png", return_value=b"")
    with inside(folder), without, contextlib.redirect_stdout(io.StringIO()):
        assert main(list(words)) == 0, words


def _plain(path: Path) -> str:
    if path.suffix == ".png":
        return ""
    text = path.read_text(encoding="utf-8")
    return _LONG.sub(lambda match: f"{round(float(match[0]), 9) + 0.0:.9g}", text)


def _as_viewed(out: Path) -> str:
    """A line for each sample in each of its languages: its texts, label, score, what is the matter."""
    from xling_tasks.commands.view.facts import facts
    from xling_tasks.commands.view.sources import find_sources
    from xling_tasks.logs.shown import parts_of

    lines: list[str] = []
    for source in find_sources([str(out)]).files:
        with source.samples.path.open(encoding="utf-8") as file:
            for row in map(json.loads, itertools.islice(file, 3)):
                for found in facts(source.criterion, source.language, row, source.primary):
                    parts = parts_of(source.criterion, row, found.language)
                    lines += [str(found[:-1]), *map(str, parts)]
    return "\n".join(lines)


# Runs of this version


def _new_runs(folder: Path) -> None:
    from conftest import Served
    from own_rubric_parts import Says, by_words, conversation, write

    rubrics = write(folder / "clinic.jsonl", [conversation(f"q{n:02}") for n in range(12)])
    write(folder / "quiz.jsonl", [_quiz(n) for n in range(12)])
    judge = Served(by_words)
    try:
        own = {"data_dir": str(rubrics), "judge": judge.spec(), "rubric_batch": 3}
        _evaluate(folder, "own/rubrics", ["xling_own_rubric"], own, Says(_answer))
    finally:
        judge.server.shutdown()
        judge.server.server_close()
    quiz = {"data_dir": str(folder / "quiz.jsonl")}
    _evaluate(folder, "own/quiz", ["xling_own_mcqa"], quiz, Says(_answer))
    exams = [f"mmedbench_rationale_ft_demo_{code}" for code in ("en", "zh")]
    _evaluate(folder, "exams", exams, {"source_encoder": False}, "xling_baseline")
    posts = write(folder / "posts.jsonl", [_post(n) for n in range(12)])
    told = {"prompts_file": str(posts), "translator": "none", "empathy_classifier": "by words"}
    with mock.patch("xling_tasks.tasks.empathy.load_classifier", return_value=ByWords()):
        _evaluate(folder, "empathy", ["xling_empathy"], told, Says(_answer))


class ByWords:
    """A classifier of empathy that goes by words of the reply."""

    signature = "by words"

    def profiles(self, pairs: list[tuple[str, str]]) -> list[tuple[bool, ...]]:
        """Which of three mechanisms each reply to a post shows."""
        return [tuple(word in said for word in ("fever", "call", "?")) for _, said in pairs]


def _post(n: int) -> dict[str, Any]:
    return {"id": f"p{n}", "en": f"I am sad ({n}).", "es": f"Estoy triste ({n})."}


def _quiz(n: int) -> dict[str, Any]:
    return {
        "id": f"q{n:02}", "correct": "A, B" if n % 3 else "C", "options_en": ["x", "y", "z"],
        "options_pt": ["u", "v", "w"], "question_en": f"Which ({n})?", "question_pt": f"Qual ({n})?",
    }  # fmt: skip


def _answer(context: str) -> str:
    """Some questions are answered well and some not, always the same."""
    draw = random.Random(context)
    if "Which" in context or "Qual" in context:
        return draw.choice(["A", "A and B", "C", "I can't say."])
    return draw.choice(["Have you a fever? Flags.", "Rest.", "¿Tiene fiebre?", ""])


def _evaluate(
    folder: Path, name: str, tasks: list[str], metadata: dict[str, Any], model: Any
) -> None:
    import lm_eval
    from builders import evaluated, leave_the_machine_unasked, our_tasks

    def run(tasks: list[str], **options: Any) -> Any:
        manager = our_tasks(metadata)
        return lm_eval.simple_evaluate(
            model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **options
        )

    leave_the_machine_unasked()
    evaluated(run, folder / name, tasks)
    _forget_time_and_place(folder, folder / name)


def _forget_time_and_place(folder: Path, out: Path) -> None:
    """Leave nothing in a run that the next one has not: times, folders, ports, versions, codes."""
    from builders import STAMP

    for path in (path for path in out.rglob("*_20*.json*") if STAMP not in path.name):
        stamp = path.stem[-len(STAMP) :]
        text = path.read_text(encoding="utf-8").replace(str(folder), "")
        text = re.sub(r"(?<=VERDICT )[a-z]{6}", "abcdef", text)
        text = re.sub(r"(?<=127\.0\.0\.1:)\d+", "1", text)
        text = re.sub(r"(?<=[a-z]:)\d+(?:\.\d+)+", "1.0", text)
        if path.name.startswith("results_"):
            content = json.loads(text)
            text = json.dumps({key: content[key] for key in content.keys() - _OF_THE_MOMENT})
        path.write_text(text, encoding="utf-8")
        path.rename(path.with_name(path.name.replace(stamp, STAMP)))


# The command


def main() -> int:
    """Name what differs from what was kept, or keep what is made now."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("revision", nargs="?", help="show what differs from this revision's")
    parser.add_argument("--write", action="store_true", help=f"write {KEPT.name} anew")
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Threads of the store may still write into its cache.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (work := Path(folder) / "work").mkdir()
        with mock.patch.dict(os.environ, {"XLING_CACHE": str(Path(folder) / "cache")}):
            made = texts(work)
        if options.dump:
            options.dump.write_text(json.dumps(made), encoding="utf-8")
            return 0
        changed = differing(made) if KEPT.exists() else sorted(made)
        if options.revision:
            before = _of_revision(options.revision, Path(folder) / "before")
            changed = [name for name in made | before if made.get(name) != before.get(name)]
            sys.stdout.writelines(
                line for name in changed for line in _lines(name, before, made)
            )  # fmt: skip
    if options.write:
        KEPT.write_text(digests(made), encoding="utf-8")
    print(f"{len(changed)} of {len(made)} files differ", *changed, sep="\n  ")
    return 0


def _of_revision(revision: str, folder: Path) -> dict[str, str]:
    """What the product of another revision writes, made by this module beside it."""
    folder.mkdir()
    from builders import PACKAGES

    archive = subprocess.run(
        ["git", "archive", revision, *PACKAGES], cwd=TESTS.parent, check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    for name, package in PACKAGES.items():
        (folder / name).rename(folder / package)
    shutil.copytree(TESTS, folder / "tests")
    paths = {"PYTHONPATH": f"{folder}:{folder / 'tests'}"}
    command = [sys.executable, "-m", "tests.kept_reports", "--dump", str(folder / "made")]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, **paths})
    found: dict[str, str] = json.loads((folder / "made").read_text(encoding="utf-8"))
    return found


def _lines(name: str, before: dict[str, str], made: dict[str, str]) -> Iterator[str]:
    sides = (side.get(name, "").splitlines(keepends=True) for side in (before, made))
    for line in difflib.unified_diff(*sides, f"before/{name}", f"now/{name}", n=0):
        yield line[:400].rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    sys.exit(main())
