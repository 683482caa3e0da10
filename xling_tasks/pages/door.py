"""Links from what a report says to the questions behind it, which `xling view` shows.

A report is a file without a script and knows no server. Its links lead to a page beside it, the
door: while a viewer runs that was told of the report, the door leads on to it; else it says how to
start one.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlencode

from xling_tasks.errors import SettingError
from xling_tasks.output import writing
from xling_tasks.pages.offline import offline_page

DOOR = "view.html"
"""The door's name, beside a report."""


def behind(**filters: str) -> str:
    """The address of the questions that a number or sentence is of, the widest gaps first.

    By the viewer's filters: model, criterion, dataset, language, label; empty ones filter nothing.
    """
    kept = {name: value for name, value in filters.items() if value}
    asked = urlencode({**kept, "sort": "gap"}, quote_via=quote, errors="replace")
    return f"{DOOR}#/?{asked}"


def write_door(folder: Path, address: str = "") -> None:
    """Write the door of a report, which leads on to a viewer's address; empty for none.

    The address is a secret, so that only the owner may read the file.
    """
    path = folder / DOOR
    with writing(path):
        path.touch()
        path.chmod(0o600 if address else 0o644)
        told = {"address": address}
        page = offline_page("door", told, title="The questions", shared=("reading",))
        path.write_text(page, encoding="utf-8", newline="\n")


def check_door(folder: Path) -> None:
    """Raise SettingError unless a folder is that of a report with a door."""
    if not (folder / DOOR).is_file():
        raise SettingError(
            f"--report {folder}: no {DOOR} in it; name the folder that `xling report` or "
            "`xling compare` wrote, or make the report again"
        )
