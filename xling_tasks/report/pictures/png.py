"""Pictures as PNG, with `vl-convert-python` (the extra `report`) and the fonts of this machine."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

from markupsafe import escape

from xling_tasks.report.pictures.style import fonts_for
from xling_tasks.report.pictures.svg import clean, tag

INSTALL = 'pip install "xling-tasks[report]"'

_SCALE = 2.0
_MOST_PIXELS = 30_000
_MISSING = "\U0010fffd"
"""For private use, and in no font: it is drawn as fonts draw what they do not have."""


def available() -> bool:
    """Whether PNG can be made."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def as_png(svg: str) -> bytes:
    """A picture by itself as PNG, two pixels for one where that is not too large."""
    import vl_convert

    height = re.search(r'height="([\d.]+)"', svg)
    scale = min(_SCALE, _MOST_PIXELS / float(height[1])) if height else _SCALE
    made: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return made


def numbered(names: Iterable[str]) -> dict[str, str]:
    """Names that cannot be drawn here -> `model 2`, by their place."""
    return {
        clean(name): f"model {number}"
        for number, name in enumerate(names, start=1)
        if not readable(name)
    }


def readable(text: str) -> bool:
    """Whether this machine's fonts have every letter of a text, and vl-convert can set them.

    Up to 1.9 it sets syllables with signs of their own, as Hindi and Thai have, over each other.
    """
    composed = unicodedata.normalize("NFC", clean(text))
    return all(_drawn(char) for char in set(composed) if not char.isascii())


@functools.cache
def _drawn(char: str) -> bool:
    kind = unicodedata.category(char)[0]
    if kind in "ZC":  # Nothing to see.
        return True
    return kind != "M" and _letter(char) != _letter(_MISSING, fonts_for(char))


@functools.cache
def _letter(char: str, fonts: str | None = None) -> bytes:
    # As markup: what is for private use is cleaned out of texts.
    shown = tag("text", escape(char), x=5, y=22, font_size=18, font_family=fonts or fonts_for(char))
    return as_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30">{shown}</svg>')
