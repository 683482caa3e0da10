"""Verifiability: the model says Yes or No of right and wrong answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from xling_metrics.aggregate import RATIO
from xling_metrics.classification import (
    answer_of_probability,
    classification_scores,
    classification_signature,
    hard_answer,
    probability_scores,
    probability_signature,
)
from xling_metrics.stats.probabilities import (
    auc_interval,
    brier_sums,
    ece_of_sums,
    ece_sums,
    rows_of,
)
from xling_metrics.stats.standard_errors import ratio_error, sums_error
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

from xling_tasks.criteria.metric import Metric, constant, counted, failure, rate
from xling_tasks.criteria.responses import empty_share
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
from xling_tasks.criteria.sample_view import SampleResult, SampleView


class Judgement(NamedTuple):
    """What the model says of one answer of the data.

    Attributes:
        label: 1 for a correct answer, 0 for an incorrect one.
        text: The response.
        by_rules: Yes (1) or No (0) as the rules read the response; None where they read neither.
        by_model: The same by the answer extractor, where it was asked.
        repaired: Whether the extractor was asked again; None where it was not asked.
    """

    label: int
    text: str
    by_rules: int | None
    by_model: int | None = None
    repaired: bool | None = None

    @property
    def verdict(self) -> int | None:
        """Yes (1) or No (0): by the rules, else by the answer extractor."""
        return self.by_model if self.by_rules is None else self.by_rules


def _pairs(rows: Sequence[Judgement]) -> list[list[int | None]]:
    return [[row.label, row.verdict] for row in rows]


def _columns(questions: Sequence[Any]) -> tuple[list[int], list[Any]]:
    rows = list(chain.from_iterable(questions))
    return [row[0] for row in rows], [row[1] for row in rows]


def _hard_score(name: str, questions: Sequence[Any]) -> float | None:
    labels, verdicts = _columns(questions)
    score: float | None = getattr(
        classification_scores(labels, list(map(hard_answer, verdicts))), name
    )
    return score


def _hard_error(name: str, questions: Sequence[Any]) -> float | None:
    labels, verdicts = _columns(questions)
    question = [number for number, rows in enumerate(questions) for _ in rows]
    counts = verdict_counts(question, labels, list(map(hard_answer, verdicts)))
    # The area under the curve of hard labels is their macro recall.
    score = VERDICT_SCORES["macro_recall" if name == "auc_hard" else name]
    return sums_error(score, list(counts.values()))


def _soft_score(name: str, questions: Sequence[Any]) -> float | None:
    score: float | None = getattr(probability_scores(*_columns(questions)), name)
    return score


def _soft_error(name: str, questions: Sequence[Any]) -> float | None:
    rows = [[(row[0], row[1]) for row in pairs] for pairs in questions]
    if name == "auc":
        return auc_interval(rows_of(rows)).se
    if name == "ece":
        return sums_error(ece_of_sums, ece_sums(rows))
    return ratio_error(brier_sums(rows))


def _hard(name: str, note: str, *, per_doc: Any = _pairs) -> Metric:
    """Return a score of verdicts, over the answers that have one."""
    return Metric(
        name, per_doc, partial(_hard_score, name), True, note, error=partial(_hard_error, name),
        sign=lambda task: (
            classification_signature(name).partition("|")[2] + task.extractor_signature
        ),
    )  # fmt: skip


def _soft(name: str, higher: bool, note: str) -> Metric:
    """Return a score of P(Yes); questions give [label, P(Yes)] for each answer."""
    return Metric(
        name, list, partial(_soft_score, name), higher, note, error=partial(_soft_error, name),
        sign=lambda task: probability_signature(name).partition("|")[2],
    )  # fmt: skip


def _sign_rows(task: Any) -> str:
    return f"of:all_rows{task.extractor_signature}"


def _has_extractor(task: Any) -> bool:
    return task.extractor is not None


def _agreement(rows: Sequence[Judgement]) -> list[int]:
    parsed = [row for row in rows if None not in (row.by_rules, row.by_model)]
    return [sum(row.by_rules == row.by_model for row in parsed), len(parsed)]


def _repaired(rows: Sequence[Judgement]) -> list[int]:
    repairs = [row.repaired for row in rows if row.repaired is not None]
    return [sum(repairs), len(repairs)]


METRICS = (
    _hard("macro_precision", "mean of the precision of Yes and of No"),
    _hard("macro_recall", "mean of the recall of Yes and of No: balanced accuracy"),
    _hard("macro_f1", "mean of the F1 of Yes and of No"),
    _hard("acc", "share of the verdicts that are right"),
    _hard("auc_hard", "area under the ROC curve of hard verdicts"),
    rate("acc_all", lambda rows: [sum(row.label == row.verdict for row in rows), len(rows)], True,
         "share of all answers with a right verdict", sign=_sign_rows),
    rate("unparsed_rate", lambda rows: [sum(row.verdict is None for row in rows), len(rows)], False,
         "share of responses without a verdict", sign=_sign_rows),
    failure("empty_rate", lambda rows: empty_share([row.text for row in rows]),
            "share of empty responses", aggregate=RATIO, sign=_sign_rows),
    counted("extracted_by_model_rate",
          lambda rows: [sum(row.by_rules is None and row.by_model is not None for row in rows),
                        len(rows)],
          "share of the verdicts that the answer extractor read", aggregate=RATIO,
          when=_has_extractor, sign=_sign_rows),
    counted("extractor_agreement", _agreement,
          "share of responses that rules and answer extractor read alike", aggregate=RATIO,
          when=_has_extractor, sign=_sign_rows),
    counted("extractor_repair_rate", _repaired,
          "share of responses about which the answer extractor was asked again", aggregate=RATIO,
          when=_has_extractor, sign=_sign_rows),
)  # fmt: skip

LL_METRICS = (
    _soft("auc", True, "area under the ROC curve of P(Yes)"),
    _soft("ece", False, "expected calibration error of P(Yes)"),
    _soft("brier", False, "mean squared error of P(Yes)"),
    _hard("macro_f1", "mean of the F1 of Yes and of No", per_doc=list),
    _hard("acc", "share of the verdicts that are right", per_doc=list),
    rate("unparsed_rate",
         lambda rows: [sum(answer_of_probability(p) is None for _, p in rows), len(rows)], False,
         "share of answers with P(Yes) undefined or 0.5", sign=constant("of:all_rows")),
)  # fmt: skip


def _parts(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
    parts = [question_part(sample, language)]
    passages_of = _said_of_answers(sample, soft)
    right, wrong = 0, 0
    data = listing(mapping(sample.get("doc")).get("answers"))
    for position, answer in enumerate(map(mapping, data)):
        if answer.get("label") == 1:
            right += 1
            title, truth = f"Right answer {right}" if right > 1 else "Right answer", "Yes"
        else:
            wrong += 1
            title, truth = f"Wrong answer {wrong}", "No"
        passages = [
            Passage(as_text(answer.get("text", "")), language),
            *passages_of.get(position, ()),
        ]
        parts.append(Part(title, passages, f"Expected: {truth}"))
    return parts


def _said_of_answers(sample: Mapping[str, Any], soft: bool) -> dict[int, list[Passage]]:
    """Return what the model said of each answer in the data, at each temperature."""
    passages: dict[int, list[Passage]] = {}
    for name in ["acc"] if soft else sweep(sample):
        for position, (row, reply) in enumerate(verdicts(sample, name)):
            mark, tone = _right(row)
            text = reply.text if reply else ""
            if not soft:
                mark = f"T={name.removeprefix('acc_t')}: {(reply and reply.mark) or mark}"
            passages.setdefault(position, []).append(Passage(text, "", mark, tone))
    return passages


def sweep(sample: Mapping[str, Any]) -> list[str]:
    """Return the names of the values of answers in the data, a temperature each."""
    return [name for name in sample if re.fullmatch(r"acc_t[\d.]+", name)]


def verdicts(sample: Mapping[str, Any], name: str) -> list[tuple[Any, Passage | None]]:
    """Return what the model said of each answer in the data, by one of `sweep` or `acc`.

    Per answer the row (label, verdict or P(Yes)) and what was said; either may be None.
    """
    rows = listing(sample.get(name))
    if name != "acc":
        names = sweep(sample)
        return list(zip_longest(rows, list(answers(sample, ""))[names.index(name) :: len(names)]))
    chances = [number(row[1]) if isinstance(row, list) and len(row) == 2 else None for row in rows]
    texts = ["P(Yes) undefined" if p is None else f"P(Yes) = {p:.3f}" for p in chances]
    return list(zip(rows, map(Passage, texts), strict=True))


def _right(row: Any) -> tuple[str, str]:
    """Describe a row (label, and Yes, No or P(Yes)): mark and tone."""
    if not isinstance(row, list) or len(row) != 2 or number(row[1]) is None:
        return "not read", "unsure"
    return ("right", "good") if hard_answer(row[1]) == row[0] else ("wrong", "bad")


def _found(sample: Mapping[str, Any], _: str) -> SampleResult:
    """Return whether all parsed answers at the lowest temperature are correct."""
    name = min(sweep(sample), key=_tau, default="acc")
    rows = [row for row in listing(sample.get(name)) if isinstance(row, list) and len(row) == 2]
    read = [hard_answer(row[1]) == row[0] for row in rows if number(row[1]) is not None]
    if not read:
        return SampleResult("unparsed" if rows else "")
    return SampleResult("right" if all(read) else "wrong", sum(read) / len(rows), all(read))


def _tau(name: str) -> float:
    return float(name.removeprefix("acc_t").rstrip(".") or 0)


_SHOWN = SampleView(_parts, (), _found)
VERIFIABILITY = criterion("verifiability", METRICS, _SHOWN)
VERIFIABILITY_LL = criterion("verifiability_ll", LL_METRICS, _SHOWN)
