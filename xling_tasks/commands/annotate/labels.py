"""People's check of a judge: how far they agree with it, and with each other (Table A7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xling_metrics.stats import agreement as metrics
from xling_metrics.stats.agreement import majority_label

from xling_tasks.data.published import published
from xling_tasks.logs.annotations import Checked, Export

TEXTS = ("question", "reference", "answer", "reply")
"""What a page holds of an item."""

Row = dict[str, Any]

ANOTHER = "another label"
"""The vote of an annotator who disagrees with the judge's label and names none."""


def rows(
    _: Sequence[Export], names: Sequence[str], units: Sequence[Sequence[Checked]]
) -> dict[str, list[Row]]:
    """Agreement per language, annotators, and disagreements."""
    made: dict[str, list[Row]] = {"agreement": [], "annotators": []}
    made["disagreements"] = []
    for code in dict.fromkeys(unit[0].language for unit in units):
        checks = [unit for unit in units if unit[0].language == code]
        votes = [list(map(_vote, unit)) for unit in checks]
        start = {"language": code}
        made["agreement"].append(start | _figures(checks, votes, code))
        made["annotators"] += [
            start | {"annotator": name} | _one_annotator([unit[place] for unit in checks])
            for place, name in enumerate(names)
        ]
        made["disagreements"] += [row for unit in checks for row in _disagreement(unit, names)]
    return made


def _figures(
    units: Sequence[Sequence[Checked]], votes: Sequence[Sequence[str | None]], language: str
) -> Row:
    """The figures of one language in one batch; `units` has an item's checks, one per annotator."""
    hits = _hits([majority_label(unit) for unit in votes], units)
    reasoning = [majority_label([check.agree_reasoning for check in unit]) for unit in units]
    among = metrics.agreement([[check.label for check in unit] for unit in units])
    whole = [
        all(vote == unit[0].judge_label for vote in said)
        for said, unit in zip(votes, units, strict=True)
        if None not in said
    ]
    unlabelled = sum(not any(said) for said in votes)
    figures = published(table="Table A7", language=language)
    return {
        "items": len(units),
        "annotators": len(units[0]),
        "labels": among.n_ratings,
        "missing_labels": among.n_missing,
        "majority": len(hits),
        "ties": len(units) - len(hits) - unlabelled,
        "no_label": unlabelled,
        "agreement_percent": _percent(hits),
        "reasoning_percent": _percent([flag for flag in reasoning if flag is not None]),
        "unanimous_percent": None if among.unanimous is None else 100 * among.unanimous,
        "unanimous_with_judge_percent": _percent(whole),
        "alpha": among.alpha,
        "published_percent": [figure.value for figure in figures],
    }


def _hits(labels: Sequence[str | None], units: Sequence[Sequence[Checked]]) -> list[bool]:
    """Whether items' labels are the judge's, of those that have one."""
    pairs = zip(labels, units, strict=True)
    return [label == unit[0].judge_label for label, unit in pairs if label is not None]


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


def _disagreement(unit: Sequence[Checked], names: Sequence[str]) -> list[Row]:
    """The item as a row, if anybody disagrees with the judge's label or reasoning."""
    item = unit[0]
    if all(c.agree_label is not False and c.agree_reasoning is not False for c in unit):
        return []
    told = ("agree_label", "label", "agree_reasoning", "comment")
    said = [
        {"annotator": name, **{key: getattr(check, key) for key in told}}
        for name, check in zip(names, unit, strict=True)
    ]
    row: Row = {key: getattr(item, key) for key in ("id", "task", "language", "question_id")}
    row |= {"judge_label": item.judge_label, "majority": majority_label(list(map(_vote, unit)))}
    return [row | {"said": said}]


def _percent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None
