"""What may hold a secret or an internal address, and how it is kept out of all that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from xling_tasks.errors import SettingError

GONE = "<redacted>"

_SECRET_WORDS = ("api_key", "apikey", "auth", "secret", "password", "header", "bearer")

# Keys as services give them out, wherever they stand.
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk)-(?=[\w-]*\d)[A-Za-z0-9_-]{8,}|(?<![A-Za-z0-9])(?:hf|gsk|xai|r8|api_org)_"
    r"[A-Za-z0-9]{10,}|(?<![A-Za-z0-9])gh[opsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|"
    r"(?<![A-Za-z0-9])AIza[\w-]{30,}|(?<![A-Za-z0-9])AKIA[A-Z0-9]{12,}|xox[abp]-[\w-]{10,}|"
    r"(?<![A-Za-z0-9])nvapi-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*"
)
# A header or an argument that holds one: `Authorization: Bearer x`, `'api-key': 'x'`, `api_key=x`.
_HEADER = re.compile(
    r"(?i)((?:proxy-)?authorization|(?:x-)?(?:goog-)?api[-_]?key|auth[-_]token|access[-_]token|"
    r"client[-_]secret|password)(['\"]?\s*(?:[:=]|',|\",)\s*(?:b?['\"])?)"
    r"((?:bearer|basic|token|key)\s+)?[^\s'\",;&)}\]]+"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)(?=[^\s'\",;]*[\d._-])[A-Za-z0-9._~+/=-]{6,}")
_IN_URL = re.compile(r"(?i)([?&][\w-]*(?:key|token|secret|sig)[\w-]*=)[^&\s'\"]+")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_HINT = re.compile(
    r"(?i)key|token|auth|secret|passw|bearer|sig|://|sk-|pk-|rk-|hf_|gsk_|xai_|r8_|gh[opsu]_|AIza|"
    r"AKIA|xox|eyJ"
)


def redact(value: Any) -> Any:
    """`value` with everything that looks like a secret replaced, at any depth."""
    if isinstance(value, Mapping):
        return {key: GONE if is_secret(str(key)) else redact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item) for item in value]
    return redact_text(value) if isinstance(value, str) else value


def redact_text(text: str) -> str:
    """A text with headers, keys of known forms, and keys within addresses replaced."""
    if not _HINT.search(text):
        return text
    text = _USER_IN_URL.sub(GONE, text)
    text = _IN_URL.sub(rf"\1{GONE}", text)
    text = _HEADER.sub(rf"\1\2{GONE}", text)
    text = _BEARER.sub(rf"\1{GONE}", text)
    return _KEY.sub(GONE, text)


def redact_log(text: str) -> str:
    """As `redact_text`, and the secrets of this process's environment by their values."""
    for value in _values():
        if len(value) >= 8 and re.search(r"\d", value):  # words such as `disabled` are none
            text = text.replace(value, GONE)
    return redact_text(text)


def redact_screen(text: str) -> str:
    """As `redact_log`, and passwords that are plain words: for texts that people pass on."""
    for value in _values():
        if len(value) >= 6:
            text = text.replace(value, GONE)
    return redact_text(text)


def _values() -> list[str]:
    """What environment variables called like secrets hold."""
    called = re.compile(r"(?i)(?:api_?key|token|secret|passw|auth(?!or)|credential)|_key$")
    return [value.strip() for name, value in os.environ.items() if called.search(name)]


def is_secret(key: str) -> bool:
    """Whether a model argument of this name may hold a secret (`token`, but not `tokenizer`)."""
    lowered = key.lower().replace("-", "_")
    return (
        lowered == "token"
        or lowered.endswith("_token")
        or any(word in lowered for word in _SECRET_WORDS)
    )


def secrets_in(args: Mapping[str, Any]) -> list[str]:
    """The names of arguments that hold a secret by their name or by their value."""
    return [str(key) for key, value in args.items() if _holds_secret(str(key), value)]


def _holds_secret(key: str, value: Any) -> bool:
    if value is None or value is False or value == "":
        return False
    if is_secret(key):
        return not key.lower().endswith(("eos_token", "end_token", "bos_token", "pad_token"))
    return isinstance(value, str) and redact_text(value) != value


def refuse_secrets(name: str, args: Mapping[str, Any]) -> None:
    """Refuse model arguments that may hold a secret.

    Raises:
        SettingError: Naming the argument, and the environment variables to use instead.
    """
    for key in args:
        if is_secret(str(key)) and not str(key).lower().endswith(("eos_token", "end_token")):
            raise SettingError(
                f"{name}.{key}: settings are written into the results, so they take no secrets; "
                "set the backend's environment variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, "
                "HF_TOKEN, ...) instead"
            )


# Addresses

_ADDRESS_KEYS = ("base_url", "api_base", "server_url", "endpoint_url", "azure_endpoint")
_ADDRESS = re.compile(
    rf"((?:{'|'.join(_ADDRESS_KEYS)})(?:&quot;|&#34;|&#39;|[\"'`\\\s:=,])+)"
    r"((?:https?|wss?)://)?([^\s/\"'`,;|)\]}<>&\\]+)"
)
_PUBLIC = (
    "openai.com", "anthropic.com", "openrouter.ai", "together.xyz", "mistral.ai", "deepseek.com",
    "groq.com", "huggingface.co", "googleapis.com", "cohere.ai", "cohere.com", "fireworks.ai",
    "perplexity.ai", "x.ai", "nvidia.com", "deepinfra.com",
)  # fmt: skip

SERVER = "SERVER"
"""What stands for a host that is nobody's business."""


def without_hosts(value: Any) -> Any:
    """`value` with the hosts of servers taken out of it, for everything that gets published.

    `base_url=http://10.0.0.3:8000/v1` becomes `base_url=SERVER/v1`; the addresses of public
    services stay, and so do all that are no model arguments (those in answers, for example).
    """
    if isinstance(value, Mapping):
        return {
            key: _short(item)
            if isinstance(item, str) and str(key) in _ADDRESS_KEYS
            else without_hosts(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_hosts(item) for item in value]
    if isinstance(value, str):
        return _ADDRESS.sub(lambda m: m[1] + _host(m[2] or "", m[3]), value)
    return value


def _short(address: str) -> str:
    match = re.match(r"((?:https?|wss?)://)?([^/]+)(.*)", address, re.S)
    return address if match is None else _host(match[1] or "", match[2]) + match[3]


def _host(scheme: str, host: str) -> str:
    name = host.rpartition("@")[2].partition(":")[0].lower()
    if host == SERVER or any(name == known or name.endswith(f".{known}") for known in _PUBLIC):
        return scheme + host
    return SERVER


# What may be published


def publishable(value: Any) -> Any:
    """A value as it may be published: without secrets, folders of a machine and hosts."""
    return _without_folders(without_hosts(redact(value)))


_FOLDER = re.compile(
    r'"(?:[/~]|[A-Za-z]:[\\/])[^"]*[/\\](?=[^"/\\]+")|(?<![^\s(=:])~?/(?!/)[^\s"\',;|()]*/(?=[^\s/])'
)


def publishable_text(text: str) -> str:
    """A text as it may be published; of an absolute path in it, its last part stays."""
    named = _FOLDER.sub(lambda match: '"' if match[0].startswith('"') else "", text)
    return str(without_hosts(redact_text(named)))


_PRIVATE = ("data_dir", "xling_cache", "fence_key")


def _without_folders(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items() if key not in _PRIVATE}
    if isinstance(value, (list, tuple)):
        return [_without_folders(item) for item in value]
    if isinstance(value, str) and re.match(r"[/~]|[A-Za-z]:[\\/]", value):
        return re.split(r"[\\/]", value.rstrip("\\/"))[-1] or value
    return value
