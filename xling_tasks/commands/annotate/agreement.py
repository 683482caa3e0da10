"""`xling agreement`: how far people agree with the judge, and with each other (Table A7).

Files that rate translations (Table A2) are summarised in `ratings`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.stats import agreement as metrics
from xling_metrics.stats.agreement import majority_label

from xling_tasks.commands.annotate.agreement_files import read_texts
from xling_tasks.commands.annotate.cells import cell, sections
from xling_tasks.commands.annotate.rating_files import are_ratings, read_ratings
from xling_tasks.commands.annotate.ratings import ratings_markdown, summarise_ratings
from xling_tasks.data.published import published
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.logs.annotations import Checked, Export, Page, read_pages
from xling_tasks.output import writing

TEXTS = {
    "question": "Question",
    "reference": "Answer 1 (reference)",
    "answer": "Answer 2 (model)",
    "reply": "Judge",
}
"""What a page holds of an item, with its title."""

ANOTHER = "another label"
"""The vote of an annotator who disagrees with the judge's label and names none."""

NOTES = (
    "Majority: the label that most annotators of an item gave; none where several lead (ties) or "
    "nobody gave one (no_label). Such items are counted and in no percentage of the majority.",
    "missing_labels: labels that an annotator did not give, not even after disagreeing with the "
    "judge's (disagree_only); such a disagreement counts against the judge's label as one other "
    "label.",
    "agreement_percent: items whose majority is the judge's label, of the items with a majority. "
    "reasoning_percent: the same for 'I agree with the reasoning'.",
    "unanimous_percent: items whose labels are all alike, of the items with two labels or more.",
    "unanimous_with_judge_percent: items whose every annotator has the judge's label, of the items "
    "that everybody voted on: the paper's 74.74 is of this kind.",
    "alpha: Krippendorff's, nominal, over annotators' labels; empty where it is undefined (no item "
    "with two labels, or only one label in use). 1 is perfect, 0 is chance.",
    "settled: of items that people label differently (differ), those of which a label was decided; "
    "agreement_percent_after has it in place of the majority. All other figures are of what people "
    "said themselves, before.",
    "published_percent: arXiv:2310.13132, Table A7, batches 1 and 2; other answers and judge.",
    "Annotators who saw the judge's label first tend to agree with it; a blind page shows by how "
    "much.",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling agreement` takes."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE.json", help="what annotators exported from the page"
    )
    parser.add_argument(
        "--pages", nargs="+", default=[], metavar="FILE.html", help="show the texts disagreed about"
    )
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help="folder for agreement.json and agreement.md"
    )
    parser.set_defaults(run=agreement)


def agreement(options: argparse.Namespace) -> str:
    """`xling agreement`: the report, written to --to if given.

    Raises:
        DataError: If a file is no valid export, or two do not fit together.
    """
    files = [Path(word).expanduser() for word in options.files]
    if are_ratings(files):
        return _ratings(files, options)
    pages = read_pages(files)
    texts = read_texts([Path(word).expanduser() for word in options.pages], pages)
    report = summarise(pages)
    for row in report["disagreements"]:
        item = texts.get(row["batch"], {}).get(row["id"], {})
        row |= {"texts": {key: item[key] for key in TEXTS if key in item}}
    page = as_markdown(report)
    if options.to:
        _write(options.to.expanduser(), report, page)
    return page


def _ratings(files: Sequence[Path], options: argparse.Namespace) -> str:
    """The report on translations."""
    if options.pages:
        raise DataError("--pages is for checks of a judge; the files given rate translations")
    report = summarise_ratings(read_ratings(files))
    page = ratings_markdown(report)
    if options.to:
        _write(options.to.expanduser(), report, page)
    return page


def summarise(pages: Mapping[str, Page[Export]]) -> dict[str, Any]:
    """Batches, agreement per batch and language, annotators, and disagreements, as plain rows."""
    report: dict[str, Any] = {"batches": [], "agreement": [], "settled": []}
    report |= {"annotators": [], "disagreements": []}
    for page, own_page in pages.items():
        exports = own_page.people
        first = exports[0]
        files = [export.path.name for export in exports]
        names = [export.annotator for export in exports]
        made = {key: value for key, value in first.settings.items() if key != "strata"}
        report["batches"].append(
            {"batch": page, **made, "items": len(first.items)}
            | {"annotators": names, "files": files}
        )
        for code in dict.fromkeys(item.language for item in first.items.values()):
            units = [
                [export.items[name] for export in exports]
                for name, item in first.items.items()
                if item.language == code
            ]
            start = {"batch": page, "language": code}
            report["agreement"].append(start | _figures(units, code))
            if own_page.settled:
                report["settled"].append(start | _settled(own_page, units))
            report["annotators"] += [
                start | {"annotator": name} | _one_annotator([unit[place] for unit in units])
                for place, name in enumerate(names)
            ]
            report["disagreements"] += [
                {"batch": page} | row
                for unit in units
                for row in _disagreement(own_page, unit, names)
            ]
    report["notes"] = list(NOTES)
    return report


def _figures(units: Sequence[Sequence[Checked]], language: str) -> dict[str, Any]:
    """The figures of one language in one batch; `units` has an item's checks, one per annotator."""
    labels = [[check.label for check in unit] for unit in units]
    majority = [metrics.majority_label([_vote(check) for check in unit]) for unit in units]
    hits = [
        label == unit[0].judge_label
        for label, unit in zip(majority, units, strict=True)
        if label is not None
    ]
    reasoning = [metrics.majority_label([c.agree_reasoning for c in unit]) for unit in units]
    sound = [flag for flag in reasoning if flag is not None]
    among = metrics.agreement(labels)
    votes = [[_vote(check) for check in unit] for unit in units]
    whole = [
        all(vote == unit[0].judge_label for vote in own)
        for own, unit in zip(votes, units, strict=True)
        if None not in own
    ]
    unlabelled = sum(not any(map(_vote, unit)) for unit in units)
    figures = published(table="Table A7", language=language)
    return {
        "items": len(units),
        "annotators": len(labels[0]),
        "labels": among.n_ratings,
        "missing_labels": among.n_missing,
        "majority": len(hits),
        "ties": len(units) - len(hits) - unlabelled,
        "no_label": unlabelled,
        "agreement_percent": _percent(hits),
        "reasoning_percent": _percent(sound),
        "unanimous_percent": None if among.unanimous is None else 100 * among.unanimous,
        "unanimous_with_judge_percent": _percent(whole),
        "alpha": among.alpha,
        "published_percent": [figure.value for figure in figures],
    }


def _settled(page: Page[Export], units: Sequence[Sequence[Checked]]) -> dict[str, Any]:
    """How many disagreements were settled, and the judge against labels with what was decided."""
    votes = [[_vote(check) for check in unit] for unit in units]
    apart = sum(len(set(own) - {None}) > 1 for own in votes)
    decided = [_decided(page, unit) for unit in units]
    labels = [
        label or metrics.majority_label(own) for label, own in zip(decided, votes, strict=True)
    ]
    hits = [
        label == unit[0].judge_label
        for label, unit in zip(labels, units, strict=True)
        if label is not None
    ]
    given = sum(label is not None for label in decided)
    return {
        "by": page.settled.annotator if page.settled else None,
        "differ": apart,
        "settled": given,
        "left": apart - given,
        "labels_after": len(hits),
        "agreement_percent_after": _percent(hits),
    }


def _decided(page: Page[Export], unit: Sequence[Checked]) -> str | None:
    """The label that was decided of an item; None where people agree, or nothing was decided."""
    own = page.decided(unit[0].id, [_vote(check) for check in unit])
    return None if own is None else own.label


def _vote(check: Checked) -> str | None:
    """A label; also the unnamed one of somebody who only said that the judge's is wrong."""
    return ANOTHER if check.label is None and check.agree_label is False else check.label


def _one_annotator(checks: Sequence[Checked]) -> dict[str, Any]:
    """How many labels one annotator gave in a language, and how many votes are the judge's."""
    votes = [_vote(check) == check.judge_label for check in checks if _vote(check) is not None]
    given = sum(check.label is not None for check in checks)
    sound = [check.agree_reasoning for check in checks if check.agree_reasoning is not None]
    only = sum(check.agree_label is False and check.label is None for check in checks)
    figures = {"agreement_percent": _percent(votes), "reasoning_percent": _percent(sound)}
    return {"labels": given, "disagree_only": only} | figures


def _disagreement(
    page: Page[Export], unit: Sequence[Checked], names: Sequence[str]
) -> list[dict[str, Any]]:
    """The item as a row, if anybody disagrees with the judge's label or reasoning."""
    item = unit[0]
    if all(c.agree_label is not False and c.agree_reasoning is not False for c in unit):
        return []
    said = [
        {
            "annotator": name,
            "agree_label": check.agree_label,
            "label": check.label,
            "agree_reasoning": check.agree_reasoning,
            "comment": check.comment,
        }
        for name, check in zip(names, unit, strict=True)
    ]
    told = {key: getattr(item, key) for key in ("id", "task", "language", "question_id")}
    majority = majority_label(list(map(_vote, unit)))
    decided = {"settled": _decided(page, unit)} if page.settled else {}
    labels = {"judge_label": item.judge_label, "majority": majority}
    return [told | labels | decided | {"said": said}]


def _percent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None


def as_markdown(report: Mapping[str, Any]) -> str:
    """The report to read: figures first, then every item that somebody disagrees about."""
    keys = [key for key in ("agreement", "settled", "annotators", "batches") if report[key]]
    parts = sections("People's agreement with the judge", report, keys, cell)
    parts.append("## Disagreements")
    if not report["disagreements"]:
        parts.append("Nobody disagrees with a label or a reasoning of the judge.")
    return "\n\n".join([*parts, *map(_as_paragraph, report["disagreements"])])


def _as_paragraph(row: Mapping[str, Any]) -> str:
    """One item that is disagreed about."""
    place = f"{language_name(row['language'])}, {cell(row['id'])} (batch {cell(row['batch'])})"
    majority = row["majority"] or "none"
    settled = f", settled as {row['settled']}" if row.get("settled") else ""
    lines = [f"**{place}**: judge {row['judge_label']}, majority {majority}{settled}"]
    for said in row["said"]:
        flag = {True: "sound", False: "flawed", None: "not said"}[said["agree_reasoning"]]
        comment = f": {cell(said['comment'])}" if said["comment"].strip() else ""
        label = said["label"] or ("another label" if said["agree_label"] is False else "no label")
        lines.append(f"- {cell(said['annotator'])}: {label}, reasoning {flag}{comment}")
    shown = [
        f"> {title}: {cell(row['texts'][key])}" for key, title in TEXTS.items() if row["texts"]
    ]
    return "\n".join([lines[0], "", *lines[1:], "", "\n>\n".join(shown)]).rstrip()


def _write(folder: Path, report: Mapping[str, Any], page: str) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (("agreement.json", text), ("agreement.md", page)):
            # Half a character is no UTF-8; JSON has an escape for it, which this happens to be.
            data = f"{content}\n".encode("utf-8", "backslashreplace")
            (folder / name).write_bytes(data)
