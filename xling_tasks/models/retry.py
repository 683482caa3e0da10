"""When a request is sent again, and when a service counts as unavailable."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from xling_tasks.errors import BackendError
from xling_tasks.failed_response import ModelResponse
from xling_tasks.log import log
from xling_tasks.secrets import redact_log

# Refusals of a prompt, and whether a filter's: OpenRouter's moderation has 403 (big-AGI #352).
REFUSALS = {"status 400": True, "status 403": True, "status 422": False}
MAX_REFUSALS = 3  # times that a prompt is sent before it counts as refused
MAX_MALFORMED = 5  # bodies without a completion to one request, where no other got one either
MAX_BACKOFF = 30.0  # seconds


class RequestFailed(Exception):
    """An attempt that brought no response; equal failures are counted by `reason`."""

    def __init__(
        self, reason: str,
        detail: str = "",  # the text of the service
        *, retry: bool = True,  # whether another attempt may bring a response
        wait: float = 0.0,  # seconds that the service asks to wait
        # What the failure is of: the service; one prompt, so that it says nothing of the service; a
        # body without a completion; the account (key, credit): further requests fail, too.
        kind: Literal["service", "prompt", "malformed", "account"] = "service",
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.reason, self.detail, self.retry = reason, detail, retry
        self.wait, self.kind = wait, kind


Settle = Callable[[int, ModelResponse | RequestFailed], None]
"""Called with what came of a request the moment it is known, perhaps in another thread."""


class ServiceUnavailable(BackendError):
    """A service does not work: further requests would cost hours and bring nothing."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long to go on with one request, and with a service that is silent."""

    attempts: int = 8  # a rate limit is none, unless `strict`
    strict: bool = False  # whether the user set the number (`max_retries`)
    timeout: float = 280.0  # seconds for an attempt
    deadline: float = 600.0  # seconds for a request, attempts and waits together
    silence: float = 265.0  # seconds without any response: the service is unavailable

    @classmethod
    def from_args(cls, args: Mapping[str, Any]) -> RetryPolicy:
        """Take `max_retries` and `timeout` from a model's arguments."""
        fields: dict[str, Any] = {}
        if args.get("max_retries") is not None:
            fields |= {"attempts": max(1, int(args["max_retries"])), "strict": True}
        if args.get("timeout") is not None:
            timeout = float(args["timeout"])
            fields |= {"timeout": timeout, "silence": max(200.0, 0.95 * timeout)}
        return cls(**fields)

    def wait(self, failure: RequestFailed, attempt: int) -> float:
        """Return the seconds before the next attempt: a back-off, or more if the service asks."""
        backoff = min(MAX_BACKOFF, 0.5 * 2.0 ** min(attempt, 10))
        return max(failure.wait, random.uniform(0.5, 1.0) * backoff)

    def is_over(self, failure: RequestFailed, attempt: int, seconds: float) -> bool:
        """Return whether a request is given up after an attempt, `seconds` after the first."""
        if not failure.retry or seconds >= self.deadline:
            return True
        if failure.reason in REFUSALS:
            return attempt >= min(MAX_REFUSALS, self.attempts)
        return attempt >= self.attempts and (self.strict or failure.reason != "status 429")


class CircuitBreaker:
    """Counts the failures of a service, and ends the run once it is unavailable.

    Attributes:
        outstanding: Requests that wait for their response.
        reasons: Failed attempts by reason.
    """

    def __init__(self, role: str, policy: RetryPolicy, concurrency: int) -> None:
        self.role, self._policy, self.reasons = role, policy, Counter[str]()
        self._limit, self._responded, self.outstanding = max(10, 2 * concurrency), False, 0
        self._failed_in_row, self._malformed, self._ended = 0, 0, False
        self.begin()

    def begin(self) -> None:
        """Start with a set of requests: silence counts from now, what ended a run no more."""
        self._attempts, self._since = 0, time.monotonic()
        if self._ended:
            self._failed_in_row, self._malformed, self._ended = 0, 0, False
            self.reasons.clear()

    def record_response(self) -> None:
        """Count a response."""
        self.begin()
        self._failed_in_row, self._responded = 0, True

    def record_attempt(self, failure: RequestFailed, attempt: int = 1) -> None:
        """Count a failed attempt; the first for each reason is logged."""
        self._attempts += 1
        if failure.kind == "malformed":
            self._malformed = max(self._malformed, attempt)
        if failure.detail and not self.reasons[failure.reason]:
            detail = " ".join(redact_log(failure.detail[:2000]).split())[:200]
            log.warning("%s: %s: %s", self.role, failure.reason, detail)
        self.reasons[failure.reason] += 1

    def record_failure(self, failure: RequestFailed) -> None:
        """Count a request that was given up."""
        self._failed_in_row += failure.kind != "prompt"
        if failure.kind == "account":
            raise self.unavailable("check the API key and the account")

    def check(self, n_requests: int = 0) -> None:
        """Raise ServiceUnavailable if the service is; `n_requests` were all that there are."""
        silent = time.monotonic() - self._since
        # One that answers some requests with an error may still be generating for others.
        if not (self._responded or self.outstanding) and self._malformed >= MAX_MALFORMED:
            raise self.unavailable("no completion in anything that it sent; check base_url")
        if self._attempts >= 3 and silent > self._policy.silence:
            raise self.unavailable(f"no response for {silent:.0f} s")
        if self._failed_in_row >= max(3, min(n_requests or self._limit, self._limit)):
            raise self.unavailable(f"{self._failed_in_row} requests in a row failed")

    def unavailable(self, reason: str) -> ServiceUnavailable:
        """Return the error that ends the run."""
        self._ended = True
        return ServiceUnavailable(
            f"{self.role}: the service does not work ({reason}; {format_reasons(self.reasons)}). "
            "Everything so far is kept: start the same command again to go on"
        )


_counts: Counter[tuple[str, str]] = Counter()


def count_failures(role: str, reasons: Mapping[str, int]) -> None:
    """Count requests that brought no text, by role and reason."""
    _counts.update({(role, reason): n for reason, n in reasons.items()})


def failure_counts() -> Counter[tuple[str, str]]:
    """Return what was counted in this process so far."""
    return _counts.copy()


def failures_by_role(counts: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return role -> reason -> number."""
    by_role: dict[str, dict[str, int]] = {}
    for (role, reason), n in sorted(counts.items()):
        by_role.setdefault(role, {})[reason] = n
    return by_role


def format_reasons(reasons: Mapping[str, int]) -> str:
    """Format as `time-out: 3, status 500: 1`, the most frequent first."""
    return ", ".join(f"{reason}: {n}" for reason, n in sorted(reasons.items(), key=lambda x: -x[1]))
