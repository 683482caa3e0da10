"""Colours and signs that mean the same in pictures, tables and sentences.

`pages/pictures.css` has the colours, for light and dark pages; here are the signs. Colours are told
apart by people who see none of them, too: every one has a sign, a place or a word beside it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import NamedTuple

from markupsafe import Markup

from xling_tasks.pages import page_file
from xling_tasks.report.pictures.svg import clean, tag

SERIES = 8
"""Colours and marks of models or languages in one picture."""

_LONGEST_NAME = 36
# With a minus sign: where one is missing, some renderers take a whole line from another font.
_FONTS = "'Segoe UI', 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', Arial, sans-serif"
_SCRIPTS = {"CJK": "CJK SC", "HIRAGANA": "CJK JP", "KATAKANA": "CJK JP", "HANGUL": "CJK KR"}
_FIRST_OF_OTHERS = 0x530  # Behind Latin, Greek and Cyrillic, which every font has.


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
    "about_the_same": Look("same", "■", "about the same", "about the same as {}", _SQUARE),
    "cannot_tell": Look("unsure", "○", "cannot tell", "cannot tell", _CIRCLE),
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
_MAP = ((0, 34, 78), (67, 78, 108), (125, 124, 120), (188, 174, 108), (254, 232, 56))

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


def fonts_for(text: str) -> str:
    """Families for a text by itself: of its script first, so that its letters join.

    Renderers that look a missing letter up one at a time take neighbours from different fonts.
    """
    for char in text:
        script = unicodedata.name(char, "").partition(" ")[0]
        if script in _SCRIPTS or (char.isalpha() and ord(char) >= _FIRST_OF_OTHERS):
            named = _SCRIPTS.get(script, script.title())
            return f"'Noto Sans {named}', 'DejaVu Sans', {_FONTS}"
    return _FONTS


@functools.cache
def css() -> str:
    """What a page with pictures, or with verdicts in their colours, adds to its style."""
    return page_file("pictures.css")


@functools.cache
def light() -> dict[str, str]:
    """The colours of a light page by name, as on the report's page."""
    colours: dict[str, str] = {}
    for text in (page_file("report.css"), css()):
        block = text[text.index(":root {") : text.index("}")]
        colours |= re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)
    return colours


def short(name: str) -> str:
    """A model's name as a picture by itself shows it; of a long one the middle is left out."""
    name = clean(name)
    if len(name) <= _LONGEST_NAME:
        return name
    half = (_LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def map_color(share: float) -> str:
    """The colour of the lowest (0) to the highest (1) value on a map."""
    at = min(max(share, 0.0), 1.0) * (len(_MAP) - 1)
    low = min(int(at), len(_MAP) - 2)
    mixed = (a + (b - a) * (at - low) for a, b in zip(_MAP[low], _MAP[low + 1], strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def ink_on(color: str) -> str:
    """Black or white, whichever is read better on a colour such as `#00204d` (WCAG's contrast)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    shine = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (shine + 0.05) / 0.05 >= 1.05 / (shine + 0.05) else "#ffffff"
