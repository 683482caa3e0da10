"""How a model's results were made: by which versions of tasks, and who judged and translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xling_tasks.criteria import CRITERIA
from xling_tasks.report.data import Model, Task
from xling_tasks.report.tables.grid import heading
from xling_tasks.secrets import publishable_text

ROLES = ("judge", "reader", "translator")
"""The models beside the one under test that scores depend on."""


@dataclass(frozen=True)
class Made:
    """A criterion over a dataset.

    Attributes:
        title: What it is called.
        versions: Of its tasks.
        helpers: Role -> the models that had it; several where languages differ.
    """

    title: str
    versions: tuple[str, ...]
    helpers: dict[str, tuple[str, ...]]


def how_made(model: Model) -> tuple[Made, ...]:
    """Everything that a model was measured by, its languages together."""
    abouts: dict[tuple[str, str], list[Task]] = {}
    for task in model.tasks:
        abouts.setdefault((task.place.criterion, task.place.dataset), []).append(task)
    return tuple(
        Made(heading(*about), _versions(tasks), _helpers(about[0], tasks))
        for about, tasks in abouts.items()
    )


def _versions(tasks: list[Task]) -> tuple[str, ...]:
    found = {(task.results.config.get("metadata") or {}).get("version") for task in tasks}
    return tuple(sorted(str(version) for version in found if version is not None))


def _helpers(criterion: str, tasks: list[Task]) -> dict[str, tuple[str, ...]]:
    helpers = {}
    for role in ROLES:
        if role in CRITERIA[criterion].settings:
            given = [(task.results.xling.get("settings") or {}).get(role) for task in tasks]
            if names := dict.fromkeys(name for each in given for name in _names(each)):
                helpers[role] = tuple(names)
    return helpers


def _names(given: Any) -> Iterator[str]:
    """What a model setting names: a model, the one under test, the judge, or several."""
    if isinstance(given, list):
        for each in given:
            yield from _names(each)
    elif isinstance(given, str) and given:
        yield "the model itself" if given == "self" else publishable_text(given)
    elif isinstance(given, Mapping) and given.get("model"):
        backend, args = str(given["model"]), given.get("model_args") or {}
        name = args.get("peft") or args.get("pretrained") or args.get("model") or args.get("path")
        if backend == "self":
            yield "the model itself"
        else:
            yield publishable_text(f"{name} ({backend})" if name else backend)
