"""Verifiability: the model says Yes or No of right and wrong answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
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

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import Endpoint, Submitted, criterion
from xling_tasks.criteria.metric import DisplayText, Metric, constant
from xling_tasks.failed_response import REQUEST_FAILED, is_empty


class Judgement(NamedTuple):
    """What the model says of one answer of the data."""

    label: int  # 1 for a correct answer, 0 for an incorrect one
    text: str  # the response
    # Yes (1) or No (0) as the rules read the response; None where they read neither
    by_rules: int | None
    by_model: int | None = None  # the same by the answer extractor, where it was asked
    # whether the extractor was asked again; None where it was not asked
    repaired: bool | None = None

    @property
    def verdict(self) -> int | None:
        """Yes (1) or No (0): by the rules, else by the answer extractor."""
        return self.by_model if self.by_rules is None else self.by_rules


def _pairs(rows: Sequence[Judgement]) -> list[list[int | None]] | None:
    return [[row.label, row.verdict] for row in rows] or None  # None where all requests failed


def _columns(questions: Sequence[Any]) -> tuple[list[int], list[Any]]:
    rows = list(chain.from_iterable(questions))
    return [row[0] for row in rows], [row[1] for row in rows]


def _hard(name: str, *, per_doc: Any = _pairs) -> Metric:
    """Return a score of verdicts, over the answers that have one."""

    def score(questions: Sequence[Any]) -> float | None:
        labels, verdicts = _columns(questions)
        scores = classification_scores(labels, list(map(hard_answer, verdicts)))
        return getattr(scores, name)  # type: ignore[no-any-return]

    def error(questions: Sequence[Any]) -> float | None:
        labels, verdicts = _columns(questions)
        question = [number for number, rows in enumerate(questions) for _ in rows]
        counts = verdict_counts(question, labels, list(map(hard_answer, verdicts)))
        # The area under the curve of hard labels is their macro recall.
        of_counts = VERDICT_SCORES["macro_recall" if name == "auc_hard" else name]
        return sums_error(of_counts, list(counts.values()))

    def sign(task: Any) -> str:
        return classification_signature(name).partition("|")[2] + task.extractor_signature  # type: ignore[no-any-return]

    return Metric(name, per_doc, score, True, error=error, sign=sign)


def _soft(name: str, higher: bool) -> Metric:
    """Return a score of P(Yes); questions give [label, P(Yes)] for each answer."""

    def score(questions: Sequence[Any]) -> float | None:
        return getattr(probability_scores(*_columns(questions)), name)  # type: ignore[no-any-return]

    def error(questions: Sequence[Any]) -> float | None:
        rows = [[(row[0], row[1]) for row in pairs] for pairs in questions]
        if name == "auc":
            return auc_interval(rows_of(rows)).se
        if name == "ece":
            return sums_error(ece_of_sums, ece_sums(rows))
        return ratio_error(brier_sums(rows))

    def sign(task: Any) -> str:
        return probability_signature(name).partition("|")[2]  # type: ignore[no-any-return]

    return Metric(name, list, score, higher, error=error, sign=sign)


def _share(test: Callable[[Judgement], bool | None]) -> Callable[[Sequence[Judgement]], list[int]]:
    """Return [rows that pass, rows] of a test, which is None of rows that do not count."""

    def per_doc(rows: Sequence[Judgement]) -> list[int]:
        results = [result for row in rows if (result := test(row)) is not None]
        return [sum(results), len(results)]

    return per_doc


_of_rows = partial(
    Metric, aggregate=RATIO, sign=lambda task: f"of:all_rows{task.extractor_signature}"
)
_of_extractor = partial(_of_rows, in_table=False, when=lambda task: task.extractor is not None)

METRICS = (
    _hard("macro_precision"),
    _hard("macro_recall"),
    _hard("macro_f1"),
    _hard("acc"),
    _hard("auc_hard"),
    _of_rows("acc_all", _share(lambda row: row.label == row.verdict), higher_is_better=True),
    _of_rows("unparsed_rate", _share(lambda row: row.verdict is None), higher_is_better=False),
    _of_rows("empty_rate", _share(lambda row: is_empty(row.text)), higher_is_better=False,
             in_table=False),
    _of_extractor("extracted_by_model_rate",
                  _share(lambda row: row.by_rules is None and row.by_model is not None)),
    _of_extractor("extractor_agreement",
                  _share(lambda row: None if None in (row.by_rules, row.by_model)
                         else row.by_rules == row.by_model)),
    _of_extractor("extractor_repair_rate", _share(lambda row: row.repaired)),
)  # fmt: skip

LL_METRICS = (
    _soft("auc", True),
    _soft("ece", False),
    _soft("brier", False),
    _hard("macro_f1", per_doc=list),
    _hard("acc", per_doc=list),
    Metric("unparsed_rate",
           lambda rows: [sum(answer_of_probability(p) is None for _, p in rows), len(rows)], RATIO,
           False, sign=constant("of:all_rows")),
)  # fmt: skip


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    """Return each answer of the data, with what the model said of it at each temperature."""
    data = sample["doc"]["answers"]
    passages = [[view.Passage(answer["text"], language)] for answer in data]
    for texts, row in zip(passages, sample.get("acc") or (), strict=False):  # by log-likelihood
        text = "P(Yes) undefined" if row[1] is None else f"P(Yes) = {row[1]:.3f}"
        texts.append(view.Passage(text, "", *_mark(row)))
    names, responses = _sweep(sample), list(view.answers(sample, ""))
    for number, name in enumerate(names):
        rows = iter(sample[name] or ())  # of the responses that came
        for texts, response in zip(passages, responses[number :: len(names)], strict=True):
            has_row = not response.mark.startswith(REQUEST_FAILED)
            mark, tone = _mark(next(rows) if has_row else None)
            mark = f"T={view.temperature_of(name)}: {response.mark or mark}"
            texts.append(view.Passage(response.text, "", mark, tone))
    parts, counts = [view.question_part(sample, language)], Counter[str]()
    for answer, texts in zip(data, passages, strict=True):
        title, truth = ("Right answer", "Yes") if answer["label"] == 1 else ("Wrong answer", "No")
        counts[title] += 1
        counted_title = f"{title} {counts[title]}" if counts[title] > 1 else title
        parts.append(view.Part(counted_title, texts, f"Expected: {truth}"))
    return parts


def _sweep(sample: view.Sample) -> list[str]:
    """Return the names of the values of answers in the data, a temperature each."""
    return [name for name in sample if re.fullmatch(r"acc_t[\d.]+", name)]


def _mark(row: Sequence[Any] | None) -> tuple[str, str]:
    """Describe a row (label, and Yes, No or P(Yes)): mark and tone."""
    if row is None or row[1] is None:
        return "not read", "unsure"
    return ("right", "good") if hard_answer(row[1]) == row[0] else ("wrong", "bad")


def _find_right(sample: view.Sample, _: str) -> view.SampleResult:
    """Return whether all parsed answers at the lowest temperature are correct."""
    name = min(_sweep(sample), key=view.temperature_of, default="acc")
    rows, tau = sample.get(name) or [], view.temperature_of(name)
    right = [hard_answer(row[1]) == row[0] for row in rows if row[1] is not None]
    if not right:
        return view.SampleResult("unparsed" if rows else "")
    label, score = "right" if all(right) else "wrong", sum(right) / len(rows)
    return view.SampleResult(label, score, all(right), tau)


_DISPLAY = {
    "macro_recall": DisplayText(
        "Right answers told from wrong ones", "Right from wrong",
        "Shown an answer, does the model say rightly whether it is right?",
        evidence="recalls", chance=0.5,
    ),
    "macro_f1": DisplayText("Macro F1", "Macro F1"),
    "acc": DisplayText("Accuracy", "Accuracy"),
    "auc_hard": DisplayText("AUC of Yes and No", "AUC of Yes and No"),
    "unparsed_rate": DisplayText("Replies without Yes or No", "Unparsed",
                                 unit="percent", evidence="share"),
}  # fmt: skip
_DISPLAY_LL = {
    "auc": DisplayText(
        "Right answers found likelier than wrong ones", "Right likelier",
        "Does the model find right answers likelier than wrong ones?", noun="AUC", chance=0.5,
    ),
    "ece": DisplayText("Expected calibration error", "ECE"),
    "brier": DisplayText("Brier score", "Brier"),
}  # fmt: skip
_SHOWN = view.SampleView(_parts, (), _find_right)

VERIFIABILITY = criterion(
    "verifiability",
    METRICS,
    _DISPLAY,
    position=3,
    title="Verifiability",
    asks="The model is shown a question with an answer, right or wrong, and says Yes or No.",
    endpoints=(Endpoint("macro_recall", at="lowest"),),
    settings=("temperatures", "answer_extractor"),
    drawn=("macro_recall", "unparsed_rate", "auc"),
    columns=("macro_recall", "macro_f1", "macro_precision", "acc", "auc_hard", "unparsed_rate"),
    note="Over the rows with a usable verdict: read the share without one beside the scores. The "
    "AUC of hard labels equals macro recall; it stands for comparison with the paper only.",
    submitted=Submitted(
        ("macro_recall", "macro_f1"), ("unparsed_rate", "empty_rate"), "text-classification"
    ),
    shown=_SHOWN,
)
VERIFIABILITY_LL = criterion(
    "verifiability_ll",
    LL_METRICS,
    {**_DISPLAY, **_DISPLAY_LL},
    position=4,
    title="Verifiability by log-likelihood",
    asks="The model is shown a question with an answer, and finds Yes or No likelier.",
    endpoints=(Endpoint("auc"),),
    drawn=VERIFIABILITY.drawn,
    columns=("auc", "macro_f1", "acc", "ece", "brier", "unparsed_rate"),
    note="From the log-likelihoods of Yes and No. AUC is of probabilities, unlike the AUC of hard "
    "labels in the paper's Table A11, which has no place here.",
    submitted=Submitted(("auc",), ("unparsed_rate",), "text-classification"),
    by_topic=False,
    shown=_SHOWN,
)
