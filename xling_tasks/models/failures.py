"""What a service sent back: an answer, nothing, a refusal, or a failure that looks like an answer.

A failure says nothing about the model, so it is unscored, never cached, and asked again. What is
recognised here is said once for every role: the model under test, judges, readers, translators.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

ANSWER = "answer"
EMPTY = "empty"
REFUSED = "refused"
FAILED = "failed"

REPEATED = "one reply to many prompts"
"""The reason of a reply that a service gave to too many different prompts."""

HELD = "one text in the place of answers"
"""The reason of a reply that a service gives to some prompts, and that no model makes."""


class Reply(NamedTuple):
    """What came back for one request.

    Attributes:
        text: The model's words; empty unless `outcome` is `answer`.
        outcome: `answer`; `empty` (the model said nothing); `refused` (a content filter); `failed`
            (the service, not the model: unscored, and worth asking again).
        reason: Why there is no answer, in a few words that are the same for the same cause; ''
            for an answer.
    """

    text: str
    outcome: str = ANSWER
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether it says nothing about the model."""
        return self.outcome == FAILED

    @property
    def said(self) -> str | None:
        """The text of an answer; None where there is none."""
        return self.text if self.outcome == ANSWER else None


class CallFailed(Exception):
    """A request that brought no reply.

    Attributes:
        reason: As of `Reply`.
        again: Whether the same request may succeed if it is made again.
        down: Whether it says that the service as a whole does not work.
        wait: Seconds that the service asks to wait; None where it does not say.
    """

    def __init__(
        self, reason: str, *, again: bool = True, down: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.again, self.down, self.wait = reason, again, down, wait


_FILTERED = re.compile(
    r"content[_ -]?filter(?:ed)?|safety|recitation|blocklist|prohibited[_ -]?content|spii|refusal|"
    r"refused|blocked|sensitive|image_safety",
    re.I,
)
_SAID = (None, "text", "output_text")
"""Kinds of parts of a message that are the model's words; others are thoughts, tools, pictures."""
_CUT = {"length", "max_tokens", "max_output_tokens"}


def read_body(body: Any) -> Reply | None:
    """What a service's JSON says about one request: chat, completion, Anthropic's and SGLang's.

    Returns:
        None for a body of another form, which the backend itself may understand.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return Reply("", FAILED, "no JSON object in the body")
    if "choices" in body and (body["choices"] or not is_error_object(body)):
        return _choice(body["choices"])
    if is_error_object(body):
        return Reply("", FAILED, "error object with status 200")
    if body.get("type") == "message" or "stop_reason" in body:
        return _said(body.get("content"), body.get("stop_reason"), body)
    if "text" in body:
        meta = body.get("meta_info")
        finish = meta.get("finish_reason") if isinstance(meta, Mapping) else None
        return _said(
            body["text"], finish.get("type") if isinstance(finish, Mapping) else finish, body
        )
    return Reply("", FAILED, "no choices") if not body else None


def _choice(choices: Any) -> Reply:
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return Reply("", FAILED, "no choices")
    choice = choices[0]
    message = choice.get("message")
    if "message" in choice and not isinstance(message, Mapping):
        return Reply("", FAILED, "no message")
    said = message if isinstance(message, Mapping) else choice
    if isinstance(said.get("refusal"), str) and said["refusal"] and not said.get("content"):
        return Reply("", REFUSED, "refusal")
    if "content" not in said and "text" not in said and not _thought(said):
        finish = choice.get("finish_reason")
        if not (isinstance(finish, str) and _FILTERED.fullmatch(finish)):
            return Reply("", FAILED, "no content")
    return _said(said.get("content", said.get("text")), choice.get("finish_reason"), said)


def _said(content: Any, finish: Any, message: Mapping[str, Any]) -> Reply:
    """One message. A filter that cut an answer short refused it: half an answer is none."""
    finish = finish if isinstance(finish, str) else ""
    if _FILTERED.fullmatch(finish):
        return Reply("", REFUSED, f"finish reason {finish}")
    content = joined(content)
    if content is None:
        if finish in _CUT or _thought(message):
            return Reply("", EMPTY, "nothing but thinking")
        return Reply("", FAILED, "null content")
    if not isinstance(content, str):
        return Reply("", FAILED, "content that is no text")
    if not content.strip():
        return Reply("", EMPTY, "empty")
    return Reply(content)


def joined(content: Any) -> Any:
    """A message's content; of a list of parts the text of those that are the model's words."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, Mapping) and part.get("type") in _SAID]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _thought(message: Mapping[str, Any]) -> bool:
    return any(message.get(key) for key in ("reasoning_content", "reasoning", "tool_calls"))


# What is no answer by its form, in whatever language: pages, traces, and a status before few words.
_MARKUP = re.compile(r"<!doctype html\b|<html\b|<\?xml\b.*<(?:error|code)>", re.I | re.S)
_TRACE = re.compile(r"traceback \(most recent call last\):", re.I)
# `502 Bad Gateway`, `HTTP 429: Too Many Requests`, `Internal Server Error.`: words of the standard.
_PHRASES = "|".join(re.escape(status.phrase) for status in HTTPStatus if status >= 500)
_STATUS = re.compile(
    rf"(?:\W|http|error|status|code|[\d.]+(?=\W))*(?:{_PHRASES}|too many requests|request timeout)"
    r"(?:\W|error|[45]\d\d)*",
    re.I,
)
# `Error code: 429 - {...}`, as clients write what a service sent.
_WITH_BODY = re.compile(r"[^{}]{0,80}\b[45]\d\d\b[^{}\w]{0,9}\{.*\}", re.S)
_MARKUP_LONGEST = 100_000


def error_text(text: str) -> str | None:
    """The kind of server error that a text is by its form; None for none.

    Whole replies only: pages of HTML, traces, JSON error objects, and a status in the words of
    HTTP. What has no such form is known by its repetition (`doubt`).
    """
    plain = text.strip()
    if not plain or len(plain) > _MARKUP_LONGEST:
        return None
    if plain.startswith("{") and plain.endswith("}"):
        try:
            body = json.loads(plain)
        except (ValueError, RecursionError):
            return None
        return "JSON error as a reply" if is_error_object(body) else None
    if _MARKUP.match(plain):
        return "web page as a reply"
    if _TRACE.match(plain):
        return "traceback as a reply"
    known = _STATUS.fullmatch(plain) or _WITH_BODY.fullmatch(plain)
    return "error text as a reply" if known else None


def is_error_object(body: Any) -> bool:
    """Whether a JSON value is an error as services send them."""
    if not isinstance(body, Mapping):
        return False
    if body.get("error") or body.get("errors"):
        return True
    if "error" in str(body.get("object", "")) or body.get("type") == "error":
        return True
    plain = {"detail", "message", "code", "status", "status_code", "type", "param", "request_id"}
    return bool(body) and set(body) <= plain and bool({"detail", "message"} & set(body))


_VARIES = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|[^\W\d_]*\d[\w:.,/+-]*", re.I)


def alike(text: str) -> str:
    """What is left of a text without identifiers, times and numbers (`request 8f31...`)."""
    return _VARIES.sub("#", " ".join(text.casefold().split()))


_told: Counter[tuple[str, str]] = Counter()


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
