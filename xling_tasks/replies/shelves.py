"""A file of the store as a whole: which shelves it has, how large they are; making it smaller."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from xling_tasks.replies import file
from xling_tasks.replies.durable import Durable


class Shelves(Durable):
    """A file of the store.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, writes=True)

    def names(self, beginning: str = "") -> list[str]:
        """The shelves whose name begins so, by name."""
        found: list[str] = []

        def read() -> None:
            found.clear()
            first, select = beginning, "SELECT MIN(key) FROM replies WHERE key >= ? AND key < ?"
            with self._transaction(begin=False) as db:
                # From shelf to shelf, whatever is on each.
                while key := db.execute(select, (first, beginning + file.LAST)).fetchone()[0]:
                    found.append(key.decode("utf-8", "replace").partition(":")[0])
                    first = max(file.within(found[-1])[1], first + "\0")

        self._attempt("read", read)
        return found

    def sizes(self) -> dict[str, tuple[int, int]]:
        """How many replies and bytes are on each shelf."""
        found: dict[str, tuple[int, int]] = {}
        select = "SELECT COUNT(*), TOTAL(LENGTH(key) + LENGTH(reply)) FROM replies"

        def read() -> None:
            with self._transaction(begin=False) as db:
                for shelf in names:
                    bounds = file.within(shelf)
                    row = db.execute(f"{select} WHERE key >= ? AND key < ?", bounds).fetchone()
                    found[shelf] = (int(row[0]), int(row[1]))

        names = self.names()
        self._attempt("read", read)
        return found

    def shrink(self) -> None:
        """Give the room of what was removed back to the disk, if nobody else is at work."""
        with suppress(sqlite3.Error, OSError), self._guard:
            self._opened().execute("VACUUM")

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._let_go()
