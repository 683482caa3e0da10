"""Replies that were paid for, on disk when they arrive: append-only JSONL, a file per process.

A store is a folder (one per role, one per task of the model under test). Every process appends to a
file of its own and reads the files of all. So there is one writer per file and nothing to lock,
which also holds on network disks; a process that is killed loses at most the line it was writing.
Of several lines on one key the last in the newest file counts; `null` takes a reply back.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from xling_tasks.log import log

T = TypeVar("T", bound=Hashable)


class ReplyStore:
    """JSON values by key; with `folder=None` they are kept in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.failed = folder, ""
        self._memory: dict[str, Any] = {}
        self._place: dict[str, tuple[Path, int]] = {}  # key -> file and offset of its line
        self._read: dict[Path, int] = {}
        self._process, self._out, self._end = 0, -1, 0
        self._scan()
        self.runs_before = len(self._read)

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """What is known among some keys, also what other processes have written since."""
        self._scan()
        found: dict[str, Any] = {}
        by_file: dict[Path, list[tuple[int, str]]] = {}
        for key in dict.fromkeys(keys):
            if key in self._memory:
                found[key] = self._memory[key]
            elif key in self._place:
                path, at = self._place[key]
                by_file.setdefault(path, []).append((at, key))
        for path, places in by_file.items():
            with path.open("rb") as file:
                for at, key in sorted(places):
                    file.seek(at)
                    found[key] = json.loads(file.readline())[1]
        return found

    def everything(self) -> dict[str, Any]:
        """All that is known."""
        self._scan()
        return self.get_many([*self._place, *self._memory])

    def put_many(self, values: Mapping[str, Any], *, replace: bool = False) -> None:
        """Keep some values; those already known stay, unless they are to be replaced."""
        new = {k: v for k, v in values.items() if replace or k not in self._place}
        if self.folder is None:
            self._memory.update(new)
            return
        lines = [json.dumps([key, value]).encode() + b"\n" for key, value in new.items()]
        try:
            self._append(lines, [*new])
        except OSError as error:
            self._memory.update(new)
            if not self.failed:
                log.warning(
                    "%s cannot be written (%s); the run goes on without", self.folder, error
                )
            self.failed = str(error)

    def forget(self, keys: Iterable[str]) -> None:
        """Take back what turned out to be no reply."""
        gone = [key for key in keys if key in self._place or key in self._memory]
        self.put_many(dict.fromkeys(gone), replace=True)
        for key in gone:
            self._memory.pop(key, None)
            self._place.pop(key, None)

    def share(
        self,
        key: Mapping[T, str],
        known: Callable[[dict[T, Any]], None],
        ask: Callable[[list[T]], None],
    ) -> None:
        """Hand over what is known of some things, and have the rest asked for."""
        there = self.get_many(key.values())
        known({item: there[k] for item, k in key.items() if k in there})
        if rest := [item for item, k in key.items() if k not in there]:
            ask(rest)

    def __len__(self) -> int:
        return len(self._place) + len(self._memory)

    def close(self, *, clear: bool = False) -> None:
        """Let go of the own file; with `clear` the whole folder goes."""
        if self._out >= 0 and self._process == os.getpid():
            os.close(self._out)
        self._out = -1
        if clear and self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _append(self, lines: list[bytes], keys: list[str]) -> None:
        assert self.folder is not None
        if self._out < 0 or self._process != os.getpid():
            self.folder.mkdir(parents=True, exist_ok=True)
            name = f"{len(self._read):04d}-{socket.gethostname()}-{os.getpid()}.jsonl"
            self._own, self._process = self.folder / name, os.getpid()
            self._out = os.open(self._own, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._end = os.fstat(self._out).st_size
        data = b"".join(lines)
        if os.write(self._out, data) != len(data):
            raise OSError("the disk is full")
        for key, line in zip(keys, lines, strict=True):
            self._place[key] = (self._own, self._end)
            self._end += len(line)
        self._read[self._own] = self._end

    def _scan(self) -> None:
        """Note the whole lines that have come since the last look; others are skipped."""
        if self.folder is None or not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.jsonl")):
            at = self._read.setdefault(path, 0)
            if path.stat().st_size <= at:
                continue
            with path.open("rb") as file:
                file.seek(at)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # being written, or cut by a kill
                    self._note(path, at, line)
                    at += len(line)
            self._read[path] = at

    def _note(self, path: Path, at: int, line: bytes) -> None:
        head, comma, rest = line.partition(b'", ')
        if not comma or head[:2] != b'["' or not rest.endswith(b"]\n"):
            return  # a damaged line: asked again
        key = head[2:].decode("ascii", "replace")
        if rest == b"null]\n":
            self._place.pop(key, None)
        else:
            self._place[key] = (path, at)


def store_of(role: str, folder: Path | None) -> ReplyStore:
    """The replies of a role."""
    return ReplyStore(None if folder is None else folder / "replies" / role)
