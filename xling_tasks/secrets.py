"""What may hold a secret or an internal address, and how it is kept out of all that is written.

No parameter's name decides: of an address, scheme, host, path and the names of parameters stay;
user, values and fragment go. Of headers nothing stays, and of other arguments nothing that is
called like a key. A run's own such values are remembered and taken out of every later log line.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from xling_tasks.errors import SettingError

GONE = "<redacted>"

_LONG = 5_000
"""Texts of more characters are not remembered with what they become."""

_SECRET = re.compile(
    r"(?:^|(?<!bos)(?<!eos)(?<!pad)(?<!end)_)token$"
    "|api_?key|auth|secret|password|header|bearer|credential"
)
_CARRIERS = re.compile(r"(?i)query|cookie")
"""Of arguments that hold other arguments: those that are sent beside the request."""

# Where a value ends within a text: at a blank or quote, or where arguments or a signature go on.
_STOP = r"[\s'\"<>\\`]|,\s*[\w.]+=|[),]+(?:[|;\s]|$)"
_URL = re.compile(
    rf"(?P<start>\b[A-Za-z][A-Za-z0-9+.-]{{0,20}}://)(?P<user>(?:{GONE}|[^\s/?#'\"<>])*@)?"
    rf"(?P<path>(?:(?!{_STOP})[^?#])*)(?:\?(?P<query>(?:{GONE}|(?!{_STOP})[^#])*))?"
    rf"(?:\#(?P<fragment>(?:{GONE}|(?!{_STOP}).)*))?"
)
# Without a host, as HTTP libraries log it: "POST /v1/chat?code=x HTTP/1.1".
_QUERY = re.compile(rf"(?<=[\w/])\?(?P<query>[\w.%~-]+=(?:{GONE}|(?!{_STOP}).)+)")
_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_HEADERS = re.compile(
    rf"(?i)(headers?\b['\"]?\s*(?:[=:,]\s*)?|CIMultiDict(?:Proxy)?)"
    rf"(?:[{{[(](?:[^{{}}\[\]()'\"]|{_QUOTED}|\((?:[^()'\"]|{_QUOTED})*\))*[}}\])])"
)
# `Authorization: Bearer x`, `'api-key': 'x'`, `password=x`.
_NAMED = re.compile(
    r"(?i)((?:authorization|(?:x-)?(?:goog-)?api[-_]?key|(?:auth|access)[-_]token|"
    r"client[-_]secret|password)['\"]?\s*(?:[:=]|',|\",)\s*(?:b?['\"])?)"
    r"((?:bearer|basic|token|key)\s+)?[^\s'\",;&)}\]]+"
)
# Keys as services give them out, wherever they stand.
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)-(?=[\w-]*\d)[\w-]{8,}|(?:hf|gsk|xai|r8|api_org)_[A-Za-z0-9]{10,}"
    r"|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AIza[\w-]{30,}|AKIA[A-Z0-9]{12,}"
    r"|xox[abp]-[\w-]{10,}|nvapi-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)


def is_secret(key: str) -> bool:
    """Return whether an argument of this name may hold a secret (`token`, not `eos_token`)."""
    return _SECRET.search(key.lower().replace("-", "_")) is not None


def _hides(key: Any, value: Any) -> bool:
    sent_beside = isinstance(value, (Mapping, list, tuple)) and _CARRIERS.search(str(key))
    return is_secret(str(key)) or bool(sent_beside)


def redact(value: Any) -> Any:
    """Replace everything in `value` that may be a secret, at any depth."""
    return _replace(value, lambda key, text: redact_text(text))


def _replace(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Replace the secrets of a value by their keys, and each text by `change(key, text)`."""
    if isinstance(value, Mapping):
        return {
            name: GONE if _hides(name, item) else _replace(item, change, str(name))
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_replace(item, change) for item in value]
    return change(key, value) if isinstance(value, str) else value


def redact_text(text: str) -> str:
    """Replace headers, keys of known forms, and what addresses may hold of them."""
    return _redact(text) if len(text) > _LONG else _redact_once(text)


def _redact(text: str) -> str:
    text = _URL.sub(_redact_address, text)
    text = _QUERY.sub(lambda match: "?" + _redact_query(match["query"]), text)
    text = _HEADERS.sub(rf"\1{GONE}", text)
    text = _NAMED.sub(rf"\1{GONE}", text)
    return _KEY.sub(GONE, text)


# Results say the same of every task: its prompts, its settings.
_redact_once = functools.lru_cache(maxsize=10_000)(_redact)


def _redact_address(match: re.Match[str]) -> str:
    user = f"{GONE}@" if match["user"] else ""
    query = f"?{_redact_query(match['query'])}" if match["query"] else ""
    fragment = f"#{GONE}" if match["fragment"] else ""
    return f"{match['start']}{user}{match['path']}{query}{fragment}"


def _redact_query(query: str) -> str:
    """Return a query with its parameters' names alone."""
    parts = (part.partition("=") for part in query.split("&") if part)
    return "&".join(f"{name}={GONE}" if sign else GONE for name, sign, _ in parts)


# What this process knows

_known: set[str] = set()


def remember(args: Any) -> None:
    """Take the secrets among a model's arguments out of all that is logged from now on."""
    _known.update(value for value in _secrets_of(args) if len(value) >= 8)


def _secrets_of(value: Any, *, hidden: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secrets_of(item, hidden=hidden or _hides(key, item))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secrets_of(item, hidden=hidden)
    elif isinstance(value, str) and hidden:
        yield from {value, value.strip(), *value.split()[-1:]}  # behind 'Bearer', too
    elif isinstance(value, str):
        for match in _URL.finditer(value):
            parts = [(match["user"] or "").rstrip("@").rpartition(":")[2], match["fragment"] or ""]
            parts += [part.rpartition("=")[2] for part in (match["query"] or "").split("&")]
            yield from {secret for part in parts for secret in (part, unquote_plus(part))}


def redact_log(text: str) -> str:
    """Redact a text, and the secrets that this process was given by their values."""
    called = re.compile(r"(?i)(?:api_?key|token|secret|passw|auth(?!or)|credential)|_key$")
    values = {value.strip() for name, value in os.environ.items() if called.search(name)}
    values = {value for value in values if len(value) >= 8 and re.search(r"\d", value)}
    for value in sorted(values | _known, key=len, reverse=True):
        text = text.replace(value, GONE)
    return redact_text(text)


def secrets_in(args: Mapping[str, Any]) -> list[str]:
    """Return the names of arguments that hold a secret by their name or by their value."""
    return [str(key) for key, value in args.items() if value and redact({key: value})[key] != value]


def refuse_secrets(name: str, args: Mapping[str, Any]) -> None:
    """Refuse model arguments that may hold a secret, and those that were taken from results.

    Raises:
        SettingError: Naming the argument, and the environment variables to use instead.
    """
    for key, value in args.items():
        if is_secret(str(key)):
            raise SettingError(
                # Behind the name stands no colon, as logs lose what follows one.
                f"{name} has {key}, and settings take no secrets (results show them); "
                "set the backend's environment variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, "
                "HF_TOKEN, ...) instead"
            )
        if isinstance(value, str) and GONE in value:
            raise SettingError(
                f"{name}.{key}: {value}: results hold no keys; give this setting again with its own"
            )


# What is written or printed for others

SERVER = "SERVER"
"""What stands for a host that is nobody's business."""

_ADDRESS_KEYS = ("base_url", "api_base", "server_url", "endpoint_url", "azure_endpoint")
_ADDRESS = re.compile(
    rf"((?:{'|'.join(_ADDRESS_KEYS)})(?:&quot;|&#34;|&#39;|[\"'`\\\s:=,])+)((?:https?|wss?)://)?"
    rf"(?:(?:{GONE}|&lt;redacted&gt;)@)?([^\s/\"'`,;|)\]}}<>&\\]+)"
)
_PUBLIC = (
    "openai.com", "anthropic.com", "openrouter.ai", "together.xyz", "mistral.ai", "deepseek.com",
    "groq.com", "huggingface.co", "googleapis.com", "cohere.ai", "cohere.com", "fireworks.ai",
    "perplexity.ai", "x.ai", "nvidia.com", "deepinfra.com",
)  # fmt: skip

_PATH = re.compile(r"(?:[/~]|[A-Za-z]:[\\/])")
_FOLDER = re.compile(
    r'"(?:[/~]|[A-Za-z]:[\\/])[^"]*[/\\](?=[^"/\\]+")|(?<![^\s(=:])~?/(?!/)[^\s"\',;|()]*/(?=[^\s/])'
)
"""The folders of an absolute path within a text; its last part stays."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, which can act on a terminal, overrides of direction, and lone surrogates."""


def without_hosts(text: str) -> str:
    """Replace the hosts of servers in a text: `base_url=http://10.0.0.3` by `base_url=SERVER`.

    Hosts of public services stay, and so do addresses that are no model arguments.
    """

    def shorten(match: re.Match[str]) -> str:
        name = match[3].rpartition("@")[2].partition(":")[0].lower()
        if any(name == host or name.endswith(f".{host}") for host in _PUBLIC):
            return match[0]
        return match[1] + SERVER

    return _ADDRESS.sub(shorten, text)


def printable(text: str) -> str:
    """Return a text whose control characters are replaced, but for tab and line feed."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def public(value: Any) -> Any:
    """Return a value for a file or screen that others see, at any depth.

    Secrets become `<redacted>`, hosts of servers `SERVER`, absolute paths their last part, and
    control characters are replaced. Texts of models and data are shown by `printable` instead:
    what looks like a path in them is theirs.
    """
    return _replace(value, _publish)


def _publish(key: str, text: str) -> str:
    if key in _ADDRESS_KEYS:
        # An address within brackets ends at none of the signs that end a host in a text.
        text = re.sub(r"\[[0-9A-Fa-f:.]+\]", SERVER, redact_text(text))
        return printable(without_hosts(f"{key}={text}").partition("=")[2])
    if _PATH.match(text) and not re.search(r"\s", text):
        text = re.split(r"[\\/]", text.rstrip("\\/"))[-1] or text
    text = _FOLDER.sub(lambda match: '"' if match[0].startswith('"') else "", redact_text(text))
    return printable(without_hosts(text))
