"""In whose code README's first command spends its seconds of the processor.

    python tests/benchmarks/demo.py

runs it in this process and prints what importing, running and collecting garbage took of our
packages, of lm_eval and of the rest. On a quiet machine four runs differ by two points.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import tempfile
import time
from collections import Counter
from types import FrameType

import common


class OwnersOfTime:
    """Seconds of the processor by owner: the innermost of our packages and lm_eval on the stack.

    What either imports or calls (numba and jieba here, torch and YAML there) is the owner's. A garbage
    collection, 0.3 s with lm_eval's index in memory, hits whoever allocates then: it is told apart.
    """

    OURS = {"xling_tasks", "xling_metrics", "xling_task_yaml"}

    def __init__(self) -> None:
        self.seconds: Counter[tuple[str, str]] = Counter()  # (owner, what it did) -> seconds
        self._since = self._started = time.process_time()
        self._collected = 0.0
        gc.callbacks.append(self._collect)
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)

    def _collect(self, phase: str, info: dict[str, int]) -> None:
        now = time.process_time()
        self._collected += now - self._started if phase == "stop" else 0.0
        self._started = now

    def _sample(self, number: int, frame: FrameType | None) -> None:
        spent, owner, imports = time.process_time() - self._since, "", False
        while frame is not None and not owner:
            package = str(frame.f_globals.get("__name__")).partition(".")[0]
            owner = "ours" if package in self.OURS else "lm_eval" * (package == "lm_eval")
            imports |= "importlib._bootstrap" in frame.f_code.co_filename or (
                bool(owner) and frame.f_code.co_name == "<module>"
            )
            frame = frame.f_back
        collected = min(spent, self._collected)
        self.seconds[owner or "others", "imports" if imports else "runs"] += spent - collected
        self.seconds[owner or "others", "collects"] += collected
        self._collected, self._since = self._collected - collected, time.process_time()


def main() -> None:
    """Run the command in this process; print the seconds of each owner, and their share."""
    time_of = OwnersOfTime().seconds
    from lm_eval.__main__ import cli_evaluate

    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(sys.stderr):
        words = ["--model", "xling_baseline", "--tasks", "xlinghealth_demo", "--log_samples"]
        sys.argv = ["lm_eval", *words, "--output_path", out]
        cli_evaluate()
        signal.setitimer(signal.ITIMER_PROF, 0)
    kinds = ("imports", "runs", "collects")
    common.show(
        "code", "s of imports", "s of running", "s of garbage collection", "share", head=True
    )
    for owner in ("ours", "lm_eval", "others"):
        seconds = [time_of[owner, kind] for kind in kinds]
        share = f"{sum(seconds) / time_of.total():.1%}"
        common.show(owner, *(f"{each:.2f}" for each in seconds), share)


if __name__ == "__main__":
    main()
