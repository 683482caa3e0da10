"""What model, judge and translator lose and pay twice when they are killed beside a failing service.

A run is killed at random points and started again until it comes to its end. The server notes when
it sent which reply. One that was under way at a kill was paid for and is lost, whatever a client
does; one that had been sent some milliseconds before must be on the disk.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from xling_tasks.failed_response import is_failed

from .journal import child
from .server import GREETING, answer

CALLS = int(os.environ.get("XLING_CALLS", "600"))
KILLS = int(os.environ.get("XLING_KILLS", "20"))
RATE = float(os.environ.get("XLING_RATE", "0.1"))
"""Of requests that fail."""
ARRIVED = float(os.environ.get("XLING_ARRIVED", "0.1"))
"""Seconds after which a reply that was sent has come, also on a busy machine."""
CONCURRENT = 32


@contextmanager
def service(rate: float) -> Iterator[str]:
    """The server in a process of its own; gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder, "port")
        program = str(Path(__file__).with_name("server.py"))
        process = subprocess.Popen([sys.executable, program, str(port), str(rate)])
        try:
            while not port.exists():
                assert process.poll() is None, "the server did not start"
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port.read_text()}"
        finally:
            process.kill()
            process.wait()


def sent(url: str) -> list[list[Any]]:
    """The prompts of whole replies, and when they were sent."""
    return list(json.load(urllib.request.urlopen(f"{url}/sent")))


def setting(url: str) -> dict[str, Any]:
    args = {"model": "m", "base_url": f"{url}/v1/chat/completions", "num_concurrent": CONCURRENT}
    return {"model": "local-chat-completions", "model_args": args}


def count(replies: Sequence[str | None], prompts: Iterable[str]) -> list[int]:
    """How many replies are missing, and how many are not what the server says."""
    missing = [reply is None or is_failed(reply) for reply in replies]
    pairs = zip(replies, map(answer, prompts), missing, strict=True)
    return [sum(missing), sum(reply != expected and not lost for reply, expected, lost in pairs)]


def prompts(text: str) -> list[str]:
    """Prompts that differ by a number in letters."""
    return [text + "".join(chr(97 + int(digit)) for digit in str(i)) for i in range(CALLS)]


def judge(url: str) -> list[int]:
    from xling_tasks.models.backend import Backend
    from xling_tasks.models.model_config import ModelConfig

    cases = prompts("case ")
    return count(Backend("judge", ModelConfig.parse("judge", setting(url))).generate(cases), cases)


def translator(url: str) -> list[int]:
    from xling_tasks.models.translate.translator import load_translator, parse_translator

    spec = parse_translator("translator", setting(url))
    assert spec is not None
    texts = [f"{text} con un vaso de agua." for text in prompts("Tome la pastilla número ")]
    return count(load_translator(spec).translate(texts, "es"), texts)


def model(url: str) -> list[int]:
    """The model under test, whose responses are kept until the run is over."""
    from lm_eval.api.instance import Instance
    from lm_eval.api.registry import get_model

    from xling_tasks.harness.run import RunContext
    from xling_tasks.lm.resumable import ResumableLM
    from xling_tasks.settings import Settings

    args = setting(url)["model_args"]
    lm = get_model("local-chat-completions")(**args)
    questions = prompts("question ")
    requests = [
        Instance("generate_until", {"prompt": prompt},
                 (lm.apply_chat_template([{"role": "user", "content": prompt}]),
                  {"seed": i, "until": ["x"]}), 0, ("t", i, 1))
        for i, prompt in enumerate(questions)
    ]  # fmt: skip
    tasks = {"t": SimpleNamespace(settings=Settings.parse({}, {}))}
    return count(ResumableLM(RunContext(lm, args), tasks).generate_until(requests), questions)


ROLES: dict[str, Callable[[str], list[int]]] = {
    "judge": judge, "translator": translator, "model": model,
}  # fmt: skip


def killed(role: str, kills: int = KILLS, seed: int = 0) -> Counter[str]:
    """Kill a role's calls at random points.

    Returns:
        Kills, runs that came to an end, unscored and wrong replies, and replies that were paid for
        twice: of those that had come, and of those that were under way.
    """
    draw, counts = random.Random(seed), Counter[str]()
    while counts["kills"] < kills:
        with tempfile.TemporaryDirectory() as folder, service(RATE) as url:
            os.environ["XLING_CACHE"] = folder
            ends: list[float] = []
            while not _run(role, url, folder, draw.randrange(CALLS // 4, CALLS)):
                ends.append(time.monotonic())
            unscored, wrong = json.loads(Path(folder, "found").read_text())
            counts.update(kills=len(ends), ends=1, unscored=unscored, wrong=wrong)
            counts.update(_twice(sent(url), ends))
    return counts


def _run(role: str, url: str, folder: str, replies: int) -> bool:
    """One start; False if it was killed, after so many more replies of the server."""

    def work() -> None:
        Path(folder, "found").write_text(json.dumps(ROLES[role](url)))

    until = len(sent(url)) + replies
    pid = child(work)
    while len(sent(url)) < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, (role, status)
            return True
        time.sleep(0.003)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def _twice(replies: list[list[Any]], ends: list[float]) -> Iterator[str]:
    """What each reply that was paid for once more had been at the kill before."""
    times: dict[str, list[float]] = defaultdict(list)
    for prompt, at in replies:
        times[prompt].append(at)
    times.pop(GREETING, None)
    for found in times.values():
        for at in sorted(found)[:-1]:
            # The next run needs longer to begin than the server to answer nobody any more.
            nobody = any(end - ARRIVED <= at <= end + 0.2 for end in ends)
            yield "under way" if nobody else "come"


def table() -> Iterator[tuple[str, str]]:
    """A line for each role."""
    import aiohttp  # noqa: F401  (so that every fork has what is slow to import)
    import langid  # noqa: F401
    import lm_eval.models  # noqa: F401

    from xling_tasks.models.translate import translator  # noqa: F401

    for role in ROLES:
        found = killed(role)
        yield (
            f"{role}, {found['kills']} SIGKILLs in {found['ends']} runs of {CALLS} calls, "
            f"{CONCURRENT} at a time, {RATE:.0%} of which fail",
            f"{found['come']} replies that had come paid twice, {found['under way']} that were "
            f"under way; {found['unscored']} unscored, {found['wrong']} wrong",
        )
