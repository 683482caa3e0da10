"""The finding of a report in a few lines: the top of its page, `report.md`, and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.languages import language_name
from xling_tasks.report import costs, lead, remarks, words
from xling_tasks.report.grids import Column, columns_of
from xling_tasks.report.lead import LeadLine
from xling_tasks.report.words import Row, capitalize, unique

Record = Mapping[str, Any]
"""The content of `report.json`."""

MANY_MODELS = 4
"""Of more models the top of a page has a sentence each, and no lines by language."""


class Head(NamedTuple):
    """The finding on one model; `missing`: what was not measured, with the reason."""

    model: str
    first: str
    lines: list[LeadLine]
    missing: list[tuple[str, str]]


def models_of(record: Record) -> list[str]:
    """Return the models of a report."""
    return unique(score["model"] for score in record["scores"])


def missing_columns(remarks: Sequence[Row]) -> dict[Column, str]:
    """Return what was not measured, with the reason in a few words."""
    missing = {}
    for row in remarks:
        texts = words.words()["remarks"].get(row["kind"], {})
        if texts.get("place") == "lead":
            for metric in row.get("metrics") or ():
                missing[Column(row["dataset"], row["criterion"], metric)] = texts["why"]
    return missing


def kicker_of(scores: Sequence[Row]) -> str:
    """Return what a report is about: answers about health, or other people's tasks."""
    if {score["criterion"] for score in scores} - {"task_metric", "task_metric_apart"}:
        return "Health answers by language"
    names = unique(words.dataset_name(score["dataset"]).partition(":")[0] for score in scores)
    return f"{words.join(names)} by language"


def meta_of(record: Record) -> str:
    """Return data, number of questions and languages of a report in a line."""
    datasets = unique(words.dataset_name(score["dataset"]) for score in record["scores"])
    requested = sorted(
        {row["asked"] for row in record["remarks"] if row["kind"] == "coverage"}
    ) or [0]
    n = f"{requested[0]:,}" if len(requested) == 1 else f"{requested[0]:,} to {requested[-1]:,}"
    codes = unique(v["language"] for v in record["verdicts"])
    languages = f"{len(codes)} languages"
    if 0 < len(codes) <= 6:
        languages = words.join(map(language_name, codes))
    subject = f"{capitalize(words.join(datasets))}: {n} questions in each language."
    return f"{subject} {languages} compared with English." if codes else subject


def heads_of(record: Record) -> list[Head]:
    """Return the finding on each model; of more than `MANY_MODELS` a sentence each."""
    models, heads = models_of(record), []
    for model in models:
        rows = [v for v in record["verdicts"] if v["model"] == model]
        first, lines = lead.tell_lead(rows, most=5 if len(models) == 1 else 1)
        if not rows:
            lines = lead.tell_scores([s for s in record["scores"] if s["model"] == model])
        shown = lines if len(models) <= MANY_MODELS else []
        heads.append(Head(model if len(models) > 1 else "", first, shown, []))
    # The metrics that were not measured, those with one reason together.
    groups: dict[str, list[str]] = {}
    missing = missing_columns(record["remarks"])
    for column in columns_of([], missing):
        groups.setdefault(missing[column], []).append(words.lower_first(column.text.name))
    labels = [(words.join(unique(names)), reason) for reason, names in groups.items()]
    for index, (names, reason) in enumerate(labels if heads else []):
        heads[-1].missing.append((names if index else capitalize(names), reason))
    return heads


def summarize(record: Record) -> Iterator[str]:
    """Yield what was asked, the finding, limits, and what to run next, a line each."""
    tellings = remarks.tell_remarks(record["remarks"], record["scores"])
    yield meta_of(record)
    labels = words.words()["verdicts"]
    for head in heads_of(record):
        yield f"{head.model}: {head.first}" if head.model else head.first
        for line in head.lines:
            text = " ".join(filter(None, (line.text, line.more)))
            word = f"{labels[line.look][0]}: " if line.look else ""
            yield f"- {word}{line.who}{': ' if text else ''}{text}"
        if head.missing:
            sentences = "; ".join(f"{names} ({reason})" for names, reason in head.missing)
            yield f"- {labels['not_measured'][0]}: {sentences}."
    yield from costs.tell_costs(record["remarks"])
    yield from remarks.plain_lines(tellings, remarks.tell_steps(record["verdicts"], tellings))
