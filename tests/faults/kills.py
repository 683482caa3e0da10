"""What model, judge and translator pay twice when they are killed: replies that had come, and others.

A run is killed at random points and started again until it comes to its end. The server notes when
it sent which reply. One that was under way at a kill was paid for and is lost, whatever a client
does; one that had been sent some milliseconds before must be on the disk.
"""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import services
from .journal import child

CALLS = int(os.environ.get("XLING_CALLS", "600"))
KILLS = int(os.environ.get("XLING_KILLS", "20"))
ARRIVED = float(os.environ.get("XLING_ARRIVED", "0.1"))
"""Seconds after which a reply that was sent has come, also on a busy machine."""


def killed(role: str, kills: int = KILLS, seed: int = 0) -> Counter[str]:
    """Kill a role's calls at random points.

    Returns:
        Kills, runs that came to an end, unscored and wrong replies, and replies that were paid for
        twice: of those that had come, and of those that were under way.
    """
    services.CALLS = CALLS
    draw, counts = random.Random(seed), Counter[str]()
    while counts["kills"] < kills:
        with tempfile.TemporaryDirectory() as folder, services.service([], 0.0) as url:
            os.environ["XLING_CACHE"] = folder
            ends: list[float] = []
            while not _run(role, url, folder, draw.randrange(CALLS // 4, CALLS)):
                ends.append(time.monotonic())
            found = json.loads(Path(folder, "found").read_text())
            counts.update(kills=len(ends), ends=1, unscored=found[0], wrong=found[1])
            counts.update(_twice(services.told(url, "sent"), ends))
    return counts


def _run(role: str, url: str, folder: str, replies: int) -> bool:
    """One start; False if it was killed, after so many more replies of the server."""

    def work() -> None:
        found = services.ROLES[role](url)
        with open(f"{folder}/found.part", "w") as file:
            json.dump(found, file)
        os.rename(f"{folder}/found.part", f"{folder}/found")

    until = _replies(url) + replies
    pid = child(work)
    while _replies(url) < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, (role, status)
            return True
        time.sleep(0.003)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def _replies(url: str) -> int:
    return int(services.told(url)["replies"])


def _twice(sent: list[list[Any]], ends: list[float]) -> Iterator[str]:
    """What each reply that was paid for once more had been at the kill before."""
    times: dict[str, list[float]] = defaultdict(list)
    for prompt, at in sent:
        times[prompt].append(at)
    times.pop(services.GREETING, None)
    for found in times.values():
        for at in sorted(found)[:-1]:
            # The next run needs longer to begin than the server to answer nobody any more.
            nobody = any(end - ARRIVED <= at <= end + 4 * services.LATENCY for end in ends)
            yield "under way" if nobody else "come"


def table() -> Iterator[tuple[str, str]]:
    """A line for each role."""
    import aiohttp  # noqa: F401  (so that every fork has what is slow to import)
    import langid  # noqa: F401
    import lm_eval.models  # noqa: F401

    from xling_tasks.models.translate import translator  # noqa: F401

    for role in services.ROLES:
        found = killed(role)
        yield (
            f"{role}, {found['kills']} SIGKILLs in {found['ends']} runs of {CALLS} calls, "
            f"{services.CONCURRENT} at a time",
            f"{found['come']} replies that had come paid twice, {found['under way']} that were "
            f"under way; {found['unscored']} unscored, {found['wrong']} wrong",
        )
