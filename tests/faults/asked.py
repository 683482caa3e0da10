"""Answers of an API backend, as a run gets them: by `calls.stream`, without a harness around it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from xling_tasks.lm.service import as_text
from xling_tasks.models.calls import stream
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Call, concurrency


def generate(
    lm: Any,
    requests: Sequence[tuple[Any, Mapping[str, Any]]],
    limits: Limits | None = None,
) -> list[str]:
    limits = limits or Limits.of({"timeout": getattr(lm, "timeout", Limits.timeout)})
    health = Health("the model under test", limits, concurrency(lm))
    calls = [Call(context, dict(gen_kwargs)) for context, gen_kwargs in requests]
    answers = [""] * len(calls)
    with contextlib.closing(stream(lm, calls, limits, health)) as arriving:
        for place, reply in chain.from_iterable(arriving):
            answers[place] = as_text(reply)
    return answers
