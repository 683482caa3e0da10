"""Scores of Yes/No answers, hard and probabilistic.

Labels are 1 (the shown answer is correct) and 0 (it is not). A score is None, never a number, where
there is nothing to compute it from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.base import same_length, signature
from xling_metrics.stats.probabilities import (
    ECE_BINS,
    brier_sums,
    ece_of_sums,
    ece_sums,
    influences,
    rows_of,
)
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

LABELS = (0, 1)


class ClassificationScores(NamedTuple):
    """Scores over the rows with a usable answer; all in [0, 1], higher is better.

    Attributes:
        macro_precision: Mean over both classes of tp / (tp + fp).
        macro_recall: Mean over both classes of tp / (tp + fn).
        macro_f1: Mean over both classes of the class's F1 (scikit-learn's `average="macro"`).
            XLingEval's equation 6 states the harmonic mean of macro precision and macro recall
            instead; its tables were computed as here (HealthQA en: 0.8552, not 0.8635).
        acc: Share of answers equal to the label.
        auc_hard: Area under the ROC curve of the 0/1 answers: (sensitivity + specificity) / 2, so
            equal to macro_recall. For comparison with XLingEval's Table A11 only. None if the rows
            hold one class.
        n: Rows scored.
    """

    macro_precision: float | None
    macro_recall: float | None
    macro_f1: float | None
    acc: float | None
    auc_hard: float | None
    n: int


class ProbabilityScores(NamedTuple):
    """Scores of P(Yes), over the rows where it is defined.

    Attributes:
        auc: Area under the ROC curve, ties counted half; None if only one class occurs.
        ece: Expected calibration error (Guo et al. 2017, equation 3): rows binned by the
            confidence max(p, 1 - p) of the answer into 15 equal bins of (0, 1]; the mean over
            bins, weighted by size, of |accuracy - mean confidence|. In [0, 1], lower is better.
            A row with p = 0.5 has no answer and is left out.
        brier: Mean of (p - label)^2. In [0, 1], lower is better.
        n: Rows with a defined probability.
    """

    auc: float | None
    ece: float | None
    brier: float | None
    n: int


def classification_scores(
    labels: Sequence[int], answers: Sequence[int | None]
) -> ClassificationScores:
    """Return macro precision, recall, F1, accuracy and hard AUC (XLingEval, section 3.4).

    A class that is never predicted has precision 0 and one that never occurs recall 0
    (scikit-learn's `zero_division=0`, whose values these are); both classes always count.

    Args:
        labels: 0 or 1 per row.
        answers: 0 or 1 per row; None where there is no usable answer. Such rows are left out.

    Raises:
        ValueError: If the lengths differ or a value is neither 0, 1 nor (answers) None.
    """
    counts = verdict_counts([0] * len(labels), labels, answers).get(0)
    if counts is None:
        return ClassificationScores(None, None, None, None, None, 0)
    totals = np.array([counts], dtype=float)
    scores = {name: float(score(totals)[0]) for name, score in VERDICT_SCORES.items()}
    has_two_classes = counts.tp + counts.fn and counts.fp + counts.tn
    auc = scores["macro_recall"] if has_two_classes else None
    return ClassificationScores(**scores, auc_hard=auc, n=sum(counts))


def probability_scores(
    labels: Sequence[int], probabilities: Sequence[float | None]
) -> ProbabilityScores:
    """Return ROC AUC, calibration error and Brier score of P(Yes).

    Args:
        labels: 0 or 1 per row.
        probabilities: P(Yes) in [0, 1] per row; None where undefined. Such rows are left out.

    Raises:
        ValueError: If the lengths differ, a label is not 0/1 or a probability not in [0, 1].
    """
    same_length(labels=labels, probabilities=probabilities)
    if invalid := [label for label in labels if label not in LABELS]:
        raise ValueError(f"labels must be 0 or 1, got {invalid[0]!r}")
    rows = [(y, p) for y, p in zip(labels, probabilities, strict=True) if p is not None]
    if any(not 0 <= p <= 1 for _, p in rows):
        raise ValueError("probabilities must lie in [0, 1]")
    (brier,), (ece,) = brier_sums([rows]), ece_sums([rows])
    return ProbabilityScores(
        auc=influences(rows_of([rows]))[0],
        ece=None if ece is None else float(ece_of_sums(np.array([ece]))[0]),
        brier=None if brier is None else brier[0] / brier[1],
        n=len(rows),
    )


def yes_probability(yes: float, no: float) -> float | None:
    """Return P(Yes) given that the response is Yes or No: softmax over two log-likelihoods.

    None if one is not a number, or both are infinite (nothing to compare).
    """
    if math.isnan(yes) or math.isnan(no) or (math.isinf(yes) and math.isinf(no)):
        return None
    difference = no - yes
    if difference > 700:  # exp would overflow; the probability is 0 to double precision
        return 0.0
    return 1 / (1 + math.exp(difference))


def answer_of_probability(probability: float | None) -> int | None:
    """Return 1 above 0.5, 0 below; None for an exact tie or an undefined probability."""
    return None if probability is None or probability == 0.5 else int(probability > 0.5)


def hard_answer(value: float | None) -> int | None:
    """Return an answer (0, 1, None) as it is; of a float, `answer_of_probability`."""
    return answer_of_probability(value) if isinstance(value, float) else value


def classification_signature(metric: str) -> str:
    """Return the signature of one field of `ClassificationScores`."""
    return signature(metric, average=None if metric == "acc" else "macro", labels=LABELS)


def probability_signature(metric: str) -> str:
    """Return the signature of one field of `ProbabilityScores`."""
    bins = ECE_BINS if metric == "ece" else None
    return signature(metric, bins=bins, probability="softmax(yes,no)")
