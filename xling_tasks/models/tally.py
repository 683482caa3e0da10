"""Why requests to judges and translators brought no answer, counted in this process by role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

_told: Counter[tuple[str, str]] = Counter()


@dataclass
class Tally:
    """What a backend did in this process, in prompts.

    Attributes:
        asked: Sent, each once however many attempts it took.
        reasons: Those without an answer, by reason.
    """

    asked: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def tell(role: str, reasons: Mapping[str, int]) -> None:
    """Count requests that brought no answer, by reason."""
    _told.update({(role, reason): n for reason, n in reasons.items()})


def told() -> Counter[tuple[str, str]]:
    """All that was counted so far, by role and reason."""
    return _told.copy()


def by_role(counted: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Role -> reason -> number."""
    counts: dict[str, dict[str, int]] = {}
    for (role, reason), n in sorted(counted.items()):
        counts.setdefault(role, {})[reason] = n
    return counts


def in_words(reasons: Mapping[str, int]) -> str:
    """`time-out: 3, status 500: 1`, the most frequent first."""
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{reason}: {n}" for reason, n in ranked)
