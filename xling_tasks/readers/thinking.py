"""What a reasoning model thought before it answered, where its reply still holds it."""

from __future__ import annotations

import re

_THINKING = re.compile(r"^.*</think(?:ing)?>", re.S | re.I)
_OPEN = re.compile(r"<think(?:ing)?>", re.I)


def without_thinking(reply: str) -> str | None:
    """The reply after its last thought; None where it was cut off within one."""
    text = _THINKING.sub(" ", reply)
    return None if _OPEN.search(text) else text


def holds_thinking(reply: str) -> bool:
    """Whether there is any."""
    return without_thinking(reply) != reply
