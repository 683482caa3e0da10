"""Group-sequential bounds: looking at data several times without more than alpha false alarms.

Lan & DeMets (1983, Biometrika 70:659): a share of alpha is spent at each look, by how much of the
planned information is there. The spending is like O'Brien & Fleming's: little early, most at the
end. Bounds follow by numerical integration (Armitage, McPherson & Rowe 1969).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.stats import norm  # type: ignore[import-untyped]
from xling_metrics.stats.resampling import Floats

_GRID = 1001
_FARTHEST = 12.0  # standard deviations


def spent(time: float, alpha: float) -> float:
    """The two-sided alpha spent up to a time: 4 (1 - Phi(z / sqrt(time))), z the alpha/4 quantile.

    Args:
        time: Share of the planned information, above 0; 1 and more is the end.
        alpha: Two-sided, of all looks together.
    """
    return float(min(alpha, 4 * norm.sf(norm.isf(alpha / 4) / np.sqrt(min(time, 1.0)))))


def bounds(times: Sequence[float], alpha: float) -> list[float]:
    """How large |z| must be at each look.

    Args:
        times: Shares of the planned information at the looks, rising, above 0.
        alpha: Two-sided, of all looks together.

    Returns:
        A bound per look. Estimate plus and minus the bound times the standard error are repeated
        intervals (Jennison & Turnbull 1989): all of them hold together with probability 1 - alpha.

    Raises:
        ValueError: If times do not rise or begin at 0.
    """
    if any(b <= a for a, b in zip([0.0, *times], times, strict=False)):
        raise ValueError(f"looks must be at rising shares above 0, got {list(times)}")
    return list(_bounds(tuple(float(time) for time in times), alpha))


def _over(edge: float, places: Floats, density: Floats, step: float, budget: float) -> float:
    """The probability of a step beyond an edge, less what may be spent."""
    tails = norm.sf((edge - places) / step) + norm.sf((edge + places) / step)
    return float(density @ tails) - budget


@functools.lru_cache(maxsize=4096)
def _bounds(times: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    made: list[float] = []
    places, density = np.zeros(1), np.ones(1)  # of the sum's path, times the width of a step
    before, used = 0.0, 0.0
    for time in times:
        step, far = float(np.sqrt(time - before)), _FARTHEST * float(np.sqrt(time))
        budget = spent(time, alpha) - used

        over = functools.partial(_over, places=places, density=density, step=step, budget=budget)
        edge = float(brentq(over, 0.0, far, xtol=1e-10)) if over(far) < 0 else far
        made.append(edge / float(np.sqrt(time)))
        grid = np.linspace(-edge, edge, _GRID)
        moved = norm.pdf((grid[:, None] - places[None, :]) / step) / step
        weights = np.full(_GRID, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        places, density = grid, (moved @ density) * weights
        before, used = time, used + max(0.0, budget)
    return tuple(made)
