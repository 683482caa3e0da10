"""`python -m tests.faults [journal] [kills]`: the table 'what it survives' of docs/large-runs.md."""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
print("| what | outcome |\n|---|---|")
for name in sys.argv[1:] or ["journal", "kills"]:
    for what, outcome in importlib.import_module(f"tests.faults.{name}").table():
        print(f"| {what} | {outcome} |", flush=True)
