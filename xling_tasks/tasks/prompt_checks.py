"""Prompts that a model cannot be asked as they are, known before the run.

- A chat service without a chat template (the harness stops at each request with a traceback).
- A `--limit` with which no difference can be shown.
- Conversations that a chat template refuses (lm-evaluation-harness #2069), such as a system turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xling_tasks.errors import SettingError
from xling_tasks.harness.backends import speaks_chat, unwrapped
from xling_tasks.log import warn_once

ALPHA = 0.05
MARGIN = 0.05  # of most verdicts: a difference of 5 of 100 answers


def refuse_plain_chat(lm: Any, *, chat_template: bool) -> None:
    """Refuse to send plain prompts to a chat service, which takes conversations.

    Raises:
        SettingError: If it would be.
    """
    if speaks_chat(lm) and not chat_template:
        raise SettingError(
            f"{type(unwrapped(lm)).__name__} takes conversations: run it with --apply_chat_template"
        )


def fewest_questions(comparisons: int) -> int:
    """Return how many questions a sign-flip test needs to show anything, with Holm's correction.

    If all n differences have one sign, its two-sided p is `2 / 2^n`; the smallest of m p-values
    must be below `ALPHA / m`.
    """
    return math.floor(math.log2(2 * max(1, comparisons) / ALPHA)) + 1


def warn_of_limit(limit: float | None, available: int, comparisons: int) -> None:
    """Warn if a `--limit` leaves too few questions to show any difference.

    Args:
        limit: The harness's: a number of questions, or below 1 a share of them; None for all.
        available: Questions of the task.
        comparisons: Languages that are compared with English.
    """
    if limit is None or comparisons < 1:
        return
    asked = min(available, math.ceil(limit * available) if limit < 1 else int(limit))
    needed = fewest_questions(comparisons)
    if asked < needed:
        equivalent = math.ceil(-math.log(ALPHA / comparisons) / MARGIN)
        warn_once(
            f"--limit {limit:g}: with {asked} questions no difference between languages can be "
            f"shown. At least {needed} are needed to show a difference, and about {equivalent} to "
            f"show that there is none of {100 * MARGIN:g} points"
        )


def find_refused(
    template: Callable[..., Any], conversations: Iterable[tuple[str, Sequence[Mapping[str, str]]]]
) -> dict[str, str]:
    """Return id -> reason of the conversations that a chat template refuses or shortens.

    The harness drops a system turn that a template refuses; the model would answer another
    conversation.

    Args:
        template: The model's `apply_chat_template`.
        conversations: Ids with their turns.
    """
    refused = {}
    for key, turns in conversations:
        rest = [dict(turn) for turn in turns if turn["role"] != "system"]
        try:
            prompt = template([dict(turn) for turn in turns], add_generation_prompt=True)
            if len(rest) < len(turns) and prompt == template(rest, add_generation_prompt=True):
                refused[key] = "it has no system turn"
        except Exception as error:  # jinja2's TemplateError, or whatever a template raises
            refused[key] = (str(error).strip() or type(error).__name__).splitlines()[0]
    return refused
