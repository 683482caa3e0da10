"""Physicians' labels of answers: HealthBench's meta evaluation form, one JSON object a line.

A line is an answer (`completion`) to a conversation (`prompt`), one criterion (`rubric`) and what
each of some physicians said: whether the answer meets it (`binary_labels`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.data.own.rubric_cells import text_of
from xling_tasks.data.own.tongues import Scripts, Tongue
from xling_tasks.data.own.turns import language_of_file, tongue_of, transcript, turns_of
from xling_tasks.errors import DataError
from xling_tasks.safe_json import json_objects


@dataclass(frozen=True)
class Labelled:
    """A criterion of an answer to a conversation, with what each physician said of it.

    The category is the file's, empty for none; the language is that of conversation and answer.
    """

    conversation: str
    answer: str
    criterion: str
    labels: tuple[bool, ...]
    category: str
    tongue: Tongue


def read_labels(path: Path, stated: Scripts) -> list[Labelled]:
    """All labelled criteria of a file."""
    of_file = language_of_file(path, stated)
    criteria = [
        _labelled(f"{path}, line {number}", row, of_file, stated)
        for number, row in json_objects(path, expected="an answer with labels", whole=True)
    ]
    if not criteria:
        raise DataError(f"{path}: holds no labels")
    return criteria


def _labelled(
    where: str, row: Mapping[str, Any], of_file: Tongue | DataError, stated: Scripts
) -> Labelled:
    turns, tongues = turns_of(where, row, of_file, stated)
    if not turns:
        raise DataError(f"{where}: 'prompt' has no text")
    info = row.get("translation_info")
    word = info.get("lang") if isinstance(info, Mapping) else None
    code = tongue_of(where, "translation_info.lang", word, stated).code if word else None
    code = code if code in turns else next(iter(turns))
    return Labelled(
        transcript(turns[code]),
        text_of(where, row, "completion"),
        text_of(where, row, "rubric"),
        _labels(where, row),
        row["category"] if isinstance(row.get("category"), str) else "",
        tongues[code],
    )


def _labels(where: str, row: Mapping[str, Any]) -> tuple[bool, ...]:
    given = row.get("binary_labels")
    if not isinstance(given, list) or not given:
        raise DataError(
            f"{where}: 'binary_labels' is missing: a list with true or false of each physician"
        )
    if not all(isinstance(each, bool) or each in (0, 1) for each in given):
        raise DataError(f"{where}, 'binary_labels': true or false is expected, got {given!r:.60}")
    return tuple(map(bool, given))
