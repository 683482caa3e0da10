"""Agreement of labels and of rankings: literals, parity with krippendorff and scipy, a paper's figure."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy.stats import linregress
from xling_metrics.stats.agreement import (
    krippendorff_alpha,
    majority_label,
    points,
    pooled_agreement,
)

pytestmark = pytest.mark.filterwarnings("error")

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", C: four observers, twelve units.
_KRIPPENDORFF_C = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def test_alpha_of_the_paper_and_by_hand():
    rows = zip(*(line.split() for line in _KRIPPENDORFF_C))
    units = [[None if rating == "." else int(rating) for rating in unit] for unit in rows]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, ordinal=True) == pytest.approx(0.815, abs=5e-4)  # section D
    # Paper, A: ten units, two observers, binary: 4 of 10 differ; n0 = 14, n1 = 6.
    # alpha = 1 - 19 x 8 / (2 x 14 x 6) = 0.095.
    a, b = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(list(zip(a, b))) == pytest.approx(1 - 19 * 8 / 168)
    # One unit, both differ: 1 - 1 x 2 / 2 = 0. All alike with two labels: 1.
    assert krippendorff_alpha([["yes", "no"]]) == 0.0
    assert krippendorff_alpha([["yes", "yes"], ["no", "no"]]) == 1.0
    # Units (1, 2), (1, 1), (3, 3): n1 = 3, n2 = 1, n3 = 2; middles 1.5, 3.5, 5.
    # d(1,2) = 4, d(1,3) = 12.25, d(2,3) = 2.25; expected 2 (3 x 4 + 6 x 12.25 + 2 x 2.25) = 180,
    # observed 2 x 4 = 8: 1 - 5 x 8 / 180.
    ordered = krippendorff_alpha([[1, 2], [1, 1], [3, 3]], ordinal=True)
    assert ordered == pytest.approx(1 - 40 / 180)
    for undefined in ([], [["a", None], [None, "b"]], [["a", "a"], ["a", "a"]]):
        assert krippendorff_alpha(undefined) is krippendorff_alpha(undefined, ordinal=True) is None


@pytest.mark.parametrize(("raters", "labels", "missing"), [(2, 2, 0.0), (3, 5, 0.2), (6, 3, 0.5)])
def test_alpha_equals_the_krippendorff_package(raters, labels, missing):
    rng = np.random.default_rng(0)
    others = rng.integers(0, labels, (raters, 80))
    ratings = np.where(rng.random((raters, 80)) < 0.7, rng.integers(0, labels, 80), others) + 0.0
    ratings[rng.random((raters, 80)) < missing] = np.nan
    units = [[None if np.isnan(value) else int(value) for value in unit] for unit in ratings.T]
    for level in ("nominal", "ordinal"):
        theirs = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
        ours = krippendorff_alpha(units, ordinal=level == "ordinal")
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_no_majority():
    for labels in (["a", "b"], ["a", "a", "b", "b", "c"], [None], []):
        assert majority_label(labels) is None
    assert majority_label(["a", "b", "a", None]) == "a" and majority_label([0, 0, 1]) == 0


def test_points():
    assert points([3, 1, 2]) == [1, 3, 2] and points([]) == []
    for ranks in ([1, 1, 3], [0, 1, 2], [2]):
        with pytest.raises(ValueError, match="each once"):
            points(ranks)


def test_the_published_agreement_comes_out_of_the_published_ratings():
    """Six models in six languages: GPT-4 (Table 14) against people (Table 15) is 0.555."""
    from xling_tasks.report.published import published

    def ratings(table):
        return {(f.model, f.language): f.value for f in published(source="mmedbench", table=table)}

    judge, people = ratings("Table 14"), ratings("Table 15")
    keys = [key for key in people if key[1] != "avg"]
    agreement = pooled_agreement([people[key] for key in keys], [judge[key] for key in keys])
    (printed,) = published(source="mmedbench", metric="kendall_tau_gpt4_relative_rating")
    assert agreement.tau == pytest.approx(printed.value, abs=0.0005) and agreement.n == 36
    line = linregress([judge[key] for key in keys], [people[key] for key in keys])
    assert agreement.slope == pytest.approx(line.slope)


def test_pooled_agreement_by_hand_and_undefined():
    # Pairs (1,1) (2,3) (3,2): two concordant, one discordant: 1/3. Slope: cov 1/3 over var 2/3.
    assert pooled_agreement([1, 2, 3], [1, 3, 2]) == pytest.approx((1 / 3, 0.5, 3))
    assert pooled_agreement([1, 1], [1, 2]) == (None, None, 2)
    with pytest.raises(ValueError, match="finite"):
        pooled_agreement([1.0, float("nan")], [1, 2])
