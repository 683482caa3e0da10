"""A round-robin balancer on loopback: several servers behind one base_url.

It forwards connections, not requests, as a TCP balancer does; a server that refuses a connection is
passed over. `counts` says how many connections each server got.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Sequence


class Balancer:
    """Listens on a port of its own until `close`."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.counts: Counter[int] = Counter()
        self._next, self._n = itertools.cycle(ports), len(ports)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        listening = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Take no more connections."""
        self._loop.call_soon_threadsafe(self._server.close)

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        for port in itertools.islice(self._next, self._n):
            try:
                server, forth = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            self.counts[port] += 1
            await asyncio.gather(_pump(client, forth), _pump(server, back))
            return
        back.close()


async def _pump(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    """Copy one direction until it ends; then end the other side too."""
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            to.write(data)
            await to.drain()
    to.close()
