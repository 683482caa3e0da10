"""Colours and signs that mean the same in pictures, tables and sentences.

`pages/pictures.css` has the colours, for light and dark pages; here are the signs. Colours are told
apart by people who see none of them, too: every one has a sign, a place or a word beside it.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from markupsafe import Markup

from xling_tasks.pages import page_file
from xling_tasks.report.pictures.svg import tag

SERIES = 8
"""Colours and marks of models or languages in one picture."""

# With a minus sign: where one is missing, some renderers take a whole line from another font.


class Look(NamedTuple):
    """How a verdict is shown."""

    kind: str  # Its class in pictures; `verdict-KIND` colours text.
    sign: str  # A character for text.
    name: str  # What it is called beside its mark.
    words: str  # What it is called by itself; of what it is beside, where `{}` stands.
    path: str  # Its mark, about 11 pixels wide around 0,0.


_DOWN, _UP = "M-5.5,-4.5H5.5L0,5.5Z", "M-5.5,4.5H5.5L0,-5.5Z"
_CIRCLE = "M-4.5,0A4.5,4.5 0 1 1 4.5,0A4.5,4.5 0 1 1 -4.5,0Z"
_SQUARE = "M-4.2,-4.2H4.2V4.2H-4.2Z"
_CROSS = "M-4,-4L4,4M-4,4L4,-4"

LOOKS = {
    "worse": Look("worse", "▼", "worse", "worse than {}", _DOWN),
    "better": Look("better", "▲", "better", "better than {}", _UP),
    "equivalent": Look("same", "■", "about the same", "about the same as {}", _SQUARE),
    "inconclusive": Look("unsure", "○", "cannot tell", "cannot tell", _CIRCLE),
    "not_comparable": Look("apart", "×", "not comparable", "not comparable", _CROSS),
}
"""Verdict -> how it is shown, in every picture, table and sentence."""

LABEL_KINDS = {
    "more comprehensive": ("k1", "light"),
    "less comprehensive": ("k2", "dark"),
    "neither": ("k3", "dark"),
    "contradictory": ("k4", "light"),
    "no response": ("k5", "light"),
    "no majority of judges": ("k6", "dark"),
    "judge failed": ("k7", "dark"),
}
"""A judge's label -> class of its colour, and of text upon it. Harm is the colour of `worse`."""

# Five of matplotlib's cividis, which is even to people who see few colours.

# No triangles on end: those are verdicts.
_SHAPES = (
    _CIRCLE,
    _SQUARE,
    "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    "M-1.75,-5H1.75V-1.75H5V1.75H1.75V5H-1.75V1.75H-5V-1.75H-1.75Z",
    "M-5,-5L5,0L-5,5Z",
    "M5,-5L-5,0L5,5Z",
    "M-5.5,-2H5.5V2H-5.5Z",
    "M-2,-5.5H2V5.5H-2Z",
)


def verdict_mark(verdict: str) -> Markup:
    """A verdict's mark around 0,0, inside a picture."""
    look = LOOKS[verdict]
    return tag("path", d=look.path, kind=look.kind)


def mark(verdict: str) -> Markup:
    """A verdict's mark as a picture by itself, for a sentence, a legend or a table.

    It is hidden from screen readers: write the verdict's words beside it.
    """
    return alone(verdict_mark(verdict))


def series_mark(index: int) -> Markup:
    """The mark of the first, second, ... model or language, around 0,0."""
    turn = index // SERIES
    shape = _SHAPES[(index + turn) % SERIES]
    return tag("path", d=shape, kind=f"s{index % SERIES + 1} edge")


def series_sign(index: int) -> Markup:
    """The same as a picture by itself."""
    return alone(series_mark(index))


def swatch(kind: str) -> Markup:
    """A filled box for a legend of areas."""
    return alone(tag("rect", x=-5, y=-5, width=10, height=10, kind=f"{kind} edge"))


def alone(what: Markup) -> Markup:
    """A mark around 0,0 as a picture by itself, for a sentence or a legend."""
    return tag(
        "svg", what, kind="chart sign", width=14, height=14, viewBox="-7 -7 14 14",
        aria_hidden="true",
    )  # fmt: skip


@functools.cache
def css() -> str:
    """What a page with pictures, or with verdicts in their colours, adds to its style."""
    return page_file("pictures.css")
