"""A round-robin balancer on loopback: several servers behind one base_url.

It forwards connections, not requests, as a TCP balancer does; a server that refuses a connection is
passed over. `counts` says how many connections each server got.
"""

from __future__ import annotations

import itertools
import socket
import threading
from collections import Counter
from collections.abc import Sequence


class Balancer:
    """Listens on a port of its own until `close`."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.counts: Counter[int] = Counter()
        self._next = itertools.cycle(ports)
        self._n = len(ports)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = self._connected()
        if server is None:
            client.close()
            return
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()
        for end in (client, server):
            end.close()

    def _connected(self) -> socket.socket | None:
        """A connection to the next server that takes one."""
        for port in itertools.islice(self._next, self._n):
            try:
                found = socket.create_connection(("127.0.0.1", port), timeout=60)
            except OSError:
                continue
            found.settimeout(None)
            self.counts[port] += 1
            return found
        return None


def _pump(source: socket.socket, to: socket.socket) -> None:
    """Copy one direction until it ends; then end the other side's reading too."""
    try:
        while data := source.recv(65536):
            to.sendall(data)
    except OSError:
        pass
    for end, how in ((to, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            continue
