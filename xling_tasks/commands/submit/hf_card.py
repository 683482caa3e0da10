"""The section of a model card that `xling submit hf` writes: Markdown between two markers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from xling_tasks.commands.submit.hf_parts import ALL, HubTask, Score, Submission
from xling_tasks.criteria import CRITERIA
from xling_tasks.errors import DataError
from xling_tasks.output import markdown_table
from xling_tasks.report.documents import filled
from xling_tasks.secrets import publishable, redact_text, without_hosts

BEGIN = "<!-- xling-tasks:begin -->"
END = "<!-- xling-tasks:end -->"

_SIGNATURE = 160


def section(submission: Submission) -> str:
    """The section, markers included; what was covered comes before the scores."""
    parts, words = submission.parts, submission.words
    header = ["task", "language", "questions", "unusable rows", "rates"]
    text = filled(
        "hub_card.j2",
        submission=submission,
        run=submission.newest,
        model_args=publishable(submission.newest.model_args),
        versions=sorted({part.lm_eval for part in parts}),
        ours=sorted({str(part.xling["version"]) for part in parts}),
        dates=sorted({part.date for part in parts}),
        told=[("Conclusions", words.conclusions), ("What to know", words.flags)],
        coverage=markdown_table(header, [row for part in parts for row in _covered(part)]),
        undefined=[(part.task, names) for part in parts if (names := part.undefined())],
        groups=[_told(group) for group in submission.groups().values()],
    )
    return str(without_hosts(redact_text(text)))


def with_section(card: str, new: str) -> str:
    """A card with the section in place of an earlier one, or at its end."""
    begins, ends = card.count(BEGIN), card.count(END)
    if begins == ends == 0:
        return f"{card.rstrip()}\n\n{new}\n" if card.strip() else f"{new}\n"
    start, stop = card.find(BEGIN), card.find(END)
    if (begins, ends) != (1, 1) or stop < start:
        raise DataError(
            f"the model card has {begins} times {BEGIN} and {ends} times {END}; leave one pair, "
            "in this order, or none"
        )
    return card[:start] + new + card[stop + len(END) :]


def _told(group: Sequence[HubTask]) -> dict[str, Any]:
    """What the section says of a criterion over a dataset."""
    first = group[0]
    criterion = CRITERIA[first.about.criterion]
    keys = ("dataset", "prompt_language", *criterion.settings, "sampling_seed")
    signatures: dict[str, str] = {}  # one per metric, of the first language that has it
    for part in group:
        for score in part.main:
            signatures.setdefault(score.label, short(part.xling["signatures"][score.metric]))
    return {
        "first": first,
        "floor": any(each.agreement for each in criterion.endpoints),
        "judged": any(each.judged for each in criterion.endpoints),
        "scores": _scores(group),
        "settings": publishable({key: first.xling["settings"].get(key) for key in keys}),
        "prompts": dict.fromkeys(
            f"`{name}` in `{prompt['language']}`, digest `{prompt['digest']}`"
            for part in group
            for name, prompt in part.xling["prompts"].items()
        ),
        "generation": publishable(first.xling["generation_kwargs"]),
        "data": dict.fromkeys(map(data_line, group)),
        "signatures": signatures,
    }


def _covered(part: HubTask) -> Iterator[list[str]]:
    """A row per language."""
    counts = f"{part.count['effective']} of {part.count['original']}"
    missing = part.data.get("unusable_questions")
    for code in part.languages:
        unusable = part.data.get("invalid_rows", 0)
        if part.language is None:
            unusable = len(missing.get(code, ())) if isinstance(missing, dict) else 0
        rates = [f"{s.label} {number(s.value)}" for s in part.beside if s.language == code]
        yield [part.group, code, counts, str(unusable), "; ".join(rates) or "none"]


def _scores(group: Sequence[HubTask]) -> str:
    """A table of a criterion: languages by metrics, with the gap to English beside each."""
    scores = {(s.language, s.label): s for part in group for s in part.main}
    if not scores:
        return ""
    labels = list(dict.fromkeys(label for _, label in scores))
    codes = sorted({code for code, _ in scores}, key=lambda code: (code != ALL, code != "en", code))
    header, gaps = ["language"], _with_gap(group[0], scores, codes)
    for label in labels:
        header.append(f"{label}{_arrow(group, label)}")
        header += ["gap"] * (label in gaps)
    return markdown_table(header, (_row(scores, labels, gaps, code) for code in codes))


def _row(
    scores: dict[tuple[str, str], Score], labels: Sequence[str], gaps: Collection[str], code: str
) -> list[str]:
    cells = ["all (mean)" if code == ALL else code]
    for label in labels:
        score, english = scores.get((code, label)), scores.get(("en", label))
        cells.append("not measured" if score is None else number(score.value))
        if label not in gaps:
            continue
        if score is None or english is None or code in ("en", ALL):
            cells.append("")
        elif score.value is None or english.value is None:
            cells.append("undefined")
        else:
            cells.append(f"{score.value - english.value:+.4f}")
    return cells


def _with_gap(
    part: HubTask, scores: dict[tuple[str, str], Score], codes: Sequence[str]
) -> set[str]:
    """The metrics whose values in two languages may be compared, and that English has too."""
    criterion = CRITERIA[part.about.criterion]
    labels = set()
    for label in {label for _, label in scores}:
        record = criterion.metrics.get(criterion.split(label).metric)
        alike = record is None or (record.across_languages and not record.chance)
        others = any((code, label) in scores for code in codes if code != "en")
        if alike and others and ("en", label) in scores:
            labels.add(label)
    return labels


def _arrow(group: Sequence[HubTask], label: str) -> str:
    """Which way is better."""
    for part in group:
        for score in part.main:
            better = part.directions.get(score.metric)
            if score.label == label and better is not None:
                return " ↑" if better else " ↓"
    return ""


def data_line(part: HubTask) -> str:
    """Which data a task read, in one line."""
    data = part.data
    where = data["name"] if part.revision is None else f"{data['name']} at {part.revision}"
    source = "" if data.get("kind") == "hub" else f" ({data.get('kind')}, not read from the Hub)"
    name = str(where).replace("\\", "/").rpartition("/")[2] if source else str(where)
    return f"{data['dataset']}, {name}{source}, sha256 {data['sha256'][:12]}, {data['licence']}"


def short(signature: str) -> str:
    """A signature without its language, cut where it is long."""
    text = re.sub(r"\|language:[^|]*", "", signature)
    return text if len(text) <= _SIGNATURE else f"{text[:_SIGNATURE]}…"


def number(value: float | None) -> str:
    """A value for a reader; never a number for one that is undefined."""
    return "undefined" if value is None else f"{value:.4f}"
