"""Answers of the model under test that are there to be scored, and scored again."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.file import before
from xling_tasks.replies.folder import ENDING, REPLIES, key_of
from xling_tasks.replies.role import ANSWERS, store_of
from xling_tasks.replies.store import ReplyStore

STORES = f"{REPLIES}*{ENDING}"
"""What files of the store are called."""

_DIGITS = 16


def save_answers(folder: Path, task: str, rank: int, rows: Iterable[Mapping[str, Any]]) -> str:
    """Put a task's answers into the store before they are scored, all or none.

    The harness writes everything at the very end, so a crash while scoring would lose them.

    Returns:
        Where they are, the store's file and the shelf; '' if they could not be written.
    """
    stamp = f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{time.time_ns()}"
    shelf = f"{ANSWERS}/{stamp}-rank{rank}-{key_of(task)[:_DIGITS]}"
    store = store_of(shelf, folder)
    texts = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    store.put_many({_number(number): text for number, text in enumerate(texts)})
    kept = store.keeps
    store.close()
    return str(store.path / shelf) if kept else ""


def saved_places(path: Path) -> dict[Path, dict[str, Any]]:
    """Where answers are in a file of the store, each the file and a shelf, with their headers."""
    with closing(Shelves(path)) as file:
        shelves = file.names(f"{ANSWERS}/")
    keys = {f"{before(shelf)}{_number(0)}": path / shelf for shelf in shelves}
    with closing(ReplyStore(path)) as store:
        return {keys[key]: json.loads(text) for key, text in store.get_many(keys).items()}


def saved_rows(place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and content of what is at a place of saved answers; the first is the header."""
    with closing(_at(place)) as store:
        for key, text in store.everything().items():
            yield int(key), json.loads(text)


def saved_row(place: Path, number: int) -> dict[str, Any]:
    """One of the rows; an empty one if it is gone."""
    key = _number(number)
    found: dict[str, Any] = json.loads(_open(place).get_many([key]).get(key, "{}"))
    return found


def forget_saved(place: str) -> None:
    """Take saved answers away: those of a shelf, or the file that version 0.2 wrote."""
    if Path(place).parent.parent.suffix == ENDING:
        _at(Path(place)).close(clear_if_last=True)
    else:
        with suppress(OSError):
            Path(place).unlink()


@functools.lru_cache(maxsize=8)  # the processes of a run
def _open(place: Path) -> ReplyStore:
    return _at(place)


def _at(place: Path) -> ReplyStore:
    return ReplyStore(place.parent.parent, f"{place.parent.name}/{place.name}")


def _number(row: int) -> str:
    return f"{row:09d}"
