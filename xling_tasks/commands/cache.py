"""`xling cache`: what lies in the cache folder, and how to make room."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands.table import table
from xling_tasks.errors import SettingError
from xling_tasks.replies.file import remove
from xling_tasks.replies.folder import ENDING, JOURNALS, REPLIES, cache_folder
from xling_tasks.replies.former import TAKEN
from xling_tasks.replies.journal import read_journal

_DAY = 86_400
_STAMP = re.compile(r"_\d{4}-\d\d-\d\dT.*")


class Kept(NamedTuple):
    """A file in the cache.

    Attributes:
        path: The file.
        kind: `unfinished`, `finished`, `running`, `set aside`, `answers`, `view` or `replies`.
        about: What it is of.
        size: Bytes.
        changed: When it was written last, in seconds since 1970.
    """

    path: Path
    kind: str
    about: str
    size: int
    changed: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling cache` takes."""
    parser.add_argument("--folder", help="the cache; default XLING_CACHE or ~/.cache/xling_tasks")
    parser.add_argument("--prune", action="store_true", help="remove old answers and journals")
    parser.add_argument("--days", type=float, default=30, help="older than this (default 30)")
    parser.add_argument(
        "--max-mb", type=float, default=2000, help="and the oldest above this size (default 2000)"
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.set_defaults(run=cache)


def cache(options: argparse.Namespace) -> str:
    """A table of what is kept; with `--prune` also what was removed.

    Replies of judges and translators are never removed here, and nothing of a run under way.

    Raises:
        SettingError: If a limit is negative, or there is no such folder.
    """
    if options.days < 0 or options.max_mb < 0:
        raise SettingError("--days and --max-mb must not be negative")
    if options.folder is not None and not Path(options.folder).expanduser().is_dir():
        raise SettingError(f"--folder {options.folder}: not a folder")
    folder = cache_folder(options.folder)
    assert folder is not None
    files = sorted(kept(folder), key=lambda item: item.changed, reverse=True)
    gone = list(old(files, options.days, options.max_mb)) if options.prune else []
    for item in gone:
        remove(item.path)
    rows = [_row(item) for item in files if item not in gone]
    if options.json:
        return json.dumps({"kept": rows, "removed": [_row(item) for item in gone]}, indent=2)
    total = sum(item.size for item in files if item not in gone) / 1e6
    lines = [f"{folder}: {len(rows)} files, {total:.1f} MB"]
    if rows:
        lines += ["", table(rows), ""]
    if options.prune:
        freed = sum(item.size for item in gone) / 1e6
        lines.append(f"Removed {len(gone)} files, {freed:.1f} MB.")
    if any(item.kind == "unfinished" for item in files):
        lines.append("An unfinished run goes on when the same command is started again.")
    return "\n".join(lines)


def kept(folder: Path) -> Iterator[Kept]:
    """All files of ours in a cache folder."""
    for path in folder.glob(f"{JOURNALS}/*{ENDING}"):
        yield _kept(path, *_about(path))
    for path in folder.glob(f"{JOURNALS}/*.journal"):
        yield _kept(path, "unfinished", f"{path.name.split('-')[0]}: of version 0.2")
    for pattern in (f"{JOURNALS}/*.aside*", "*/*.damaged-*[0-9]", f"*{TAKEN}"):
        for path in folder.glob(pattern):
            if not path.name.endswith(("-wal", "-shm")):
                yield _kept(path, "set aside", path.name.split("-")[0])
    for path in folder.glob("answers/*.jsonl"):
        yield _kept(path, "answers", _STAMP.sub("", path.stem))
    for path in folder.glob("view/*.sqlite"):
        yield _kept(path, "view", "index of samples")
    for pattern in (f"{REPLIES}/*{ENDING}", f"*{ENDING}"):
        for path in folder.glob(pattern):
            yield _kept(path, "replies", path.stem)


def old(files: list[Kept], days: float, max_mb: float) -> Iterator[Kept]:
    """What to remove: what is older, then the oldest until the rest is small enough.

    Args:
        files: All, the newest first.
        days: The age from which on a file goes.
        max_mb: What may stay.
    """
    room = max_mb * 1e6
    for item in files:
        if item.kind in ("replies", "running"):
            continue
        room -= item.size
        if room < 0 or time.time() - item.changed > days * _DAY:
            yield item


def _kept(path: Path, kind: str, about: str) -> Kept:
    stats = [path.stat()]
    with suppress(FileNotFoundError):
        stats.append(path.with_name(path.name + "-wal").stat())
    size, changed = sum(s.st_size for s in stats), max(s.st_mtime for s in stats)
    return Kept(path, kind, about, size, changed)


def _about(path: Path) -> tuple[str, str]:
    """A journal's state, and its task, model and answers."""
    content = read_journal(path)
    header = content.header
    there, wanted = len(content.answers), header.get("requests", "?")
    kind = "running" if content.running else "unfinished"
    if content.finished and kind != "running":
        kind = "finished"
    model = header.get("model", "?")
    args = header.get("model_args") or {}
    name = args.get("pretrained") or args.get("model") or ""
    return (
        kind,
        f"{header.get('task', '?')}: {there:,} of {wanted} answers of {model} {name}".strip(),
    )


def _row(item: Kept) -> dict[str, Any]:
    changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(item.changed))
    return {
        "kind": item.kind, "of": item.about, "MB": f"{item.size / 1e6:.2f}", "changed": changed,
        "file": f"{item.path.parent.name}/{item.path.name}",
    }  # fmt: skip
