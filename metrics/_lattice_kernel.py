"""The inner loop of `xling_metrics.janome_tokens`, compiled; importing this needs numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from xling_metrics.compiled import compiled

_Ints = NDArray[np.int32]


@compiled()
def _best(
    left: int,
    at: int,
    first: _Ints,
    following: _Ints,
    totals: NDArray[np.int64],
    words: _Ints,
    table: _Ints,
    costs: _Ints,
) -> tuple[int, np.int64]:
    """The cheapest path to a word at a position: the place of its last word, and its cost.

    Among equals Janome takes the first, unless both are the dictionary's: then the lower number.
    """
    best, lowest = -1, np.int64(0)
    place = first[at]
    while place >= 0:
        word = words[place]
        cost = totals[place] + costs[table[word, 1], left]
        if best < 0 or cost < lowest:
            best, lowest = place, cost
        elif cost == lowest:
            number, other = table[words[best], 3], table[word, 3]
            if number >= 0 and other >= 0 and other < number:
                best = place
        place = following[place]
    return best, lowest


@compiled()
def cheapest_path(
    starts: _Ints, words: _Ints, lengths: _Ints, size: int, table: _Ints, costs: _Ints
) -> _Ints:
    """The places, in `words`, of the words on the cheapest path through a text, in order.

    Args:
        starts: Where in the text each word begins; rising. The first word stands for the text's
            beginning, has length 0 and begins at 0.
        words: Their rows of `table`.
        lengths: Their lengths in letters.
        size: The length of the text; some path ends there.
        table: A row per kind of word: left, right, cost, number in the dictionary or -1.
        costs: Of two neighbours, at [right of the first, left of the second].
    """
    n = len(words)
    first, last = np.full(size + 1, -1, np.int32), np.full(size + 1, -1, np.int32)
    following, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    totals = np.zeros(n, np.int64)
    first[0] = last[0] = 0
    for place in range(1, n):
        word, at = words[place], starts[place]
        best, lowest = _best(table[word, 0], at, first, following, totals, words, table, costs)
        end = at + lengths[place]
        if best < 0 or end > size:
            continue
        before[place], totals[place] = best, lowest + table[word, 2]
        if last[end] < 0:
            first[end] = place
        else:
            following[last[end]] = place
        last[end] = place
    place, _ = _best(0, size, first, following, totals, words, table, costs)
    n_path = 0
    while place > 0:
        starts_of = before[place]
        following[n_path] = place
        n_path += 1
        place = starts_of
    return following[:n_path][::-1].copy()
