"""What people say of the results that they hand in: `about.yaml` beside them.

A leaderboard is made of folders of many people. What only they know stands in a file of theirs,
which travels with the folder: `by`, `samples` (the address of all samples), `price` (dollars for a
million tokens sent and received) and `paid` (dollars that the run cost, judge included).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import YamlError, read_yaml

from xling_tasks.errors import DataError, refuse_unknown
from xling_tasks.secrets import public

FILE = "about.yaml"
_DOLLARS = r"\d{1,9}(?:\.\d+)?"
_FORMS = {
    "by": (r".{0,300}", "a line of text"),
    "samples": (
        r"https://[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}(?::\d+)?(?:/[^\s?@\"'<>\\]*)?",
        "an address that begins with https:// and has no login and no '?', since it is published",
    ),
    "price": (f"{_DOLLARS}/{_DOLLARS}", "dollars for a million tokens, such as 2.5/10"),
    "paid": (_DOLLARS, "dollars, such as 12.5"),
}


def read_about(results: Iterable[Path], folders: Iterable[Path]) -> list[dict[str, Any]]:
    """Return what stands in the files beside some results, each once; upwards to one of `folders`.

    Raises:
        DataError: If a file cannot be read, or one of its keys or values is impossible.
    """
    ends = {folder.resolve() for folder in folders}
    paths: dict[Path, None] = {}
    for item in results:
        for folder in item.resolve().parents:
            if (folder / FILE).is_file():
                paths[folder / FILE] = None
            if (folder / FILE).is_file() or folder in ends:
                break
    about: list[dict[str, Any]] = []
    for path in paths:
        about += [content] if (content := _read(path)) not in about else []
    return about


def _read(path: Path) -> dict[str, Any]:
    try:
        content: Any = read_yaml(path) or {}
    except (YamlError, OSError) as error:
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(content, Mapping):
        raise DataError(f"{path}: expected keys of {', '.join(_FORMS)}, got {content!r:.40}")
    refuse_unknown(f"{path}: ", map(str, content), _FORMS)
    texts = {key: str(value).strip() for key, value in content.items() if value is not None}
    for key, text in texts.items():
        if not re.fullmatch(_FORMS[key][0], text):
            raise DataError(f"{path}, {key}: expected {_FORMS[key][1]}; got {text!r:.60}")
    return {
        "by": public(texts.get("by", "")), "samples": texts.get("samples", ""),
        "price": [float(x) for x in texts["price"].split("/")] if "price" in texts else None,
        "paid": float(texts["paid"]) if "paid" in texts else None,
    }  # fmt: skip
