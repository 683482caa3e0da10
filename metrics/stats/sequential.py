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
    looks = tuple(float(time) for time in times)
    return [
        _edge(looks[:n], alpha)[0] / float(np.sqrt(looks[n - 1])) for n in range(1, len(looks) + 1)
    ]


@functools.lru_cache(maxsize=4096)
def _edge(times: tuple[float, ...], alpha: float) -> tuple[float, float]:
    """How far the sum's path may be at the last of some looks, and the alpha spent up to it."""
    places, density, used = _path(times[:-1], alpha)
    time, before = times[-1], times[-2] if len(times) > 1 else 0.0
    budget, far = spent(time, alpha) - used, _FARTHEST * float(np.sqrt(time))
    step = float(np.sqrt(time - before))

    def over(edge: float) -> float:
        """The probability of a step beyond an edge, less what may be spent."""
        tails = norm.sf((edge - places) / step) + norm.sf((edge + places) / step)
        return float(density @ tails) - budget

    edge = float(brentq(over, 0.0, far, xtol=1e-10)) if over(far) < 0 else far
    return edge, used + max(0.0, budget)


@functools.lru_cache(maxsize=64)
def _path(times: tuple[float, ...], alpha: float) -> tuple[Floats, Floats, float]:
    """Where the sum's path may be after some looks, its density times a step, and alpha spent."""
    if not times:
        return np.zeros(1), np.ones(1), 0.0
    places, density, _ = _path(times[:-1], alpha)
    edge, used = _edge(times, alpha)
    step = float(np.sqrt(times[-1] - (times[-2] if len(times) > 1 else 0.0)))
    grid = np.linspace(-edge, edge, _GRID)
    moved = norm.pdf((grid[:, None] - places[None, :]) / step) / step
    weights = np.full(_GRID, grid[1] - grid[0])
    weights[[0, -1]] /= 2
    return grid, (moved @ density) * weights, used
