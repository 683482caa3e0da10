"""Pairs of posts with empathy labels (EPITOME, Sharma et al. 2020, arXiv 2009.08441), and splits.

The three files hold one row per pair and annotation, in any order; some pairs were annotated
twice. Posts are by people in distress: no message of this module quotes one.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from xling_tasks.data.tables import read_tables
from xling_tasks.errors import DataError, no_such

MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
"""The mechanisms of empathy, in the order of every profile and table."""

FILES = tuple(f"{name.replace('_', '-')}-reddit.csv" for name in MECHANISMS)
COLUMNS = ("sp_id", "rp_id", "seeker_post", "response_post", "level")
SPLIT = (75, 5, 20)
"""Percent of the seeker posts in train, dev and test."""

# The published file of emotional reactions lacks some of the spaces and names of the platform that
# the other two have: these texts are used.
TEXTS_FILE = FILES[1]

Profile = tuple[bool, bool, bool]
"""Which mechanisms a response has, in the order of `MECHANISMS`."""


class Pair(NamedTuple):
    """One annotated pair of posts, with runs of white space made one space."""

    group: str  # equal for pairs whose seeker posts have one text, up to case and punctuation
    seeker: str
    response: str
    present: Profile  # whether each mechanism is there: level 1 or 2, not 0


class EmpathyData(NamedTuple):
    """Pairs in the order of the file of emotional reactions, and the digest of them."""

    pairs: tuple[Pair, ...]
    digest: str


class Split(NamedTuple):
    """Indices into `EmpathyData.pairs`, ascending."""

    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]


def load(folder: Path) -> EmpathyData:
    """Read the three files of a folder; raise a DataError that names file, row and field."""
    if not folder.is_dir():
        raise DataError(f"{folder}: {no_such(folder, 'folder')}; --data takes EPITOME's CSV files")
    files = [_read_file(folder / name) for name in FILES]
    for have, want in ((0, 1), (1, 0), (0, 2), (2, 0)):
        for number, key in enumerate(files[have], start=2):
            if key not in files[want]:
                raise DataError(
                    f"{folder / FILES[have]}, row {number}, column 'sp_id': {FILES[want]} lacks a "
                    "row with this sp_id and rp_id; the three files must hold the same pairs "
                    "equally often"
                )
    groups: dict[str, str] = {}
    for key, (seeker, _, _) in files[1].items():
        groups[_fold(seeker)] = min(key[0], groups.get(_fold(seeker), key[0]))
    pairs = []
    for key in files[0]:
        seeker, response, _ = files[1][key]
        a, b, c = (rows[key][2] for rows in files)
        pairs.append(Pair(groups[_fold(seeker)], seeker, response, (a, b, c)))
    digest = hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()[:12]
    return EmpathyData(tuple(pairs), digest)


def _read_file(path: Path) -> dict[tuple[str, str, int], tuple[str, str, bool]]:
    """Return a pair's ids, and how many rows had them before -> texts, and if the mechanism is."""
    (table,) = read_tables(path)
    table.require(COLUMNS)
    rows: dict[tuple[str, str, int], tuple[str, str, bool]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for number in table.rows:
        cells = [" ".join((table.text(number, name) or "").split()) for name in COLUMNS]
        for name, cell in zip(COLUMNS[:4], cells, strict=False):
            if not cell:
                raise DataError(f"{table.location(number, name)}: the field is empty; fill it in")
        ids, (seeker, response, level) = (cells[0], cells[1]), cells[2:]
        if level not in ("0", "1", "2"):
            location = table.location(number, "level")
            raise DataError(f"{location}: expected 0, 1 or 2; mend the field")
        rows[(*ids, seen[ids])] = (seeker, response, level != "0")
        seen[ids] += 1
    return rows


def split(pairs: Sequence[Pair], seed: int) -> Split:
    """Draw train, dev and test, 75-5-20 by seeker post, none of which is in two parts.

    The draw follows from the seed and the groups' names alone: neither the order of the rows nor
    a library's version changes it. Of n groups, n * 20% go to test and n * 5% to dev, halves up.
    Raises a DataError if a part would be empty.
    """
    groups = sorted({pair.group for pair in pairs}, key=lambda name: digest_of(seed, name))
    n_dev, n_test = ((len(groups) * percent + 50) // 100 for percent in SPLIT[1:])
    if not n_dev:
        raise DataError(
            f"{TEXTS_FILE}: {len(groups)} seeker posts cannot be split 75-5-20; 10 are the fewest; "
            "add pairs with other posts"
        )
    number = {group: n for n, group in enumerate(groups)}
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for index, pair in enumerate(pairs):
        n = number[pair.group]
        parts[2 if n < n_test else 1 if n < n_test + n_dev else 0].append(index)
    return Split(*map(tuple, parts))


def _fold(text: str) -> str:
    """Return a post up to case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def digest_of(*parts: object) -> str:
    """Return the digest of some parts: by it there is an order that is random but fixed."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
