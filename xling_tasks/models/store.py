"""A disk cache of replies, safe for several processes, and the files of answers to be scored."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xling_tasks.errors import SettingError

_LOOKUP_CHUNK = 500


def cache_folder(setting: str | bool | None) -> Path | None:
    """The folder for caches: the setting, else `XLING_CACHE`, else `~/.cache/xling_tasks`.

    Returns:
        The folder, made if need be; None if the setting is False.

    Raises:
        SettingError: If the folder cannot be made.
    """
    if setting is False:
        return None
    named = setting if isinstance(setting, str) else os.environ.get("XLING_CACHE")
    folder = Path(named or "~/.cache/xling_tasks").expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"the cache folder {folder} cannot be made ({error}); set --metadata "
            "xling_cache=FOLDER or the environment variable XLING_CACHE, or switch it off with "
            "xling_cache=false"
        ) from error
    return folder


def key_of(*parts: Any) -> str:
    """A content key: the digest of the parts' canonical JSON."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyStore:
    """Replies by content key in one SQLite file.

    Several processes may read and write one store; a reply once written is never changed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.sqlite"
        with self._connect() as db:
            db.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The replies known among `keys`."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, str] = {}
        with self._connect() as db:
            for start in range(0, len(wanted), _LOOKUP_CHUNK):
                part = wanted[start : start + _LOOKUP_CHUNK]
                marks = ",".join("?" * len(part))
                found.update(
                    db.execute(f"SELECT key, reply FROM replies WHERE key IN ({marks})", part)
                )
        return found

    def put_many(self, replies: Mapping[str, str]) -> None:
        """Store replies; those already there stay."""
        with self._connect() as db:
            db.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", replies.items())

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)


def save_answers(folder: Path, task: str, rank: int, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a task's answers as JSONL before they are scored; returns the new file.

    The harness writes everything at the very end, so a crash while scoring would lose them. A
    file that is there is whole.
    """
    target = folder / "answers"
    target.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S")
    path = target / f"{task}_{stamp}_{time.time_ns()}_{os.getpid()}_rank{rank}.jsonl"
    unfinished = path.with_suffix(".part")
    with unfinished.open("x", encoding="utf-8") as handle:
        for row in rows:
            handle.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return unfinished.rename(path)
