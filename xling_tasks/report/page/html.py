"""How values become HTML: one environment of templates in which every expression is escaped.

Beyond escaping, characters that do not show (controls, direction overrides, lone halves) are named
in a box, as on the page of `xling annotate`, wherever a text is written.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from xling_tasks.languages import language_name
from xling_tasks.output import file_name
from xling_tasks.pages import FOLDER
from xling_tasks.report.pictures.style import LOOKS, mark
from xling_tasks.report.pictures.verdicts import overview
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.report.tables.table import UNDEFINED, Table, Value

LONG = 16
"""Tables with more rows are folded."""

WIDE = 28
"""Longer texts in cells are broken into lines."""

# Invisible, or no text at all: controls, direction overrides, tags, lone halves of characters.
_CONTROLS = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028-\u202e\u2060-\u2069\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_LANGUAGE = re.compile(r"[a-z]{2}")
_UNDEFINED = Markup(
    '<span aria-hidden="true">{}</span><span class="spoken">undefined</span>'
).format(UNDEFINED)


def text(value: object) -> Markup:
    """A value as HTML; markup of ours stays as it is."""
    if hasattr(value, "__html__"):
        return Markup(value)
    escaped = str(escape(str(value).replace("\r\n", "\n")))
    return Markup(_named(escaped, '<span class="control">', "</span>"))


def attribute(value: object) -> Markup:
    """A value in the double quotes of an attribute, where no box can stand."""
    return Markup(_named(str(escape(str(value))), "", ""))


def _named(escaped: str, before: str, after: str) -> str:
    return _CONTROLS.sub(lambda m: f"{before}U+{ord(m[0]):04X}{after}", escaped)


def anchor(*parts: str) -> str:
    """A place on the page; keys of ours are anchors as they are."""
    return "-".join(map(file_name, parts))


@functools.cache
def environment() -> Environment:
    """The templates; an undefined name in one is an error."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "attribute": attribute,
        "told": _told,
        "language_name": language_name,
        "language_code": lambda code: code if _LANGUAGE.fullmatch(code) else "",
        "dataset_title": dataset_title,
        "shown": shown_table,
        "look": lambda verdict: LOOKS[verdict].kind,
        "overview": overview,
        "mark": mark,
    }
    made.globals |= {"anchor": anchor}
    return made


def _told(value: object) -> str:
    """A setting: a text as it is, anything else as JSON."""
    if value is None:
        return UNDEFINED
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Tables


class Shown(NamedTuple):
    """A cell as it is shown, and its class."""

    text: str | Markup
    kind: str


def shown_table(item: Table) -> dict[str, Any]:
    """What a template needs of a table: its place, heads and rows, and if it is closed at first."""
    kinds = ["number" if numeric else "" for numeric in item.numeric]
    rows = [
        {
            "cells": [_cell(item, column, row, kind) for column, kind in enumerate(kinds)],
            "kind": "published" if index in item.published else "",
        }
        for index, row in enumerate(item.rows)
    ]
    heads = [Shown(name, kind) for name, kind in zip(item.columns, kinds, strict=True)]
    place = {"anchor": anchor("table", item.key), "title": item.title}
    return {**place, "heads": heads, "rows": rows, "folded": len(rows) > LONG}


def _cell(item: Table, column: int, row: Sequence[Value], kind: str) -> Shown:
    value = row[column]
    if value is None:
        return Shown(_UNDEFINED, kind)
    shown = item.shown(value)
    if item.columns[column] == "language":
        return Shown(language_name(shown), kind)
    if item.columns[column] == "verdict" and shown in LOOKS:
        return Shown(mark(shown) + f" {LOOKS[shown].name}", LOOKS[shown].kind)
    if column and not kind and len(shown) > WIDE:
        kind = "long"
    # A real minus sign is as wide as a digit.
    if not isinstance(value, str) and shown.startswith("-"):
        shown = shown.replace("-", "\u2212", 1)
    # Our keys may break at their underscores.
    return Shown(shown if column else text(shown).replace("_", Markup("_<wbr>")), kind)
