"""Group-sequential bounds: published values, and another integration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from xling_metrics.stats.sequential import bounds, spent


def test_bounds_are_the_published_ones():
    """Five equal looks, two-sided 0.05 (Lan & DeMets' spending as in Jennison & Turnbull 2000)."""
    fifths = [0.2, 0.4, 0.6, 0.8, 1.0]
    assert bounds(fifths, 0.05) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=5e-4)
    assert bounds([1.0], 0.05) == pytest.approx([1.95996], abs=1e-4)
    assert spent(1.0, 0.05) == pytest.approx(0.05)
    assert spent(0.5, 0.05) == pytest.approx(4 * 0.000763, rel=2e-3)


def test_two_looks_spend_alpha_by_another_integration():
    times, alpha = [0.3, 0.7], 0.02
    first, last = bounds(times, alpha)
    rho = np.sqrt(0.3 / 0.7)
    both = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    ends = product((first, -first), (last, -last))
    inside = sum(np.sign(a * b) * both.cdf([a, b]) for a, b in ends)
    assert 1 - inside == pytest.approx(spent(0.7, alpha), abs=2e-5)


def test_looks_must_go_on():
    for times in ([0.5, 0.5], [0.5, 0.4], [0.0, 1.0], [-0.1]):
        with pytest.raises(ValueError, match="rising shares above 0"):
            bounds(times, 0.05)
