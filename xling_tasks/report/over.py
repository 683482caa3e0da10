"""A task over some of its questions."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

from xling_tasks.report.data import Task


def over(task: Task, ids: Sequence[str]) -> Task:
    """A task over some of its questions in a given order."""
    place = {key: index for index, key in enumerate(task.ids)}
    order = [place[key] for key in ids]
    return replace(
        task,
        ids=list(ids),
        offsets=array("q", (task.offsets[index] for index in order)),
        columns={
            name: replace(column, sums=column.sums[order]) for name, column in task.columns.items()
        },
        rows={key: task.rows[key] for key in ids if key in task.rows},
        unread={name: own[order] for name, own in task.unread.items()},
        outcomes={code: [own[at] for at in order] for code, own in task.outcomes.items()},
        texts=array("q", (task.texts[index] for index in order)),
    )
