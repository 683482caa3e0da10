"""Templates, style and script of the report and of the annotation page."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
