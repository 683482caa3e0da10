"""Commands that are killed or stopped; `python -m tests.faults` does the same fifty times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forks")]

SCRIPT = """
import signal, sys
# A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from tests import builders
from tests.faults import journal
exec(builders.UNASKED)
journal.register()
journal.TASKS = journal.TASKS[:2]  # those that import and load the least
import lm_eval.tasks
from pathlib import Path
journal.evaluate(Path(sys.argv[2]), 3, pause=0.02, notes=sys.argv[3])
"""


def test_killed_at_random_points(tmp_path):
    """In a process of its own, since forks of this one would share its threads' locks."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.faults import journal;"
        "from tests import builders; exec(builders.UNASKED);"
        "print(journal.kills(2, limit=2, seed=1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], cwd=tmp_path, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    counts = eval(done.stdout.strip().splitlines()[-1])
    assert counts.pop("kills") == 2 and counts.pop("ends") >= 1
    assert counts == {"other_tables": 0, "doubled": 0, "lost": 0}


def waited(pid: int) -> float:
    """Seconds that a process wanted a processor which others had; 0 where no system tells."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def stopped_by_hand(command: list[str], notes: Path) -> tuple[float, str, int]:
    """Interrupt the command three answers on.

    Returns:
        Seconds until it ended, what it said, and its status. Left out are seconds in which it
        waited for a processor that others kept busy: beside twelve busy processes the 0.7 s in
        which the interpreter takes itself apart are ten to twenty.
    """
    said = notes.with_name("said")
    with said.open("w") as stderr:
        slow = {**os.environ, "XLING_PAUSES": "40"}
        run = subprocess.Popen(command, cwd=notes.parent, stderr=stderr, env=slow)
    try:
        end = time.monotonic() + 300
        while not (notes.exists() and len(notes.read_text().splitlines()) >= 3):
            assert time.monotonic() < end and run.poll() is None
            time.sleep(0.02)
        began = time.monotonic()
        before = lost = waited(run.pid)
        run.send_signal(signal.SIGINT)
        while run.poll() is None:
            assert time.monotonic() < began + 300
            lost = waited(run.pid) or lost
            time.sleep(0.01)
        seconds = time.monotonic() - began - (lost - before)
        return seconds, said.read_text(), run.returncode
    finally:
        run.kill()


def test_stopped_by_hand(tmp_path):
    notes = tmp_path / "notes"
    command = [sys.executable, "-c", SCRIPT, str(ROOT), str(tmp_path / "table.json"), str(notes)]
    seconds, said, status = stopped_by_hand(command, notes)
    # The 57 answers that are left would take 45 s in pauses alone.
    assert seconds < 30, (seconds, status, said)
    (line,) = [line for line in said.splitlines() if line.startswith("stopped: ")]
    assert "answers are kept in" in line and "same command" in line
    assert status == -signal.SIGINT
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "resuming: " in done.stderr
    asked = notes.read_text().splitlines()
    # What is sampled may be drawn again; nothing else was asked twice.
    greedy = [line for line in asked if '"do_sample": true' not in line]
    assert len(greedy) == len(set(greedy))
