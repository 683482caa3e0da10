"""A chat-completions server that injects faults, in a process of its own.

    python -m tests.faults.server PORT_FILE RATE

RATE of the requests fail, each in one of the ways that services do; which ones is drawn by prompt and
attempt, so that a run can be repeated. `/sent` tells which whole replies were sent, and when.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import web

GREETING = "Reply with the word: ready"
_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def answer(prompt: str) -> str:
    """What the server says to a prompt when it works: each prompt has its own."""
    if number := re.search(r"la pastilla número (\w+)", prompt):
        return f"Take pill number {number[1]} with a glass of water."
    digest = hashlib.sha256(prompt.encode()).hexdigest()[:12]
    return f"The answer {digest.translate(_LETTERS)}."


def completion(text: str | None, finish: str = "stop", **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **fields}]}


FAULTS: dict[str, Any] = {
    "429": lambda text: web.Response(status=429, headers={"Retry-After": "0.1"}),
    "500": lambda text: web.Response(status=500, text="Internal Server Error"),
    "bad JSON": lambda text: web.Response(text='{"choices": ['),
    "empty body": lambda text: web.Response(),
    "no choices": lambda text: web.json_response({"choices": []}),
    "no completion": lambda text: web.json_response({"code": 1302, "msg": "too many"}),
    "null content": lambda text: web.json_response(completion(None)),
    "error": lambda text: web.json_response(completion(text[:12], error={"code": 502})),
    **{finish: lambda text, f=finish: web.json_response(completion(text[:12], f))
       for finish in ("error", "network_error", "abort")},
    "hung up": None, "half body": None,
}  # fmt: skip


class Faulty:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.attempts: Counter[str] = Counter()
        self.sent: list[tuple[str, float]] = []

    async def chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        prompt = asked["messages"][-1]["content"]
        self.attempts[prompt] += 1
        rng = random.Random(f"{prompt}/{self.attempts[prompt]}")
        # A model ends where it has no room (16 letters a token).
        text = answer(prompt)[: 16 * asked.get("max_tokens", 1000)]
        if prompt == GREETING or rng.random() >= self.rate:
            if text == answer(prompt):
                self.sent.append((prompt, time.monotonic()))
            return web.json_response(completion(text))
        kind = rng.choice(list(FAULTS))
        if FAULTS[kind] is not None:
            return FAULTS[kind](text)
        whole = json.dumps(completion(text)).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
        if kind == "half body":
            await response.prepare(request)
            await response.write(whole[: len(whole) // 2])
        if request.transport is not None:  # the client may have gone first
            request.transport.close()
        return response

    async def tell(self, request: web.Request) -> web.Response:
        return web.json_response(self.sent)


async def serve(port_file: Path, rate: float) -> None:
    faulty = Faulty(rate)
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", faulty.chat)
    app.router.add_get("/sent", faulty.tell)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port_file.with_suffix(".part").write_text(str(runner.addresses[0][1]))
    port_file.with_suffix(".part").rename(port_file)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2])))
