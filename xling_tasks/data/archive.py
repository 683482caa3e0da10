"""Zip files of strangers: read in memory, and only if no member could do harm."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from xling_tasks.errors import DataError

MAX_UNPACKED = 2**30
"""Bytes that all members of a zip may unpack to; the published zip is a tenth of it."""

MAX_RATIO = 200
"""Times that a member over 1 MiB may shrink in a zip; JSON lines shrink four to ten times."""

MAX_MEMBERS = 10_000
"""Members that a zip may have; the published one has about fifteen."""


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip whose members are all safe to read; whatever is wrong with it is a DataError."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(path, archive.infolist())
            yield archive
    except zipfile.BadZipFile as error:
        with path.open("rb") as handle:
            is_pointer = handle.read(32).startswith(b"version https://git-lfs")
        hint = (
            "it is a Git LFS pointer; run `git lfs pull` in its folder"
            if is_pointer
            else "give MMedBench.zip or the folder that it unpacks to, or download it again"
        )
        raise DataError(f"{path}: not a readable zip ({error}); {hint}") from error
    except DataError:
        raise
    except Exception as error:  # a damaged zip fails in many ways
        raise DataError(
            f"{path}: cannot be read ({type(error).__name__}: {error}); download it again"
        ) from error


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse a zip that could do harm, or that no one would publish.

    Members are read in memory, never unpacked to a path; a name that would leave the folder, or
    a link, says all the same that this is not the published file. The sizes are those declared;
    `zipfile` reads no more than what a member declares.
    """
    if len(members) > MAX_MEMBERS:
        raise DataError(f"{path}: {len(members):,} members; refused (more than {MAX_MEMBERS:,})")
    for item in members:
        problem = _member_problem(item)
        if problem is not None:
            raise DataError(f"{path}, member {item.filename!r}: {problem}; the zip is refused")
    unpacked = sum(item.file_size for item in members)
    if unpacked > MAX_UNPACKED:
        raise DataError(
            f"{path}: unpacks to {unpacked:,} bytes; refused (more than {MAX_UNPACKED:,})"
        )
    if sum(item.compress_size for item in members) > path.stat().st_size:
        raise DataError(f"{path}: its members overlap; the zip is refused")


def _member_problem(item: zipfile.ZipInfo) -> str | None:
    """Why a member makes its zip unsafe, or None if it does not."""
    name = item.filename.replace("\\", "/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "an absolute path"
    if ".." in PurePosixPath(name).parts:
        return "a path that leaves the folder"
    if stat.S_ISLNK(item.external_attr >> 16):
        return "a symbolic link"
    if item.flag_bits & 1:
        return "needs a password"
    # Other methods may unpack to far more than they declare before they can be stopped.
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"compressed by method {item.compress_type}, not deflate"
    if item.file_size > 2**20 and item.file_size > MAX_RATIO * item.compress_size:
        return f"unpacks to {item.file_size:,} bytes from {item.compress_size:,}"
    return None
