"""What may hold a secret, and how it is kept out of everything that is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xling_tasks.errors import SettingError

_SECRET_WORDS = ("api_key", "apikey", "auth", "secret", "password", "header", "bearer")


def redact(value: Any) -> Any:
    """`value` with everything that looks like a secret replaced, at any depth."""
    if isinstance(value, Mapping):
        return {
            key: "<redacted>" if is_secret(str(key)) else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redact(item) for item in value]
    if isinstance(value, str):
        value = re.sub(r"(?<=://)[^/@\s]+(?=@)", "<redacted>", value)  # https://user:password@host
        return re.sub(
            r"(?i)([?&][\w-]*(?:key|token|secret|sig)[\w-]*=)[^&\s]+", r"\1<redacted>", value
        )
    return value


def is_secret(key: str) -> bool:
    """Whether a model argument of this name may hold a secret (`token`, but not `tokenizer`)."""
    lowered = key.lower().replace("-", "_")
    return (
        lowered == "token"
        or lowered.endswith("_token")
        or any(word in lowered for word in _SECRET_WORDS)
    )


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
