"""What benchmarks share: the time of a call, a table on the screen, and texts.

On a busy machine processor time is the one to trust.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# One BLAS thread is the references' best case (more on busy cores slowed langid down 40 times); read
# when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

REAL = os.environ.get("XLING_REALDATA")
"""The folder of real data; texts are made up where there is none."""


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


def _cpu() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def show(*cells: object, head: bool = False) -> None:
    """A row of a table; below the first one its line."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if head:
        print("|" + "---|" * len(cells))


def compare(part: str, reference: Seconds, ours: Seconds, check: str = "") -> None:
    """A row: the seconds of both sides and how many times ours is faster, by wall clock and processor."""
    sides = zip(reference, ours, strict=True)
    show(part, *(f"{r:.2f} | {o:.3f} | {r / o:.1f}x" for r, o in sides), check)


COMPARED = ("part", "reference_s", "ours_s", "ratio", "reference_cpu_s", "ours_cpu_s", "cpu_ratio", "check")  # fmt: skip
"""The head of a table of `compare`."""


def texts(language: str, n: int = 250) -> list[str]:
    """Real texts in a language, or some of twelve made-up words a sentence that are common by Zipf's law."""
    if REAL:
        from rationale_texts import real

        return real(Path(REAL), language)
    draw = random.Random(language)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randrange(2, 9))) for _ in range(4000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    made = []
    for _ in range(n):
        own = draw.sample(words, len(words))  # each text has an order of its own
        made.append(" ".join(" ".join(draw.choices(own, weights, k=12)) + "." for _ in range(9)))
    return made
