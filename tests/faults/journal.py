"""What kept responses survive: kills at random points.

Every start is a fork of one process that has imported everything, so that fifty of them take
minutes, and what they share is the disk alone, as separate commands do.
"""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..builders import leave_the_machine_unasked, our_tasks

TASKS = [
    "xlinghealth_verifiability_demo_es",
    "xlinghealth_verifiability_ll_demo_hi",
    "xlinghealth_consistency_demo_en",
    "xlinghealth_correctness_demo_zh",
]
SETTINGS = {"k": 5, "topic_seeds": 1, "encoder": False, "source_encoder": False}
PAUSE = 0.005


def register() -> None:
    """A model of 5 ms an answer that notes each answer after it was handed over."""
    import lm_eval.models  # noqa: F401
    from lm_eval.api import registry

    from xling_tasks.lm.baseline import BaselineLM

    class Slow(BaselineLM):
        def __init__(self, notes: str = "", pause: float = PAUSE, **others: Any) -> None:
            super().__init__()
            self.notes, self.pause = notes, float(pause)

        def set_cache_hook(self, hook: Any) -> None:
            def add_partial(kind: str, request: Any, answer: Any) -> None:
                time.sleep(self.pause * float(os.environ.get("XLING_PAUSES", "1")))
                hook.add_partial(kind, request, answer)
                if self.notes:
                    with open(self.notes, "a", encoding="utf-8") as file:
                        file.write(json.dumps([kind, *request], sort_keys=True) + "\n")

            super().set_cache_hook(SimpleNamespace(add_partial=add_partial))

    leave_the_machine_unasked()
    if "xling_slow" not in registry.model_registry:
        registry.model_registry.register("xling_slow", target=Slow)


def evaluate(out: Path, limit: int, **args: Any) -> None:
    """The demo as a command runs it; its table goes to `out`, at the very end."""
    import lm_eval

    results = lm_eval.simple_evaluate(
        model="xling_slow", model_args=args, tasks=TASKS, limit=limit, bootstrap_iters=0,
        task_manager=our_tasks({**SETTINGS, **args}),
    )  # fmt: skip
    unfinished = out.with_suffix(".part")
    unfinished.write_text(
        json.dumps([results["results"], results["samples"]], sort_keys=True, default=str)
    )
    unfinished.rename(out)


def child(work: Callable[[], None]) -> int:
    """Run in a fork, which ends as a command does: with what is registered for the exit."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        work()
        from xling_tasks.lm.resumable import clear_finished

        clear_finished()
        code = 0
    finally:
        os._exit(code)


def start(folder: Path, cache: Path, limit: int, seconds: float | None) -> bool:
    """One start of the command; False if it was killed after some seconds.

    One that was killed when its table was there had come to its end: nobody starts it again.
    """
    os.environ["XLING_CACHE"] = str(cache)
    pid = child(lambda: evaluate(folder / "table.json", limit, notes=str(folder / "asked")))
    if seconds is not None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                assert status == 0, status
                return True
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if seconds is None:
        assert status == 0, status
    return (folder / "table.json").exists()


def kills(number: int, limit: int = 3, seed: int = 0) -> dict[str, Any]:
    """Kill the demo at random points until it was killed `number` times.

    Returns:
        Kills, runs that came to an end, tables that differ from the uninterrupted one, answers
        asked for again although they had been kept, and answers that no start asked for.
    """
    register()
    from xling_tasks.lm.resumable import clear_finished

    draw = random.Random(seed)
    counts = dict.fromkeys(("kills", "ends", "other_tables", "doubled", "lost"), 0)
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        (base / "whole").mkdir()
        # In this process, so that every fork has all modules, and the code that was there first.
        os.environ["XLING_CACHE"] = str(base / "cache0")
        for name in ("warm", "whole"):
            (base / name).mkdir(exist_ok=True)
            began = time.monotonic()
            evaluate(base / name / "table.json", limit, notes=str(base / name / "asked"))
            took = time.monotonic() - began
        clear_finished()
        table = (base / "whole" / "table.json").read_text()
        wanted = Counter((base / "whole" / "asked").read_text().splitlines())
        while counts["kills"] < number:
            folder, cache = base / f"run{counts['ends']}", base / f"cache{counts['ends'] + 1}"
            folder.mkdir()
            while counts["kills"] < number:
                if start(folder, cache, limit, draw.uniform(0.05, 0.7) * took):
                    break
                counts["kills"] += 1
            else:
                start(folder, cache, limit, None)
            counts["ends"] += 1
            counts["other_tables"] += (folder / "table.json").read_text() != table
            asked = Counter((folder / "asked").read_text().splitlines())
            counts["doubled"] += sum((asked - wanted).values())
            # One answer per kill may have been kept, and its note not written.
            counts["lost"] += max(0, sum((wanted - asked).values()) - counts["kills"])
    return counts


def table() -> Iterator[tuple[str, str]]:
    """The row of the demo in the table 'what it survives'."""
    counts = kills(50)
    yield (
        f"{counts['kills']} SIGKILLs at random points of the demo ({counts['ends']} runs)",
        f"{counts['other_tables']} final tables differ from the uninterrupted run's; "
        f"{counts['lost']} answers lost, {counts['doubled']} asked for twice",
    )
