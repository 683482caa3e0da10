"""A lock file that keeps two runs apart, and that a dead process cannot leave behind locked."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none; nothing keeps two runs apart there
    fcntl = None  # type: ignore[assignment]


class Locked(Exception):
    """Another process holds the lock.

    Attributes:
        holder: Who, in words.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class Lock:
    """The lock on a file, held until `release` or until this process ends, however it ends.

    The operating system keeps it, not the file's existence: what a dead process leaves is a file
    that nobody holds, and whoever comes next takes it.

    Raises:
        Locked: If another process holds it.
        OSError: If the file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        while True:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _take(self._file)
            except BlockingIOError:
                holder = _holder(self._file)
                os.close(self._file)
                raise Locked(holder) from None
            if _same(self._file, path):
                break
            os.close(self._file)  # its holder removed it before it let go
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(about).encode(), 0)

    def release(self) -> None:
        """Let others have it; the file goes."""
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def held(path: Path) -> str | None:
    """Who holds a lock, in words; None if nobody does."""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        _take(file)
    except BlockingIOError:
        return _holder(file)
    finally:
        os.close(file)
    return None


def _take(file: int) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return  # a file system without locks: better a run without one than none


def _same(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _holder(file: int) -> str:
    try:
        about = json.loads(os.pread(file, 1000, 0))
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(about["since"]))
        return f"process {about['pid']} on {about['host']}, since {since}"
    except (ValueError, LookupError, TypeError):
        return "a process that does not say which"
