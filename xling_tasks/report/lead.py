"""The finding in a sentence, and a line for each language or group of languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import in_order, language_name
from xling_tasks.report.words import (
    ORDER,
    Row,
    capitalize,
    count_noun,
    display,
    format_number,
    goodness,
    join,
    look,
    lower_first,
    metric_in,
    tell_difference,
    tell_evidence,
    urgency,
    words,
)

NAMED = 4
"""Languages that the first sentence names; more are counted."""
LISTED = 8
"""Languages that a line names; more are counted."""


class LeadLine(NamedTuple):
    """Languages of which the same is said."""

    look: str
    codes: list[str]
    who: str
    text: str
    more: str = ""


def overall(verdicts: Iterable[Row]) -> str:
    """Return the verdict on a language: the most urgent of its metrics."""
    kinds = {look(v) for v in verdicts}
    return next((kind for kind in ORDER if kind in kinds), "not_measured")


def by_language(verdicts: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Group verdicts by language, the worst first; of a language the most urgent first."""
    grouped: dict[str, list[Row]] = {
        code: [] for code in in_order({v["language"] for v in verdicts})
    }
    for v in verdicts:
        grouped[v["language"]].append(v)

    def badness(verdicts: list[Row]) -> tuple[float, ...]:
        """Order languages: worse in an exam of its own last; how many metrics; harm; size."""
        worse = [v for v in verdicts if look(v) == "worse"]
        return (
            ORDER.index(overall(verdicts)),
            bool(worse) and _is_of_exams(worse),
            -len(worse) / (sum(look(v) != "not_measured" for v in verdicts) or 1),
            min((urgency(v) for v in worse), default=0),
            min((goodness(v) / v["margin"] for v in worse or verdicts), default=0.0),
        )

    ordered = sorted(grouped.items(), key=lambda item: badness(item[1]))
    return [
        (code, sorted(group, key=lambda v: (ORDER.index(look(v)), urgency(v))))
        for code, group in ordered
    ]


def _is_of_exams(verdicts: Iterable[Row]) -> bool:
    """Return whether all are of exams with other questions than the English one."""
    return all("other_questions" in v["tags"] for v in verdicts)


def name_languages(codes: Sequence[str], of: int) -> str:
    """Name a few languages; count many."""
    rows = words()["headline"]
    if len(codes) <= NAMED:
        return join(map(language_name, codes))
    return str(rows["all" if len(codes) == of else "many"].format(k=len(codes), n=of))


def list_languages(codes: Sequence[str]) -> str:
    """Name languages; count more than `LISTED`."""
    if len(codes) > LISTED:
        return str(words()["headline"]["rest"].format(k=len(codes)))
    return join(map(language_name, codes))


def tell_lead(verdicts: Sequence[Row], most: int) -> tuple[str, list[LeadLine]]:
    """Describe the finding on one model: a sentence, and a line for each language or group.

    At most so many worse languages have a line each.
    """
    rows, texts, lines = by_language(verdicts), words()["headline"], []
    worse = [(code, group) for code, group in rows if overall(group) == "worse"]
    for code, group in worse[:most]:
        first, name = group[0], metric_in(group[0], verdicts)
        more = tell_difference(first), count_verdicts(group, others=True)
        lines.append(LeadLine(
            "worse", [code], language_name(code), f"{name}: {tell_evidence(first, brief=True)}.",
            " ".join(filter(None, more)),
        ))  # fmt: skip
    if remainder := [code for code, _ in worse[most:]]:
        who = texts["others"].format(k=len(remainder), who=join(map(language_name, remainder)))
        lines.append(LeadLine("worse", remainder, who, ""))
    # The others, equal statements together.
    groups: dict[tuple[str, str], list[tuple[str, list[Row]]]] = {}
    for code, members in rows[len(worse) :]:
        groups.setdefault((overall(members), count_verdicts(members)), []).append((code, members))
    for (kind, text), alike in groups.items():
        codes = in_order(code for code, _ in alike)
        leaning = [
            code for code, members in alike
            if any(v["reason"] in ("leans", "within") and goodness(v) < 0 for v in members)
        ]  # fmt: skip
        extra = texts["open"][len(codes) > 1] if kind == "inconclusive" else ""
        if leaning:
            names = list_languages(in_order(leaning))
            extra = f"{texts['leaning'][len(leaning) > 1].format(who=names)} {extra}".strip()
        lines.append(LeadLine(kind, codes, list_languages(codes), lower_first(text), extra))
    return capitalize(_first_sentence(rows)), lines


def tell_scores(scores: Sequence[Row]) -> list[LeadLine]:
    """Describe the primary scores of a model without comparisons, a line for each language."""
    lines: dict[str, list[str]] = {}
    primary = [
        score for score in scores
        if not score["topic"] and ":" not in score["language"] and score["value"] is not None
        and any(score["metric"] in (item.metric, *item.instead)
                for item in CRITERIA[score["criterion"]].endpoints)
    ]  # fmt: skip
    for score in primary:
        sentences = f"{metric_in(score, primary)} {format_number(score['value'], display(score))}"
        if score["temperature"] is not None:
            sentences += f" (temperature {score['temperature']:g})"
        lines.setdefault(score["language"], []).append(sentences)
    return [
        LeadLine("", [code], language_name(code), f"{'; '.join(lines[code])}.")
        for code in in_order(lines)
    ]


def _first_sentence(rows: Sequence[tuple[str, list[Row]]]) -> str:
    texts, total = words()["headline"], len(rows)
    kinds = {code: overall(group) for code, group in rows}
    worse = {
        code: [v for v in group if look(v) == "worse"]
        for code, group in rows
        if kinds[code] == "worse"
    }
    exams = [code for code, group in worse.items() if _is_of_exams(group)]
    served = [code for code in worse if code not in exams]
    parts = []
    if served:
        parts.append(texts["worse"][len(served) > 1].format(who=name_languages(served, total)))
    if exams:
        parts.append(texts["exam"].format(who=name_languages(exams, total)))
    if parts:
        return " ".join(parts)
    if not any(v["estimate"] is not None for _, group in rows for v in group):
        return str(texts["nothing"])
    fine = [code for code, kind in kinds.items() if kind in ("equivalent", "better")]
    key = "none_worse" if not fine else "some_same"
    if fine and "better" in kinds.values():
        key = "some_better"
    if len(fine) == total:
        key = "better" if set(kinds.values()) == {"better"} else "all_same"
    form = texts[key] if isinstance(texts[key], str) else texts[key][total > 1]
    sentence = str(form.format(who=name_languages(fine, total) if fine else ""))
    exams = [
        code for code, group in rows
        if code in fine and _is_of_exams(v for v in group if look(v) in ("equivalent", "better"))
    ]  # fmt: skip
    if exams:
        sentence += f" {texts['own_exams'].format(who=name_languages(exams, total))}"
    return sentence


def count_verdicts(verdicts: Sequence[Row], others: bool = False) -> str:
    """Count how many metrics have which verdict, in words: 'Worse in 1 metric, ...'.

    With `others` of all but the first. Of several datasets or models they are comparisons.
    """
    kinds, texts = [look(v) for v in verdicts[others:]], words()["headline"]["verdicts"]
    metrics = {(v["criterion"], v["metric"]) for v in verdicts}
    noun = "other_" * others + ("comparisons" if len(metrics) < len(verdicts) else "metrics")
    counts = [(kind, kinds.count(kind)) for kind in ORDER if kind in texts and kind in kinds]
    parts = [
        texts[kind].format(n=f"{n:,}" if index else count_noun(n, words()["headline"][noun]))
        for index, (kind, n) in enumerate(counts)
    ]
    text = ", ".join(parts)
    return f"{capitalize(text)}." if text else ""
