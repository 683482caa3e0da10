"""Prediction-powered inference: ppi-python, by hand, and whether intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t
from xling_metrics.stats.ppi import PpiInput, ppi_contrast, ppi_mean


def sampled(rng, n, m, p=0.3, wrong=0.2):
    """n judged answers of which the first m are labelled; one stratum."""
    truth = (rng.random(n) < p).astype(float)
    judge = np.where(rng.random(n) < wrong, 1 - truth, truth)
    human = [float(y) if i < m else None for i, y in enumerate(truth)]
    return PpiInput(judge.tolist(), human, ["all"] * n)


def labelled(rng, truth, judge, m):
    """Answers of which people labelled m, as many of either label as the judge gave it."""
    human: list[float | None] = [None] * len(truth)
    size = round(m * judge.mean())
    for stratum, k in ((judge, size), (~judge, m - size)):
        for place in rng.permutation(np.flatnonzero(stratum))[:k]:
            human[place] = float(truth[place])
    return PpiInput(judge.astype(float).tolist(), human, judge.astype(str).tolist())


@pytest.mark.parametrize(("n", "m", "level"), [(1134, 103, 0.95), (30, 5, 0.9)])
def test_equal_to_ppi_python_without_weights(n, m, level):
    ppi_py = pytest.importorskip("ppi_py")
    side = sampled(np.random.default_rng(n), n, m)
    y, f = np.array(side.human[:m], dtype=float), np.array(side.judge)
    own = ppi_mean(side, level)
    # Ours corrects by the mean over the stratum, theirs by the mean over the labels: the same.
    assert own.value == pytest.approx(ppi_py.ppi_mean_pointestimate(y, f[:m], f, lam=1)[0])
    low, high = ppi_py.ppi_mean_ci(y, f[:m], f, alpha=1 - level, lam=1)
    assert (own.ci_low, own.ci_high) == pytest.approx((low[0], high[0]))


def test_strata_by_hand():
    # 8 answers are 1 by the judge, 2 are 0. People: of four 1s one is wrong, of both 0s one.
    judge = [1.0] * 8 + [0.0] * 2
    human = [1.0, 1.0, 1.0, 0.0, None, None, None, None, 0.0, 1.0]
    side = PpiInput(judge, human, ["yes"] * 8 + ["no"] * 2)
    # 0.8 + 0.8 (-1/4) + 0.2 (1/2) = 0.7 = 0.8 x 3/4 + 0.2 x 1/2.
    estimate = ppi_mean(side)
    assert estimate.value == pytest.approx(0.7)
    # Values 0.75 (8) and 0.5 (2): variance 0.01, over 10. Errors: 3/16 over 4, 1/4 over 2.
    variance = 0.01 / 10 + 0.8**2 * (3 / 16) / 4 + 0.2**2 * 0.25 / 2
    assert estimate.se == pytest.approx(variance**0.5)
    half = 1.959964 * variance**0.5
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx((0.7 - half, 0.7 + half))
    assert estimate.p is None and estimate.n == 10
    # As shares: q = (1 + 1) / (4 + 2) and (1 + 1) / (2 + 2); 2/9 is more than 3/16.
    variance = 0.01 / 10 + 0.8**2 * (2 / 9) / 4 + 0.2**2 * 0.25 / 2
    own = ppi_mean(side, shares=True)
    assert own.se == pytest.approx(variance**0.5)
    assert own.ci_high == 1.0 and own.ci_low == pytest.approx(0.7 - 1.959964 * variance**0.5)


def test_a_difference_by_hand():
    one = PpiInput([1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], list("aabb"))
    two = PpiInput([0.0, 0.0, 0.0, 1.0], [0.0, 1.0, None, 1.0], list("bbba"))
    # Values 0.5, 0.5, 0, 0 and 0.5, 0.5, 0.5, 1: differences 0, 0, -0.5, -1, variance 0.171875.
    # Errors, as shares: a of one 1 of 2 (1/4), b 0 of 2 (q = 1/4: 3/16); b of two 1 of 2, a 0 of 1 (q = 1/3).
    variance = 0.171875 / 4 + (0.5**2 * 0.25 + 0.5**2 * (3 / 16)) / 2
    variance += 0.75**2 * 0.25 / 2 + 0.25**2 * (2 / 9)
    estimate = ppi_contrast([(1, one), (-1, two)], shares=True)
    assert estimate.value == pytest.approx(-0.375)
    assert estimate.se == pytest.approx(variance**0.5)
    assert estimate.p == pytest.approx(2 * norm.sf(0.375 / variance**0.5))
    assert estimate.ci_low == pytest.approx(max(-1.0, -0.375 - 1.959964 * variance**0.5))
    back = ppi_contrast([(1, two), (-1, one)], shares=True)
    expected = (-estimate.value, estimate.se, estimate.p)
    assert (back.value, back.se, back.p) == pytest.approx(expected)


def test_what_is_refused():
    with pytest.raises(ValueError, match="'b': 0 labels"):
        ppi_mean(PpiInput([1.0, 0.0], [1.0, None], ["a", "b"]), shares=True)
    with pytest.raises(ValueError, match="'a': 1 labels"):
        ppi_mean(PpiInput([1.0], [1.0], ["a"]))
    with pytest.raises(ValueError, match="length"):
        ppi_mean(PpiInput([1.0], [1.0, 0.0], ["a"]))
    assert ppi_mean(PpiInput([], [], [])).value is None


def test_a_judge_that_errs_more_in_one_language_makes_no_gap():
    """True shares are equal; the judge calls 5% and 20% of the others contradictory too."""
    n, m, times, alone, held = 1134, 103, 200, 0, 0
    for i in range(times):
        rng, sides = np.random.default_rng([i, 10]), []
        for wrong in (0.2, 0.05):
            truth = rng.random(n) < 0.1
            judge = truth | (rng.random(n) < wrong)
            sides.append(labelled(rng, truth, judge, m))
        gaps = np.subtract(sides[0].judge, sides[1].judge)
        alone += abs(gaps.mean()) > 1.96 * gaps.std() / n**0.5
        estimate = ppi_contrast([*zip((1, -1), sides, strict=True)], shares=True)
        held += estimate.ci_low <= 0 <= estimate.ci_high
    assert alone / times > 0.9  # The judge alone finds a gap that is not there.
    assert held / times >= 0.92


def test_people_who_differ_widen_the_interval_by_hand():
    """Two people, 0.06 apart in the difference: their mean has the variance 2 * 0.03^2 / 2."""
    rng = np.random.default_rng(3)
    sides = [(1, sampled(rng, 300, 100)), (-1, sampled(rng, 300, 100))]
    alone, both = (ppi_contrast(sides, people=people) for people in ((), [[0.03, -0.03]]))
    assert both.value == alone.value and both.se**2 == pytest.approx(alone.se**2 + 0.03**2)
    half = ((norm.ppf(0.975) * alone.se) ** 2 + (t.ppf(0.975, 1) * 0.03) ** 2) ** 0.5
    assert both.ci_high - both.value == pytest.approx(half)
    # Where the interval just reaches 0, p is 1 less its level.
    at = ppi_contrast(sides, 1 - both.p, people=[[0.03, -0.03]])
    assert min(abs(at.ci_low), abs(at.ci_high)) == pytest.approx(0, abs=1e-6)
    assert ppi_contrast(sides, people=[[0.0, 0.0]]).ci_high == pytest.approx(alone.ci_high)
