"""The inner loops of `xling_metrics.langid_batches`, compiled; importing this needs numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from xling_metrics.acceleration import ANY_ORDER, compile_loop


@compile_loop(fastmath=ANY_ORDER)
def _score(
    visits: NDArray[np.int64],
    seen: NDArray[np.int64],
    n_seen: int,
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add the rows of `weights` seen to `scores`, each as often as it was visited."""
    n_labels = weights.shape[1]
    for j in range(n_seen):
        row = seen[j]
        times = float(visits[row])
        visits[row] = 0
        for k in range(n_labels):
            scores[k] += times * weights[row, k]


@compile_loop()
def best_labels(
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    step: NDArray[np.uint16],
    row_of: NDArray[np.int16],
    weights: NDArray[np.float64],
    prior: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the number of each text's label: the first one with the largest score.

    `data` is all texts, joined; `bounds` are where each begins and the last ends. The rest is as in
    `langid_batches`; a text begins in state 0.
    """
    n_rows, n_labels = weights.shape
    visits, seen = np.zeros(n_rows, np.int64), np.empty(n_rows, np.int64)
    scores = np.empty(n_labels)
    best = np.empty(len(bounds) - 1, np.int64)
    for text in range(len(best)):
        n_seen = 0
        state = np.intp(0)
        for i in range(bounds[text], bounds[text + 1]):
            state = np.intp(step[(state << 8) + data[i]])
            row = row_of[state]
            if row >= 0:
                if visits[row] == 0:
                    seen[n_seen] = row
                    n_seen += 1
                visits[row] += 1
        for k in range(n_labels):
            scores[k] = prior[k]
        _score(visits, seen, n_seen, weights, scores)
        best[text] = np.argmax(scores)
    return best
