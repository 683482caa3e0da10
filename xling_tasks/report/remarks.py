"""What a reader must know first, and what to run next, in the words of words.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import in_order, language_name
from xling_tasks.report.lead import list_languages
from xling_tasks.report.words import (
    Row,
    capitalize,
    dataset_name,
    format_share,
    join,
    lower_first,
    metric_in,
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
    """Remarks of one kind in words: a line for each case, and what to do about it.

    `place` is `lead`, `limit` or `note`; `metrics` are the names of those that it is about.
    """

    kind: str
    title: str
    lines: list[str]
    step: str
    place: str
    metrics: list[str]


def tell_remarks(rows: Sequence[Row], scores: Sequence[Row]) -> list[RemarkTelling]:
    """Describe what a reader must know first, each kind once, in the order of words.yaml."""
    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(row["kind"], []).append(row)
        if row["kind"] == "model" and str(row["full"]).startswith("xling_baseline"):
            by_kind.setdefault("rule", []).append({"kind": "rule", "models": [row["model"]]})
    tellings = []
    for kind in (kind for kind in words()["remarks"] if kind in by_kind):
        texts = words()["remarks"][kind]
        names = unique(name for row in by_kind[kind] for name in _metric_names(row))
        metrics = join(map(lower_first, names))
        cases: dict[str, list[Row]] = {}
        for row in by_kind[kind]:
            fields = {key: _format_field(key, value, row) for key, value in row.items()}
            fields |= {"metrics": metrics, "model": _models([row])}
            cases.setdefault(texts["text"].format(**fields), []).append(row)
        lines = [f"{text} {_where(group, scores)}".strip() for text, group in cases.items()]
        if len(lines) > SHOWN:
            lines[SHOWN:] = [words()["page"]["more"].format(n=len(lines) - SHOWN)]
        title = texts["title"].format(metrics=metrics, model=_models(by_kind[kind]))
        step = words()["next"][texts["next"]].format() if texts.get("next") else ""
        tellings.append(RemarkTelling(kind, title, lines, step, texts["place"], names))
    return tellings


def _models(rows: Sequence[Row]) -> str:
    return join(unique(str(m) for row in rows for m in row.get("models", [row.get("model", "")])))


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
        "model": str, "dataset": dataset_name, "language": language_name,
        "criterion": lambda key: CRITERIA[key].title if key in CRITERIA else key,
    }  # fmt: skip
    for key in ("model", "dataset", "criterion", "language"):
        chosen = unique(row[key] for row in rows if row.get(key))
        present = {s[key] for s in scores if ":" not in s["language"] and s["language"] != "avg"}
        if chosen and set(chosen) != present:
            ordered = in_order(chosen) if key == "language" else chosen
            extra = [f"{len(chosen) - NAMED} more"] if len(chosen) > NAMED else []
            parts.append(join([*map(names[key], ordered[:NAMED]), *extra]))
    return f"({'; '.join(parts)})" if parts else ""


class Step(NamedTuple):
    """What to run next, the metrics that it would answer, and for which languages."""

    text: str
    metrics: list[str]
    where: str


def tell_steps(verdicts: Sequence[Row], remarks: Sequence[RemarkTelling]) -> list[Step]:
    """Describe what to do next, each step once; what cannot be shown comes last."""
    result: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for remark in remarks:
        if remark.step:
            result.setdefault(remark.step, ({}, {}))[0].update(dict.fromkeys(remark.metrics))
    needed: dict[tuple[str, ...], int] = {}
    subject = ("dataset", "criterion", "metric", "next")
    for v in verdicts:  # the largest number of a metric stands for all its languages, and for gaps
        key = tuple(v[name] for name in subject)
        needed[key] = max(needed.get(key, 0), v["n_needed"] or 0)
    for v in verdicts:
        if step := tell_step(v, needed[tuple(v[name] for name in subject)]):
            metrics, codes = result.setdefault(step, ({}, {}))
            # Numbers of questions are a dataset's.
            name = metric_in(v, verdicts if v["next"] in ("more", "too_many") else ())
            metrics[capitalize(name)] = codes[v["language"]] = None
    last = tuple(words()["next"][key].partition("{")[0] for key in ("too_many", "label"))
    return [
        Step(text, list(metrics), list_languages(in_order(codes)) if codes else "")
        for text, (metrics, codes) in sorted(
            result.items(), key=lambda item: item[0].startswith(last)
        )
    ]


def plain_lines(remarks: Sequence[RemarkTelling], steps: Sequence[Step]) -> Iterator[str]:
    """Yield limits, and what to run next, as plain text."""
    for remark in remarks:
        if remark.place == "limit":
            yield f"Limit: {remark.title}. {' '.join(remark.lines)}".replace("`", "")
    for step in steps:
        about = f" ({'; '.join(map(lower_first, step.metrics))}" if step.metrics else ""
        about += f" in {step.where})" if about and step.where else ")" if about else ""
        yield f"Next: {step.text}{about}".replace("`", "")
