"""Plain faults, put into the product one by one: does the suite notice each?

    python -m tests.tools.mutate             all of them (half an hour)
    python -m tests.tools.mutate NUMBER ...  some
    python -m tests.tools.mutate --check     only whether each still has its line

Each row of `cases/mutations.yaml` is a fault that a programmer makes: a file, a text that occurs in it
once, what stands there instead, and the tests of its room. The checkout must be clean; files are put
back after each.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).parents[1] / "cases" / "mutations.yaml"
LIMIT = 900  # seconds for one fault; one that never ends is noticed


def read_faults() -> list[dict[str, Any]]:
    """Return the rows, whose old texts must occur once."""
    rows: list[dict[str, Any]] = yaml.safe_load(FAULTS.read_text(encoding="utf-8"))
    for number, row in enumerate(rows, 1):
        count = (ROOT / row["file"]).read_text(encoding="utf-8").count(row["old"])
        if count != 1:
            raise SystemExit(f"fault {number}: {row['file']} has its text {count} times")
    return rows


def is_noticed(row: dict[str, Any]) -> bool:
    """Return whether a test of the fault's room fails with it."""
    path = ROOT / row["file"]
    text = path.read_text(encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    try:
        path.write_text(text.replace(row["old"], row["new"]), encoding="utf-8")
        run = subprocess.run(
            [*words, *row["tests"].split()], cwd=ROOT, capture_output=True, timeout=LIMIT
        )
        return run.returncode == 1
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text, encoding="utf-8")


def main(words: list[str]) -> int:
    """Print a line for each fault; the exit status is 1 if more than three are unnoticed."""
    rows = read_faults()
    if words == ["--check"]:
        return 0
    wanted = {int(word) for word in words} or {*range(1, len(rows) + 1)}
    unnoticed = 0
    for number, row in enumerate(rows, 1):
        if number in wanted:
            noticed = is_noticed(row)
            unnoticed += not noticed
            sign = "noticed" if noticed else "UNNOTICED"
            print(f"{number:2} {sign} {row['file']}: {row['old']!r} -> {row['new']!r}", flush=True)
    print(f"{len(wanted) - unnoticed} of {len(wanted)} noticed")
    return int(unnoticed > 3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
