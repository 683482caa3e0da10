"""A picture in two forms: on a page, with the page's own text, and by itself, as a file of SVG.

On a page names of models stand outside the SVG, where the page's fonts, line breaks and directions
of writing hold. By itself a picture brings its title, legend and colours along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from xling_tasks.report.pictures.svg import clean, join, tag

_GROUP = Markup('<p class="group"><b><bdi>{}</bdi></b></p>')


class Panel(NamedTuple):
    """One of a picture's parts."""

    title: str  # Above it; empty for none.
    note: str  # Below the title, such as of how many questions; empty for none.
    body: Markup  # Elements; positions from left to right are shares of the width.
    height: float  # In pixels.
    alt: str  # What it shows, for those who hear it.
    group: str = ""  # What it belongs to, such as a model; said once for all panels that follow.


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
    words = clean(panel.title)
    title = Markup("<p><b><bdi>{}</bdi></b></p>").format(words) if panel.title else Markup("")
    note = Markup('<p class="what">{}</p>').format(clean(panel.note)) if panel.note else ""
    picture = tag(
        "svg", panel.body, kind="chart", width="100%", height=panel.height, role="img",
        aria_label=panel.alt,
    )  # fmt: skip
    return Markup("<div>{}{}{}</div>").format(title, note, picture)
