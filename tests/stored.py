"""What lies in the store of a cache folder, and runs that die on the way, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from xling_tasks.harness import watch
from xling_tasks.replies.journal import Content, journals, read_journal
from xling_tasks.replies.role import saved_places, saved_rows


class Killed(BaseException):
    """Stands for a kill: no handler for exceptions sees it."""


@contextmanager
def dying_after(answers: int) -> Iterator[None]:
    """A run in here dies when the model has given some answers."""
    add, left = watch._Hook.add_partial, itertools.count(answers, -1)

    def add_partial(self: Any, *told: Any) -> None:
        if next(left) <= 0:
            raise Killed
        add(self, *told)

    with mock.patch.object(watch._Hook, "add_partial", add_partial):
        yield


def names_in(cache: Path) -> list[tuple[Path, str]]:
    """The journals, each by its file and name."""
    path = cache / "replies.sqlite"
    return [(path, name) for name in journals(path)] if path.is_file() else []


def journals_in(cache: Path) -> list[Content]:
    """What the journals hold."""
    return [read_journal(*each) for each in names_in(cache)]


def saved_in(cache: Path) -> dict[str, list[dict[str, Any]]]:
    """The answers that are saved: by task, the header and the documents."""
    path = cache / "replies.sqlite"
    places = saved_places(path) if path.is_file() else {}
    return {
        header["task"]: [row for _, row in saved_rows(place)] for place, header in places.items()
    }
