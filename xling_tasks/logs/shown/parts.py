"""A sample as it is read: its texts by heading, for one of its languages.

What is known of a criterion decides headings and marks; of anything else every field of the
document, every reply and every further value is shown as it stands, so that nothing is hidden.
The texts are both what the page shows and what its search looks through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

from xling_metrics.classification import hard_verdict

from xling_tasks.criteria import form_of
from xling_tasks.logs.shown.anything import SHORT, anything, rest
from xling_tasks.logs.shown.several import RECORDS, claims_parts, empathy_parts
from xling_tasks.logs.shown.texts import (
    Part,
    Passage,
    answer_part,
    answers,
    answers_by_temperature,
    as_text,
    field,
    listing,
    mapping,
    number,
    question_part,
    replies,
    words,
)

MOST = 300
"""Texts under one heading that are shown; the row itself has the others."""

CRITERIA_MET = "Criteria"
"""The heading of a rubric's criteria, each with whether it is met."""

Kind = tuple[Callable[[Mapping[str, Any], str, bool], list[Part]], Collection[str]]
"""The parts of a sample of a criterion, and the values that these show."""


def parts_of(criterion: str, sample: Mapping[str, Any], language: str) -> list[Part]:
    """The texts of a sample in one language, by heading.

    Args:
        criterion: A key of `CRITERIA`, or anything else.
        sample: A row of a file of samples.
        language: One of its languages.
    """
    form = form_of(criterion)
    kind = _KINDS.get(form.base)
    if kind is None:
        made = anything(sample, language)
    else:
        make, shown = kind
        codes = mapping(mapping(sample.get("doc")).get("text"))
        used = {each.format(code) for each in shown for code in codes or ("",)}
        made = [*make(sample, language, form.by_likelihood), *rest(sample, used)]
    return [
        Part(part.title, [_with_short_mark(each) for each in part.passages[:MOST]], _more(part))
        for part in made
        if part.passages
    ]


def _with_short_mark(passage: Passage) -> Passage:
    mark = passage.mark
    return passage if len(mark) <= SHORT else passage._replace(mark=f"{mark[:SHORT]}\u2026")


def _more(part: Part) -> str:
    left = len(part.passages) - MOST
    return f"{part.note} {left} more are in the row.".strip() if left > 0 else part.note


# Correctness


def _judged(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    return [
        question_part(sample, language),
        Part("Reference answer", field(doc, "reference", language)),
        answer_part(sample, language),
        Part("The judge's verdict and reasoning", list(_verdicts(mapping(sample.get("n_judged"))))),
    ]


def _verdicts(judged: Mapping[str, Any]) -> Iterator[Passage]:
    """The verdict that counts; of a jury each vote, and where asked the exchanged order."""
    votes = [mapping(vote) for vote in listing(judged.get("votes"))]
    if not votes:
        if judged:
            yield _verdict(judged)
        votes = [judged]
    for vote in votes:
        if vote is not judged:
            yield _verdict(vote, f"{as_text(vote.get('judge', 'judge'))}: ")
        if other := mapping(vote.get("swapped")):
            yield _verdict(other, "with the answers exchanged: ")


def _verdict(judged: Mapping[str, Any], who: str = "") -> Passage:
    label = judged.get("label")
    tone = {"contradictory": "bad", "more comprehensive": "good", "less comprehensive": "good"}
    said = words(label) if label is not None else "no label"
    if "failed" in judged:
        said = f"failed: {as_text(judged['failed'])}"
    if judged.get("no_majority"):
        said = "no majority"
    return Passage(as_text(judged.get("reply") or ""), "", who + said, tone.get(said, "unsure"))


# Consistency


def _sampled(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    by_temperature, others = answers_by_temperature(sample, language)
    parts = [
        Part(f"Answers at temperature {tau} ({count})", own)
        for tau, (count, own) in by_temperature.items()
    ]
    return [question_part(sample, language), *parts, Part("Answers", others)]


# Verifiability


def _checked(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
    parts = [question_part(sample, language)]
    said = _said_of_answers(sample, soft)
    right, wrong = 0, 0
    data = listing(mapping(sample.get("doc")).get("answers"))
    for place, answer in enumerate(map(mapping, data)):
        if answer.get("label") == 1:
            right += 1
            title, truth = f"Right answer {right}" if right > 1 else "Right answer", "Yes"
        else:
            wrong += 1
            title, truth = f"Wrong answer {wrong}", "No"
        passages = [Passage(as_text(answer.get("text", "")), language), *said.get(place, ())]
        parts.append(Part(title, passages, f"To say of it: {truth}"))
    return parts


def _said_of_answers(sample: Mapping[str, Any], soft: bool) -> dict[int, list[Passage]]:
    """Per answer in the data what the model said of it, at each temperature."""
    passages: dict[int, list[Passage]] = {}
    for name in ["acc"] if soft else sweep(sample):
        for place, (row, reply) in enumerate(verdicts(sample, name)):
            mark, tone = _right(row)
            text = reply.text if reply else ""
            if not soft:
                mark = f"T={name.removeprefix('acc_t')}: {(reply and reply.mark) or mark}"
            passages.setdefault(place, []).append(Passage(text, "", mark, tone))
    return passages


def sweep(sample: Mapping[str, Any]) -> list[str]:
    """The names of the verdicts on answers in the data, a temperature each."""
    return [name for name in sample if re.fullmatch(r"acc_t[\d.]+", name)]


def verdicts(sample: Mapping[str, Any], name: str) -> list[tuple[Any, Passage | None]]:
    """What the model said of each answer in the data.

    Args:
        sample: A row of verifiability.
        name: One of `sweep`, or `acc` for the probability of Yes.

    Returns:
        Per answer the row (label, verdict or P(Yes)) and what was said; either may be None.
    """
    rows = listing(sample.get(name))
    if name != "acc":
        names = sweep(sample)
        return list(zip_longest(rows, list(answers(sample, ""))[names.index(name) :: len(names)]))
    chances = [number(row[1]) if isinstance(row, list) and len(row) == 2 else None for row in rows]
    said = ["P(Yes) undefined" if p is None else f"P(Yes) = {p:.3f}" for p in chances]
    return list(zip(rows, map(Passage, said), strict=True))


def _right(row: Any) -> tuple[str, str]:
    """What a row (label, verdict or P(Yes)) says of a verdict."""
    if not isinstance(row, list) or len(row) != 2 or number(row[1]) is None:
        return "not read", "unsure"
    return ("right", "good") if hard_verdict(row[1]) == row[0] else ("wrong", "bad")


# Multiple choice


def _chosen(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    right = {as_text(letter) for letter in listing(doc.get("answer"))}
    options = [
        _option(f"{letter}. {as_text(text)}", letter in right, language)
        for letter, text in mapping(doc.get("options")).items()
    ]
    likely = [
        _option(f"{text}: {score:.3f}", {x.strip() for x in text.split(",")} == right)
        for score, text in likelihoods(sample)
    ]
    return [
        question_part(sample, language),
        Part("Options", options),
        Part("Reference rationale", field(doc, "rationale", language)),
        Part("Log-likelihood of each answer", likely) if soft else answer_part(sample, language),
    ]


def _option(text: str, right: bool, language: str = "") -> Passage:
    return Passage(text, language, *(("right", "good") if right else ()))


def likelihoods(sample: Mapping[str, Any]) -> list[tuple[float, str]]:
    """The candidates with their log-likelihoods, likeliest first."""
    asked = [mapping(each).get("arg_1") for each in mapping(sample.get("arguments")).values()]
    rows = []
    for candidate, own in zip(asked, replies(sample), strict=False):
        pair: Any = own[0] if own and isinstance(own[0], list) and own[0] else [None]
        try:
            rows.append((float(pair[0]), as_text(candidate).strip()))
        except (TypeError, ValueError):
            rows.append((float("-inf"), as_text(candidate).strip()))
    return sorted(rows, key=lambda row: -row[0])


# Rubrics


def _rubric(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Every criterion with its points and whether it is met; what an answer should not do too."""
    doc, record = mapping(sample.get("doc")), mapping(sample.get("n_scored"))
    criteria = [mapping(each) for each in listing(doc.get("criteria"))]
    passages = []
    for each, met in islice(zip_longest(criteria, listing(record.get("met"))), len(criteria)):
        points = number(each.get("points")) or 0.0
        mark, tone = "no verdict", "unsure"
        if isinstance(met, bool):
            mark = "met" if met else "not met"
            tone = "good" if met == (points > 0) else "bad"
        passages.append(Passage(f"{points:+g}: {as_text(each.get('text'))}", "", mark, tone))
    said = [Passage(as_text(reply)) for reply in listing(record.get("replies"))]
    return [
        question_part(sample, language),
        answer_part(sample, language),
        Part(CRITERIA_MET, passages),
        Part("The judge's replies", said),
    ]


_KINDS: Mapping[str, Kind] = {
    "correctness": (_judged, ("n_judged",)),
    "consistency": (_sampled, ()),
    "verifiability": (_checked, ()),
    "mcqa": (_chosen, ("sacrebleu",)),
    "mmedbench_mcqa": (_chosen, ("sacrebleu",)),
    "mmedbench_rationale": (_chosen, ("sacrebleu",)),
    "rubric": (_rubric, ("n_scored",)),
    "information": (claims_parts, RECORDS),
    "empathy": (empathy_parts, RECORDS),
}
