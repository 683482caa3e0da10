"""The logs of several parts of one task, read as one: shards, or the halves of a run."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xling_tasks.errors import DataError
from xling_tasks.logs.replay_log import Entry, LoggedRequest, TaskLog


class JoinedLog:
    """Logs of one task, each with other documents; see `TaskLog`.

    Args:
        parts: The logs, of one model.

    Attributes:
        parts: They, in the order given.

    Raises:
        DataError: If some were made with a chat template and others without.
    """

    def __init__(self, parts: Sequence[TaskLog]) -> None:
        first = parts[0]
        self.parts = list(parts)
        self.task, self.model, self.model_args = first.task, first.model, first.model_args
        self.recorded = first.recorded
        self.run = max(part.run for part in parts)
        self.template = next((part.template for part in parts if part.template), first.template)
        self.paths = [path for part in parts for path in part.paths]
        for part in parts[1:]:
            if (part.template is None) != (first.template is None):
                raise DataError(
                    f"{self.task}: {first.paths[0]} and {part.paths[0]} are no parts of one run: "
                    "a chat template was applied in one of them only"
                )

    @functools.cached_property
    def index(self) -> dict[str, Entry]:
        """The places of the documents by digest.

        Raises:
            DataError: If two parts have the same document.
        """
        entries: dict[str, Entry] = {}
        for part in self.parts:
            for digest, entry in part.index.items():
                twin = entries.get(digest)
                if twin is not None:
                    raise DataError(
                        f"{self.task}: {entry.path}, row {entry.row} and {twin.path}, row "
                        f"{twin.row} are the same question, so these are no parts of one run; "
                        "leave one of them out (path=..., or run=... within a folder)"
                    )
                entries[digest] = entry
        return entries

    @functools.cached_property
    def questions(self) -> dict[str, Entry]:
        """The places of the documents by question, for messages."""
        return {key: entry for part in self.parts for key, entry in part.questions.items()}

    def first(self) -> list[LoggedRequest]:
        """The requests of the first document, by which one tells how the run asked."""
        return self.parts[0].first()

    def missing_ranks(self) -> list[int]:
        """Processes of a part whose file is not there."""
        return sorted({rank for part in self.parts for rank in part.missing_ranks()})
