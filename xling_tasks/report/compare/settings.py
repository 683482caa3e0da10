"""Whether two runs were made alike: what would make a difference between models meaningless."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from xling_tasks.criteria import panel_of
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.logs import alike
from xling_tasks.logs.alike import Difference
from xling_tasks.report.data import Task

_WIDTH = 160


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
        for found in alike.differences([(a.results, b.results)]):
            sides = _shown(found.first, found.other)
            tasks_by_difference.setdefault((found.what, *sides), {})[task] = None
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


def made_differently(pairs: Sequence[tuple[Task, Task, Sequence[str]]]) -> list[str]:
    """What `differences` finds, a line each: how it is in A and in B, and in which tasks."""
    lines = []
    for found in differences(pairs):
        more = len(found.tasks) - 1
        where = found.tasks[0] + (f" and {more} more" if more else "")
        lines.append(f"{found.what} is {found.first} in A, but {found.other} in B ({where})")
    return lines


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
