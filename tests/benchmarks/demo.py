"""In whose code README's first command spends its seconds of the processor.

    python tests/benchmarks/demo.py

runs it in this process and prints the seconds of our packages, of lm_eval and of the rest: a sample
every 5 ms counts for the innermost of these on the stack, so that what either imports or calls
(numba and jieba here, torch and YAML there) is its own. Four runs differ by two points.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import time
from collections import Counter
from types import FrameType

import common

OURS = {"xling_tasks", "xling_metrics", "xling_task_yaml"}


def main() -> None:
    """Run the command in this process; print the seconds of each owner, and their share."""
    seconds: Counter[str] = Counter()
    since = time.process_time()

    def sample(number: int, frame: FrameType | None) -> None:
        nonlocal since
        owner = ""
        while frame is not None and not owner:
            package = str(frame.f_globals.get("__name__")).partition(".")[0]
            owner = "ours" if package in OURS else "lm_eval" * (package == "lm_eval")
            frame = frame.f_back
        seconds[owner or "others"] += time.process_time() - since
        since = time.process_time()

    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
    from lm_eval.__main__ import cli_evaluate

    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(sys.stderr):
        words = ["--model", "xling_baseline", "--tasks", "xlinghealth_demo", "--log_samples"]
        sys.argv = ["lm_eval", *words, "--output_path", out]
        cli_evaluate()
    signal.setitimer(signal.ITIMER_PROF, 0)
    common.show("code", "s of the processor", "share", head=True)
    for owner in ("ours", "lm_eval", "others"):
        common.show(owner, f"{seconds[owner]:.2f}", f"{seconds[owner] / seconds.total():.1%}")


if __name__ == "__main__":
    main()
