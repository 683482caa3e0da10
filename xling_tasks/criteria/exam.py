"""Multiple choice, with reasons or without: MMedBench's exams, and users' own questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answer_part,
    answers,
    as_text,
    field,
    listing,
    mapping,
    number,
    question_part,
    replies,
)
from xling_tasks.criteria.shown import Behind, Beside, Found, Read, Sample, Shown, Side, drops


def _parts(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
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


def _found(sample: Mapping[str, Any], _: str) -> Found:
    score = number(sample.get("acc"))
    if score is None:
        return Found()
    unread = number(sample.get("unparsed_rate")) == 1 and "acc_norm" not in sample
    label = "unparsed" if unread else "right" if score == 1 else "wrong"
    return Found(label, score, score == 1)


def _behind(own: Side, english: Side) -> Iterator[Behind]:
    """Wrong answers in languages with fewer right ones: the questions are others in each."""
    accuracy, base = own.score("acc") or 0, english.score("acc") or 0
    if accuracy < base:
        partial = own.values("jaccard")
        why = f"wrong; accuracy {accuracy:.3f}, in English {base:.3f}"
        for question, value in own.values("acc").items():
            if value == 0:
                finer = 1 - (partial.get(question) or 0)
                yield Behind(question, base - accuracy, why, finer=finer)


def _behind_same(own: Side, english: Side) -> Iterator[Behind]:
    """Questions that are answered wrongly, and rightly in English."""
    partial = own.values("jaccard")
    for found in drops(own, english, "acc", "", 0):
        finer = 1 - (partial.get(found.question) or 0)
        yield found._replace(why="wrong; in English right", finer=finer)


def _choice(
    _: str, language: str, english: Sample | None, other: Sample, *, rationale: bool = False
) -> Iterator[Beside]:
    """Question with options, what is right, and what was chosen."""
    both = ((english, ENGLISH), (other, language))
    sides = [_of_one(sample, code, rationale) if sample else {} for sample, code in both]
    for title in sides[1]:
        yield Beside(title, *([side[title]] if title in side else [] for side in sides))


def _of_one(sample: Sample, language: str, rationale: bool) -> dict[str, Passage]:
    doc = sample["doc"]
    options = "\n".join(f"{letter}. {text}" for letter, text in doc["options"].items())
    shown = {
        "Question": Passage(f"{doc['question']}\n\n{options}", language),
        "Right": Passage(", ".join(doc["answer"])),
    }
    if rationale:
        shown["Reference rationale"] = Passage(as_text(doc["rationale"]), language)
    if all(isinstance(reply, str) for row in replies(sample) for reply in row):
        shown["Reply"] = next(answers(sample, language))._replace(mark="")
    else:  # log-likelihoods
        shown["Most likely"] = Passage(_likeliest(sample))
    return shown


def _likeliest(sample: Sample) -> str:
    """The letters with the highest log-likelihood; several if they are equally likely."""
    candidates = likelihoods(sample)
    best = [text for score, text in candidates if score == candidates[0][0]]
    return best[0] if len(best) == 1 else f"undecided between {' / '.join(best)}"


_SHOWN = Shown(_parts, ("sacrebleu",), _found, Read(_behind, {}, _choice))
_OF_REASONS = _SHOWN._replace(read=Read(_behind, {}, partial(_choice, rationale=True)))
_SAME = _SHOWN._replace(read=Read(_behind_same, {}, _choice))
EXAMS = (
    *(criterion(f"mmedbench_mcqa{way}", _SHOWN) for way in ("", "_ll", "_ft")),
    *(criterion(f"mmedbench_rationale{way}", _OF_REASONS) for way in ("", "_ft")),
)
MCQA, MCQA_LL = criterion("mcqa", _SAME), criterion("mcqa_ll", _SAME)
