"""What `xling check` looks at first: our requirements and extras."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import TypeVar
from unittest import mock
from urllib.parse import urlsplit
from urllib.request import getproxies

from packaging.requirements import Requirement

OK, OFF, WARN, FAIL = "ok", "off", "warn", "fail"
"""Statuses; `off` is what is neither set nor needed by these settings."""

CONNECT_SECONDS = 3.0
"""How long a server may take to accept a connection."""

_PACKAGE = "xling-tasks"
_GIVES = {
    "hf": "models, encoders and translators with local weights",
    "vllm": "the backend vllm",
    "api": "models, judges and translators behind an API",
    "topics": "faster topics and languages",
    "identifiers": "fastText models that tell the language of answers",
    "ja": "word metrics of Japanese",
    "view": "`xling view`: every sample in the browser",
    "th": "word metrics and sentences of Thai",
}
_DEVELOPMENT = ("dev", "docs", "test")

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """What one check found.

    Attributes:
        check: What was looked at.
        status: `ok`, `off`, `warn` or `fail`.
        found: What is there.
        todo: What to do about it; empty if nothing, or if `found` says so.
    """

    check: str
    status: str
    found: str
    todo: str = ""


class TooSlow(Exception):
    """Something did not end in its time."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of `work`, or its exception.

    Raises:
        TooSlow: If it takes longer. It goes on in a thread that does not keep the process alive.
    """
    done: Future[T] = Future()

    def body() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # `exit()` in a library included
            done.set_exception(error)

    threading.Thread(target=body, daemon=True).start()
    if not wait([done], seconds).done:
        raise TooSlow(f"did not end within {seconds:g} s")
    return done.result()


@contextlib.contextmanager
def no_downloads() -> Iterator[None]:
    """Whatever is not on this machine cannot be loaded."""
    from huggingface_hub import constants

    environment = mock.patch.dict(os.environ, HF_HUB_OFFLINE="1")
    with environment, mock.patch.object(constants, "HF_HUB_OFFLINE", True):
        yield


def no_connection(url: str) -> str:
    """Why a server cannot be connected to; empty if it can, or if a proxy stands in between."""
    parts = urlsplit(url)
    if getproxies() or not parts.hostname:
        return ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = (parts.hostname, port)
    try:
        within(CONNECT_SECONDS, lambda: socket.create_connection(address, CONNECT_SECONDS).close())
    except (OSError, TooSlow) as error:
        return f"no connection to {parts.hostname}:{port} ({in_words(error)})"
    return ""


def in_words(error: BaseException) -> str:
    """An error in one line; ours speak for themselves, others need their type."""
    text = " ".join(str(error).split())
    if isinstance(error, (TooSlow, ValueError)) and type(error).__module__.startswith("xling"):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def packages() -> Iterator[Line]:
    """Our requirements, and per extra what is installed of it."""
    required = list(_requirements(_PACKAGE, ""))
    good, missing, wrong = _installed(required)
    if missing or wrong:
        problems = ", ".join([*(f"{name} missing" for name in missing), *wrong])
        yield Line("packages", FAIL, problems, f"pip install --upgrade {_PACKAGE}")
    else:
        harness = next(item.specifier for item in required if item.name == "lm-eval")
        first = f"lm-eval {version('lm-eval')} ({harness})"
        yield Line("packages", OK, f"{first}; all {len(good)} required ones in range")
    for extra in metadata(_PACKAGE).get_all("Provides-Extra") or []:
        if extra not in _DEVELOPMENT:
            yield _extra(extra)


def _extra(extra: str) -> Line:
    good, missing, wrong = _installed(_requirements(_PACKAGE, extra))
    name, gives = f"extra {extra}", _GIVES.get(extra, "")
    todo = f"pip install '{_PACKAGE}[{extra}]'"
    if missing:
        return Line(name, OFF, f"without {', '.join(missing)}; gives {gives}", todo)
    if wrong:
        return Line(name, WARN, f"{', '.join(wrong)}; gives {gives}", todo)
    return Line(name, OK, ", ".join(good))


def _requirements(package: str, extra: str) -> Iterator[Requirement]:
    """What a package needs, or what its extra adds, with the extras of other packages resolved."""
    try:
        listed = [Requirement(text) for text in requires(package) or []]
    except PackageNotFoundError:
        return
    for item in listed:
        marker = item.marker
        always = marker is None or marker.evaluate({"extra": ""})
        added = marker is not None and not always and marker.evaluate({"extra": extra})
        if added if extra else always:
            yield item
            for more in sorted(item.extras):
                yield from _requirements(item.name, more)


def _installed(requirements: Iterable[Requirement]) -> tuple[list[str], list[str], list[str]]:
    """Those there (with versions), those missing, and those of a wrong version."""
    good, missing, wrong = dict[str, None](), dict[str, None](), dict[str, None]()
    for item in requirements:
        try:
            installed = version(item.name)
        except PackageNotFoundError:
            missing[item.name] = None
            continue
        if item.specifier.contains(installed, prereleases=True):
            good[f"{item.name} {installed}"] = None
        else:
            wrong[f"{item.name} {installed} is not {item.specifier}"] = None
    return list(good), list(missing), list(wrong)
