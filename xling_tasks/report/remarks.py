"""What a reader must know first, and what to run next, in the words of words.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import in_order, language_name
from xling_tasks.report.lead import list_languages
from xling_tasks.report.words import (
    Row,
    dataset_name,
    display,
    format_share,
    join,
    lower_first,
    tell_outcomes,
    tell_step,
    unique,
    words,
)

SHOWN = 6
"""Cases of a remark that are told; more are counted."""
NAMED = 8
"""Languages or datasets of a case that are named; more are counted."""


class RemarkTelling(NamedTuple):
    """Remarks of one kind in words.

    Attributes:
        kind: A row of `remarks` in words.yaml.
        title: What they say.
        lines: A line for each case.
        step: What to do about it; empty for nothing.
        place: `lead`, `limit` or `note`.
        metrics: The names of the metrics that it is about.
    """

    kind: str
    title: str
    lines: list[str]
    step: str
    place: str
    metrics: list[str]


def tell_remarks(rows: Sequence[Row], scores: Sequence[Row]) -> list[RemarkTelling]:
    """Describe what a reader must know first, each kind once, in the order of words.yaml."""
    rules = [{"kind": "rule", "models": [row["model"]]} for row in rows if _is_rule(row)]
    every = [*rows, *rules]
    return [
        _tell_kind(kind, chosen, scores)
        for kind in words()["remarks"]
        if (chosen := [row for row in every if row["kind"] == kind])
    ]


def _is_rule(row: Row) -> bool:
    return bool(row["kind"] == "model" and str(row["full"]).startswith("xling_baseline"))


def _tell_kind(kind: str, rows: Sequence[Row], scores: Sequence[Row]) -> RemarkTelling:
    texts = words()["remarks"][kind]
    names = unique(name for row in rows for name in _metric_names(row))
    cases: dict[str, list[Row]] = {}
    for row in rows:
        fields = {key: _format_field(key, value, row) for key, value in row.items()}
        cases.setdefault(texts["text"].format(**{**fields, **_joined(names, [row])}), []).append(
            row
        )
    lines = [" ".join(filter(None, (text, _where(group, scores)))) for text, group in cases.items()]
    if len(lines) > SHOWN:
        lines[SHOWN:] = [words()["page"]["more"].format(n=len(lines) - SHOWN)]
    title = texts["title"].format(**_joined(names, rows))
    step = words()["next"][texts["next"]].format() if texts.get("next") else ""
    return RemarkTelling(kind, title, lines, step, texts["place"], names)


def _joined(names: Sequence[str], rows: Sequence[Row]) -> dict[str, str]:
    models = unique(
        str(model) for row in rows for model in row.get("models", [row.get("model", "")])
    )
    metrics = [lower_first(name) for name in names]
    return {"metrics": join(metrics) if metrics else "", "model": join(models or [""])}


def _metric_names(row: Row) -> list[str]:
    """Return the names of the metrics that a remark is about."""
    supplied = row.get("metrics") or ([row["metric"]] if "metric" in row else [])
    keys = [key.split(".") if "." in key else (row["criterion"], key) for key in supplied]
    return [CRITERIA[criterion].display(metric).name for criterion, metric in keys]


def _format_field(key: str, value: Any, row: Row) -> str:
    """Format a value of a remark for its text."""
    if key in ("english", "chance") and isinstance(value, float):
        return format_share(value)
    if key == "metric" and row.get("criterion") in CRITERIA:
        return CRITERIA[row["criterion"]].display(value).name
    if key == "outcomes":
        return ", ".join(tell_outcomes(value))
    if key == "languages":
        return join(map(language_name, value)) if value else ""
    if key == "differs":
        return "; ".join(value)
    if key == "values" and len(names := row.get("languages") or row.get("models") or ()) == 2:
        labels = map(language_name, names) if "languages" in row else names
        return ", ".join(f"{item} ({name})" for item, name in zip(value, labels, strict=True))
    if key in ("models", "values", "only_in"):
        return " / ".join(map(str, value))
    if isinstance(value, list):
        extra = [f"{len(value) - NAMED} more"] if len(value) > NAMED else []
        return ", ".join([*map(str, value[:NAMED]), *extra])
    return f"{value:,}" if isinstance(value, int) else str(value)


def _where(rows: Sequence[Row], scores: Sequence[Row]) -> str:
    """Describe in which languages, criteria and models a case is so, if not in all."""
    parts = []
    names: dict[str, Callable[[str], str]] = {
        "model": str, "dataset": dataset_name, "criterion": _title, "language": language_name,
    }  # fmt: skip
    for key, name in names.items():
        chosen = unique(row[key] for row in rows if row.get(key))
        present = {s[key] for s in scores if ":" not in s["language"] and s["language"] != "avg"}
        if chosen and set(chosen) != present:
            ordered = in_order(chosen) if key == "language" else chosen
            extra = [f"{len(chosen) - NAMED} more"] if len(chosen) > NAMED else []
            parts.append(join([*map(name, ordered[:NAMED]), *extra]))
    return f"({'; '.join(parts)})" if parts else ""


def _title(criterion: str) -> str:
    return CRITERIA[criterion].title if criterion in CRITERIA else criterion


class Step(NamedTuple):
    """What to run next, and what it would answer."""

    text: str
    metrics: list[str]
    languages: list[str]

    @property
    def where(self) -> str:
        """The languages in words."""
        return list_languages(self.languages) if self.languages else ""

    @property
    def about(self) -> str:
        """What it would answer, in brackets."""
        location = f" in {self.where}" if self.languages else ""
        return f" ({'; '.join(map(lower_first, self.metrics))}{location})" if self.metrics else ""


def tell_steps(verdicts: Sequence[Row], remarks: Sequence[RemarkTelling]) -> list[Step]:
    """Describe what to do next, each step once; what cannot be shown comes last."""
    result: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for remark in remarks:
        if remark.step:
            result.setdefault(remark.step, ({}, {}))[0].update(dict.fromkeys(remark.metrics))
    needed: dict[tuple[str, ...], int] = {}
    subject = ("dataset", "criterion", "metric", "comparison", "next")
    for v in verdicts:  # the largest number of a metric stands for all its languages
        key = tuple(v[name] for name in subject)
        needed[key] = max(needed.get(key, 0), v["n_needed"] or 0)
    for v in verdicts:
        if step := tell_step(v, needed[tuple(v[name] for name in subject)]):
            metrics, codes = result.setdefault(step, ({}, {}))
            metrics[display(v).name] = codes[v["language"]] = None
    last = tuple(words()["next"][key].partition("{")[0] for key in ("too_many", "label"))
    return [
        Step(text, list(metrics), in_order(codes))
        for text, (metrics, codes) in sorted(
            result.items(), key=lambda item: item[0].startswith(last)
        )
    ]


def plain_lines(remarks: Sequence[RemarkTelling], steps: Sequence[Step]) -> Iterator[str]:
    """Yield limits, and what to run next, as plain text."""
    for remark in remarks:
        if remark.place == "limit":
            yield f"Limit: {remark.title}. {' '.join(remark.lines)}".replace("`", "")
    yield from (f"Next: {step.text}{step.about}".replace("`", "") for step in steps)
