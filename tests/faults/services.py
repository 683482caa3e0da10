"""What calls to services survive: every fault at 10%, and all of them mixed at 20%."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from xling_tasks.failed_response import is_failed

from .server import GREETING, KINDS, answer, translation

__all__ = ["GREETING", "ROLES", "service", "table"]

CALLS = int(os.environ.get("XLING_CALLS", "2000"))
LATENCY = 0.05
CONCURRENT = 32


def word(number: int) -> str:
    """A number in letters: prompts differ by more than that."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


class Found(NamedTuple):
    """How many of the calls brought nothing, and how many something wrong."""

    unscored: int
    wrong: int

    @classmethod
    def of(cls, replies: Sequence[str | None], right: Iterable[str]) -> Found:
        """What came, beside what should have come."""
        missing = [reply is None or is_failed(reply) for reply in replies]
        each = zip(replies, right, missing, strict=True)
        return cls(sum(missing), sum(reply != wanted and not lost for reply, wanted, lost in each))


@contextmanager
def service(kinds: list[str], share: float, latency: float | None = None) -> Iterator[str]:
    """The server in a process of its own; gives its address."""
    waits = {"latency": LATENCY if latency is None else latency, "hang": 3.0}
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder, "port")
        words = [sys.executable, str(Path(__file__).with_name("server.py")), str(port)]
        options = json.dumps({"kinds": kinds, "share": share, **waits})
        process = subprocess.Popen([*words, options])
        try:
            while not port.exists():
                assert process.poll() is None, "the server did not start"
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port.read_text()}"
        finally:
            process.kill()
            process.wait()


def chat(url: str) -> str:
    """Where the server takes chats."""
    return f"{url}/v1/chat/completions"


def told(url: str, what: str = "stats") -> Any:
    """What the server did so far."""
    return json.load(urllib.request.urlopen(f"{url}/{what}"))


def setting(url: str) -> dict[str, Any]:
    args = {"model": "m", "base_url": chat(url), "num_concurrent": CONCURRENT, "timeout": 2}
    return {"model": "local-chat-completions", "model_args": args}


def judge(url: str) -> Found:
    from xling_tasks.models.backend import Backend
    from xling_tasks.models.model_config import ModelConfig

    prompts = [f"case {word(i)}" for i in range(CALLS)]
    replies = Backend("judge", ModelConfig.parse("judge", setting(url))).generate(prompts)
    return Found.of(replies, map(answer, prompts))


def translator(url: str) -> Found:
    from xling_tasks.models.translate.translator import load_translator as make
    from xling_tasks.models.translate.translator import parse_translator

    spec = parse_translator("translator", setting(url))
    assert spec is not None
    texts = [f"Tome la pastilla número {word(i)} con un vaso de agua." for i in range(CALLS)]
    return Found.of(make(spec).translate(texts, "es"), map(translation, texts))


def model(url: str) -> Found:
    """The model under test, whose responses are kept until the run is over."""
    from lm_eval.api.instance import Instance
    from lm_eval.api.registry import get_model

    from xling_tasks.harness.run import RunContext
    from xling_tasks.lm.resumable import ResumableLM
    from xling_tasks.settings import Settings

    args = setting(url)["model_args"]
    lm = get_model("local-chat-completions")(**args)
    prompts = [f"question {word(i)}" for i in range(CALLS)]
    requests = [
        Instance("generate_until", {"prompt": prompt},
                 (lm.apply_chat_template([{"role": "user", "content": prompt}]),
                  {"seed": i, "until": ["x"]}), 0, ("t", i, 1))
        for i, prompt in enumerate(prompts)
    ]  # fmt: skip
    tasks = {"t": SimpleNamespace(settings=Settings.parse({}, {}))}
    replies = ResumableLM(RunContext(lm, args), tasks).generate_until(requests)
    return Found.of(replies, map(answer, prompts))


ROLES: dict[str, Callable[[str], Found]] = {
    "judge": judge,
    "translator": translator,
    "model": model,
}


def table() -> Iterator[tuple[str, str]]:
    """One line per role and fault."""
    logging.disable(logging.CRITICAL)
    with open(os.devnull, "w") as nowhere:
        kept, sys.stderr = sys.stderr, nowhere
        try:
            for role, ask in ROLES.items():
                for kinds, share in [([], 0.0), *(([k], 0.1) for k in KINDS), (list(KINDS), 0.2)]:
                    yield _line(role, ask, kinds, share)
        finally:
            sys.stderr = kept
            logging.disable(logging.NOTSET)


def _line(
    role: str, ask: Callable[[str], Found], kinds: list[str], share: float
) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder, service(kinds, share) as url:
        os.environ["XLING_CACHE"] = folder
        began = time.monotonic()
        outcome = ask(url)
        took = time.monotonic() - began
        stats = told(url)
    faults = sum(stats["faults"].values())
    name = "no fault" if not kinds else f"{share:.0%} " + (kinds[0] if len(kinds) == 1 else "mixed")
    paid = stats["replies"] - CALLS + outcome.unscored
    return (
        f"{role}, {CALLS:,} calls, {name}",
        f"{faults} faults; {outcome.unscored} unscored, {outcome.wrong} wrong, {max(0, paid)} paid "
        f"replies lost; {took:.1f} s",
    )
