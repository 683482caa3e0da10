"""Multiple choice, with reasons or without: MMedBench's exams, and users' own questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from xling_tasks.criteria.forms import (
    ENGLISH,
    Column,
    Criterion,
    Drawn,
    Endpoint,
    Metric,
    Submitted,
    Told,
    metrics,
    names,
)
from xling_tasks.criteria.rates import AGREE, BERTSCORE, SENTENCES
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
    label = "unread" if unread else "right" if score == 1 else "wrong"
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


_CHOICES = (
    *("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard"),
    *("acc_norm", "acc_norm_letters", "acc_norm_tokens"),
)
_AGAIN = ("asked_again_rate", "contradicted_rate", "acc_asked_again")
_HEADING = "Exam questions answered rightly"
_BEYOND = Metric(
    "acc",
    label="Accuracy",
    range="share of questions, 0 to 1",
    told=Told(f"{_HEADING}, beyond guessing (0) to all right (1)", "beyond guessing"),
)
_ACC = replace(_BEYOND, told=Told(_HEADING, "right", "answers"))
_OVERLAPS: tuple[str | Metric, ...] = (
    *("sacrebleu", "bleu", *(f"bleu{n}" for n in "1234")),
    Metric("rouge1", label="ROUGE-1", range="0 to 1"),
    *(f"rouge{n}{kind}" for n in ("1", "2", "L") for kind in ("", "_standard") if n + kind != "1"),
    *BERTSCORE,
    Metric("bertscore_f1_idf", label="BERTScore F1, weighed by idf", range="0 to 1", share=False),
)
_NAMES = names(_OVERLAPS)
_OWN = "Each language has its own questions, so languages are compared beyond guessing only."
_ASKS = "Does the model choose all right options of a medical exam question, and no other? "
_RATED = ("bertscore_f1", "rouge1")
_SHOWN = Shown(_parts, ("sacrebleu",), _found, Read(_behind, {}, _choice))
_MCQA = Submitted(("acc",), ("unparsed_rate", "empty_rate"), "question-answering")


def _exam(
    key: str,
    title: str,
    asks: str,
    more: tuple[str | Metric, ...] = (),
    *,
    counts: tuple[str, ...] = (),
    failures: tuple[str, ...] = (),
    **declared: Any,
) -> Criterion:
    """A criterion of chosen options, with MORE metrics of what is written beside the choice."""
    return Criterion(
        key, title, asks,
        metrics(
            (_BEYOND, *_CHOICES[1:], *more), ("unparsed_rate",), _AGAIN,
            counts=("read_by_model_rate", "reader_agreement", "reader_asked_again_rate", *counts),
            failures=("empty_rate", *failures), within=_NAMES, chance=_CHOICES,
        ),
        (Endpoint("acc"),),
        **{"settings": ("reader",), "shown": _SHOWN, "submitted": _MCQA, **declared},
    )  # fmt: skip


def _of_one_language(key: str, title: str, asks: str, **declared: Any) -> Criterion:
    """Of MMedBench, whose languages have questions of their own."""
    declared = {"drawn": (Drawn("dots", ("acc",)),), **declared}
    return _exam(key, f"MMedBench: {title}", asks, parallel=False, **declared)


def _rationale(key: str, title: str) -> Criterion:
    return _of_one_language(
        key, title,
        "Does the model give good reasons for its choice in an exam question? They are compared "
        "with reasons that people checked, within each language.",
        more=(*_OVERLAPS, SENTENCES, "second_language_consistency"),
        counts=(AGREE,),
        failures=("no_end_rate",),
        settings=("source_encoder", "reader"),
        shown=_SHOWN._replace(read=Read(_behind, {}, partial(_choice, rationale=True))),
        drawn=(Drawn("dots", ("acc",)), Drawn("dots", _RATED, "first"),
               Drawn("boxes", _RATED, "first")),
        submitted=Submitted(
            ("rouge1", "bertscore_f1"), ("unparsed_rate", "no_end_rate", "empty_rate")
        ),
    )  # fmt: skip


EXAMS = (
    _of_one_language("mmedbench_mcqa", "multiple choice", _ASKS + _OWN),
    _of_one_language(
        "mmedbench_mcqa_ll", "multiple choice by log-likelihood",
        f"Which options of a medical exam question does the model find likeliest? {_OWN}",
        settings=(),
    ),
    _of_one_language("mmedbench_mcqa_ft", "multiple choice, fine-tuned models", _ASKS + _OWN),
    _rationale("mmedbench_rationale", "rationales"),
    _rationale("mmedbench_rationale_ft", "rationales, fine-tuned models"),
)  # fmt: skip
_LIKE = _exam(
    "mcqa",
    "Multiple choice",
    "Does the model choose all right options of a question, and no other? The questions are "
    "the same in every language.",
    shown=_SHOWN._replace(read=Read(_behind_same, {}, _choice)),
    columns=(
        Column("acc", "accuracy", bounds=True, points=True),
        Column("acc_with_flagged", "with flagged questions"),
        Column("acc_single", "one right option"),
        Column("acc_multi", "several right options"),
        Column("jaccard", "Jaccard"),
        Column("unparsed_rate", "no letters read"),
    ),
    note="Accuracy: share of the questions of which all right options are chosen, and no other; "
    "replies without readable letters count as wrong. Jaccard, of the replies that letters could "
    "be read of: options that are chosen and right over those that are either.",
    glossary={
        "acc": "Share of questions answered rightly.",
        "flagged": "A question is flagged where its options are damaged in some language: a wrong "
        "one reads like a right one, or one is missing. It is left out in every language.",
        "BLEU, ROUGE": "Words and runs of words that a text shares with a reference.",
    },
)
_FLAGGED = replace(
    _LIKE.metrics["acc"],
    name="acc_with_flagged",
    label="Accuracy, flagged questions too",
    told=None,
)
MCQA = replace(
    _LIKE,
    metrics={
        **_LIKE.metrics,
        "acc": replace(_ACC, higher_is_better=True, chance=True),
        "acc_with_flagged": _FLAGGED,
    },
)
MCQA_LL = replace(
    MCQA,
    key="mcqa_ll",
    title="Multiple choice by log-likelihood",
    asks="Which option of a question does the model find likeliest? The questions are the same in "
    "every language.",
    columns=(
        *(each for each in MCQA.columns if each.metric != "unparsed_rate"),
        Column("acc_norm", "per character"),
        Column("acc_norm_tokens", "per token"),
    ),
    settings=(),
    glossary={},
    note="Accuracy: share of the questions of which the likeliest letter is the right one.",
)
