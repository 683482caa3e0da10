"""What the journal survives: kills at random points, its own cost, very many answers.

Every start is a fork of one process that has imported everything, so that fifty of them take
minutes, and what they share is the disk alone, as separate commands do.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..builders import leave_the_machine_unasked, our_tasks, with_bars_of_its_own

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

        def _one_by_one(self, ask: Callable[..., Any], requests: Any) -> Any:
            hook = self.cache_hook

            def add_partial(kind: str, request: Any, answer: Any) -> None:
                time.sleep(self.pause * float(os.environ.get("XLING_PAUSES", "1")))
                hook.add_partial(kind, request, answer)
                if self.notes:
                    with open(self.notes, "a", encoding="utf-8") as file:
                        file.write(json.dumps([kind, *request], sort_keys=True) + "\n")

            self.cache_hook = SimpleNamespace(add_partial=add_partial)
            try:
                return ask(requests, True)
            finally:
                self.cache_hook = hook

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> Any:
            return self._one_by_one(super().generate_until, requests)

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            return self._one_by_one(super().loglikelihood, requests)

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
        with_bars_of_its_own()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        work()
        from xling_tasks.lm import journaled

        journaled.end()
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
    from xling_tasks.lm import journaled

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
        journaled.end()
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


def overhead() -> dict[str, float]:
    """The journal's processor time an answer, in ms, and its share of a model of 5 ms an answer.

    Processor time, since on a busy machine the clock on the wall tells of the others.
    """
    register()
    from lm_eval.api.instance import Instance
    from lm_eval.api.registry import get_model

    from xling_tasks.lm import journaled

    number, best = 2000, {"without": 1e9, "with": 1e9}
    words = "What helps against a cold, and when should I see a doctor? " * 8
    for kind in ("without", "with") * 5:
        with tempfile.TemporaryDirectory() as name:
            lm = get_model("xling_slow")(pause=0)
            lm._reply = lambda *_: "Rest, drink, and wait for a week. " * 20
            requests = [
                Instance("generate_until", {"question_id": i}, (f"{words}{i}", {"i": i}), 0, ("t", i, 1))
                for i in range(number)
            ]  # fmt: skip
            began = time.process_time()
            if kind == "with":
                journaled.watch("t", lm, requests, Path(name), None)
            lm.generate_until(requests)
            best[kind] = min(best[kind], time.process_time() - began)
            journaled.scored("t")
            journaled.end()
    each = (best["with"] - best["without"]) / number
    return {"ms": 1000 * each, "share": each / PAUSE}


def many(number: int = 100_000) -> dict[str, float]:
    """Peak memory of very many answers with and without a journal, and read again; in MB."""
    with tempfile.TemporaryDirectory() as name:
        peaks = {}
        for kind in ("without", "with", "read again"):
            out = Path(name) / "peak"
            pid = child(lambda kind=kind, out=out: _many(kind, number, Path(name), out))
            _, status = os.waitpid(pid, 0)
            assert status == 0, (kind, status)
            peaks[kind] = float(out.read_text())
        return peaks


def _many(kind: str, number: int, folder: Path, out: Path) -> None:
    from lm_eval.api.instance import Instance
    from lm_eval.api.model import LM

    from xling_tasks.lm import journaled

    class Fast(LM):  # type: ignore[misc]
        loglikelihood = loglikelihood_rolling = None

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> Any:
            assert kind != "read again" or not requests
            replies = []
            for request in requests:
                replies.append(f"{request.doc_id} " + "rest and drink " * 40)
                self.cache_hook.add_partial("generate_until", request.args, replies[-1])
            return replies

    arguments = {"temperature": 1.0}
    requests = [
        Instance("generate_until", {"question_id": i}, (f"question {i}", arguments), 0, ("t", i, 1))
        for i in range(number)
    ]
    lm = Fast()
    if kind != "without":
        import xling_tasks.lm.journaled as journal

        journal.class_name = lambda *_: "m"
        journal.os = type("o", (), {"getpid": staticmethod(lambda: 0)})
        journal.id = lambda *_: 0
        journaled.watch("t", lm, requests, folder, None)
    replies = lm.generate_until(requests)
    assert len(replies) == number
    out.write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
    if kind == "with":
        journaled._current.let_go()
        os._exit(0)


def table() -> list[tuple[str, str]]:
    """Rows of the table 'what it survives'."""
    killed = kills(50)
    cost, memory = overhead(), many()
    return [
        (
            f"{killed['kills']} SIGKILLs at random points of the demo ({killed['ends']} runs)",
            f"{killed['other_tables']} final tables differ from the uninterrupted run's; "
            f"{killed['lost']} answers lost, {killed['doubled']} asked for twice",
        ),
        (
            "the journal's cost, a model of 5 ms an answer",
            f"{100 * cost['share']:.1f}% ({cost['ms']:.3f} ms of processor time an answer)",
        ),
        (
            "100,000 answers of 600 characters",
            f"peak memory {memory['without']:.0f} MB without a journal, {memory['with']:.0f} MB "
            f"with, {memory['read again']:.0f} MB when read again",
        ),
    ]
