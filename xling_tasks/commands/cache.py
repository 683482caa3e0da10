"""`xling cache`: what lies in the cache folder, and how to make room."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands.table import table
from xling_tasks.errors import SettingError, no_such
from xling_tasks.output import many
from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.file import remove
from xling_tasks.replies.folder import ENDING, cache_folder
from xling_tasks.replies.former import JOURNALS, TAKEN
from xling_tasks.replies.journal import read_journal
from xling_tasks.replies.role import ANSWERS, MODEL, saved_places, store_files
from xling_tasks.replies.store import ReplyStore

_DAY = 86_400
_STAMP = re.compile(r"_\d{4}-\d\d-\d\dT.*")


class Kept(NamedTuple):
    """A shelf of the store, or a file in the cache.

    Attributes:
        kind: `unfinished`, `finished`, `running`, `set aside`, `answers`, `view` or `replies`.
        about: What it is of.
        size: Bytes.
        changed: When it was written last, in seconds since 1970.
        shelf: The shelf; '' for all of a file.
    """

    path: Path
    kind: str
    about: str
    size: int
    changed: float
    shelf: str = ""


def cache(options: argparse.Namespace) -> str:
    """A table of what is kept; with `--prune` also what was removed.

    Replies of judges and translators are never removed here, and nothing of a run under way.

    Raises:
        SettingError: If there is no such folder.
    """
    if options.folder is not None and not options.folder.is_dir():
        raise SettingError(f"--folder {options.folder}: {no_such(options.folder, 'folder')}")
    folder = cache_folder(options.folder and str(options.folder))
    assert folder is not None
    files = sorted(_kept(folder), key=lambda item: item.changed, reverse=True)
    gone = list(_old(files, options.days, options.max_mb)) if options.prune else []
    for item in gone:
        _remove(item)
    for path in {item.path for item in gone if item.shelf}:
        with closing(Shelves(path)) as file:
            file.shrink()
    rows = [_row(item) for item in files if item not in gone]
    if options.json:
        return json.dumps({"kept": rows, "removed": [_row(item) for item in gone]}, indent=2)
    total = sum(item.size for item in files if item not in gone) / 1e6
    lines = [f"{folder}: {total:.1f} MB"]
    if rows:
        lines += ["", table(rows), ""]
    if options.prune:
        freed = sum(item.size for item in gone) / 1e6
        lines.append(f"Removed {many(len(gone), 'entry')}, {freed:.1f} MB.")
    if any(item.kind == "unfinished" for item in files):
        lines.append("An unfinished run goes on when the same command is started again.")
    return "\n".join(lines)


def _kept(folder: Path) -> Iterator[Kept]:
    """All that is ours in a cache folder: the store, shelf by shelf, and what lies beside it."""
    for path in store_files(folder):
        yield from _shelves(path)
    for path in folder.glob(f"{JOURNALS}/*.journal"):
        yield _file(path, "unfinished", f"{path.name.split('-')[0]}: of version 0.2")
    for pattern in ("*.damaged-*[0-9]", f"*{TAKEN}"):
        for path in folder.glob(pattern):
            yield _file(path, "set aside", path.name.split("-")[0])
    for path in folder.glob("answers/*.jsonl"):
        yield _file(path, "answers", _STAMP.sub("", path.stem) + ": of version 0.2")
    for path in folder.glob("view/*.sqlite"):
        yield _file(path, "view", "index of samples")
    for path in set(folder.glob(f"*{ENDING}")) - set(store_files(folder)):
        yield _file(path, "replies", f"{path.stem}: of version 0.2")


def _shelves(path: Path) -> Iterator[Kept]:
    written = path.stat().st_mtime
    with closing(Shelves(path)) as file:
        sizes = file.sizes()
    saved = {str(place.relative_to(path)): header for place, header in saved_places(path).items()}
    for shelf, (number, size) in sizes.items():
        kind, about, changed = "replies", f"{shelf}: {number:,}", written
        if shelf.startswith(f"{MODEL}/"):
            kind, about, changed = _journal(path, shelf.removeprefix(f"{MODEL}/"))
        elif shelf.startswith(f"{ANSWERS}/"):
            kind, about = "answers", str(saved.get(shelf, {}).get("task", "?"))
            changed = _time_of(shelf)
        yield Kept(path, kind, about, size, changed, shelf)


def _time_of(shelf: str) -> float:
    """When answers were saved, by the number in their shelf's name; 0 where there is none."""
    number = re.search(r"-(\d{15,20})-rank", shelf)
    return int(number[1]) / 1e9 if number else 0.0


def _remove(item: Kept) -> None:
    if item.shelf:
        ReplyStore(item.path, item.shelf).close(clear_if_last=True)
    else:
        remove(item.path)


def _old(files: list[Kept], days: float, max_mb: float) -> Iterator[Kept]:
    """What to remove, the newest first: what is older, then the oldest until the rest fits."""
    room = max_mb * 1e6
    for item in files:
        if item.kind in ("replies", "running"):
            continue
        room -= item.size
        if room < 0 or time.time() - item.changed > days * _DAY:
            yield item


def _file(path: Path, kind: str, about: str) -> Kept:
    stats = [path.stat()]
    with suppress(FileNotFoundError):
        stats.append(path.with_name(path.name + "-wal").stat())
    size, changed = sum(s.st_size for s in stats), max(s.st_mtime for s in stats)
    return Kept(path, kind, about, size, changed)


def _journal(path: Path, name: str) -> tuple[str, str, float]:
    """A journal's state, its task, model and answers, and when it was opened last."""
    content = read_journal(path, name)
    header = content.header
    there, wanted = len(content.answers), header.get("requests", "?")
    kind = "running" if content.running else "unfinished"
    if content.finished and kind != "running":
        kind = "finished"
    if ".aside-" in name:
        kind = "set aside"
    model = header.get("model", "?")
    args = header.get("model_args") or {}
    called = args.get("pretrained") or args.get("model") or ""
    about = f"{header.get('task', '?')}: {there:,} of {wanted} answers of {model} {called}".strip()
    return kind, about, content.opened


def _row(item: Kept) -> dict[str, Any]:
    changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(item.changed))
    return {
        "kind": item.kind, "of": item.about, "MB": f"{item.size / 1e6:.2f}", "changed": changed,
        "file": f"{item.path.parent.name}/{item.path.name}", "shelf": item.shelf,
    }  # fmt: skip
