"""A server on loopback, whose answers a function gives."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""


class Listening(ThreadingHTTPServer):
    """For many that ask at once."""

    request_queue_size = 128


class Loopback:
    """Listens from its making until `close`; what it answers says the class that is one.

    Attributes:
        host: Its address.
    """

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            # A connection stays for the next request, and small packets wait for no others.
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                given = outer.respond(self.path, dict(self.headers), body)
                if given is None:
                    self.close_connection = True
                    return
                status, headers, data = given
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_HEAD = do_POST = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = Listening(("127.0.0.1", 0), Handler)
        self.host = f"http://127.0.0.1:{self.server.server_port}"
        # It looks that often whether to end, and `shutdown` waits for that.
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        """The answer to a request; None hangs up."""
        raise NotImplementedError

    def close(self) -> None:
        """End it."""
        self.server.shutdown()
        self.server.server_close()
