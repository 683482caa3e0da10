"""What people say of the results that they hand in: `about.yaml` beside them.

A board is made of folders of many people. What only they know (who they are, where all samples can
be read, what the model costs) stands in a file of theirs, which travels with the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import YamlError, read_yaml

from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.secrets import public

FILE = "about.yaml"
_KEYS = ("by", "samples", "price", "paid")
# A query or a login may hold a key, and everything here is published.
_LINK = re.compile(r"https://[a-z0-9.-]+\.[a-z]{2,}(?::\d+)?(?:/[^\s?@\"'<>\\]*)?", re.I)
_LONGEST = 300


@dataclass(frozen=True)
class AboutFile:
    """Who handed results in, and what they say of them.

    Attributes:
        by: Who.
        samples: Address of the samples.
        price: Dollars for a million tokens sent, and received, of the model under test.
        paid: Dollars that the run cost, judge and translator included.
    """

    by: str = ""
    samples: str = ""
    price: tuple[float, float] | None = None
    paid: float | None = None


def read_about(results: Iterable[Path], folders: Iterable[Path]) -> tuple[AboutFile, ...]:
    """Return the statements beside some results, each once; upwards to one of `folders`."""
    ends = {folder.resolve() for folder in folders}
    found = dict.fromkeys(path for item in results if (path := _beside(item.resolve(), ends)))
    return tuple(dict.fromkeys(map(_read, found)))


def _beside(path: Path, ends: set[Path]) -> Path | None:
    """Find the nearest file from a result's own folder up to the one that was given."""
    for folder in path.parents:
        if (folder / FILE).is_file():
            return folder / FILE
        if folder in ends:
            break
    return None


def _read(path: Path) -> AboutFile:
    try:
        content: Any = read_yaml(path) or {}
    except YamlError as error:
        raise DataError(f"{FILE} cannot be read: {error}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(content, Mapping):
        raise DataError(f"{path}: expected keys of {', '.join(_KEYS)}, got {content!r:.40}")
    for key in content:
        if key not in _KEYS:
            raise DataError(f"{path}: unknown key {key!r:.40}.{did_you_mean(str(key), _KEYS)}")
    return AboutFile(
        public(_text(path, content, "by")), _link(path, content),
        _price(path, content.get("price")), _paid(path, content.get("paid")),
    )  # fmt: skip


def _text(path: Path, content: Mapping[str, Any], key: str) -> str:
    supplied = content.get(key)
    if supplied is None:
        return ""
    if not isinstance(supplied, str) or len(supplied) > _LONGEST or len(supplied.splitlines()) > 1:
        raise DataError(f"{path}, {key}: expected a line of text, got {supplied!r:.60}")
    return supplied.strip()


def _link(path: Path, content: Mapping[str, Any]) -> str:
    link = _text(path, content, "samples")
    if link and not _LINK.fullmatch(link):
        raise DataError(
            f"{path}, samples: expected an address that begins with https:// and has no login and "
            f"no '?', since it is published; got {link!r:.60}"
        )
    return link


def _price(path: Path, given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    parts = given.split("/") if isinstance(given, str) else []
    numbers = [number for part in parts if (number := _dollars(part)) is not None]
    if len(parts) != 2 or len(numbers) != 2:
        raise DataError(
            f"{path}, price: write dollars for a million tokens sent and received, such as 2.5/10; "
            f"got {given!r:.40}"
        )
    return numbers[0], numbers[1]


def _paid(path: Path, given: Any) -> float | None:
    if given is None:
        return None
    number = None if isinstance(given, bool) else _dollars(str(given))
    if number is None:
        raise DataError(f"{path}, paid: expected dollars, such as 12.5, got {given!r:.40}")
    return number


def _dollars(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", text) else None
