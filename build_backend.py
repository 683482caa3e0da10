"""The project's PEP 517 build backend: setuptools' own, plus one start-up file in the wheel.

setuptools has no declarative way to put a `.pth` file beside the packages. Both kinds of wheel
(regular and editable) therefore pass through here and get `xling_tasks.pth` with its RECORD line,
so that pip removes it again on uninstall. What the file does: `xling_tasks/discovery.py`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  (the hooks we do not change)

PTH = "xling_tasks.pth"


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel and add the start-up file."""
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    _add_startup_file(Path(wheel_directory, name))
    return name


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the editable wheel and add the start-up file."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    _add_startup_file(Path(wheel_directory, name))
    return name


def _add_startup_file(wheel: Path) -> None:
    """Rewrite `wheel` with the start-up file and its RECORD line (zip entries cannot be edited)."""
    content = Path(__file__).with_name(PTH).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rewritten = wheel.with_suffix(".tmp")
    with (
        zipfile.ZipFile(wheel) as old,
        zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for item in old.infolist():
            data = old.read(item)
            if item.filename.endswith(".dist-info/RECORD"):
                data = f"{PTH},sha256={digest},{len(content)}\n".encode() + data
            new.writestr(item, data)
        new.writestr(PTH, content)
    os.replace(rewritten, wheel)
