"""Values in the tables and lines of what `xling agreement` writes."""

from __future__ import annotations

from typing import Any


def cell(value: Any) -> str:
    """A value in a table or a line: people's own texts stay text."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if value is None:
        return ""
    text = " ".join(str(value).encode("utf-8", "replace").decode().split())
    for sign in "\\`*_<|[":
        text = text.replace(sign, f"\\{sign}")
    return text
