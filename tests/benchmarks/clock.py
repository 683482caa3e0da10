"""Wall-clock and processor time of a call: on a busy machine the second is the one to trust."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Seconds(NamedTuple):
    """How long something took; `cpu` is over all threads and finished child processes."""

    wall: float
    cpu: float

    def __add__(self, other: Any) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def times(self, factor: float) -> Seconds:
        """Scaled, as to 1,000 questions."""
        return Seconds(self.wall * factor, self.cpu * factor)


def timed(function: Callable[[], Any]) -> tuple[Seconds, Any]:
    """The time of one call, and what it returns."""
    cpu, start = _cpu(), time.perf_counter()
    result = function()
    return Seconds(time.perf_counter() - start, _cpu() - cpu), result


def compared(part: str, reference: Seconds, ours: Seconds, **rest: Any) -> dict[str, Any]:
    """A row of a table."""
    return {
        "part": part,
        "reference_s": reference.wall,
        "ours_s": ours.wall,
        "ratio": reference.wall / ours.wall,
        "reference_cpu_s": reference.cpu,
        "ours_cpu_s": ours.cpu,
        "cpu_ratio": reference.cpu / ours.cpu,
        **rest,
    }


def _cpu() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system
