"""What replies that nobody could read can do to a difference: they are right with other odds.

Leaving them out is fair if they are as often right as those that were read. Instead of all right
or all wrong, which decides almost nothing, they are taken to have k times, or 1/k, the odds of the
read replies of the same language: in one language alone, or in both alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

ODDS = 2.0
"""How many times the odds of read replies a verdict has to stand."""

MOST = 1e9
"""Odds up to which is asked when a verdict turns: unread replies are then all alike."""

AtOdds = Callable[[float], float]
"""From k to how much a side's score moves if its unread replies have k times the odds."""


def tilted(share: float, k: float) -> float:
    """The share whose odds are k times those of another: `k p / (1 - p + k p)`.

    Raises:
        ValueError: If the share does not lie within 0 and 1, or k is not above 0.
    """
    if not 0 <= share <= 1 or k <= 0:
        raise ValueError(f"a share within 0 and 1 and odds above 0 are needed, got {share}, {k}")
    return k * share / (1 - share + k * share)


def share_at_odds(hits: float, read: float, unread: float) -> AtOdds:
    """How a share moves, if its unread replies have other odds.

    The share of the read ones is taken as `(hits + 0.5) / (read + 1)`, so that none found among
    few says little of the unread ones.

    Args:
        hits: How many of the read replies count; for scores from 0 to 1 their sum.
        read: How many were read.
        unread: How many were not.

    Raises:
        ValueError: If hits do not lie within 0 and read.
    """
    if not 0 <= hits <= read + 1e-9:
        raise ValueError(f"hits must lie within 0 and {read:g}, got {hits:g}")
    share, lost = min(1.0, (hits + 0.5) / (read + 1)), unread / max(read + unread, 1e-12)
    return lambda k: lost * (tilted(share, k) - share)


def shifts(sides: Sequence[tuple[int, AtOdds]], k: float) -> tuple[float, float]:
    """The smallest and the largest shift of a sum of scores at odds of k and 1/k.

    One side's unread replies differ, or those of all sides alike: never in opposite ways.

    Args:
        sides: Sign (1 or -1) and what moves, of each score in the sum.
        k: The odds.
    """
    ends = [0.0]
    for factor in (k, 1 / k):
        moved = [sign * moves(factor) for sign, moves in sides]
        ends += [*moved, sum(moved)]
    return min(ends), max(ends)


def turns_at(holds: Callable[[float], bool]) -> float | None:
    """The odds from which a verdict no longer holds; None if it does up to `MOST`.

    Args:
        holds: From k to whether the verdict stands at odds of k.
    """
    if holds(MOST):
        return None
    low, high = 1.0, MOST
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
