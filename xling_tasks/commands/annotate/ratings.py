"""People's ratings of translations: their exports, read and checked, and means per language.

XLingEval, Table A2, for a dataset's translations; arXiv:2505.21999, Table 3, for a run's
translations of its answers, with the mean over that table's ten languages where all were rated.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.stats import agreement as metrics

from xling_tasks.commands.annotate.page import ANSWERS, TRANSLATION, scales_of
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.errors import DataError
from xling_tasks.logs.annotations import (
    AnyExport,
    by_page,
    read_content,
    read_head,
    read_rows,
    read_text,
)

Row = dict[str, Any]

ALL = "all"


@dataclass(frozen=True)
class Rated:
    """How one annotator rated one translation: 1 to 5 for each scale, None if not rated."""

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
    """Whether the files rate translations; if not, they check a judge. Both at once are refused."""
    rates = {path: read_content(path).get("form") == TRANSLATION for path in paths}
    if len(set(rates.values())) > 1:
        first = {flag: path for path, flag in rates.items()}
        raise DataError(
            f"{first[True]} rates translations, {first[False]} checks a judge: give the files of "
            "one form at a time"
        )
    return True in rates.values()


def read_ratings(paths: Sequence[Path]) -> dict[str, list[Ratings]]:
    """The files by page, as `read_pages` has those of a judge's check."""
    return by_page(paths, _read_export)


def _read_export(path: Path) -> Ratings:
    content = read_content(path)
    annotator, page = read_head(path, content)
    rows = read_rows(path, content)
    scales = scales_of(content.get("of"))
    items = {name: _read_item(place, row, scales) for name, (place, row) in rows.items()}
    told = ("of", "translator") if "of" in content else ("source",)
    settings = {key: content.get(key) for key in ("form", "seed", "n", *told)}
    return Ratings(path, annotator, page, settings, items)


def _read_item(
    place: str, row: Mapping[str, Any], scales: Mapping[str, Mapping[str, Any]]
) -> Rated:
    names = ("id", "dataset", "language", "question_id")
    told = {name: read_text(place, row, name) for name in names}
    ratings = {scale: row.get(scale) for scale in scales}
    for scale, value in ratings.items():
        best = len(scales[scale]["steps"])
        if value is not None and (type(value) is not int or not 1 <= value <= best):
            raise DataError(
                f"{place}, field {scale!r}: an integer from 1 to {best} or null is expected, "
                f"not {value!r:.40}"
            )
    comment = row.get("comment")
    return Rated(**told, ratings=ratings, comment=comment if isinstance(comment, str) else "")


# Figures


def rows(
    people: Sequence[Ratings], names: Sequence[str], units: Sequence[Sequence[Rated]]
) -> dict[str, list[Row]]:
    """Ratings per language, dataset and scale, annotators, and comments."""
    made: dict[str, list[Row]] = {"ratings": [], "annotators": []}
    what = people[0].settings.get("of")
    scales = list(scales_of(what))
    for start, rated in _groups(units):
        for scale in scales:
            figures = _figures([[said.ratings[scale] for said in unit] for unit in rated])
            where = {**start, "scale": scale}
            made["ratings"].append(where | figures | _published(scale, start["language"]))
        if start["dataset"] == ALL:
            made["annotators"] += [
                {"language": start["language"], "annotator": name}
                | _one_annotator([unit[place] for unit in rated], scales)
                for place, name in enumerate(names)
            ]
    if what == ANSWERS:
        made["ratings"] += _mean_of_languages(made["ratings"])
    made["comments"] = [
        {"id": said.id, "annotator": name, "comment": said.comment}
        for unit in units
        for name, said in zip(names, unit, strict=True)
        if said.comment.strip()
    ]
    return made


def _groups(units: Sequence[Sequence[Rated]]) -> list[tuple[dict[str, str], list[Sequence[Rated]]]]:
    """The items of each language: all, and by dataset, in the page's order of languages."""
    groups = []
    for code in dict.fromkeys(unit[0].language for unit in units):
        rated = [unit for unit in units if unit[0].language == code]
        groups.append(({"language": code, "dataset": ALL}, rated))
        for key in sorted({unit[0].dataset for unit in rated}):
            of_key = [unit for unit in rated if unit[0].dataset == key]
            groups.append(({"language": code, "dataset": key}, of_key))
    return groups


def _figures(units: Sequence[Sequence[int | None]]) -> dict[str, Any]:
    """One scale in one group of items; `units` has an item's ratings, one per annotator."""
    given = [[rating for rating in unit if rating is not None] for unit in units]
    means = [statistics.fmean(ratings) for ratings in given if ratings]
    among = metrics.agreement(units)
    return {
        "items": len(units),
        "unrated": len(units) - len(means),
        "annotators": len(units[0]),
        "ratings": among.n_ratings,
        "missing_ratings": among.n_missing,
        "mean": statistics.fmean(means) if means else None,
        "alpha": metrics.krippendorff_alpha_ordinal(units),
        "alike_percent": None if among.percent is None else 100 * among.percent,
    }


def _published(scale: str, language: str) -> dict[str, Any]:
    """The paper's means by translator, and its raters' kappa; empty for other languages."""
    if scale == "fidelity":
        return {"published": {figure.model: figure.value for figure in _table_3(language)}}
    table = {"source": "xlingeval", "table": "Table A2", "language": language}
    means = published(**table, metric=f"translation_{scale}_likert")
    kappas = [figure.value for figure in published(**table, metric="translation_cohen_kappa")]
    return {
        "published": {figure.model: figure.value for figure in means},
        "published_kappa": kappas[0] if kappas else None,
    }


def _table_3(language: str | None = None) -> list[PublishedScore]:
    """Table 3 of arXiv:2505.21999, or its cell of one language."""
    wanted = {} if language is None else {"language": language}
    return list(published(source="found_in_translation", table="Table 3", **wanted))


def _mean_of_languages(rows: Sequence[Row]) -> list[Row]:
    """The mean over the languages of Table 3; nothing unless people rated all of them."""
    means = {
        row["language"]: row["mean"]
        for row in rows
        if row["dataset"] == ALL and row["mean"] is not None
    }
    wanted = {figure.language for figure in _table_3()}
    if not wanted <= set(means):
        return []
    beside = published(source="found_in_translation", table="Section 5.1")
    return [
        {
            "language": "mean",
            "dataset": ALL,
            "scale": "fidelity",
            "mean": statistics.fmean(means[code] for code in wanted),
            "published": {figure.model: figure.value for figure in beside},
        }
    ]


def _one_annotator(said: Sequence[Rated], scales: Sequence[str]) -> dict[str, Any]:
    """One annotator's mean and number of ratings on each scale."""
    row: dict[str, Any] = {}
    for scale in scales:
        given = [one.ratings[scale] for one in said if one.ratings[scale] is not None]
        row[f"{scale}_mean"] = statistics.fmean(filter(None, given)) if given else None
        row[f"{scale}_ratings"] = len(given)
    return row
