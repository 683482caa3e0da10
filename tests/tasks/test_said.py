"""What a run says: a line per task, where answers are, what to do next."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import builders
import pytest

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.tasks.said import what_is_next

V = "xlinghealth_verifiability_demo_"


def command(cwd, *words):
    # The name under which the process runs is the command's.
    code = f"import sys; sys.argv[0] = '/bin/lm_eval'\n{builders.COMMAND}"
    start = [sys.executable, "-c", code, "--model", "xling_baseline", "--limit", "2"]
    return subprocess.run([*start, *words], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_a_command_ends_with_what_to_do_next(tmp_path):
    done = command(tmp_path, "--tasks", V + "*", "--output_path", "my out", "--log_samples")
    assert done.returncode == 0, done.stderr
    n_tasks = len(DATASETS["demo"].languages)
    assert done.stdout.rstrip().splitlines()[-1] == "Next: xling report 'my out'"
    assert done.stderr.count("2 questions scored in") == n_tasks


@pytest.mark.parametrize(
    ("samples", "predict_only", "said"),
    [
        (True, False, "Next: xling report out"),
        (False, False, "Next: run it with --log_samples too, then `xling report out` works."),
        (True, True, "Next: score the answers with --model xling_replay --model_args path=out and "
         "the same --tasks, without --predict_only."),
    ],
)  # fmt: skip
def test_what_is_next(tmp_path, monkeypatch, samples, predict_only, said):
    monkeypatch.chdir(tmp_path)
    now = time.time()
    run = ("out", samples, predict_only, now)
    assert what_is_next(*run) is None  # nothing was written
    file = tmp_path / "out" / "model" / "results_2026.json"
    file.parent.mkdir(parents=True)
    file.touch()
    os.utime(file, (now + 5, now + 5))
    assert what_is_next(*run) == said
    os.utime(file, (now - 60, now - 60))
    assert what_is_next(*run) is None  # an earlier run's
    assert "--output_path out --log_samples" in what_is_next(None, False, False, now)
