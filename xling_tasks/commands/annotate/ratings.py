"""People's ratings of translations: means per language and dataset.

XLingEval, Table A2, for a dataset's translations; arXiv:2505.21999, Table 3, for a run's
translations of its answers, with the mean over that table's ten languages where all were rated.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from xling_metrics.stats import agreement as metrics

from xling_tasks.commands.annotate.cells import cell, sections
from xling_tasks.commands.annotate.page import ANSWERS, scales_of
from xling_tasks.commands.annotate.rating_files import Rated, Ratings
from xling_tasks.data.published import Figure, published
from xling_tasks.logs.annotations import Page

ALL = "all"

NOTES = (
    "mean: of the items' own means over annotators, 1 (worst) to 5 (best). Items nobody rated on a "
    "scale are unrated, counted, and in no mean; missing_ratings: what single annotators left.",
    "alpha: Krippendorff's, ordinal, over annotators' ratings; empty where it is undefined (no "
    "item with two ratings, or only one rating in use). 1 is perfect, 0 is chance. Where nearly "
    "all ratings are alike it can be low although people agree: read alike_percent beside it "
    "(pairs of ratings of one item that are equal).",
    "settled: of items that people rate differently (differ), those of which a rating was decided; "
    "mean_after has it in place of their mean. alpha, mean and alike_percent are of people's own.",
    "dataset all: the page's items, drawn over datasets in proportion to their questions.",
    "published (fluency, meaning): arXiv:2310.13132, Table A2, the mean of each translator it "
    "compares, on other items and with other wording of the scales; published_kappa is Cohen's "
    "kappa of its raters, over both scales, another coefficient than alpha.",
    "published (fidelity): arXiv:2505.21999, Table 3, NLLB-200 54B on answers of its models to its "
    "prompts; other answers, translator, raters and wording of the scale. language mean: the mean "
    "of its ten languages' means, where people rated all ten (published: Section 5.1).",
)


def summarise_ratings(pages: Mapping[str, Page[Ratings]]) -> dict[str, Any]:
    """Ratings per batch, language, dataset and scale, annotators and comments, as plain rows."""
    report: dict[str, Any] = {"batches": [], "ratings": [], "settled": []}
    report |= {"annotators": [], "comments": []}
    for page, own_page in pages.items():
        exports = own_page.people
        first = exports[0]
        names = [export.annotator for export in exports]
        report["batches"].append(
            {"batch": page, **first.settings, "items": len(first.items), "annotators": names}
            | {"files": [export.path.name for export in exports]}
        )
        units = [[export.items[name] for export in exports] for name in first.items]
        scales = list(scales_of(first.settings.get("of")))
        for start, own in _groups(units):
            for scale in scales:
                figures = _figures([[said.ratings[scale] for said in unit] for unit in own])
                beside = _published(scale, start["language"])
                where = {"batch": page, **start, "scale": scale}
                report["ratings"].append(where | figures | beside)
                if own_page.settled:
                    report["settled"].append(where | _settled(own_page, own, scale))
            if start["dataset"] == ALL:
                report["annotators"] += [
                    {"batch": page, "language": start["language"], "annotator": name}
                    | _one_annotator([unit[place] for unit in own], scales)
                    for place, name in enumerate(names)
                ]
        if first.settings.get("of") == ANSWERS:
            report["ratings"] += _mean_of_languages(page, report["ratings"])
        report["comments"] += [
            {"batch": page, "id": said.id, "annotator": name, "comment": said.comment}
            for unit in units
            for name, said in zip(names, unit, strict=True)
            if said.comment.strip()
        ]
    report["notes"] = list(NOTES)
    return report


def _groups(units: Sequence[Sequence[Rated]]) -> list[tuple[dict[str, str], list[Sequence[Rated]]]]:
    """The items of each language: all, and by dataset, in the page's order of languages."""
    groups = []
    for code in dict.fromkeys(unit[0].language for unit in units):
        own = [unit for unit in units if unit[0].language == code]
        groups.append(({"language": code, "dataset": ALL}, own))
        for key in sorted({unit[0].dataset for unit in own}):
            of_key = [unit for unit in own if unit[0].dataset == key]
            groups.append(({"language": code, "dataset": key}, of_key))
    return groups


def _figures(units: Sequence[Sequence[int | None]]) -> dict[str, Any]:
    """One scale in one group of items; `units` has an item's ratings, one per annotator."""
    given = [[rating for rating in unit if rating is not None] for unit in units]
    means = [statistics.fmean(own) for own in given if own]
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


def _settled(page: Page[Ratings], units: Sequence[Sequence[Rated]], scale: str) -> dict[str, Any]:
    """How many differences on a scale were settled, and the mean with what was decided."""
    apart, decided, means = 0, 0, []
    for unit in units:
        given = [one for said in unit if (one := said.ratings[scale]) is not None]
        differ = len(set(given)) > 1
        own = page.decided(unit[0].id, given)
        value = own.ratings[scale] if own else None
        apart += differ
        decided += value is not None
        if given:
            means.append(float(value) if value is not None else statistics.fmean(given))
    mean = statistics.fmean(means) if means else None
    return {"differ": apart, "settled": decided, "left": apart - decided, "mean_after": mean}


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


def _table_3(language: str | None = None) -> list[Figure]:
    """Table 3 of arXiv:2505.21999, or its cell of one language."""
    wanted = {} if language is None else {"language": language}
    return list(published(source="found_in_translation", table="Table 3", **wanted))


def _mean_of_languages(page: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The mean over the languages of Table 3; nothing unless people rated all of them."""
    means = {
        row["language"]: row["mean"]
        for row in rows
        if row["batch"] == page and row["dataset"] == ALL and row["mean"] is not None
    }
    wanted = {figure.language for figure in _table_3()}
    if not wanted <= set(means):
        return []
    beside = published(source="found_in_translation", table="Section 5.1")
    return [
        {
            "batch": page,
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
        given = [own.ratings[scale] for own in said if own.ratings[scale] is not None]
        row[f"{scale}_mean"] = statistics.fmean(filter(None, given)) if given else None
        row[f"{scale}_ratings"] = len(given)
    return row


def ratings_markdown(report: Mapping[str, Any]) -> str:
    """The report to read."""
    keys = [key for key in ("ratings", "settled", "annotators", "batches") if report[key]]
    parts = sections("People's ratings of translations", report, keys, _shown)
    if report["comments"]:
        said = (
            f"- {cell(row['id'])} ({cell(row['annotator'])}): {cell(row['comment'])}"
            for row in report["comments"]
        )
        parts += ["## Comments", "\n".join(said)]
    return "\n\n".join(parts)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{cell(name)} {cell(own)}" for name, own in value.items())
    return cell(value)
