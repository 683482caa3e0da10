"""The key under which codes are made: that of the cache folder, of a file, or of this run.

Prompts with codes are the keys of cached replies, so a key that lives beside the cache keeps
cached verdicts in use. It is readable by its owner alone and never written anywhere else.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
from pathlib import Path

from xling_tasks.errors import SettingError, unreadable, user_path
from xling_tasks.log import log
from xling_tasks.readers.fences import Fences
from xling_tasks.replies.folder import cache_folder

NAME = "fence.key"
"""The key's file in the cache folder: 64 hexadecimal digits."""

SHORTEST = 32
"""Characters that a file of the user's must have at least."""


def fences(cache: str | bool | None, fence_key: str | None = None) -> Fences:
    """Where the codes of a run come from.

    Returns:
        `setting` where a file is named, `cache` where there is a cache folder, else `run`: a key
        drawn for this process.

    Raises:
        SettingError: If the file cannot be read or is too short, or the folder's key is none.
    """
    if fence_key is not None:
        return Fences("setting", _of_file(user_path(fence_key)))
    folder = cache_folder(cache)
    key = None if folder is None else _of_folder(folder)
    return Fences("run", _of_run()) if key is None else Fences("cache", key)


@functools.cache
def _of_run() -> bytes:
    return secrets.token_bytes(32)


def _of_file(path: Path) -> bytes:
    try:
        content = path.read_bytes().strip()
    except OSError as error:
        raise SettingError(f"--metadata fence_key={path}: {unreadable(path, error)}") from error
    if len(content) < SHORTEST:
        raise SettingError(
            f"--metadata fence_key={path}: {len(content)} characters; a key that nobody guesses "
            f"has at least {SHORTEST}, drawn at random: python -c "
            "'import secrets; print(secrets.token_hex(32))'"
        )
    return hashlib.sha256(b"xling fence\0" + content).digest()


def _of_folder(folder: Path) -> bytes | None:
    """The key of a cache folder, made where there is none; None where it cannot be kept."""
    path = folder / NAME
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            log.warning("%s could be read by others; its mode is 600 now", path)
            path.chmod(0o600)
        text = path.read_text(encoding="ascii").strip()
    except OSError as error:
        log.warning(
            "%s: %s; codes of this run are under a key of its own, so cached verdicts are not used",
            path,
            error.strerror or error,
        )
        return None
    except UnicodeDecodeError:
        text = ""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise SettingError(f"{path}: is no key; delete it, and the next run makes another")
    return bytes.fromhex(text)


def _make(path: Path) -> None:
    """Write a new key, whole or not at all; of several processes one wins."""
    new = path.with_name(f".{NAME}.{os.getpid()}.{secrets.token_hex(8)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_hex(32) + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        try:
            os.link(new, path)  # fails where another process was first
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
