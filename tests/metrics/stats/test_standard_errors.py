"""Standard errors: against formulas by hand, scipy, and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from xling_metrics.stats.standard_errors import jackknife_error, mean_error, ratio_error, sums_error

pytestmark = pytest.mark.core


def test_means_and_ratios_by_hand():
    # 1, 2, 3, 4: variance 5/3, so sqrt(5/12).
    assert mean_error([1, 2, None, 3, 4]) == pytest.approx((5 / 12) ** 0.5)
    assert mean_error([1, 2, 3, 4]) == pytest.approx(stats.sem([1, 2, 3, 4]))
    assert mean_error([1.0, None]) is None and mean_error([]) is None
    assert mean_error([0.0, 0.0, 0.0]) == 0
    pairs = [(3, 5), (5, 5), (0, 5), (2, 5)]
    assert ratio_error(pairs) == pytest.approx(mean_error([0.6, 1.0, 0.0, 0.4]))
    assert ratio_error([(1, 4), (0, 0)]) is None
    # By hand: R = 3/6; residuals 1 - 1, 2 - 2 -> 0; (0, 2) and (3, 4): R = 1/2, residuals -1, 1.
    assert ratio_error([(1, 2), (2, 4)]) == 0
    assert ratio_error([(0, 2), (3, 4)]) == pytest.approx((2 * 2) ** 0.5 / 6)


def test_the_jackknife():
    values = np.random.default_rng(1).random(40).tolist()
    assert jackknife_error(np.mean, values) == pytest.approx(mean_error(values))
    assert sums_error(lambda rows: rows[:, 0] / rows[:, 1], [(v, 1) for v in values]) == (
        pytest.approx(mean_error(values))
    )
    assert jackknife_error(lambda v: sum(v) / len(v) if 2 in v else None, [1, 2, 3]) is None
    assert jackknife_error(np.mean, [1.0]) is None
    assert sums_error(lambda rows: np.full(len(rows), np.nan), [(1, 1), (2, 1)]) is None
    assert sums_error(lambda rows: rows[:, 0], [(1, 1), None]) is None
