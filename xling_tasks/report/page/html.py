"""Pieces of a report's page. Every text goes through `text` or `attribute`, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xling_tasks.criteria import ENGLISH
from xling_tasks.languages import language_name
from xling_tasks.report.page.samples import Part, Passage, SampleToRead
from xling_tasks.report.tables.table import UNDEFINED, Table, Value

if TYPE_CHECKING:
    from xling_tasks.report.pictures.all import Picture

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


def text(value: object) -> str:
    """A text as HTML; what does not show is named in a box, as on the page of `xling annotate`."""
    escaped = html.escape(str(value).replace("\r\n", "\n"))
    return _CONTROLS.sub(lambda m: f'<span class="control">U+{ord(m[0]):04X}</span>', escaped)


def attribute(value: object) -> str:
    """A text in the double quotes of an attribute."""
    return _CONTROLS.sub(lambda m: f"U+{ord(m[0]):04X}", html.escape(str(value)))


def anchor(*parts: str) -> str:
    """A place on the page; keys of ours are anchors as they are."""
    return "-".join(re.sub(r"[^0-9A-Za-z_-]", "_", part) for part in parts)


def digest(content: str) -> str:
    """How a policy names a style."""
    hashed = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(hashed).decode("ascii")


# Tables


def table(item: Table, level: int = 3) -> str:
    """A table with its heading and note; a long one is folded."""
    key = anchor("table", item.key)
    note = f'<p class="note">{text(item.note)}</p>' if item.note else ""
    shown = _grid(item, key)
    if len(item.rows) > LONG and item.section != "summary":
        shown = f"<details><summary>{len(item.rows)} rows</summary>{shown}</details>"
    return f'<h{level} id="{key}">{text(item.title)}</h{level}>{note}{shown}'


def _grid(item: Table, key: str) -> str:
    numeric = [_numeric(item, column) for column in range(len(item.columns))]
    head = "".join(
        f'<th scope="col"{_number(number)}>{text(name)}</th>'
        for name, number in zip(item.columns, numeric, strict=True)
    )
    body = "".join(_row(item, index, numeric) for index in range(len(item.rows)))
    return scrolling(
        f'<table><caption id="{key}-caption" class="spoken">{text(item.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
        f"{key}-caption",
    )


def scrolling(content: str, label: str) -> str:
    """Something wide in a frame that scrolls by itself, also by keyboard."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{label}">{content}</div>'
    )


def _row(item: Table, index: int, numeric: list[bool]) -> str:
    published = index in item.published
    cells = []
    for column, value in enumerate(item.rows[index]):
        shown, kind = _value(item, value), _number(numeric[column])
        if column == 0:
            mark = ' <span class="mark">published</span>' if published else ""
            # Our keys may break at their underscores.
            name = shown.replace("_", "_<wbr>")
            cells.append(f'<th scope="row" dir="auto"{kind}>{name}{mark}</th>')
        else:
            kind = kind or (_class("long") if len(item.shown(value)) > WIDE else "")
            cells.append(f"<td{kind}>{shown}</td>")
    return f"<tr{_class('published') if published else ''}>{''.join(cells)}</tr>"


def _value(item: Table, value: Value) -> str:
    if value is None:
        return f'<span aria-hidden="true">{UNDEFINED}</span><span class="spoken">undefined</span>'
    shown = text(item.shown(value))
    # A real minus sign is as wide as a digit.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return shown.replace("-", "\u2212", 1) if is_number and shown.startswith("-") else shown


def _numeric(item: Table, column: int) -> bool:
    values = [row[column] for row in item.rows]
    return any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _number(is_number: bool) -> str:
    return _class("number") if is_number else ""


def _class(name: str) -> str:
    return f' class="{name}"'


def pairs(rows: Mapping[str, object], caption: str, key: str) -> str:
    """A table of names and values; values that are no texts are shown as JSON."""
    body = "".join(
        f'<tr><th scope="row">{text(name)}</th><td class="value">{text(_plain(value))}</td></tr>'
        for name, value in rows.items()
    )
    return scrolling(
        f'<table class="pairs"><caption id="{key}">{text(caption)}</caption>'
        f"<tbody>{body}</tbody></table>",
        key,
    )


def _plain(value: object) -> str:
    if value is None:
        return UNDEFINED
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Pictures


def picture(item: Picture) -> str:
    """A picture as data: as an image, an SVG can neither run nor load anything."""
    if item.svg:
        # Lone halves of characters have no bytes.
        data, kind = item.svg.encode("utf-8", "replace"), "svg+xml"
    else:
        data, kind = item.png, "png"
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    key = anchor("picture", item.key)
    image = f'<img src="{source}" alt="{attribute(item.alt)}">'
    title = f'<figcaption id="{key}" class="spoken">{text(item.title)}</figcaption>'
    return f"<figure>{title}{scrolling(image, key)}</figure>"


# Samples


def sample(item: SampleToRead, dataset: str) -> str:
    """One question to read, folded."""
    title = f"{language_name(item.language)}, question {item.question}"
    parts = "".join(_part(part, item.language) for part in item.parts)
    return (
        f'<details class="sample"><summary><b dir="auto">{text(title)}</b> '
        f'<span class="what">{text(dataset)}: {text(item.why)}</span></summary>{parts}</details>'
    )


def _part(item: Part, language: str) -> str:
    named = ((language_name(ENGLISH), item.english), (language_name(language), item.other))
    sides = "".join(
        f'<div><p class="what">{text(name)}</p>{"".join(map(_passage, passages))}</div>'
        for name, passages in named
        if passages
    )
    alone = "" if item.english and item.other else " alone"
    return f'<h5>{text(item.title)}</h5><div class="sides{alone}">{sides}</div>'


def _passage(item: Passage) -> str:
    mark = f'<span class="mark">{text(item.mark)}</span> ' if item.mark else ""
    shown = text(item.text) if item.text.strip() else '<span class="what">(empty)</span>'
    cut = f'<p class="what">… and {item.cut:,} more characters</p>' if item.cut else ""
    code = item.language if _LANGUAGE.fullmatch(item.language) else ""
    return f'{mark}<div class="text" lang="{code}" dir="auto">{shown}</div>{cut}'


def listing(items: Iterable[Any]) -> str:
    """A list of texts."""
    return "<ul>" + "".join(f'<li dir="auto">{text(item)}</li>' for item in items) + "</ul>"
