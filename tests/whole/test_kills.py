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


def test_stopped_by_hand(tmp_path):
    notes, stderr = tmp_path / "notes", tmp_path / "stderr"
    command = [sys.executable, "-c", SCRIPT, str(ROOT), str(tmp_path / "table.json"), str(notes)]
    slow = {**os.environ, "XLING_PAUSES": "40"}  # the 57 answers that are left would take 45 s
    with stderr.open("w") as file:
        run = subprocess.Popen(command, cwd=tmp_path, stderr=file, env=slow)
    try:
        end = time.monotonic() + 300
        while not (notes.exists() and len(notes.read_text().splitlines()) >= 3):
            assert time.monotonic() < end and run.poll() is None
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=300) == -signal.SIGINT
    finally:
        run.kill()
    lines = stderr.read_text().splitlines()
    assert not any(line.startswith("Traceback") for line in lines)
    (line,) = [line for line in lines if line.startswith("stopped: ")]
    assert "answers are kept in" in line and "same command" in line
    assert len(notes.read_text().splitlines()) < 40
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "resuming: " in done.stderr
    # What is sampled may be drawn again; nothing else was asked twice.
    greedy = [line for line in notes.read_text().splitlines() if '"do_sample": true' not in line]
    assert len(greedy) == len(set(greedy))
