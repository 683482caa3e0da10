"""A picture in two forms: on a page, with the page's own text, and by itself, as a file of SVG.

On a page names of models stand outside the SVG, where the page's fonts, line breaks and directions
of writing hold. By itself a picture brings its title, legend and colours along.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from xling_tasks.report.pictures.style import css, fonts_for, light, short
from xling_tasks.report.pictures.svg import clean, join, tag

WIDTH = 680
"""Of a picture by itself, in pixels."""

_GROUP = Markup('<p class="group"><b><bdi>{}</bdi></b></p>')
_LINE = 17
_CHARACTERS = 96
_PIXELS = 6.6
_LONGEST = 64  # Of words in a legend's line.


class Panel(NamedTuple):
    """One of a picture's parts."""

    title: str  # Above it; empty for none.
    note: str  # Below the title, such as of how many questions; empty for none.
    body: Markup  # Elements; positions from left to right are shares of the width.
    height: float  # In pixels.
    alt: str  # What it shows, for those who hear it.
    group: str = ""  # What it belongs to, such as a model; said once for all panels that follow.
    address: str = ""  # Of the questions that it shows; empty for none.


class Entry(NamedTuple):
    """What a mark stands for."""

    mark: Markup
    words: str


@dataclass(frozen=True)
class Drawing:
    """A picture: what it is made of, in the order in which it is read."""

    panels: Sequence[Panel]  # At least one.
    legend: Sequence[Entry] = ()  # What its marks stand for.
    columns: int = 1  # Panels beside each other, where it stands by itself.

    @property
    def note(self) -> str:
        """What all of several panels have as their note, to be said once; empty if they differ."""
        notes = {panel.note for panel in self.panels}
        return notes.pop() if len(notes) == 1 and len(self.panels) > 1 else ""

    @property
    def _entries(self) -> list[Entry]:
        return [*([Entry(Markup(""), self.note)] if self.note else []), *self.legend]

    @property
    def _shown(self) -> list[Panel]:
        return [panel._replace(note="") if self.note else panel for panel in self.panels]

    def html(self) -> Markup:
        """The picture for a page that has `style.css()`; every panel has its text alternative."""
        parts = [_legend(self._entries)]
        alone = " alone" if self.columns == 1 else " many" if len(self.panels) > 3 else ""
        for group, own in _by_group(self._shown):
            head = _GROUP.format(clean(group)) if group else ""
            panels = join(map(_on_page, own))
            parts.append(Markup('{}<div class="panels{}">{}</div>').format(head, alone, panels))
        return join(parts)

    def svg(self, title: str, alt: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """The picture by itself on white, with `names` in place of models' names.

        Equal drawings give equal text.
        """
        y = 10.0
        parts = []
        for words in textwrap.wrap(clean(title), _CHARACTERS):
            parts.append(_words(words, 10, y, "bold"))
            y += _LINE
        y, marks = _legend_by_itself(self._entries, y + 4, names)
        parts += marks
        width = (WIDTH - 20) / self.columns
        for group, own in _by_group(self._shown):
            if group:
                parts.append(_words(short(names.get(group, group)), 10, y + 4, "bold"))
                y += _LINE + 4
            for at in range(0, len(own), self.columns):
                row = enumerate(own[at : at + self.columns])
                placed = [_by_itself(each, 10 + i * width, y, width, names) for i, each in row]
                parts += [part for part, _ in placed]
                y += max(height for _, height in placed) + 10
        size = {"width": WIDTH, "height": y + 4}
        root = tag(
            "svg", tag("title", alt), tag("style", Markup(_rules())),
            tag("rect", width="100%", height="100%", fill=light()["paper"]), *parts,
            xmlns="http://www.w3.org/2000/svg", **size, viewBox=f"0 0 {WIDTH} {size['height']:g}",
            kind="chart", role="img", aria_label=alt, font_family=fonts_for(""),
        )  # fmt: skip
        return f"{root}\n"


def _by_group(panels: Sequence[Panel]) -> list[tuple[str, list[Panel]]]:
    """Each group, which may have no name, with its panels; no row has panels of two groups."""
    return [(name, list(own)) for name, own in groupby(panels, key=lambda panel: panel.group)]


# On a page


def _legend(entries: Sequence[Entry]) -> Markup:
    if not entries:
        return Markup("")
    items = join(
        Markup("<li>{} <bdi>{}</bdi></li>").format(entry.mark, clean(entry.words))
        for entry in entries
    )
    return Markup('<ul class="legend">{}</ul>').format(items)


def _on_page(panel: Panel) -> Markup:
    link = Markup('<a href="{}">{}</a>') if panel.address else Markup("{1}")
    words = link.format(panel.address, clean(panel.title))
    title = Markup("<p><b><bdi>{}</bdi></b></p>").format(words) if panel.title else Markup("")
    note = Markup('<p class="what">{}</p>').format(clean(panel.note)) if panel.note else ""
    picture = tag(
        "svg", panel.body, kind="chart", width="100%", height=panel.height, role="img",
        aria_label=panel.alt,
    )  # fmt: skip
    return Markup("<div>{}{}{}</div>").format(title, note, picture)


# By itself


def _rules() -> str:
    """The rules of the style sheet for what is inside pictures, with the light page's colours."""
    rules = re.findall(r"^\.chart \.?[\w ]+\{[^}]*\}", css(), re.MULTILINE)
    text = re.sub(r"var\(--([\w-]+)\)", lambda m: light()[m[1]], "".join(rules))
    return str(escape(text))


def _words(text: str, x: float, y: float, kind: str | None = None) -> Markup:
    """A line of text below y. No `dy`: some renderers move the first letter alone by it."""
    fonts = fonts_for(text)
    own = None if fonts == fonts_for("") else fonts
    return tag("text", text, x=x, y=y + 9, kind=kind, font_family=own)


def _legend_by_itself(
    entries: Sequence[Entry], y: float, names: Mapping[str, str]
) -> tuple[float, list[Markup]]:
    """The legend in lines, and where it ends."""
    x, parts = 10.0, []
    for entry in entries:
        words = clean(names.get(clean(entry.words), entry.words))
        if not entry.mark and len(words) > _LONGEST:
            y = y + _LINE if x > 10 else y
            for number, row in enumerate(textwrap.wrap(words, _CHARACTERS)):
                parts.append(_words(row, 10, y + _LINE * number))
            x = WIDTH  # What follows begins a line.
            y += _LINE * number
            continue
        words = words if len(words) <= _LONGEST else short(words)
        needed = 36 + _PIXELS * sum(1 + (east_asian_width(c) in "FW") for c in words)
        if x > 10 and x + needed > WIDTH:
            x, y = 10.0, y + _LINE
        shift = 19 if entry.mark else 0
        parts += [tag("svg", entry.mark, x=x, y=y - 2), _words(words, x + shift, y)]
        x += needed
    return (y + _LINE + 4 if entries else y), parts


def _by_itself(
    panel: Panel, x: float, y: float, width: float, names: Mapping[str, str]
) -> tuple[Markup, float]:
    """A panel at its place, and its height."""
    parts, top = [], 0.0
    wide = int(width / _PIXELS)
    for text, kind in ((names.get(panel.title, panel.title), "bold"), (panel.note, "small soft")):
        for words in textwrap.wrap(clean(text), wide):
            parts.append(_words(words, 0, top, kind))
            top += _LINE - 1
    inner = width - 24
    parts.append(
        tag("svg", panel.body, y=top + 2, width=inner, height=panel.height, overflow="visible")
    )
    height = top + 2 + panel.height
    return tag("svg", *parts, x=x, y=y, width=inner, height=height, overflow="visible"), height
