"""`xling view`: read every sample of a run in the browser, on this machine alone."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from urllib.parse import quote, unquote

from xling_tasks.commands.options import add_family, add_folders, integer
from xling_tasks.commands.view.index import Index
from xling_tasks.commands.view.sources import Sources, find_sources
from xling_tasks.errors import SettingError
from xling_tasks.output import many

_MISSING = (
    "the viewer needs starlette and uvicorn: pip install 'xling-tasks[view]'; "
    "`xling report` needs neither"
)


def view(options: argparse.Namespace) -> str:
    """Serve until Ctrl-C; the address is printed."""
    link, query = read_link(options.open)
    sources = find_sources(options.folders, options.family)
    if link:
        sources.refuse_unknown(link[0], *link[2:], of="--open: ")
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise SettingError(_MISSING) from error
    # Not at the top, where a missing extra would end even --help.
    from xling_tasks.commands.view.server import server

    listening = bound(options.port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    index = Index(sources, first=link[0] if link else "")
    address = f"http://127.0.0.1:{port}/{token}/" + _fragment(link, query)
    print(f"{address}\n{_told(sources)} Only this machine can open it. Ctrl-C ends it.", flush=True)
    threading.Thread(target=index.read_all, daemon=True).start()
    if not options.no_browser and _has_screen():
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    served = server(index, port, token)
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    # uvicorn ends on either, and then lets it end this process, before the index is closed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        served.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
        index.close()
        listening.close()
    return "Ended."


def _told(sources: Sources) -> str:
    counts = {"model": len(sources.models), "task": len(sources.files)}
    shown = [many(count, word) for word, count in counts.items()]
    return f"{', '.join(shown)}, {sources.size / 1e6:,.0f} MB of samples."


def read_link(words: str) -> tuple[list[str], str]:
    """Task, question and perhaps model of a link, and its filters; empty where none are given."""
    path, _, query = words.strip().rpartition("#")[2].partition("?")
    bare = path.lstrip("/").removeprefix("q/")
    parts = [unquote(part) for part in bare.split("/")] if bare else []
    if parts and (len(parts) not in (2, 3) or not all(parts)):
        raise SettingError(
            f"--open {words}: TASK/QUESTION, TASK/QUESTION/MODEL or '#/?FILTERS' is expected"
        )
    return parts, query


def _fragment(link: list[str], query: str) -> str:
    way = "q/" + "/".join(quote(part, safe="") for part in link) if link else ""
    # Filters are sent as they came: quoted again, `%` would be.
    asked = f"?{quote(query, safe='=&%+,.~-_')}" if query else ""
    return f"#/{way}{asked}" if way or asked else ""


def bound(port: int) -> socket.socket:
    """A socket on loopback."""
    if not 0 <= port < 65536:
        raise SettingError(f"--port: must be an integer from 0 to 65535, got {port}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # A port that was just left may be taken again.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        # Who has the address may come before the server is ready: it waits, and is not refused.
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise SettingError(
            f"--port {port}: {error.strerror or error}; leave it out for any free one"
        ) from error
    return listening


def _has_screen() -> bool:
    """Whether a browser has somewhere to show itself; without, one in the terminal would start."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling view`."""
    add_folders(parser)
    parser.add_argument(
        "--open", default="", metavar="LINK", help="what to show first, as links of a report say it"
    )
    parser.add_argument("--port", type=integer(0), default=0, metavar="N", help="0: any free port")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    add_family(parser)
    parser.set_defaults(run=view)
