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
from xling_metrics.stats.probability_intervals import ECE_BINS
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
    has_both = counts.tp + counts.fn and counts.fp + counts.tn
    auc = scores["macro_recall"] if has_both else None
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
    if not rows:
        return ProbabilityScores(None, None, None, 0)
    from sklearn.metrics import roc_auc_score

    label, probability = np.array(rows, dtype=float).T
    auc = float(roc_auc_score(label, probability)) if len(np.unique(label)) == 2 else None
    brier = float(np.mean((probability - label) ** 2))
    return ProbabilityScores(auc, _calibration_error(label, probability), brier, len(rows))


def _calibration_error(label: np.ndarray, probability: np.ndarray) -> float | None:
    decided = probability != 0.5
    label, probability = label[decided], probability[decided]
    if not len(probability):
        return None
    confidence = np.maximum(probability, 1 - probability)
    correct = (probability > 0.5) == (label == 1)
    # Bins are open on the left: a confidence of exactly b/bins belongs to bin b - 1.
    index = np.clip(np.ceil(confidence * ECE_BINS).astype(int) - 1, 0, ECE_BINS - 1)
    gaps = np.bincount(index, correct - confidence)  # a bin's size times its gap
    return float(np.abs(gaps).sum() / len(index))


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
    return signature(metric, average="macro", labels=LABELS)


def probability_signature(metric: str) -> str:
    """Return the signature of one field of `ProbabilityScores`."""
    bins = ECE_BINS if metric == "ece" else None
    libraries = ("scikit-learn",) if metric == "auc" else ()
    return signature(metric, bins=bins, probability="softmax(yes,no)", libraries=libraries)
