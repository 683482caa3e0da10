"""What tasks of ours recorded in a results file of the harness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def recorded(configs: Any, task: str) -> dict[str, Any]:
    """Return what a task of ours recorded; {} of others."""
    try:
        return dict(configs[task]["metadata"]["xling"])
    except (LookupError, TypeError, ValueError):
        return {}


def with_bookkeeping(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a results file's content, with what tasks recorded beside their scores among these.

    What is no mapping stays as it is: it is refused where contents are checked.
    """
    results = content.get("results")
    if not isinstance(results, Mapping):
        return dict(content)
    completed = {}
    for task, scores in results.items():
        diagnostics = recorded(content.get("configs"), task).get("bookkeeping")
        completed[task] = scores
        if isinstance(diagnostics, Mapping) and isinstance(scores, Mapping):
            extra = {f"{name},none": value for name, value in diagnostics.items()}
            completed[task] = {**scores, **extra, **scores}
    return {**content, "results": completed}
