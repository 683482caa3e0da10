"""Whether two runs were made alike: what would make a difference between models meaningless."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from xling_tasks.criteria import panel_of
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.logs import alike
from xling_tasks.report.data import Task

_WIDTH = 160


class Difference(NamedTuple):
    """Something in which two runs differ.

    Attributes:
        what: Its name.
        a: What it is in A.
        b: What it is in B.
        tasks: The tasks in which it differs so.
    """

    what: str
    a: str
    b: str
    tasks: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.tasks) - 1
        where = self.tasks[0] + (f" and {more} more" if more else "")
        return f"{self.what} is {self.a} in A, but {self.b} in B ({where})"


def differences(pairs: Iterable[tuple[Task, Task, Sequence[str]]]) -> list[Difference]:
    """Everything that makes scores of two runs incomparable, each once with its tasks.

    Args:
        pairs: The same task of A and of B, and the metrics that are compared.

    Returns:
        Settings, prompts, data, generation and chat template first, then signatures.
    """
    tasks_by_difference: dict[tuple[str, str, str], dict[str, None]] = {}
    signed: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for a, b, names in pairs:
        task = a.results.task
        for unlike in alike.differences([(a.results, b.results)]):
            sides = _shown(unlike.first, unlike.other)
            tasks_by_difference.setdefault((unlike.what, *sides), {})[task] = None
        changed = list(_signatures(a, b, names))
        for metric, own, other in changed:
            metrics, tasks = signed.setdefault((own, other), ({}, {}))
            metrics[metric] = tasks[task] = None
        own, other = (str(side.results.xling.get("version")) for side in (a, b))
        if changed and own != other:
            tasks_by_difference.setdefault(("version of xling-tasks", own, other), {})[task] = None
    return [Difference(*key, tuple(tasks)) for key, tasks in tasks_by_difference.items()] + [
        Difference(f"signature of {', '.join(metrics)}", *_shown(*sides), tuple(tasks))
        for sides, (metrics, tasks) in signed.items()
    ]


def _signatures(a: Task, b: Task, names: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """(metric, what only A's signature has, what only B's has) of every metric that differs."""
    own, other = (side.results.xling.get("signatures") or {} for side in (a, b))
    for name in names:
        first, second = (
            identity_in_signature(str(side.get(name, "none"))) for side in (own, other)
        )
        if first != second:
            parts = first.split("|"), second.split("|")
            only = ["|".join(part for part in x if part not in y) for x, y in (parts, parts[::-1])]
            metric = panel_of(a.place, name)[0].metric
            yield metric, only[0] or first, only[1] or second


def _shown(a: str, b: str) -> tuple[str, str]:
    """Two texts, shortened to where they begin to differ."""
    start = 0
    if max(len(a), len(b)) > _WIDTH:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
        start = max(0, sum(1 for _ in alike) - _WIDTH // 4)
    return _cut(a, start), _cut(b, start)


def _cut(text: str, start: int) -> str:
    end = start + _WIDTH
    return "…" * (start > 0) + text[start:end] + "…" * (len(text) > end)
