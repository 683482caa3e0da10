"""Models whose runs were made alike: only they are ranked together."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria import Place
from xling_tasks.logs import alike
from xling_tasks.report.board.model import Entry, Group
from xling_tasks.report.compare.settings import Difference, differences
from xling_tasks.report.data import Task
from xling_tasks.secrets import publishable_text


def groups_of(entries: Sequence[Entry], criterion: str, dataset: str) -> tuple[Group, ...]:
    """The models of one criterion and dataset, those that were run alike together.

    Alike is what `xling compare` calls so: settings, judge, prompts, data, generation, versions
    of tasks, and the signatures of the endpoints. A model joins the first group none of whose
    members differs from it: in a task that both have, or, where they have no language in common,
    in what a language does not change.
    """
    members: list[list[Entry]] = []
    for entry in entries:
        if not any(_is_about(place, criterion, dataset) for place in entry.tasks):
            continue
        for group in members:
            if not any(_unlike(other, entry, criterion, dataset) for other in group):
                group.append(entry)
                break
        else:
            members.append([entry])
    first = members[0][0] if members else None
    return tuple(
        Group(
            number,
            tuple(entry.name for entry in group),
            tuple(_told(first, group[0], number, criterion, dataset)) if first else (),
        )
        for number, group in enumerate(members, 1)
    )


def _is_about(place: Place, criterion: str, dataset: str) -> bool:
    return (place.criterion, place.dataset) == (criterion, dataset)


def _unlike(a: Entry, b: Entry, criterion: str, dataset: str) -> list[Difference]:
    """What two models' runs differ in."""
    pairs: list[tuple[Task, Task, Sequence[str]]] = []
    for place, task in a.tasks.items():
        other = b.tasks.get(place)
        if other is not None and _is_about(place, criterion, dataset):
            names = {item.name for item in a.cells.values()}
            shared = [name for name in task.scores if name in names and name in other.scores]
            pairs.append((task, other, shared))
    return differences(pairs) if pairs else _across(a, b, criterion, dataset)


def _across(a: Entry, b: Entry, criterion: str, dataset: str) -> list[Difference]:
    """In what the runs of two models differ that have no language in common."""
    own, other = (
        next(task for place, task in entry.tasks.items() if _is_about(place, criterion, dataset))
        for entry in (a, b)
    )
    unlike = alike.differences([(own.results, other.results)], across_languages=True)
    return [Difference(each.what, each.first, each.other, each.tasks) for each in unlike]


def _told(first: Entry, own: Entry, number: int, criterion: str, dataset: str) -> list[str]:
    if own is first:
        return []
    return [
        publishable_text(f"{item.what}: {item.a} in group 1, {item.b} in group {number}")
        for item in _unlike(first, own, criterion, dataset)
    ]
