"""The term lists of the bundled texts, and the words by which each language denies.

`cases/terms/concepts.tsv` says by a pattern where the English has a concept; `cases/terms/CODE.tsv` says which
word a language has for it, how that word is told in a text, and on which page it is used in that sense.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex
from prompt_gates import PATTERNS

FOLDER = Path(__file__).parent / "cases" / "terms"
NEGATIONS = PATTERNS["negations"]


class Term(NamedTuple):
    """A language's word for a concept."""

    pattern: regex.Pattern[str]
    """Found in every text, in lower case, whose English has the concept."""
    word: str
    """As a patient meets it in a leaflet."""
    source: str
    """Address of a page that uses it so; empty for everyday words, and where none was found."""


@cache
def concepts() -> dict[str, regex.Pattern[str]]:
    """Each concept -> its pattern in English, in lower case."""
    return {
        concept: regex.compile(pattern) for concept, pattern in rows(FOLDER / "concepts.tsv", 2)
    }


@cache
def terms(code: str) -> dict[str, Term]:
    """Each concept -> the term of a language."""
    return {
        concept: Term(regex.compile(pattern), word, source)
        for concept, pattern, word, source in rows(FOLDER / f"{code}.tsv", 4)
    }


def rows(file: Path, n_columns: int, n_keys: int = 1) -> list[list[str]]:
    """The lines of a table; what its first `n_keys` columns hold stands there once."""
    own = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    assert {len(row) for row in own} == {n_columns}, file
    assert len({tuple(row[:n_keys]) for row in own}) == len(own), file
    return own
