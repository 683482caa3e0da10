"""`xling agreement`: what annotators exported, summarised: checks of a judge, or ratings."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.annotate import labels, ratings
from xling_tasks.commands.annotate.ratings import are_ratings, read_ratings
from xling_tasks.commands.table import table
from xling_tasks.errors import DataError, unreadable, user_path
from xling_tasks.logs.annotations import AnyExport, read_pages
from xling_tasks.output import refuse_others, writing
from xling_tasks.pages import texts
from xling_tasks.report.documents import cell, filled
from xling_tasks.safe_json import loads

RowsOf = Callable[
    [Sequence[Any], Sequence[str], Sequence[Sequence[Any]]], dict[str, list[dict[str, Any]]]
]
"""A page's exports, annotators' names, and what everybody said of each item -> a form's rows."""

_BLOCK = re.compile(r'<script type="application/json" id="page">(.*?)</script>', re.DOTALL)


def agreement(options: argparse.Namespace) -> str:
    """`xling agreement`: the report, written to --to if given."""
    if options.to:
        refuse_others(options.to, "agreement.json", "agreement")
    rates = are_ratings(options.files)
    form = texts()["agreement"]["translation" if rates else "judge"]
    if rates:
        if options.pages:
            raise DataError("--pages is for checks of a judge; the files given rate translations")
        report = _summary(form, ratings.rows, read_ratings(options.files))
    else:
        pages = read_pages(options.files)
        shown = _read_texts(options.pages, pages)
        report = _summary(form, labels.rows, pages)
        for row in report["disagreements"]:
            item = shown.get(row["batch"], {}).get(row["id"], {})
            row |= {"texts": {key: item[key] for key in labels.TEXTS if key in item}}
    page = filled("agreement.j2", form=form, report=report, table=_table).rstrip()
    if options.to:
        _write(options.to, report, page)
    return page


def _summary(
    form: Mapping[str, Any], rows_of: RowsOf, pages: Mapping[str, Sequence[AnyExport]]
) -> dict[str, Any]:
    """Batches, figures, annotators, and what was remarked on single items, as plain rows."""
    keys = ("batches", form["figures"], "annotators", form["remarks"])
    report: dict[str, Any] = {key: [] for key in keys}
    for batch, people in pages.items():
        first, names = people[0], [export.annotator for export in people]
        units = [[export.items[name] for export in people] for name in first.items]
        about = {key: value for key, value in first.settings.items() if key != "strata"}
        about |= {"items": len(units), "annotators": names}
        about["files"] = [export.path.name for export in people]
        for key, rows in {"batches": [about], **rows_of(people, names, units)}.items():
            report[key] += [{"batch": batch, **row} for row in rows]
    return {**report, "notes": form["notes"]}


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    return table([{name: cell(value) for name, value in row.items()} for row in rows], marked=True)


def _read_texts(paths: Sequence[Path], wanted: Collection[str]) -> dict[str, dict[str, Any]]:
    """The items of pages, with their texts, by the page's digest (one of WANTED) and their id."""
    items_of: dict[str, dict[str, Any]] = {}
    for path in paths:
        try:
            block = _BLOCK.search(path.read_text(encoding="utf-8"))
            data = loads(block[1]) if block else {}
            digest, items = data["digest"], {item["id"]: item for item in data["items"]}
        except OSError as error:
            raise DataError(f"--pages {path}: {unreadable(path, error)}") from error
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling agreement`."""
    text = "files that annotators exported from the page"
    parser.add_argument("files", nargs="+", type=user_path, metavar="FILE", help=text)
    parser.add_argument(
        "--pages", nargs="+", type=user_path, default=[], metavar="FILE",
        help="pages of `xling annotate`: show the texts that annotators disagree about",
    )  # fmt: skip
    parser.add_argument(
        "--to", type=user_path, metavar="DIR", help="folder for agreement.json and agreement.md"
    )
    parser.set_defaults(run=agreement)
