"""`python -m tests.faults [PART ...]`: the table 'what it survives' of docs/large-runs.md.

A part is a module here with `table() -> list[(what, outcome)]`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

PARTS = ["journal", "kills"]


def main(parts: list[str]) -> None:
    print("| what | outcome |\n|---|---|")
    for name in parts or PARTS:
        for what, outcome in importlib.import_module(f"tests.faults.{name}").table():
            print(f"| {what} | {outcome} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1:])
