"""What a backend's cache hook tells: of which request, and whether what is returned is the same."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from xling_tasks.logs.results import as_json


def hook_key(kind: str, request: Any) -> tuple[Any, ...]:
    """By what a request is known when the hook tells of it."""
    context, argument = request[0], request[1]
    if not isinstance(context, (str, tuple)):
        context = as_json(context)
    # Few arguments among many requests: one text for each.
    return kind, context, sys.intern(as_json(argument))


def changed_answers(early: dict[int, Any], chunk: Iterable[int], given: Sequence[Any]) -> set[int]:
    """Answers that the hook told otherwise; equal requests may have changed places among them."""
    returned = dict(zip(chunk, given, strict=True))
    if Counter(early.values()) == Counter(returned[number] for number in early):
        return set()
    return {number for number, answer in early.items() if returned[number] != answer}
