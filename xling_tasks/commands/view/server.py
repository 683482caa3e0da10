"""The server of `xling view`: on loopback, behind a token, for one reader.

Every answer is refused unless the request names this server as its host (a page of another site
that rebinds its own name to 127.0.0.1 does not) and its path begins with the token. Nothing is
written, nothing is fetched from elsewhere, and no script runs but the page's own file.
"""

from __future__ import annotations

import functools
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xling_tasks.commands.view import details, queries
from xling_tasks.commands.view.facts import FLAGS
from xling_tasks.commands.view.index import Index
from xling_tasks.criteria import CRITERIA, LABELS, OPTIONS
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.languages import in_order, language_name
from xling_tasks.pages import FOLDER

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_FILES = {
    "": ("view.html", "text/html"),
    **{f"{name}.css": (f"{name}.css", "text/css") for name in ("reading", "view", "fonts")},
    **{f"{name}.js": (f"{name}.js", "text/javascript") for name in ("reading", "view")},
}
_REMEMBERED = 8

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Guard:
    """Lets only requests through that name this host and know the token."""

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        path = scope["raw_path"].split(b"?")[0].split(b"/", 2)
        given = path[1] if len(path) > 1 else b""
        known = hmac.compare_digest(given, self._token)
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts or not known:
            await _refusal(403, "403: open the address that xling view printed.")(
                scope, receive, send
            )
        elif scope["method"] not in ("GET", "HEAD"):
            await _refusal(405, "405: only GET.")(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(status: int, text: str) -> Response:
    return Response(text, status, HEADERS, "text/plain")


def application(index: Index, port: int, token: str) -> Guard:
    """The server's application."""
    view = _View(index)
    files = [
        Route(f"/{token}/{name}", functools.partial(_file, *kind)) for name, kind in _FILES.items()
    ]
    calls: dict[str, Callable[[Mapping[str, str]], Any]] = {
        "state": view.state,
        "list": view.questions,
        "find": view.find,
        "question": view.question,
        "text": view.text,
        "row": view.row,
    }
    routes = [
        Route(f"/{token}/api/{name}", functools.partial(_call, call))
        for name, call in calls.items()
    ]
    handlers = {404: lambda request, error: _refusal(404, "404: there is no such page.")}
    app = Starlette(routes=[*files, *routes], exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, port, token)


def server(index: Index, port: int, token: str) -> Any:
    """A server of uvicorn, to be run on a socket that is bound to loopback."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            application(index, port, token),
            # uvicorn's own configuration of logs would close every handler of this process.
            log_config=None, log_level="critical", access_log=False, server_header=False,
            lifespan="off", ws="none", http="h11", loop="asyncio", timeout_graceful_shutdown=1,
        )
    )  # fmt: skip


async def _file(name: str, kind: str, request: Request) -> Response:
    content = (FOLDER / name).read_bytes()
    return Response(content, 200, HEADERS, kind)


async def _call(call: Callable[[Mapping[str, str]], Any], request: Request) -> Response:
    """JSON of what a call returns; an error of ours is one line, as everywhere."""
    try:
        status, content = 200, await run_in_threadpool(call, dict(request.query_params))
    except SettingError as error:
        status, content = 400, {"error": str(error)}
    except XlingError as error:
        status, content = 409, {"error": str(error)}
    # In ASCII, lone halves of characters survive, and NUL is written as any other.
    return Response(json.dumps(content), status, HEADERS, "application/json")


class _View:
    """What the page asks for."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._searched: dict[tuple[Any, ...], tuple[list[queries.Hit], int]] = {}
        self._choices: tuple[int, Any] = (-1, None)

    def state(self, asked: Mapping[str, str]) -> Any:
        """What there is, and how far the reading is."""
        progress = self._index.progress()
        if self._choices[0] != progress.rows:
            self._choices = (progress.rows, queries.choices(self._index))
        counts = self._choices[1]
        files = self._index.sources.files
        names = {code: language_name(code) for code in in_order(counts["language"])}
        titles = {key: criterion.title for key, criterion in CRITERIA.items()}
        return {
            **progress._asdict(),
            "choices": counts,
            "tasks": len({(source.model, source.task) for source in files}),
            "models": dict(self._index.sources.models),
            "words": {
                "criterion": titles,
                "language": names,
                "label": {
                    label: OPTIONS[label]
                    + (" than the reference" if label.endswith("comprehensive") else "")
                    for label in LABELS
                },
                "flag": FLAGS,
                "gap": queries.GAPS,
            },
        }

    def questions(self, asked: Mapping[str, str]) -> Any:
        """A page of the questions that fit: from a place on, or that which has a question."""
        names = queries.Filters.__dataclass_fields__
        filters = queries.Filters(**{name: asked[name] for name in names if name in asked})
        hits, questions = self._hits(filters)
        begin = _whole(asked, "from")
        if "around" in asked:
            ids = [hit.question for hit in hits]
            sought = _whole(asked, "around")
            begin = ids.index(sought) // queries.PAGE * queries.PAGE if sought in ids else begin
        part = hits[begin : begin + queries.PAGE]
        return {
            "total": len(hits),
            "questions": questions,
            "from": begin,
            "page": queries.PAGE,
            "items": queries.listed(self._index, part, filters.text),
        }

    def _hits(self, filters: queries.Filters) -> tuple[list[queries.Hit], int]:
        """What fits, and how many different questions that is."""
        key = (filters, self._index.progress().rows)
        found = self._searched.get(key)
        if found is None:
            hits = queries.search(self._index, filters)
            found = hits, queries.different(self._index, hits)
            while len(self._searched) >= _REMEMBERED:
                self._searched.pop(next(iter(self._searched)), None)
            self._searched[key] = found
        return found

    def find(self, asked: Mapping[str, str]) -> Any:
        """The question behind a link, or how far the reading is."""
        page = queries.find(
            self._index, asked.get("task", ""), asked.get("question", ""), asked.get("model", "")
        )
        if page is None and self._index.progress().finished:
            raise SettingError(
                f"no question {asked.get('question', '')!r:.80} among the samples of "
                f"{asked.get('task', '')}"
            )
        return page or {"waiting": True}

    def question(self, asked: Mapping[str, str]) -> Any:
        """A question in some of its languages."""
        codes = asked.get("languages", "").split(",")
        return {"entries": details.question(self._index, _whole(asked, "id"), codes)}

    def text(self, asked: Mapping[str, str]) -> Any:
        """More of a long text."""
        numbers = (_whole(asked, name) for name in ("entry", "part", "passage", "from"))
        return {"text": details.more_text(self._index, *numbers)}

    def row(self, asked: Mapping[str, str]) -> Any:
        """A row as it stands in the file."""
        return details.whole_row(self._index, _whole(asked, "entry"), _whole(asked, "from"))


def _whole(asked: Mapping[str, str], name: str) -> int:
    word = asked.get(name, "0")
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise SettingError(f"{name}: a number is expected, not {word!r:.40}")
    return int(word)
