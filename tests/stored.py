"""What lies in the store of a cache folder, and runs that die on the way, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from xling_tasks.lm.resumable import ResumableLM


class Killed(BaseException):
    """Stands for a kill: no handler for exceptions sees it."""


@contextmanager
def dying_after(answers: int) -> Iterator[None]:
    """A run in here dies when the model has given some answers."""
    keep, left = ResumableLM._keep, itertools.count(answers, -1)

    def keep_or_die(self: Any, *args: Any) -> None:
        if next(left) <= 0:
            raise Killed
        keep(self, *args)

    with mock.patch.object(ResumableLM, "_keep", keep_or_die):
        yield


def kept_in(cache: Path) -> list[Path]:
    """The folders with answers of runs that are not over."""
    return [p for p in sorted((cache / "answers").glob("*")) if list(p.glob("*.jsonl"))]
