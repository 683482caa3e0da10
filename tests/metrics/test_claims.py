"""Information F1 against literals derived by hand."""

from __future__ import annotations

from statistics import fmean

import pytest
from xling_metrics.claims import ClaimScores, claim_scores, information_f1


def of(precision, recall):
    """A prompt's scores, with F1 as `claim_scores` has it."""
    if precision is None or recall is None:
        return ClaimScores(precision, recall, 0.0)
    total = precision + recall
    return ClaimScores(precision, recall, 2 * precision * recall / total if total else 0.0)


def test_mean_precision_and_mean_recall_not_the_mean_of_prompts():
    # Means 0.6 and 0.6: F1 0.6. By prompt 2 * 0.2 / 1.2 = 1/3 each.
    pairs = [of(1, 0.2), of(0.2, 1)]
    assert information_f1(pairs) == pytest.approx(0.6)
    assert fmean(pair.f1 for pair in pairs) == pytest.approx(0.3333, abs=1e-4)


def test_abstentions_count_in_recall_alone():
    # Seven answers with precision 0.8 and recall 0.6, three abstentions: precision 0.8, recall
    # 0.42, F1 0.672 / 1.22 = 0.5508. By prompt 0.7 * 0.96 / 1.4 = 0.48.
    abstention = claim_scores([], [False, False])
    assert abstention == (None, 0.0, 0.0)
    pairs = [of(0.8, 0.6)] * 7 + [abstention] * 3
    assert information_f1(pairs) == pytest.approx(0.672 / 1.22)
    assert fmean(pair.f1 for pair in pairs) == pytest.approx(0.48)
    assert information_f1([claim_scores([], [False])] * 3) == 0.0
    assert information_f1([claim_scores([False], [])] * 3) == 0.0
    assert information_f1([of(0, 0)]) == 0.0


def test_unscored_prompts_are_left_out_of_both_means():
    # Precision 1, but nobody said of the other answer's claims whether they are supported.
    half = claim_scores([True], [None])
    assert half == (1.0, None, None)
    assert information_f1([of(0.5, 0.5), half]) == pytest.approx(0.5)
    assert information_f1([half, ClaimScores(None, None, None)]) is None
    assert information_f1([]) is None
