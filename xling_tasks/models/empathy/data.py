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
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from xling_tasks.data.tables import Table, read_tables
from xling_tasks.errors import DataError, no_such

MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
"""The mechanisms of empathy, in the order of every profile and table."""

FILES = tuple(f"{name.replace('_', '-')}-reddit.csv" for name in MECHANISMS)
"""The files of a folder, one for each mechanism."""

COLUMNS = ("sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales")
SPLIT = (75, 5, 20)
"""Percent of the seeker posts in train, dev and test."""

Profile = tuple[bool, bool, bool]
"""Which mechanisms a response has, in the order of `MECHANISMS`."""

# Whose file has the texts that are used: the published file of emotional reactions lacks some of
# the spaces and names of the platform that the other two have.
_TEXTS_OF = MECHANISMS.index("interpretations")
TEXTS_FILE = FILES[_TEXTS_OF]


class Pair(NamedTuple):
    """One annotated pair of posts.

    Attributes:
        group: Equal for pairs whose seeker posts have one id or one text.
        seeker: The seeker's post, runs of white space made one space.
        response: The response, likewise.
        present: Whether each mechanism is there: level 1 or 2, not 0.
        rationales: For each mechanism the annotators' evidence, parts of the response.
    """

    group: str
    seeker: str
    response: str
    present: Profile
    rationales: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class EmpathyData:
    """What a folder holds.

    Attributes:
        pairs: In the order of the file of emotional reactions.
        digest: First 12 hexadecimal digits of the SHA-256 of the pairs.
        repeated: Rows whose pair of ids had stood before; all are kept.
        differing: Rows whose texts differ between the files in more than white space; the text
            of the file of interpretations is used.
        unplaced: Rationales of present mechanisms that are no part of the response used.
    """

    pairs: tuple[Pair, ...]
    digest: str
    repeated: int
    differing: int
    unplaced: int


class Split(NamedTuple):
    """Indices into `EmpathyData.pairs`, ascending."""

    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]


class _Row(NamedTuple):
    ids: tuple[str, str]
    seeker: str
    response: str
    present: bool
    rationales: tuple[str, ...]


_Key = tuple[tuple[str, str], int]
"""A pair's ids, and how many rows had them before."""


def load(folder: Path) -> EmpathyData:
    """Read the three files of a folder.

    Raises:
        DataError: If a file or column is missing, a field is empty or a level none, or a pair
            stands in one file and not in another; names file, row and field.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: {no_such(folder, 'folder')}; --data takes EPITOME's CSV files")
    files = [_pairs_in(folder / name) for name in FILES]
    for table, rows in files[1:]:
        _same_pairs(files[0], (table, rows))
        _same_pairs((table, rows), files[0])
    keys = list(files[0][1])
    by_pair = [[rows[key] for _, rows in files] for key in keys]
    groups = _groups([same[_TEXTS_OF] for same in by_pair])
    pairs = tuple(_pair(group, same) for group, same in zip(groups, by_pair, strict=True))
    content = json.dumps(pairs, ensure_ascii=False).encode()
    return EmpathyData(
        pairs=pairs,
        digest=hashlib.sha256(content).hexdigest()[:12],
        repeated=sum(occurrence > 0 for _, occurrence in keys),
        differing=sum(len({(row.seeker, row.response) for row in same}) > 1 for same in by_pair),
        unplaced=sum(
            rationale not in pair.response
            for pair in pairs
            for present, rationales in zip(pair.present, pair.rationales, strict=True)
            for rationale in (rationales if present else ())
        ),
    )


def split(pairs: Sequence[Pair], seed: int) -> Split:
    """Draw train, dev and test, 75-5-20 by seeker post, none of which is in two parts.

    The draw follows from the seed and the groups' names alone: neither the order of the rows nor
    a library's version changes it. Of n groups, n * 20% go to test and n * 5% to dev, halves up.

    Raises:
        DataError: If a part would be empty.
    """
    groups = sorted({pair.group for pair in pairs}, key=lambda name: digest_of(seed, name))
    n_dev, n_test = ((len(groups) * percent + 50) // 100 for percent in SPLIT[1:])
    if not n_dev:
        raise DataError(
            f"{TEXTS_FILE}: {len(groups)} seeker posts cannot be split 75-5-20; 10 are the fewest; "
            "add pairs with other posts (equal texts, or equal sp_id, are one post)"
        )
    part_of = dict.fromkeys(groups, 0)
    part_of |= dict.fromkeys(groups[:n_test], 2)
    part_of |= dict.fromkeys(groups[n_test : n_test + n_dev], 1)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for index, pair in enumerate(pairs):
        parts[part_of[pair.group]].append(index)
    return Split(*map(tuple, parts))


def check_learnable(pairs: Sequence[Pair]) -> None:
    """Refuse pairs from which no classifier can learn.

    Raises:
        DataError: If a mechanism is in all pairs or in none, or all responses are one text.
    """
    for column, (name, file) in enumerate(zip(MECHANISMS, FILES, strict=True)):
        levels = {pair.present[column] for pair in pairs}
        if len(levels) < 2:
            there = "1 or 2" if levels == {True} else "0"
            raise DataError(
                f"{file}, column 'level': {name} is {there} in all {len(pairs)} training rows; add "
                "annotated pairs with and without it"
            )
    if len({pair.response for pair in pairs}) < 2:
        raise DataError(
            f"{TEXTS_FILE}, column 'response_post': all {len(pairs)} training rows have one and "
            "the same text, from which nothing can be learnt; give the posts themselves"
        )


def plain(text: str) -> str:
    """The text with runs of white space made one space, none around it."""
    return " ".join(text.split())


def _pairs_in(path: Path) -> tuple[Table, dict[_Key, _Row]]:
    (table,) = read_tables(path)
    table.require(COLUMNS)
    rows: dict[_Key, _Row] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for number in table.rows:
        row = _read_row(table, number)
        rows[row.ids, seen[row.ids]] = row
        seen[row.ids] += 1
    return table, rows


def _read_row(table: Table, number: int) -> _Row:
    cells = {name: plain(table.text(number, name) or "") for name in COLUMNS}
    for name in COLUMNS[:4]:
        if not cells[name]:
            raise DataError(f"{table.location(number, name)}: the field is empty; fill it in")
    if cells["level"] not in ("0", "1", "2"):
        raise DataError(f"{table.location(number, 'level')}: expected 0, 1 or 2; mend the field")
    return _Row(
        ids=(cells["sp_id"], cells["rp_id"]),
        seeker=cells["seeker_post"],
        response=cells["response_post"],
        present=cells["level"] != "0",
        rationales=tuple(filter(None, map(plain, cells["rationales"].split("|")))),
    )


def _same_pairs(have: tuple[Table, dict[_Key, _Row]], want: tuple[Table, dict[_Key, _Row]]) -> None:
    """Check that each row of `have` has its like in `want`."""
    for number, key in zip(have[0].rows, have[1], strict=True):
        if key not in want[1]:
            raise DataError(
                f"{have[0].location(number, 'sp_id')}: {want[0].path.name} lacks a row with this "
                "sp_id and rp_id; the three files must hold the same pairs equally often"
            )


def _pair(group: str, same: Sequence[_Row]) -> Pair:
    (a, b, c), texts = same, same[_TEXTS_OF]
    present, rationales = (
        (a.present, b.present, c.present),
        (a.rationales, b.rationales, c.rationales),
    )
    return Pair(group, texts.seeker, texts.response, present, rationales)


def _groups(rows: Sequence[_Row]) -> list[str]:
    """For each row the least id among seeker posts that ids or equal texts join."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    first_with: dict[str, str] = {}
    for row in rows:
        one, other = root(row.ids[0]), root(first_with.setdefault(_text(row), row.ids[0]))
        parent[max(one, other)] = min(one, other)
    return [root(row.ids[0]) for row in rows]


def _text(row: _Row) -> str:
    """The seeker post up to case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", row.seeker).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def digest_of(*parts: object) -> str:
    """The digest of some parts: a name for them, and by it an order that is random but fixed."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


# Seeker posts that a classifier was not trained on, drawn as a set of prompts: whoever scores
# answers to posts that the classifier has learnt from scores what it remembers.


class Post(NamedTuple):
    """A seeker post.

    Attributes:
        id: `epitome-` and ten hexadecimal digits of its group's name.
        text: The post.
        shown: Which mechanisms any of its responses has; what the draw is stratified by.
    """

    id: str
    text: str
    shown: Profile


def held_out(data: EmpathyData, seed: int) -> list[Post]:
    """Every seeker post of the test part, in the order of the data."""
    groups: dict[str, list[Pair]] = {}
    for index in split(data.pairs, seed).test:
        groups.setdefault(data.pairs[index].group, []).append(data.pairs[index])
    return [
        Post(
            f"epitome-{digest_of(group)[:10]}",
            pairs[0].seeker,
            cast(Profile, tuple(map(any, zip(*(pair.present for pair in pairs), strict=True)))),
        )
        for group, pairs in groups.items()
    ]


def draw(posts: list[Post], n: int, seed: int) -> list[Post]:
    """N posts, each stratum of `shown` in proportion (largest remainders), ordered by id.

    Raises:
        DataError: If there are fewer than n.
    """
    if n > len(posts):
        raise DataError(f"--n {n}: the test part has {len(posts)} seeker posts")
    sizes = Counter(post.shown for post in posts)
    exact = {stratum: n * size / len(posts) for stratum, size in sizes.items()}
    quota = {stratum: int(share) for stratum, share in exact.items()}
    rest = sorted(exact, key=lambda stratum: (quota[stratum] - exact[stratum], stratum))
    for stratum in rest[: n - sum(quota.values())]:
        quota[stratum] += 1
    chosen: list[Post] = []
    for stratum, size in quota.items():
        own = [post for post in posts if post.shown == stratum]
        chosen += sorted(own, key=lambda post: digest_of(seed, post.id))[:size]
    return sorted(chosen)
