"""Templates, styles and scripts of the pages; long texts."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import read_yaml

FOLDER = Path(__file__).parent


def read_page_file(name: str) -> str:
    """Return the text of a file in this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@functools.cache
def texts() -> dict[str, Any]:
    """Load the long texts of commands, tables and pages."""
    return dict(read_yaml(FOLDER / "texts.yaml"))


def hash_source(content: str) -> str:
    """Return the hash by which a page's policy allows a style or a script."""
    hashed = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(hashed).decode("ascii")
