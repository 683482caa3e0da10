"""A chat-completions server that injects faults, in a process of its own.

    python -m tests.faults.server PORT_FILE '{"kinds": ["500"], "share": 0.1, "latency": 0.05}'

Which requests fail is drawn by prompt and attempt from a seed, so that a run can be repeated. At
`/stats` it tells what it did: requests, faults, whole replies by prompt, the most requests at a
time.
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

KINDS = (
    "time-out", "429", "500", "cut", "half body", "bad JSON", "no choices", "no completion",
    "empty body", "null content", "finish error", "finish network_error", "finish abort",
    "error in choice",
)  # fmt: skip

ERROR_TEXT = "Internal Server Error"
GREETING = "Reply with the word: ready"

_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def answer(prompt: str) -> str:
    """What the server says to a prompt when it works: each prompt has its own."""
    if "la pastilla" in prompt:
        return translation(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()[:12]
    return f"The answer {digest.translate(_LETTERS)}."


def translation(prompt: str) -> str:
    number = re.search(r"número (\w+)", prompt)
    return f"Take pill number {number and number[1]} with a glass of water."


class Faulty:
    def __init__(
        self, kinds: list[str], share: float = 0.0, latency: float = 0.0, hang: float = 5.0
    ) -> None:
        self.kinds, self.share, self.latency, self.hang = kinds, share, latency, hang
        self.attempts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.whole: Counter[str] = Counter()
        self.sent: list[tuple[str, float]] = []
        self.now = self.most = 0

    def draw(self, prompt: str) -> str | None:
        """The fault of this request, if it is to have one."""
        self.attempts[prompt] += 1
        rng = random.Random(f"{prompt}/{self.attempts[prompt]}")
        if not self.kinds or prompt == GREETING or rng.random() >= self.share:
            return None
        return rng.choice(self.kinds)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await self.reply(request)
        finally:
            self.now -= 1

    async def reply(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        prompt = asked["messages"][-1]["content"]
        kind = self.draw(prompt)
        await asyncio.sleep(self.latency)
        # A model ends where it has no room (16 letters a token); the words of a fault come whole.
        text = answer(prompt)[: 16 * asked.get("max_tokens", 1000)]
        choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
        body = {"choices": [choice]}
        if kind is None:
            if text == answer(prompt):
                self.whole[prompt] += 1
                self.sent.append((prompt, time.monotonic()))
            return web.json_response(body)
        self.faults[kind] += 1
        return await self.fail(kind, request, json.dumps(body))

    async def fail(self, kind: str, request: web.Request, whole: str) -> web.StreamResponse:
        if kind == "time-out":
            await asyncio.sleep(self.hang)
        if kind in ("time-out", "cut"):
            hang_up(request)
            return web.Response()
        if kind == "half body":
            response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
            await response.prepare(request)
            await response.write(whole[: len(whole) // 2].encode())
            hang_up(request)
            return response
        plain = {
            "429": lambda: web.Response(status=429, headers={"Retry-After": "1"}),
            "500": lambda: web.Response(status=500, text=ERROR_TEXT),
            "bad JSON": lambda: web.Response(text='{"choices": [', content_type="application/json"),
            "no choices": lambda: web.json_response({"choices": []}),
            "no completion": lambda: web.json_response({"code": 1302, "msg": "too many"}),
            "error in choice": lambda: web.json_response(broken(whole, error={"code": 502})),
            "empty body": lambda: web.Response(content_type="application/json"),
            "null content": lambda: web.json_response(said(None)),
        }
        if kind.startswith("finish "):
            return web.json_response(broken(whole, finish_reason=kind.removeprefix("finish ")))
        return plain[kind]()

    async def stats(self, request: web.Request) -> web.Response:
        return web.json_response({
            "requests": sum(self.attempts.values()), "faults": self.faults, "most": self.most,
            "replies": sum(self.whole.values()),
            "twice": sum(n > 1 for prompt, n in self.whole.items() if prompt != GREETING),
        })  # fmt: skip

    async def told(self, request: web.Request) -> web.Response:
        return web.json_response(self.sent)


def hang_up(request: web.Request) -> None:
    if request.transport is not None:  # the client may have gone first
        request.transport.close()


def broken(whole: str, **fields: Any) -> dict[str, Any]:
    """An answer of which half is there, and what is said of it."""
    body: dict[str, Any] = json.loads(whole)
    (choice,) = body["choices"]
    choice["message"]["content"] = choice["message"]["content"][:12]
    return {"choices": [{**choice, **fields}]}


def said(content: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]}


async def serve(port_file: Path, options: dict[str, Any]) -> None:
    faulty = Faulty(**options)
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", faulty.chat)
    app.router.add_get("/stats", faulty.stats)
    app.router.add_get("/sent", faulty.told)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    port_file.with_suffix(".part").write_text(str(port))
    port_file.with_suffix(".part").rename(port_file)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), json.loads(sys.argv[2])))
