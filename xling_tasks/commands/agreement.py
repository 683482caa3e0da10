"""`xling agreement`: what annotators chose, their agreement with the judge and with each other."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from xling_metrics.stats.agreement import (
    krippendorff_alpha,
    majority_label,
)

from xling_tasks.commands.options import add_json
from xling_tasks.errors import user_path
from xling_tasks.output import table
from xling_tasks.report.annotation_files import FIDELITY, LABEL, Annotation, read_annotations
from xling_tasks.report.published import published

_NOTES = {
    LABEL: (
        "agreement_percent: items whose majority label is the judge's, of those with a majority "
        "(published: arXiv:2310.13132, Table A7, two batches). unanimous_percent: items that every "
        "annotator labels as the judge, of those that all label. alpha: Krippendorff's, nominal."
    ),
    "ratings": (
        "mean: of the items' mean ratings, 1 to 5. alpha: Krippendorff's, ordinal. published: "
        "arXiv:2310.13132, Table A2 (fluency, meaning); arXiv:2505.21999, Table 3 (fidelity)."
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling agreement`."""
    text = "CSV files that annotators exported from the page of `xling annotate`"
    parser.add_argument("files", nargs="+", type=user_path, metavar="FILE", help=text)
    add_json(parser)
    parser.set_defaults(run=agreement)


def agreement(options: argparse.Namespace) -> str:
    """Return the figures by form and language, disagreements and comments."""
    annotations = read_annotations(options.files)
    groups: dict[tuple[str, str], list[Annotation]] = {}
    for annotation in annotations:
        groups.setdefault((annotation.form, annotation.language), []).append(annotation)
    figures = [row for group in groups.values() for row in describe_group(group)]
    figures += _mean_fidelity([row for row in figures if row["form"] == FIDELITY])
    remarks = list(_remarks(annotations))
    if options.json:
        return json.dumps({"agreement": figures, "remarks": remarks}, indent=1, ensure_ascii=False)
    blocks = []
    for form in dict.fromkeys(row["form"] for row in figures):
        rows = [{k: _shown(v) for k, v in row.items()} for row in figures if row["form"] == form]
        blocks += [table(rows), _NOTES[LABEL if form == LABEL else "ratings"]]
    if remarks:
        blocks.append("Disagreements and comments:\n\n" + table(remarks))
    return "\n\n".join(blocks)


def describe_group(group: Sequence[Annotation]) -> Iterator[dict[str, Any]]:
    """Yield figures of one form and language for all annotators, and for each if several."""
    form, language = group[0].form, group[0].language
    people = list(dict.fromkeys(a.annotator for a in group if a.label))
    describe = _describe_labels if form == LABEL else _describe_ratings
    for who in (None, *people) if len(people) > 1 else (None,):
        items: dict[tuple[str, ...], list[Annotation]] = {}
        for a in group:
            if a.label and who in (None, a.annotator):
                items.setdefault(a.item, []).append(a)
        yield {
            "form": form, "language": language, "annotator": who or ", ".join(people),
            "items": len(items),
            **describe([*items.values()], language, 1 if who else len(people)),
        }  # fmt: skip


def _describe_labels(
    items: Sequence[Sequence[Annotation]], language: str, width: int
) -> dict[str, Any]:
    votes = [[a.label for a in item] for item in items]
    judge = [item[0].judge_label for item in items]
    majority = [majority_label(labels) for labels in votes]
    pairs = [*zip(votes, judge, strict=True)]
    agree = [label == other for label, other in zip(majority, judge, strict=True) if label]
    complete = [{*labels} == {other} for labels, other in pairs if len(labels) == width]
    return {
        "labels": sum(map(len, votes)),
        "ties": sum(label is None for label in majority),
        "agreement_percent": 100 * fmean(agree) if agree else None,
        "unanimous_percent": 100 * fmean(complete) if complete else None,
        "alpha": krippendorff_alpha([[*v, *[None] * (width - len(v))] for v in votes]),
        "published_percent": [f.value for f in published(table="Table A7", language=language)],
    }


def _describe_ratings(
    items: Sequence[Sequence[Annotation]], language: str, width: int
) -> dict[str, Any]:
    ratings = [[int(a.label) for a in item] for item in items]
    padded = [[*item, *[None] * (width - len(item))] for item in ratings]
    form = items[0][0].form if items else FIDELITY
    table_of = (
        {"source": "found_in_translation", "table": "Table 3"}
        if form == FIDELITY
        else {"source": "xlingeval", "table": "Table A2", "metric": f"translation_{form}_likert"}
    )
    figures = {f.model: f.value for f in published(**table_of, language=language)}
    if form != FIDELITY:
        kappa = published(table="Table A2", language=language, metric="translation_cohen_kappa")
        figures |= {f"{figure.model} kappa".strip(): figure.value for figure in kappa}
    return {
        "ratings": sum(map(len, ratings)),
        "mean": fmean(map(fmean, ratings)) if ratings else None,
        "alpha": krippendorff_alpha(padded, ordinal=True),
        "published": figures,
    }


def _mean_fidelity(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the mean over the languages of Table 3, if all were rated, beside Section 5.1."""
    means = {row["language"]: row["mean"] for row in rows[::-1]}  # all annotators stand first
    table_3 = published(source="found_in_translation", table="Table 3")
    languages = {figure.language for figure in table_3}
    if languages <= means.keys():
        figures = published(source="found_in_translation", table="Section 5.1")
        yield {
            "form": FIDELITY, "language": "mean", "mean": fmean(means[code] for code in languages),
            "published": {figure.model: figure.value for figure in figures},
        }  # fmt: skip


def _remarks(annotations: Sequence[Annotation]) -> Iterator[dict[str, str]]:
    """Yield the annotations that differ from the judge's label, and those with a comment."""
    for a in annotations:
        differs = a.form == LABEL and a.label and a.label != a.judge_label
        if differs or a.comment:
            yield {
                "task": a.task, "question": a.question_id, "judge": a.judge_label,
                "annotator": a.annotator, "label": a.label, "comment": a.comment,
            }  # fmt: skip


def _shown(value: Any) -> Any:
    """Format a list or mapping of published values for a table's cell."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {figure:g}" for name, figure in value.items()) or None
    if isinstance(value, list):
        return ", ".join(f"{figure:g}" for figure in value) or None
    return value
