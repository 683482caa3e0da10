"""The inner loops of `xling_metrics.lda`, compiled; importing this needs numba.

The order of every sum follows scikit-learn's, except for the two dot products, which scikit-learn
leaves to BLAS, whose order depends on the processor. What is left between the two is rounding: at
most 6e-11 in a topic distribution on LiveQA's text. The approximation of the digamma function
is scikit-learn's too, because it matters more: one with two more terms differs by 2.4e-9 and moves
topic distributions by up to 4e-5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

_numba = import_module("numba")
_Function = TypeVar("_Function", bound=Callable[..., object])
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_EPSILON = float(np.finfo(np.float64).eps)
_MAX_ROUNDS = 100
_TOLERANCE = 1e-3
# exp(E[log theta]) below this cannot change any sum here: a word's norm has epsilon (2e-16) added,
# so it loses terms under 1e-32, and the topic's own count becomes at most 1e-44 * words / epsilon,
# which the prior absorbs. With 100 topics that is four of five topics of an answer.
_NEGLIGIBLE = 1e-44


def _compiled(**options: Any) -> Callable[[_Function], _Function]:
    def compile_one(function: _Function) -> _Function:
        settings = {"nogil": True, "error_model": "numpy", "forceinline": True, **options}
        try:
            return cast(_Function, _numba.njit(cache=True, **settings)(function))
        except RuntimeError:  # No folder for the cache can be written.
            return cast(_Function, _numba.njit(**settings)(function))

    return compile_one


@_compiled()
def _digamma_series(x: float, below: float) -> float:
    """Add psi(x) to `below`, for x >= 6: log x - 1/(2x) - 1/(12x^2) + 1/(120x^4) - 1/(252x^6)."""
    inverse = 1.0 / x
    square = inverse * inverse
    psi = below + (math.log(x) - 0.5 * inverse)
    return psi - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0)))


@_compiled()
def _digamma(x: float) -> float:
    """psi(x) for x > 1e-6: psi(x) = psi(x + 1) - 1/x lifts x to where the series holds."""
    below = 0.0
    while x < 6.0:
        below -= 1.0 / x
        x += 1.0
    return _digamma_series(x, below)


@_compiled()
def _exp_digamma(x: _Floats, size: int, shift: float, spare: _Floats) -> None:
    """Replace the first x by exp(psi(x) - shift): all of them step by step, which vectorizes."""
    for i in range(size):
        spare[i] = 0.0
    for _ in range(6):
        for i in range(size):
            value = x[i]
            small = value < 6.0
            spare[i] -= 1.0 / value if small else 0.0
            x[i] = value + 1.0 if small else value
    for i in range(size):
        x[i] = math.exp(_digamma_series(x[i], spare[i]) - shift)


@_compiled()
def _ordered_sum(values: _Floats) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@_compiled()
def _add_row(scale: float, block: _Floats, row: int, out: _Floats, size: int) -> None:
    for i in range(size):
        out[i] += scale * block[row, i]


@_compiled(fastmath={"reassoc", "contract", "nsz"})
def _dot_row(left: _Floats, block: _Floats, row: int, size: int) -> float:
    total = 0.0
    for i in range(size):
        total += left[i] * block[row, i]
    return total


@_compiled()
def _word_ratios(
    weight: _Floats, block: _Floats, counts: _Floats, out: _Floats, active: _Ints
) -> int:
    """out[w] = count_w / (sum_k weight_k block[k, w] + epsilon), over topics that can matter.

    Writes their numbers into `active` and returns how many there are.
    """
    size = len(counts)
    for w in range(size):
        out[w] = 0.0
    n_active = 0
    for k in range(len(weight)):
        if weight[k] > _NEGLIGIBLE:
            _add_row(weight[k], block, k, out, size)
            active[n_active] = k
            n_active += 1
    for w in range(size):
        out[w] = counts[w] / (out[w] + _EPSILON)
    return n_active


@_compiled()
def _settle(
    block: _Floats,
    counts: _Floats,
    prior: float,
    gamma: _Floats,
    weight: _Floats,
    ratios: _Floats,
    active: _Ints,
    packed: _Floats,
    spare: _Floats,
) -> None:
    """Iterate one document's `gamma` and `weight` = exp(E[log theta]) to their fixed point."""
    n_topics, prior_digamma = len(gamma), _digamma(prior)
    weight[:] = gamma
    _exp_digamma(weight, n_topics, _digamma(_ordered_sum(gamma)), spare)
    for _ in range(_MAX_ROUNDS):
        n_active = _word_ratios(weight, block, counts, ratios, active)
        for j in range(n_active):
            packed[j] = weight[active[j]] * _dot_row(ratios, block, active[j], len(counts)) + prior
        total, change, j = 0.0, 0.0, 0
        for k in range(n_topics):
            updated = prior
            if j < n_active and active[j] == k:
                updated = packed[j]
                j += 1
            change += abs(gamma[k] - updated)
            gamma[k] = updated
            total += updated
        shift = _digamma(total)
        _exp_digamma(packed, n_active, shift, spare)
        weight[:] = math.exp(prior_digamma - shift)
        for j in range(n_active):
            weight[active[j]] = packed[j]
        if change / n_topics < _TOLERANCE:
            break


@_compiled()
def expectation(
    starts: _Ints,
    words: _Ints,
    counts: _Floats,
    rows: _Ints,
    word_weights: _Floats,
    prior: float,
    gamma: _Floats,
    collected: _Floats,
) -> None:
    """The E-step: each document's variational Dirichlet.

    Args:
        starts: CSR row pointers of the distinct documents.
        words: CSR column numbers.
        counts: CSR values.
        rows: For each document, its row.
        word_weights: exp(E[log beta]), words x topics.
        prior: The document prior alpha.
        gamma: Documents x topics: the start, overwritten by the result.
        collected: Words x topics, added to: the sufficient statistics before their product with
            `word_weights`. With no rows, nothing is collected.
    """
    n_topics = word_weights.shape[1]
    longest = np.max(starts[1:] - starts[:-1])
    block, ratios = np.empty((n_topics, longest)), np.empty(longest)
    weight, packed, spare = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    active = np.empty(n_topics, np.int64)
    for d in range(len(rows)):
        first, last = starts[rows[d]], starts[rows[d] + 1]
        document = counts[first:last]
        for w in range(last - first):
            for k in range(n_topics):
                block[k, w] = word_weights[words[first + w], k]
        _settle(block, document, prior, gamma[d], weight, ratios, active, packed, spare)
        if len(collected) > 0:
            _word_ratios(weight, block, document, ratios, active)
            for w in range(last - first):
                for k in range(n_topics):
                    collected[words[first + w], k] += weight[k] * ratios[w]


@_compiled()
def exp_expected_log(dirichlets: _Floats) -> _Floats:
    """exp(E[log beta]) of one Dirichlet per column (words x topics in, the same shape out)."""
    n_words, n_topics = dirichlets.shape
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += dirichlets[w, k]
    out = np.empty((n_words, n_topics))
    for k in range(n_topics):
        totals[k] = _digamma(totals[k])
    for w in range(n_words):
        for k in range(n_topics):
            out[w, k] = math.exp(_digamma(dirichlets[w, k]) - totals[k])
    return out
