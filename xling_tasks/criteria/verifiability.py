"""Verifiability: the model says Yes or No of right and wrong answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answers,
    as_text,
    listing,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side


def _parts(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
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
    """What the model said of each answer in the data, by one of `sweep` or `acc` (P(Yes)).

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
    from xling_metrics.classification import hard_verdict  # brings numpy with it

    if not isinstance(row, list) or len(row) != 2 or number(row[1]) is None:
        return "not read", "unsure"
    return ("right", "good") if hard_verdict(row[1]) == row[0] else ("wrong", "bad")


def _found(sample: Mapping[str, Any], _: str) -> Found:
    """By the verdicts at the lowest temperature: right if all that were read are."""
    from xling_metrics.classification import hard_verdict  # brings numpy with it

    name = min(sweep(sample), key=_tau, default="acc")
    rows = [row for row in listing(sample.get(name)) if isinstance(row, list) and len(row) == 2]
    read = [hard_verdict(row[1]) == row[0] for row in rows if number(row[1]) is not None]
    if not read:
        return Found("unparsed" if rows else "")
    return Found("right" if all(read) else "wrong", sum(read) / len(rows), all(read))


def _behind(own: Side, english: Side) -> Iterator[Behind]:
    """Questions with more right verdicts in English than in the language."""
    both = {name: 0 for name in own.names if name in english.names}
    name = min(sweep(both), key=_tau, default="acc")
    reference = english.sums(name)
    for question, counts in own.sums(name).items():
        other = reference.get(question)
        if counts is not None and other is not None and counts[1] + counts[2]:
            size = (other[0] + other[3]) - (counts[0] + counts[3])
            if size > 0:
                yield Behind(question, size, "wrong verdict; in English the right one", name)


def _tau(name: str) -> float:
    return float(name.removeprefix("acc_t").rstrip(".") or 0)


def _answer_and_verdict(
    name: str, language: str, english: Sample | None, other: Sample
) -> Iterator[Beside]:
    """The first answer that English calls rightly and the language wrongly."""
    base = {row[0]: row[1:] for row in _rows(english or {}, name)}
    for key, label, verdict, text, said in _rows(other, name):
        if key not in base or verdict is None or verdict == label or base[key][1] != base[key][0]:
            continue
        texts = Passage(base[key][2], ENGLISH), Passage(text, language)
        yield Beside("Answer to be checked", *([own] for own in texts))
        marked = Passage(base[key][3], "", "right"), Passage(said, "", "wrong")
        yield Beside(f"Verdict (right: {'Yes' if label else 'No'})", *([own] for own in marked))
        return


def _rows(sample: Sample, name: str) -> list[tuple[str, int, int | None, str, str]]:
    """(answer's id, label, verdict, answer, what the model said) of every row."""
    from xling_metrics.classification import hard_verdict  # brings numpy with it

    pairs = verdicts(sample, name)
    texts = [said.text for _, said in pairs if said is not None]
    return [
        (str(item["answer_id"]), row[0], hard_verdict(row[1]), item["text"], text)
        for item, (row, _), text in zip(sample["doc"]["answers"], pairs, texts, strict=True)
    ]


_SHOWN = Shown(_parts, (), _found, Read(_behind, {"Question": "Question"}, _answer_and_verdict))
VERIFIABILITY, VERIFIABILITY_LL = (
    criterion(key, _SHOWN) for key in ("verifiability", "verifiability_ll")
)
