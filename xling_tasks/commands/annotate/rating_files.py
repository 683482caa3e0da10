"""Exports of the page of `xling annotate --form translation`, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.commands.annotate.page import TRANSLATION, scales_of
from xling_tasks.errors import DataError
from xling_tasks.logs.annotations import (
    AnyExport,
    Page,
    by_page,
    read_content,
    read_head,
    read_resolves,
    read_rows,
    read_text,
)


@dataclass(frozen=True)
class Rated:
    """How one annotator rated one translation.

    Attributes:
        id: The item, on its page.
        dataset: The dataset it comes from.
        language: That of the translation.
        question_id: Its question.
        ratings: 1 to 5 for each scale of the page; None if not rated.
        comment: What else they said.
    """

    id: str
    dataset: str
    language: str
    question_id: str
    ratings: Mapping[str, int | None]
    comment: str

    @property
    def origin(self) -> tuple[str, ...]:
        """What does not depend on the annotator."""
        return (self.id, self.dataset, self.language, self.question_id)


@dataclass(frozen=True)
class Ratings(AnyExport):
    """A file of ratings; its settings are form, seed, n, and where the translations are from."""

    items: Mapping[str, Rated]


def are_ratings(paths: Sequence[Path]) -> bool:
    """Whether the files rate translations; if not, they check a judge.

    Raises:
        DataError: If a file is no export, or there are files of both forms.
    """
    rates = {path: read_content(path).get("form") == TRANSLATION for path in paths}
    if len(set(rates.values())) > 1:
        first = {flag: path for path, flag in rates.items()}
        raise DataError(
            f"{first[True]} rates translations, {first[False]} checks a judge: give the files of "
            "one form at a time"
        )
    return True in rates.values()


def read_ratings(paths: Sequence[Path]) -> dict[str, Page[Ratings]]:
    """The files by page, as `read_pages` has those of a judge's check."""
    return by_page(paths, _read)


def _read(path: Path) -> Ratings:
    content = read_content(path)
    annotator, page = read_head(path, content)
    rows = read_rows(path, content)
    scales = scales_of(content.get("of"))
    items = {name: _read_item(place, row, scales) for name, (place, row) in rows.items()}
    told = ("of", "translator") if "of" in content else ("source",)
    settings = {key: content.get(key) for key in ("form", "seed", "n", *told)}
    return Ratings(path, annotator, page, settings, items, read_resolves(path, content))


def _read_item(
    place: str, row: Mapping[str, Any], scales: Mapping[str, tuple[str, tuple[str, ...]]]
) -> Rated:
    names = ("id", "dataset", "language", "question_id")
    told = {name: read_text(place, row, name) for name in names}
    ratings = {scale: row.get(scale) for scale in scales}
    for scale, value in ratings.items():
        best = len(scales[scale][1])
        if value is not None and (type(value) is not int or not 1 <= value <= best):
            raise DataError(
                f"{place}, field {scale!r}: an integer from 1 to {best} or null is expected, "
                f"not {value!r:.40}"
            )
    comment = row.get("comment")
    return Rated(**told, ratings=ratings, comment=comment if isinstance(comment, str) else "")
