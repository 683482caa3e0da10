"""Templates, style and script of the report, the annotation page and the viewer; long texts."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import read_yaml

FOLDER = Path(__file__).parent


def page_file(name: str) -> str:
    """The text of a file in this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@functools.cache
def texts() -> dict[str, Any]:
    """What commands, tables and pages say at length, by room."""
    return dict(read_yaml(FOLDER / "texts.yaml"))


def digest(content: str) -> str:
    """How a page's policy names a style or a script."""
    hashed = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(hashed).decode("ascii")
