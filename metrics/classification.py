"""Scores of yes/no verdicts, hard and probabilistic.

Labels are 1 (the answer is correct) and 0 (it is not). Every function returns None, never a
number, where there is nothing it could be computed from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xling_metrics.base import same_length, signature

LABELS = (0, 1)
ECE_BINS = 15


class ClassificationScores(NamedTuple):
    """Scores over the rows with a usable verdict; all in [0, 1], higher is better.

    Attributes:
        macro_precision: Mean over both classes of tp / (tp + fp).
        macro_recall: Mean over both classes of tp / (tp + fn).
        macro_f1: Mean over both classes of the class's F1 (scikit-learn's `average="macro"`).
            XLingEval's equation 6 states the harmonic mean of macro precision and macro recall
            instead; its tables were computed as here (HealthQA en: 0.8552, not 0.8635).
        acc: Share of verdicts equal to the label.
        auc_hard: Area under the ROC curve of the 0/1 verdicts, which is (sensitivity +
            specificity) / 2 and so equals macro_recall; for comparison with XLingEval's Table
            A11 only. None where the rows hold one class only.
        n: Rows scored.
    """

    macro_precision: float | None
    macro_recall: float | None
    macro_f1: float | None
    acc: float | None
    auc_hard: float | None
    n: int


def classification_scores(
    labels: Sequence[int], answers: Sequence[int | None]
) -> ClassificationScores:
    """Macro precision, recall, F1, accuracy and hard AUC (XLingEval, section 3.4).

    A class that is never predicted has precision 0 and one that never occurs recall 0
    (scikit-learn's `zero_division=0`); both classes always count.

    Args:
        labels: 0 or 1 per row.
        answers: 0 or 1 per row; None where there is no usable answer. Such rows are left out.

    Returns:
        The scores; every field None and n = 0 without a usable answer.

    Raises:
        ValueError: If the lengths differ or a value is neither 0, 1 nor (answers) None.
    """
    from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

    same_length(labels=labels, answers=answers)
    rows = [
        (gold, answer) for gold, answer in zip(labels, answers, strict=True) if answer is not None
    ]
    _check_binary(labels, "labels")
    _check_binary([answer for _, answer in rows], "answers")
    if not rows:
        return ClassificationScores(None, None, None, None, None, 0)
    gold, predicted = (list(column) for column in zip(*rows, strict=True))
    precision, recall, f1, _ = precision_recall_fscore_support(
        gold, predicted, labels=list(LABELS), average="macro", zero_division=0
    )
    agree = sum(a == b for a, b in rows) / len(rows)
    auc = float(roc_auc_score(gold, predicted)) if len(set(gold)) == 2 else None
    return ClassificationScores(float(precision), float(recall), float(f1), agree, auc, len(rows))


class ProbabilityScores(NamedTuple):
    """Scores of P(Yes), over the rows where it is defined.

    Attributes:
        auc: Area under the ROC curve, ties counted half; None where only one class occurs.
        ece: Expected calibration error (Guo et al. 2017, equation 3): rows binned by the
            confidence max(p, 1 - p) of the verdict into 15 equal bins of (0, 1]; the mean over
            bins, weighted by size, of |accuracy - mean confidence|. In [0, 1], lower is better.
            A row with p = 0.5 has no verdict and is left out.
        brier: Mean of (p - label)^2. In [0, 1], lower is better.
        n: Rows with a defined probability.
    """

    auc: float | None
    ece: float | None
    brier: float | None
    n: int


def probability_scores(
    labels: Sequence[int], probabilities: Sequence[float | None]
) -> ProbabilityScores:
    """ROC AUC, calibration error and Brier score of P(Yes).

    Args:
        labels: 0 or 1 per row.
        probabilities: P(Yes) in [0, 1] per row; None where undefined. Such rows are left out.

    Returns:
        The scores; fields are None where there is nothing to compute them from.

    Raises:
        ValueError: If the lengths differ, a label is not 0/1 or a probability not in [0, 1].
    """
    from sklearn.metrics import roc_auc_score

    same_length(labels=labels, probabilities=probabilities)
    _check_binary(labels, "labels")
    rows = [(y, p) for y, p in zip(labels, probabilities, strict=True) if p is not None]
    if any(not 0 <= p <= 1 for _, p in rows):
        raise ValueError("probabilities must lie in [0, 1]")
    if not rows:
        return ProbabilityScores(None, None, None, 0)
    gold = np.array([y for y, _ in rows])
    prob = np.array([p for _, p in rows], dtype=float)
    auc = float(roc_auc_score(gold, prob)) if len(set(gold.tolist())) == 2 else None
    brier = float(np.mean((prob - gold) ** 2))
    return ProbabilityScores(auc, _calibration_error(gold, prob, ECE_BINS), brier, len(rows))


def yes_probability(yes: float, no: float) -> float | None:
    """P(Yes) given that the reply is Yes or No: softmax over the two log-likelihoods.

    Args:
        yes: Log-likelihood of Yes (natural logarithm).
        no: Log-likelihood of No.

    Returns:
        A probability in [0, 1]; None if neither or either is not a number, or if both are
        minus infinity (nothing to compare).
    """
    if math.isnan(yes) or math.isnan(no) or (math.isinf(yes) and math.isinf(no)):
        return None
    difference = no - yes
    if difference > 700:  # exp would overflow; the probability is 0 to double precision
        return 0.0
    return 1 / (1 + math.exp(difference))


def answer_of_probability(probability: float | None) -> int | None:
    """1 above 0.5, 0 below; None for an exact tie or an undefined probability."""
    if probability is None or probability == 0.5:
        return None
    return int(probability > 0.5)


def hard_answer(value: float | None) -> int | None:
    """Return an answer (0, 1, None) as it is; of a float, `answer_of_probability`."""
    return answer_of_probability(value) if isinstance(value, float) else value


def classification_signature(metric: str) -> str:
    """The signature of one field of `ClassificationScores`."""
    return signature(metric, average="macro", labels=LABELS, libraries=("scikit-learn",))


def probability_signature(metric: str) -> str:
    """The signature of one field of `ProbabilityScores`."""
    bins = ECE_BINS if metric == "ece" else None
    libraries = ("scikit-learn",) if metric == "auc" else ()
    return signature(metric, bins=bins, probability="softmax(yes,no)", libraries=libraries)


def _calibration_error(gold: np.ndarray, prob: np.ndarray, bins: int) -> float | None:
    decided = prob != 0.5
    gold, prob = gold[decided], prob[decided]
    if not len(prob):
        return None
    confidence = np.maximum(prob, 1 - prob)
    correct = (prob > 0.5) == (gold == 1)
    # Bins are open on the left: a confidence of exactly b/bins belongs to bin b - 1.
    index = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    error = 0.0
    for b in np.unique(index):
        inside = index == b
        error += abs(float(correct[inside].mean()) - float(confidence[inside].mean())) * float(
            inside.mean()
        )
    return error


def _check_binary(values: Sequence[int], name: str) -> None:
    wrong = [value for value in values if value not in LABELS]
    if wrong:
        raise ValueError(f"{name} must be 0 or 1, got {wrong[0]!r}")
