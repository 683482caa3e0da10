"""Responses that were paid for, on disk when they arrive: append-only JSONL, a file per process.

A cache is a folder (one per role, one per task of the model under test). Every process appends to
a file of its own and reads the files of all, so that there is one writer per file and nothing to
lock, also on network disks; a process that is killed loses at most the line it was writing. Of
several lines with one key the last in the newest file counts; `null` takes a value back.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xling_tasks.errors import user_path
from xling_tasks.log import log, warn_once

_JSON = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str)


def cache_folder(setting: str | bool | None) -> Path | None:
    """Return the cache folder: the setting, else `XLING_CACHE`, else `~/.cache/xling_tasks`.

    Returns:
        The folder, created if need be; None if the setting is False, or (with a warning) if it
        cannot be created: a cache never ends a run.
    """
    name = setting if isinstance(setting, str) else os.environ.get("XLING_CACHE")
    # In the environment everything is text: 'false' there is no name of a folder.
    if setting is False or (setting is None and str(name).lower() in ("false", "off", "0")):
        return None
    folder = user_path(name or "~/.cache/xling_tasks")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        warn_once(
            f"the cache folder {folder} cannot be created ({error}); the run goes on without: "
            "responses of judges and translators are not stored for a later run. Set --metadata "
            "xling_cache=FOLDER or the environment variable XLING_CACHE"
        )
        return None
    return folder


def cache_key(*parts: Any) -> str:
    """Return a content key: the digest of the parts' canonical JSON."""
    text = _JSON.encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ResponseCache:
    """JSON values by key; with `folder=None` they are in memory only. Threads may share it.

    Attributes:
        folder: Where the files are.
        files_before: How many files there were when it was opened.
        error: Why nothing more can be written; '' while it can.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.error = folder, ""
        self._memory: dict[str, Any] = {}
        self._lines: dict[str, tuple[Path, int]] = {}  # key -> file and offset of its line
        self._scanned: dict[Path, int] = {}  # file -> offset up to which it is known
        self._process, self._out, self._lock = 0, -1, threading.RLock()
        self._scan()
        self.files_before = len(self._scanned)

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of the keys that are known, also to other processes."""
        values: dict[str, Any] = {}
        by_file: dict[Path, list[tuple[int, str]]] = defaultdict(list)
        with self._lock:
            self._scan()
            for key in dict.fromkeys(keys):
                if key in self._memory:
                    values[key] = self._memory[key]
                elif key in self._lines:
                    path, offset = self._lines[key]
                    by_file[path].append((offset, key))
        for path, offsets in by_file.items():
            with path.open("rb") as file:
                for offset, key in sorted(offsets):
                    file.seek(offset)
                    values[key] = json.loads(file.readline())[1]
        return values

    def get_all(self) -> dict[str, Any]:
        """Return all values."""
        with self._lock:
            self._scan()
            keys = [*self._lines, *self._memory]
        return self.get_many(keys)

    def put_many(self, values: Mapping[str, Any]) -> None:
        """Write values; a disk that takes none is logged, and they stay in memory."""
        with self._lock:
            if self.folder is None or self.error:
                self._memory.update(values)
                return
            lines = [json.dumps([key, value]).encode() + b"\n" for key, value in values.items()]
            try:
                self._append(self.folder, lines, [*values])
            except OSError as error:
                self._memory.update(values)
                self.error = str(error)
                log.warning("%s cannot be written (%s); the run goes on without it",
                            self.folder, error)  # fmt: skip

    def discard(self, keys: Iterable[str]) -> None:
        """Take values back."""
        with self._lock:
            stored = [key for key in keys if key in self._lines or key in self._memory]
            if stored:
                self.put_many(dict.fromkeys(stored))
            for key in stored:
                self._memory.pop(key, None)
                self._lines.pop(key, None)

    def __len__(self) -> int:
        return len(self._lines.keys() | self._memory.keys())

    def close(self, *, clear: bool = False) -> None:
        """Close this process's file; with `clear` remove the whole folder."""
        with self._lock:
            if self._out >= 0 and self._process == os.getpid():
                os.close(self._out)
            self._out = -1
        if clear and self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _append(self, folder: Path, lines: list[bytes], keys: list[str]) -> None:
        if self._out < 0 or self._process != os.getpid():  # a fork writes to a file of its own
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{len(self._scanned):04d}-{socket.gethostname()}-{os.getpid()}.jsonl"
            self._file, self._process = folder / name, os.getpid()
            self._out = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        offset = os.fstat(self._out).st_size
        data = b"".join(lines)
        if os.write(self._out, data) != len(data):
            raise OSError("the disk is full")
        for key, line in zip(keys, lines, strict=True):
            self._lines[key] = (self._file, offset)
            offset += len(line)
        self._scanned[self._file] = offset

    def _scan(self) -> None:
        """Index the whole lines that were written since the last look."""
        if self.folder is None or not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.jsonl")):
            offset = self._scanned.setdefault(path, 0)
            if path.stat().st_size <= offset:
                continue
            with path.open("rb") as file:
                file.seek(offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # being written, or cut by a kill
                    self._index(path, offset, line)
                    offset += len(line)
            self._scanned[path] = offset

    def _index(self, path: Path, offset: int, line: bytes) -> None:
        head, comma, value = line.partition(b'", ')
        if not comma or head[:2] != b'["' or not value.endswith(b"]\n"):
            return  # a damaged line: asked again
        key = head[2:].decode("ascii", "replace")
        if value == b"null]\n":
            self._lines.pop(key, None)
        else:
            self._lines[key] = (path, offset)


def open_cache(namespace: str, folder: Path | None) -> ResponseCache:
    """Return the cache of a role in a cache folder; in memory without one."""
    return ResponseCache(None if folder is None else folder / "responses" / namespace)
