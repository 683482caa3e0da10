"""SVG as text, fluid: positions from left to right are per cent, from top to bottom pixels.

So a picture is as wide as its place on the page while its text keeps the page's size. No `style`
attribute, which the page's policy forbids: classes of `pages/pictures.css` alone.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup, escape

STEPS = (1.0, 2.0, 5.0, 10.0)
"""Ticks are these times a power of ten apart."""


def clean(text: str) -> str:
    """Text without line breaks, control and direction characters, which XML or a line lacks."""
    kept = (char for char in text if char.isspace() or unicodedata.category(char)[0] != "C")
    return " ".join("".join(kept).split())


def tag(name: str, *inside: str, **attributes: str | float | None) -> Markup:
    """An element; what is no markup is escaped.

    Of its attributes `kind` is the class, `text_anchor` text-anchor, and None is left out.
    """
    listed = "".join(
        f' {"class" if key == "kind" else key.replace("_", "-")}="{escape(clean(_shown(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(
        str(part) if isinstance(part, Markup) else str(escape(clean(part))) for part in inside
    )
    return Markup(f"<{name}{listed}>{content}</{name}>" if content else f"<{name}{listed}/>")


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 2):g}"


def signed(value: float, digits: int) -> str:
    """A number with a minus sign as wide as a digit, and no negative zero."""
    text = f"{value:.{digits}f}".replace("-", "\u2212")
    return text if text.strip("\u22120.") else text.lstrip("\u2212")


def join(parts: Iterable[Markup]) -> Markup:
    """Elements, one behind the other."""
    return Markup("").join(parts)


def percent(share: float) -> str:
    """A position or width as SVG has it; 0.25 is 25%."""
    return f"{round(100 * share, 2):g}%"


def label(words: str, x: float, y: float, kind: str | None = None) -> Markup:
    """Text on a line through its middle; x is a share of the width."""
    return tag("text", words, x=percent(x), y=y, dy="0.35em", kind=kind)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """A line; x are shares of the width, y pixels."""
    return tag("line", x1=percent(x1), y1=y1, x2=percent(x2), y2=y2, kind=kind)


def box(x: float, y: float, width: float, height: float, kind: str | None = None) -> Markup:
    """A rectangle; x and width are shares of the width."""
    return tag(
        "rect", x=percent(x), y=y, width=percent(max(width, 0.0)), height=height, kind=kind
    )  # fmt: skip


def placed(what: Markup, x: float, y: float) -> Markup:
    """A shape of fixed size, such as a mark, with its middle at a share of the width."""
    return tag("svg", what, x=percent(x), y=y, width=1, height=1, overflow="visible")


class Scale(NamedTuple):
    """Values from left to right."""

    low: float  # The value at the left end.
    high: float  # The value at the right end, above `low`.

    @classmethod
    def over(cls, values: Iterable[float], room: float = 0.04) -> Scale:
        """One that holds all values, with room beside the outermost (a share of the span)."""
        known = [value for value in values if math.isfinite(value)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        if high - low <= 1e-9 * max(1.0, abs(high)):
            low, high = low - 0.5, high + 0.5
        space = room * (high - low)
        return cls(low - space, high + space)

    def at(self, value: float) -> float:
        """Where a value lies: 0 at the left end, 1 at the right."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers on the scale, at most so many."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        for step in (power * factor for factor in STEPS):
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            if last - first < most:
                return [0.0 if not k else k * step for k in range(first, last + 1)]
        raise AssertionError("ten times a power of ten above the span has one tick at most")
