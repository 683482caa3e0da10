"""Fill words.yaml: one telling of each verdict and remark, for every page and the terminal.

Rows are those of `report.json` (`xling_tasks.report.record`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.yaml_file import read_yaml

from xling_tasks.criteria import CRITERIA, DisplayText
from xling_tasks.languages import language_name
from xling_tasks.logs.task_groups import TITLES, group_of

Row = Mapping[str, Any]

ORDER = ("worse", "not_comparable", "inconclusive", "not_measured", "equivalent", "better")
"""Verdicts, the most urgent first; `not_measured` is one without any value."""
MINUS = "\u2212"


class Telling(NamedTuple):
    """A verdict in words.

    Its key (`not_measured` where there is no value) and word, the metric's name with its tags, the
    language's name, what was counted or scored on both sides, how large the difference is with its
    interval, why this verdict, and what to do about it.
    """

    look: str
    word: str
    name: str
    language: str
    evidence: str
    difference: str
    reason: str
    step: str


@cache
def words() -> dict[str, Any]:
    """Return words.yaml."""
    return dict(read_yaml(Path(__file__).with_name("words.yaml")))


def display(row: Row) -> DisplayText:
    """Return what is said of the metric of a score or verdict."""
    return CRITERIA[row["criterion"]].display(row["metric"])


def urgency(row: Row) -> int:
    """Return the place of a metric in every list: harm, usable answers, help, quality."""
    return CRITERIA[row["criterion"]].urgency(row["metric"])


def unique(items: Iterable[Any]) -> list[Any]:
    """Return items, each once, in their order."""
    return list(dict.fromkeys(items))


def join(items: Iterable[str]) -> str:
    """Join names: 'Chinese, Hindi and Spanish'."""
    *first, last = [*items] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def count_noun(n: int, forms: Sequence[str]) -> str:
    """Format a count with its noun, given in singular and plural."""
    return forms[n != 1].format(n=f"{n:,}")


def capitalize(text: str) -> str:
    """Return a text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Return a text with a small first letter."""
    return text[:1].lower() + text[1:]


def dataset_name(key: str) -> str:
    """Return a dataset's name in a text; of others' tasks and users' own data their title."""
    if (group := group_of(key)) and group.title:
        part = key.partition(": ")[2].replace("_", " ")
        return f"{group.title}: {part}" if part else group.title
    return str(words()["datasets"].get(key) or TITLES.get(key, key))


def metric_in(v: Row, related: Iterable[Row]) -> str:
    """Return the name of a verdict's metric, with dataset and criterion if there are several."""
    name, more = lower_first(display(v).name), "; ".join(tell_subject(v, related))
    return f"{name} ({more})" if more else name


def tell_subject(v: Row, related: Iterable[Row]) -> list[str]:
    """Return the dataset and criterion of a verdict, each if others are of another.

    Of criteria those count that have a metric of the same name, such as usable answers.
    """
    rows, name = list(related), display(v).name
    parts = [dataset_name(v["dataset"])] if len({row["dataset"] for row in rows}) > 1 else []
    if len({row["criterion"] for row in rows if display(row).name == name}) > 1:
        parts.append(CRITERIA[v["criterion"]].title)
    return parts


def temperatures_of(verdicts: Iterable[Row]) -> list[float]:
    """Return the temperatures of verdicts and scores that have a value."""
    taus = {v["temperature"] for v in verdicts if v["value"] is not None}
    return sorted(tau for tau in taus if tau is not None)


def note_temperature(v: Row, related: Iterable[Row]) -> str:
    """Return the temperature of a verdict where others of its column have another one."""
    if v["value"] is None or len(temperatures_of(related)) < 2:
        return ""
    return str(words()["temperature"].format(tau=f"{v['temperature']:g}"))


# Numbers: one rounding everywhere. Shares in percent, scores with two decimals; differences, which
# are computed before rounding, with one more, so that nobody expects those of the rounded values.


def format_size(value: float, text: DisplayText, *, exact: bool = False) -> str:
    """Format a difference without its sign, in the metric's unit; if `exact`, 0 means 0."""
    times, digits = (100, 1) if text.in_percent else (1, 3)
    sizes = [f"{abs(value) * times:.{digits + extra}f}" for extra in range(3)]
    return next(filter(float, sizes), sizes[0]) if exact else sizes[0]


def format_signed(value: float | None, text: DisplayText) -> str:
    """Format a difference with its sign."""
    if value is None:
        return "–"
    size = format_size(value, text)
    return size if not float(size) else f"{'+' if value > 0 else MINUS}{size}"


def format_share(value: float) -> str:
    """Format a share in percent; below 1%, and where all would be rounded to, with a tenth."""
    text = f"{100 * value:.0f}"
    if 0 < abs(value) < 0.01 or (text in ("100", "-100") and abs(value) < 1):
        text = f"{100 * value:.1f}"
    return f"{text}%".replace("-", MINUS)


def format_count(count: Sequence[int]) -> str:
    """Format a count: '38 of 59 (64%)'."""
    total = f"{count[0]:,} of {count[1]:,}"
    return f"{total} ({format_share(count[0] / count[1])})" if count[1] else total


def format_value(v: Row, key: str = "value") -> str:
    """Format one side's value, as it stands in a cell; shares as they were counted."""
    text, count = display(v), v["counts"].get(key)
    if count and count[1]:
        return format_share(count[0] / count[1])
    return format_number(v[key], text)


def format_number(value: float | None, text: DisplayText) -> str:
    """Format a value in the metric's unit."""
    if value is None:
        return "–"
    return format_share(value) if text.in_percent else f"{value:.2f}".replace("-", MINUS)


def format_level(confidence: float) -> str:
    """Format a confidence level: 95%, or 99.5%."""
    return f"{100 * confidence:g}%"


# A verdict


def look(v: Row) -> str:
    """Return the verdict that is shown: without any value nothing was measured."""
    unknown = v["verdict"] == "inconclusive" and v["value"] is None
    return "not_measured" if unknown else str(v["verdict"])


def goodness(v: Row) -> float:
    """Return the difference with worse below 0, whatever the metric's direction; 0 without one."""
    return (v["estimate"] or 0.0) * (1 if v["higher_is_better"] else -1)


def tell(v: Row) -> Telling:
    """Describe a verdict."""
    tags = [words()["tags"][tag] for tag in v["tags"] if tag in words()["tags"]]
    if v["temperature"] is not None:
        tags.insert(0, words()["temperature"].format(tau=f"{v['temperature']:g}"))
    return Telling(
        look(v), words()["verdicts"][look(v)][0], ", ".join([display(v).name, *tags]),
        language_name(v["language"]), tell_evidence(v), tell_difference(v), tell_reason(v),
        tell_step(v),
    )  # fmt: skip


def base_name(v: Row) -> str:
    """Return the name of what a verdict compares with: English, or model A."""
    return "English" if v["comparison"] == "english" else str(v["baseline"])


def side_name(v: Row) -> str:
    """Return the name of what is compared: the language, or model B."""
    return language_name(v["language"]) if v["comparison"] == "english" else str(v["model"])


def tell_evidence(v: Row, brief: bool = False) -> str:
    """Describe what was counted or scored in both; briefly without the score of counts."""
    rows, text, counts = words()["evidence"], display(v), v["counts"]
    if v["value"] is None and v["verdict"] == "not_comparable":
        return tell_reason(v).removesuffix(".") if brief else ""  # the sides may have scores
    if v["value"] is None:
        return str(rows["nothing"]).removesuffix("." if brief else "")
    fields = {"language": side_name(v), "base": base_name(v), "noun": text.noun}
    if v["comparison"] == "gap":
        pair = {key: format_signed(v[key], text) for key in ("value", "english")}
        return str(rows["gap"].format(**fields | pair))
    pair = {
        key: format_count(counts[key]) if key in counts else format_number(v[key], text)
        for key in ("value", "english")
    }
    if v["english"] is None:
        pair["english"] = "–"
    recalls = {key: format_count(counts[key]).partition(" (")[0] for key in counts}
    kind = text.evidence
    if kind == "recalls" and "correct" not in counts:
        kind = "score"
    elif kind == "exam" and "value" not in counts:
        kind = "above"
    elif kind in ("agreement", "exam", "above") and v["comparison"] == "models":
        kind = "share"
    elif kind == "agreement" and v["reason"] == "floor":
        kind = "agreement_alone"
    if brief:
        kind = "brief_recalls" if kind == "recalls" else "brief"
    sentence = str(rows[kind].format(**{**fields, **recalls, **pair}))
    if counts and "above_chance" in v["tags"]:  # the difference is of these
        beyond = {key: format_number(v[key], text) for key in ("value", "english")}
        between = ";" if brief else ""
        sentence += (
            f"{between} {rows['brief_above' if brief else 'above'].format(**fields, **beyond)}"
        )
    if lost := [] if brief else tell_outcomes(v["outcomes"], of_model=True):
        sentence += f" {rows['lost'].format(kinds=', '.join(lost), **fields)}"
    return sentence


def tell_outcomes(outcomes: Mapping[str, int], of_model: bool = False) -> list[str]:
    """Describe outcomes with their numbers; with `of_model` only those of the model."""
    rows = words()["outcomes"]
    kinds = list(rows)[:4] if of_model else list(rows)
    return [rows[kind].format(n=f"{outcomes[kind]:,}") for kind in kinds if outcomes.get(kind)]


def tell_difference(v: Row) -> str:
    """Describe how large the difference is, directions in words."""
    if v["estimate"] is None:
        return ""
    rows, text = words()["difference"], display(v)
    larger, fewer, unit, _ = words()["units"][text.unit]
    low, high, estimate = v["ci_low"], v["ci_high"], v["estimate"]
    kind, size, ends = "alone", format_size(estimate, text), ["", ""]
    if low is not None and high is not None:
        kind, ends = "across", [format_size(end, text) for end in (low, high)]
        if low * high > 0:
            size, ordered = format_size(estimate, text, exact=True), sorted((low, high), key=abs)
            kind, ends = "one_side", [format_size(x, text, exact=True) for x in ordered]
        elif not float(size):
            kind = "none"
    sentence = rows[kind].format(
        unit=unit, up=larger, down=fewer, size=size, side=larger if estimate > 0 else fewer,
        low=ends[0], high=ends[1], level=format_level(v["confidence"]),
    )  # fmt: skip
    return " ".join(sentence.split())


def tell_margin(v: Row) -> str:
    """Describe the margin with its unit."""
    text = display(v)
    size = v["margin"] * (100 if text.in_percent else 1)
    return f"{size:g} {words()['units'][text.unit][2]}".strip()


def tell_reason(v: Row) -> str:
    """Describe why the verdict is as it is."""
    labels, table = words()["verdicts"], words()
    lost = [
        f"{count_noun(v['unparsed'][key], table['replies'])} in {name}"
        for key, name in (("language", side_name(v)), ("english", base_name(v)))
        if v["unparsed"].get(key)
    ]
    members = {"language": side_name(v), "base": base_name(v)}
    gap = "gap_" if v["comparison"] == "gap" else ""
    methods = [
        f"{table['ways'].get(gap + method, table['ways'][method]).format(**members)}: "
        f"{labels[group][0].lower()}"
        for method, group in v["ways"].items()
    ]
    differs = [
        table["differs"].format(what=name, value=value, base=base_name(v), english=english)
        if english
        else f"{name}: {value}"
        for name, value, english in v["differs"]
    ]
    extra = [f"and {len(differs) - 3} more"] if len(differs) > 3 else []
    p = v["p_adjusted"]
    p_text = "no test" if p is None else f"p = {p:.{3 if p < 0.1 else 2}f}"
    fields = {
        "family": count_noun(v["family"], table["comparisons"]), "margin": tell_margin(v),
        "p": "p < 0.001" if p is not None and p < 0.001 else p_text,
        "n": count_noun(v["n"], table["questions"]), "language": language_name(v["language"]),
        "side": labels["worse" if goodness(v) < 0 else "better"][0].lower(),
        "unparsed": " and ".join(lost) or "Replies", "ways": "; ".join(methods),
        "differs": "; ".join([*differs[:3], *extra]),
    }  # fmt: skip
    reason = str(table["reasons"][v["reason"]].format(**fields))
    if lost and v["verdict"] in ("worse", "better", "equivalent"):
        reason += " " + table["reasons"]["holds"].format(**fields)
    return reason


def tell_step(v: Row, needed: int | None = None) -> str:
    """Describe what to do about a verdict; `needed` stands for its own number of questions."""
    if not v["next"]:
        return ""
    number = needed or v["n_needed"] or 0
    kind = "few" if v["next"] == "more" and not number else v["next"]
    return str(words()["next"][kind].format(
        n=f"{v['n'] or 0:,}", asked=f"{v['n_asked'] or 0:,}", margin=tell_margin(v),
        available=f"{v['n_available'] or 0:,}", needed=f"{number:,}",
        dataset=dataset_name(v["dataset"]),
    ))  # fmt: skip
