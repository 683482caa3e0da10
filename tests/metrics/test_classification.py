from __future__ import annotations

import math
import random

import pytest
from sklearn import metrics as sk
from xling_metrics.classification import (
    answer_of_probability,
    classification_scores,
    classification_signature,
    probability_scores,
    yes_probability,
)


def test_verdict_scores_by_hand():
    # Class 1: tp 1, fp 1, fn 1 -> P = R = F1 = 1/2. Class 0: tp 1, fp 1, fn 1 -> 1/2.
    scores = classification_scores([1, 1, 0, 0], [1, 0, 0, 1])
    assert scores == (0.5, 0.5, 0.5, 0.5, 0.5, 4)
    # Class 1: tp 1, fp 0, fn 1 -> P 1, R 1/2, F1 2/3. Class 0: tp 8, fp 1, fn 0 -> P 8/9, R 1,
    # F1 16/17. macro F1 = (2/3 + 16/17) / 2 = 41/51 = 0.8039; the harmonic mean of
    # 17/18 and 3/4 would be 0.8361.
    scores = classification_scores([1, 1] + [0] * 8, [1, 0] + [0] * 8)
    assert scores.macro_f1 == pytest.approx(41 / 51, abs=1e-12)
    assert scores.macro_precision == pytest.approx(17 / 18, abs=1e-12)
    assert scores.macro_recall == pytest.approx(0.75, abs=1e-12)
    with_gaps = classification_scores([1, 0, 1, 0, 1], [1, 0, None, None, 0])
    assert with_gaps == classification_scores([1, 0, 1], [1, 0, 0])
    assert with_gaps.n == 3


def test_nothing_scorable_is_none():
    assert classification_scores([1, 0], [None, None]) == (None, None, None, None, None, 0)
    assert classification_scores([], []).n == 0
    assert classification_scores([1, 1], [1, 0]).auc_hard is None
    assert probability_scores([1, 0], [None, None]) == (None, None, None, 0)


def test_constant_answers_have_scores():
    # All answers 1: class 1 has precision 1/2, recall 1; class 0 has 0 and 0. F1 = (2/3 + 0) / 2.
    assert classification_scores([1, 0] * 2, [1] * 4)[:4] == (0.25, 0.5, pytest.approx(1 / 3), 0.5)


def test_bad_input():
    for message, score, given in (
        ("has 1, .* has 2", classification_scores, ([1], [1, 0])),
        ("must be 0 or 1, got 2", classification_scores, ([2], [1])),
        ("probabilities", probability_scores, ([1], [1.5])),
    ):
        with pytest.raises(ValueError, match=message):
            score(*given)


@pytest.mark.parametrize(
    ("yes", "no", "expected"),
    [
        (-1.0, -2.0, 1 / (1 + math.exp(-1))),  # exp(-1) / (exp(-1) + exp(-2))
        (-3.0, -3.0, 0.5), (-math.inf, -5.0, 0.0), (-5.0, -math.inf, 1.0), (-5000.0, -1.0, 0.0),
        (-math.inf, -math.inf, None), (float("nan"), -1.0, None),
    ],
)  # fmt: skip
def test_yes_probability(yes, no, expected):
    found = yes_probability(yes, no)
    assert found is None if expected is None else found == pytest.approx(expected, abs=1e-15)


def test_ties_and_gaps_have_no_verdict():
    assert [answer_of_probability(p) for p in (0.2, 0.5, 0.8, None)] == [0, None, 1, None]


def test_probability_scores_by_hand():
    labels, chances = [1, 0, 1, 0], [0.9, 0.2, 0.4, 0.6]
    scores = probability_scores(labels, chances)
    # Pairs (1, 0): 0.9 beats both, 0.4 beats 0.2 and loses to 0.6 -> 3 of 4.
    assert scores.auc == pytest.approx(0.75)
    assert scores.brier == pytest.approx((0.01 + 0.04 + 0.36 + 0.36) / 4)
    # Confidences 0.9, 0.8, 0.6, 0.6 in bins of 1/15: 0.9 -> bin 14, 0.8 -> 12, 0.6 twice -> 9.
    # |1 - 0.9| / 4 + |1 - 0.8| / 4 + |0 - 0.6| * 2 / 4
    assert scores.ece == pytest.approx(0.025 + 0.05 + 0.3)
    # Bins are open on the left: 0.6 = 9/15 and 0.55 share one, |(1 - 0.6) + (0 - 0.55)| / 2.
    assert probability_scores([1, 0], [0.6, 0.55]).ece == pytest.approx(0.075)


def test_equals_scikit_learn():
    rng = random.Random(1)
    labels = [rng.randint(0, 1) for _ in range(300)]
    chances = [rng.choice([rng.random(), 0.5]) for _ in labels]
    said = [rng.randint(0, 1) for _ in labels]
    hard, soft = classification_scores(labels, said), probability_scores(labels, chances)
    assert hard.macro_f1 == pytest.approx(sk.f1_score(labels, said, average="macro"))
    assert hard.macro_precision == pytest.approx(sk.precision_score(labels, said, average="macro"))
    assert hard.acc == pytest.approx(sk.accuracy_score(labels, said))
    assert hard.auc_hard == pytest.approx(hard.macro_recall, abs=1e-12)
    assert soft.auc == pytest.approx(sk.roc_auc_score(labels, chances))
    assert soft.brier == pytest.approx(sk.brier_score_loss(labels, chances))
    assert classification_signature("macro_f1") == "macro_f1|average:macro|labels:0,1"
