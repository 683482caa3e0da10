"""`xling agreement`: what annotators exported, summarised: checks of a judge, or ratings."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.annotate.labels import JUDGE, TEXTS
from xling_tasks.commands.annotate.people import as_markdown, summarise
from xling_tasks.commands.annotate.ratings import TRANSLATIONS, are_ratings, read_ratings
from xling_tasks.errors import DataError
from xling_tasks.logs.annotations import read_pages
from xling_tasks.output import writing
from xling_tasks.safe_json import loads

_BLOCK = re.compile(r'<script type="application/json" id="page">(.*?)</script>', re.DOTALL)


def agreement(options: argparse.Namespace) -> str:
    """`xling agreement`: the report, written to --to if given.

    Raises:
        DataError: If a file is no valid export, or two do not fit together.
    """
    files = [Path(word).expanduser() for word in options.files]
    if are_ratings(files):
        if options.pages:
            raise DataError("--pages is for checks of a judge; the files given rate translations")
        form, report = TRANSLATIONS, summarise(TRANSLATIONS, read_ratings(files))
    else:
        pages = read_pages(files)
        texts = _read_texts([Path(word).expanduser() for word in options.pages], pages)
        form, report = JUDGE, summarise(JUDGE, pages)
        for row in report["disagreements"]:
            item = texts.get(row["batch"], {}).get(row["id"], {})
            row |= {"texts": {key: item[key] for key in TEXTS if key in item}}
    page = as_markdown(form, report)
    if options.to:
        _write(options.to.expanduser(), report, page)
    return page


def _read_texts(paths: Sequence[Path], wanted: Collection[str]) -> dict[str, dict[str, Any]]:
    """The items of pages, with their texts, by the page's digest (one of WANTED) and their id."""
    items_of: dict[str, dict[str, Any]] = {}
    for path in paths:
        try:
            block = _BLOCK.search(path.read_text(encoding="utf-8"))
            data = loads(block[1]) if block else {}
            digest, items = data["digest"], {item["id"]: item for item in data["items"]}
        except OSError as error:
            raise DataError(f"--pages {path}: {error.strerror or error}") from error
        except (ValueError, LookupError, TypeError) as error:
            raise DataError(f"--pages {path}: no page of `xling annotate` ({error!r})") from error
        if digest not in wanted:
            listed = ", ".join(wanted)
            raise DataError(
                f"--pages {path}: is page {digest}, but the files belong to {listed}; give their "
                "page or leave it away"
            )
        items_of[digest] = items
    return items_of


def _write(folder: Path, report: Mapping[str, Any], page: str) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (("agreement.json", text), ("agreement.md", page)):
            # Half a character is no UTF-8; JSON has an escape for it, which this happens to be.
            data = f"{content}\n".encode("utf-8", "backslashreplace")
            (folder / name).write_bytes(data)
