"""What lies in the store of a cache folder, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xling_tasks.replies.journal import Content, journals, read_journal
from xling_tasks.replies.role import saved_places, saved_rows


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
