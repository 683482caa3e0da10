"""Whether a process that claimed something still lives."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

LEASE = 120.0
"""Seconds after which a process that gives no sign of life asks for nothing any more."""


def is_alive(owner: bytes, seen: Any) -> bool:
    """Whether a process may still ask; of other machines only its last sign of life can tell."""
    if not isinstance(seen, float) or seen < time.time() - LEASE:
        return False
    host, _, rest = owner.decode("utf-8", "replace").partition("/")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(rest.partition("/")[0]), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        return True
    return True
