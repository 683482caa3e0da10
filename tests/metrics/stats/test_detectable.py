"""What so many questions would show, against draws of what it says."""

import numpy as np
import pytest
import scipy.stats
from xling_metrics.stats.detectable import (
    Shares,
    detectable_errors,
    detectable_share,
    questions_for_share,
    share_power,
)
from xling_metrics.stats.shares import mcnemar_mid_p


def found(sides, difference, alpha, times=4000):
    """How often McNemar's mid-p shows it, of questions drawn one by one."""
    more, fewer = sides.apart(difference)
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(sides.n, [more, fewer, 1 - more - fewer], size=times)[:, :2]
    p = {pair: mcnemar_mid_p(*pair) for pair in {tuple(own) for own in drawn.tolist()}}
    hit = [p[a, b] < alpha and a > b for a, b in map(tuple, drawn.tolist())]
    return np.mean(hit)


@pytest.mark.parametrize("m", [1, 9, 24])
@pytest.mark.parametrize(("n", "base", "up"), [(24, 0.7, False), (246, 0.01, True),
                                               (246, 0.98, False), (1134, 0.3, True)])  # fmt: skip
def test_a_difference_that_is_told_is_found_four_times_of_five(n, base, up, m):
    sides = Shares(n, base, base, 2 * base * (1 - base))
    size = detectable_share(sides, 0.05 / m, up=up)
    assert found(sides, size if up else -size, 0.05 / m) == pytest.approx(0.8, abs=0.03)


def test_as_many_differ_as_did():
    """Of 100 questions 30 and 20 hit, 10 of them in both: 20 and 10 differ, 15 where none is worse.

    A fall of the baseline's 0.2 by 0.1 makes half of all hits misses, and half of those 15.
    """
    sides = Shares(100, 0.3, 0.2, 0.29)
    assert sides.apart(0.0) == pytest.approx((0.15, 0.15))
    assert sides.apart(-0.1) == pytest.approx((0.175, 0.075), abs=0.002)
    independent = Shares(10**6, 0.7, 0.7, 0.42)
    assert independent.apart(-0.2) == pytest.approx((0.7 * 0.5, 0.5 * 0.3), abs=1e-5)


def test_questions_for_a_difference_show_it():
    sides = Shares(60, 0.9, 0.92, 0.15)
    needed = questions_for_share(sides, -0.05, 0.05 / 3)
    assert share_power(sides._replace(n=round(needed)), -0.05, 0.05 / 3) == pytest.approx(0.8, abs=0.03)  # fmt: skip


def test_a_family_and_what_cannot_be_shown():
    """Five questions that all differ the same way have p = 1/32, above 0.05 / 3."""
    assert detectable_share(Shares(5, 0.0, 0.0, 0.1), 0.05 / 3, up=True) is None
    assert detectable_share(Shares(50, 0.0, 0.0, 0.1), 0.05, up=False) is None
    # Of the normal quantiles in tables: 2.394 + 0.842 for three tests.
    assert [round(detectable_errors(m), 2) for m in (1, 3, 9, 12, 24)] == [2.80, 3.24, 3.61, 3.71, 3.92]  # fmt: skip
    expected = scipy.stats.t.ppf(1 - 0.05 / 6, 23) + scipy.stats.norm.ppf(0.8)
    assert detectable_errors(3, df=23) == pytest.approx(expected)
    with pytest.raises(ValueError, match="family"):
        detectable_errors(0)
