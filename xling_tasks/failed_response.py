"""Responses of models as texts, with what their service says of them; and responses that are none.

A response travels through the harness as a text. The text of a `FailedResponse` is empty: other
code sees a model that generated nothing, from which its outcome tells it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

CONTENT_FILTER = "content_filter"
"""Outcome of a prompt or a response that the provider blocked."""

REQUEST_FAILED = "request_failed"
"""Outcome of a request that the service did not answer: it says nothing about the model."""

BY_LANGUAGE = "by_language"
"""Where the record of a question's responses has its counts by language."""

RESPONSES = "n_responses"
"""Key under which samples record what became of their responses."""

TRUNCATED = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
"""Finish reasons of responses that were cut off at `max_gen_toks` or at the end of the context."""

NO_ROOM = "no room left by thinking"
"""Reason of an empty response that was cut off."""


class ModelResponse(str):
    """Text that a model generated.

    Attributes:
        finish_reason: The service's finish reason in lower case; '' where it gives none.
        usage: Tokens by kind (`prompt`, `completion`, `reasoning`), as far as they are known.
        outcome: '' for a text of the model; else as of `FailedResponse`.
        reason: Why there is no text; '' where there is one.
    """

    finish_reason: str
    usage: dict[str, int]
    outcome: str
    reason: str

    def __new__(
        cls, text: str = "", finish_reason: str = "", usage: Mapping[str, int] | None = None
    ) -> ModelResponse:
        """Make a response of a text."""
        self = super().__new__(cls, text)
        self.finish_reason, self.usage, self.outcome = finish_reason, dict(usage or {}), ""
        reason = NO_ROOM if finish_reason in TRUNCATED else "empty"
        self.reason = "" if text.strip() else reason
        return self

    def details(self) -> dict[str, Any]:
        """Return what is known beside the text, as JSON."""
        details = {"finish_reason": self.finish_reason, "usage": self.usage}
        return {name: value for name, value in details.items() if value}

    def __reduce__(self) -> tuple[Any, ...]:
        return response_of, (str(self), self.details())


class FailedResponse(ModelResponse):
    """A request without a response: `outcome` is `CONTENT_FILTER` or `REQUEST_FAILED`."""

    def __new__(
        cls, outcome: str, reason: str, text: str = "", finish_reason: str = "",
        usage: Mapping[str, int] | None = None,
    ) -> FailedResponse:  # fmt: skip
        """Make a failed response; `text` is what a content filter left of a response."""
        self = str.__new__(cls, text)
        self.finish_reason, self.usage = finish_reason, dict(usage or {})
        self.outcome, self.reason = outcome, reason
        return self

    def details(self) -> dict[str, Any]:
        """Return outcome, reason, finish reason and usage, as JSON."""
        return {"outcome": self.outcome, "reason": self.reason, **super().details()}

    def __eq__(self, other: object) -> bool:
        """Return false for every text: an empty response is the model's, and this is not."""
        is_same_kind = isinstance(other, FailedResponse) and self.outcome == other.outcome
        return is_same_kind and str.__eq__(self, str(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.outcome, str(self)))


def response_of(text: str, details: Mapping[str, Any]) -> ModelResponse:
    """Make a response of its text and its `details`."""
    if details.get("outcome"):
        return FailedResponse(text=text, **{"reason": "", **details})
    return ModelResponse(text, **details)


def is_failed(response: object) -> bool:
    """Return whether a request failed."""
    return isinstance(response, FailedResponse) and response.outcome == REQUEST_FAILED


def is_filtered(response: object) -> bool:
    """Return whether a content filter blocked the prompt or the response."""
    return isinstance(response, FailedResponse) and response.outcome == CONTENT_FILTER


def is_empty(response: str) -> bool:
    """Return whether the model itself generated nothing."""
    return not isinstance(response, FailedResponse) and not response.strip()


def is_truncated(response: object) -> bool:
    """Return whether a service says that it cut a response off."""
    return isinstance(response, ModelResponse) and response.finish_reason in TRUNCATED


def details_of(responses: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return the records of a sample's responses, by request and repeat, that have details."""
    return [
        {"request": request, "repeat": repeat, **details}
        for request, repeats in enumerate(responses)
        for repeat, response in enumerate(repeats)
        if isinstance(response, ModelResponse) and (details := response.details())
    ]


def logged_usage(sample: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return language -> a logged sample's responses, how they ended and their tokens."""
    record = sample.get(RESPONSES)
    counts = (record.get(BY_LANGUAGE) if isinstance(record, dict) else None) or {}
    return {code: {kind: int(n) for kind, n in row.items()} for code, row in counts.items()}


def logged_details(sample: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """Return a logged sample's details by request and repeat; a damaged one raises any error."""
    rows = (sample.get(RESPONSES) or {}).get("responses") or ()
    keys = ("outcome", "reason", "finish_reason", "usage")
    return {
        (int(row["request"]), int(row["repeat"])): {k: row[k] for k in keys if k in row}
        for row in rows
    }
