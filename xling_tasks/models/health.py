"""How long to go on asking a service, and whether it works at all."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xling_tasks.errors import BackendError
from xling_tasks.models.failures import CallFailed

_RESTART = 60.0
"""Seconds that a server may need to come back."""


class ServiceDown(BackendError):
    """A service stays down: asking on would cost hours and bring nothing."""


@dataclass(frozen=True)
class Limits:
    """How long to go on.

    Attributes:
        attempts: Most attempts of one request; a wait that a service asks for (429) counts as
            none unless `strict`.
        strict: Whether a user set `attempts`.
        timeout: Seconds for one attempt.
        deadline: Seconds for all attempts of one request, waits included.
        down: Seconds without any reply after which a service is down.
        error_texts: Whether error texts that come in an answer's place are failures.
        doubt: Whether one reply to several prompts is looked into (`doubt`).
    """

    attempts: int = 8
    strict: bool = False
    timeout: float = 280.0
    deadline: float = 600.0
    down: float = 265.0
    error_texts: bool = True
    doubt: bool = False

    @classmethod
    def of(cls, args: Mapping[str, Any], **more: Any) -> Limits:
        """The limits that model arguments (`max_retries`, `timeout`) set, and ours elsewhere."""
        values: dict[str, Any] = dict(more)
        with contextlib.suppress(KeyError, TypeError, ValueError):
            values |= {"attempts": max(1, int(args["max_retries"])), "strict": True}
        with contextlib.suppress(KeyError, TypeError, ValueError):
            values["timeout"] = float(args["timeout"])
            values["down"] = max(200.0, 0.95 * values["timeout"])
        return cls(**values)


class Health:
    """Whether a service works, over all calls of a run.

    Attributes:
        reasons: Why calls failed for good, counted.
        troubles: Texts that are known to be the service's, and no model's (`doubt`).
        one_text: What comes whatever is asked; '' where there is no such text.
    """

    def __init__(self, name: str, limits: Limits, concurrent: int) -> None:
        self.name, self.limits = name, limits
        self.reasons: Counter[str] = Counter()
        self.troubles: set[str] = set()
        self._in_a_row = 0
        self._lately: Counter[str] = Counter()
        self._most_in_a_row = max(10, 2 * concurrent)
        self._enough = min(3, concurrent)
        self._attempts_failed = 0
        self._alive = time.monotonic()
        self.one_text = ""

    def start(self) -> None:
        """A new set of calls: silence is counted from here."""
        self._alive, self._attempts_failed = time.monotonic(), 0

    def works(self) -> None:
        """A reply came."""
        self._alive, self._attempts_failed, self._in_a_row = time.monotonic(), 0, 0
        self._lately.clear()

    def attempt_failed(self, failed: CallFailed) -> None:
        """One attempt failed; there may be more."""
        self._attempts_failed += 1
        self._lately[failed.reason] += 1

    def gave_up(self, failed: CallFailed) -> None:
        """A call failed for good."""
        self._in_a_row += failed.down

    def check(self) -> None:
        """Raise ServiceDown if the service is down."""
        silent = time.monotonic() - self._alive
        if self.one_text:
            raise self.down(f"whatever is asked, it says {self.one_text!r}")
        if self._attempts_failed >= self._enough and silent > self.limits.down:
            raise self.down(f"no reply for {silent:.0f} s")
        if self._in_a_row >= self._most_in_a_row and (
            self.limits.strict or silent > min(_RESTART, self.limits.down)
        ):
            raise self.down(f"{self._in_a_row} calls in a row failed")

    def check_all(self, calls: int) -> None:
        """Raise ServiceDown if a whole set of calls failed, and it is no accident."""
        self.check()
        if calls >= 3 and self._in_a_row >= calls:
            raise self.down("every call failed")

    def down(self, why: str) -> ServiceDown:
        """What ends the run."""
        counted = self._lately or self.reasons
        reasons = ", ".join(f"{reason}: {n}" for reason, n in counted.most_common())
        return ServiceDown(
            f"{self.name}: the service does not work ({why}; {reasons or 'no reply'}). The run "
            "ends here so that no time is lost. Everything so far is kept (answers, replies): "
            "start the same command again to go on from here"
        )
