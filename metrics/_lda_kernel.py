"""The inner loops of `xling_metrics.lda`, compiled; importing this needs numba.

What is left between these sums and scikit-learn's is rounding: at most 6e-11 in a topic
distribution on LiveQA's text. The approximation of the digamma function is scikit-learn's, because
that matters more: one with two more terms differs by 2.4e-9 and moves topic distributions by up to
4e-5. Three things make the loops fast: they run over whole vectors (rows are padded to _LANES
words), a document keeps only the topics that can still matter, and exp(psi(x)) needs no logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from xling_metrics.acceleration import ANY_ORDER, compile_loop

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_EPSILON = float(np.finfo(np.float64).eps)
_MAX_ROUNDS = 100
_TOLERANCE = 1e-3
# exp(E[log theta]) below this cannot change any sum here: a word's norm has epsilon (2e-16) added,
# so it loses terms under 1e-32, and the topic's own count becomes at most 1e-44 * words / epsilon,
# which the prior absorbs. With 100 topics that is four of five topics of an answer.
_NEGLIGIBLE = 1e-44
# Below this, exp(-psi(sum of a topic)) nears infinity: thousands of topics over a few words.
_FEW_WORDS = -300.0
_LANES = 16  # rows are padded to a multiple: what is left over by whole vectors is slow
_LOG2_E = 1.4426950408889634
_LN_2_HIGH, _LN_2_LOW = 6.93145751953125e-1, 1.4286068203094172e-6
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits


@compile_loop(fastmath={"contract"})
def _exp(x: float) -> float:
    """Return exp(x) within 2 units in the last place for x < 700; below -700 exp(-700).

    As 2**n * exp(r) with |r| <= ln(2) / 2 and a Taylor series of 13 terms: the library's function
    is a call, which no loop over vectors can make.
    """
    x = -700.0 if x < -700.0 else x
    shifted = x * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN_2_HIGH) - n * _LN_2_LOW
    s = r * r  # the terms in pairs of pairs: sums that need not wait for each other
    q = s * s
    low = (1.0 + r) + s * (0.5 + r * (1.0 / 6.0))
    low += q * ((1.0 / 24.0 + r * (1.0 / 120.0)) + s * (1.0 / 720.0 + r * (1.0 / 5040.0)))
    high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + s * (1.0 / 3628800.0 + r * (1.0 / 39916800.0))
    high += q * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    p = low + (q * q) * high
    # The low bits of `shifted` hold n; 2**n has n + 1023 where a float's exponent is.
    power = (np.float64(shifted).view(np.int64) + 1023) << 52
    return p * np.int64(power).view(np.float64)


@compile_loop()
def _lift(x: float, numerator: float, denominator: float) -> tuple[float, float, float]:
    """Do one step of psi(x) = psi(x + 1) - 1/x below 6, and add up the fractions."""
    small = x < 6.0
    return (
        x + 1.0 if small else x,
        numerator * x + denominator if small else numerator,
        denominator * x if small else denominator,
    )


@compile_loop(fastmath={"contract"})
def _exp_digamma(x: _Floats, size: int, shift: float, out: _Floats) -> None:
    """Set out[i] = exp(psi(x[i]) - shift) for the first x, all > 1e-6.

    psi(x) = log x - 1/(2x) - 1/(12x^2) + 1/(120x^4) - 1/(252x^6) where x >= 6, and what is smaller
    is lifted there; exp(log x) is x.
    """
    for i in range(size):
        value, numerator, denominator = _lift(x[i], 0.0, 1.0)
        value, numerator, denominator = _lift(value, numerator, denominator)
        value, numerator, denominator = _lift(value, numerator, denominator)
        value, numerator, denominator = _lift(value, numerator, denominator)
        value, numerator, denominator = _lift(value, numerator, denominator)
        value, numerator, denominator = _lift(value, numerator, denominator)
        inverse = 1.0 / value
        square = inverse * inverse
        series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0)))
        out[i] = value * _exp(-numerator / denominator - 0.5 * inverse - series - shift)


@compile_loop()
def _digamma(x: float) -> float:
    """Return psi(x) for x > 1e-6, by the series of `_exp_digamma`."""
    below = 0.0
    while x < 6.0:
        below -= 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    psi = below + (math.log(x) - 0.5 * inverse)
    return psi - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0)))


@compile_loop(fastmath=ANY_ORDER)
def _word_ratios(
    weight: _Floats, rows: _Ints, n: int, block: _Floats, counts: _Floats, out: _Floats, size: int
) -> None:
    """Set out[w] = count_w / (sum_j weight_j block[row_j, w] + epsilon), four topics at a time."""
    for w in range(size):
        out[w] = _EPSILON
    for j in range(0, n, 4):
        a, b, c, d = weight[j], weight[j + 1], weight[j + 2], weight[j + 3]
        k, l, m, o = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]  # noqa: E741
        for w in range(size):
            out[w] += a * block[k, w] + b * block[l, w] + c * block[m, w] + d * block[o, w]
    for w in range(size):
        out[w] = counts[w] / out[w]


@compile_loop(fastmath=ANY_ORDER)
def _topic_counts(
    weight: _Floats, rows: _Ints, n: int, block: _Floats, ratios: _Floats, out: _Floats, size: int
) -> None:
    """Set out[j] = weight_j sum_w ratio_w block[row_j, w], four topics at a time."""
    for j in range(0, n, 4):
        k, l, m, o = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]  # noqa: E741
        a = b = c = d = 0.0
        for w in range(size):
            ratio = ratios[w]
            a += ratio * block[k, w]
            b += ratio * block[l, w]
            c += ratio * block[m, w]
            d += ratio * block[o, w]
        out[j], out[j + 1] = weight[j] * a, weight[j + 1] * b
        out[j + 2], out[j + 3] = weight[j + 2] * c, weight[j + 3] * d


@compile_loop()
def _aligned(size: int) -> _Floats:
    """Return memory aligned to 64 bytes: a vector that crosses a line costs twice."""
    spare = np.zeros(size + 8)
    start = -(spare.ctypes.data // 8) % 8
    return spare[start : start + size]


@compile_loop(fastmath=ANY_ORDER)
def _first_counts(
    weight: _Floats, words: _Ints, counts: _Floats, word_weights: _Floats, out: _Floats
) -> None:
    """Set out as `_topic_counts` for all topics, from the rows of the words."""
    n_topics = word_weights.shape[1]
    for k in range(n_topics):
        out[k] = 0.0
    for w in range(len(words)):
        word, norm = words[w], _EPSILON
        for k in range(n_topics):
            norm += weight[k] * word_weights[word, k]
        ratio = counts[w] / norm
        for k in range(n_topics):
            out[k] += ratio * word_weights[word, k]
    for k in range(n_topics):
        out[k] *= weight[k]


@compile_loop()
def _copy_block(
    words: _Ints, topics: _Ints, n: int, word_weights: _Floats, block: _Floats, size: int
) -> None:
    """Set block[j, w] = word_weights[words[w], topics[j]], with zeros up to `size` words."""
    n_words = len(words)
    for j in range(n):
        topic = topics[j]
        for w in range(n_words):
            block[j, w] = word_weights[words[w], topic]
        for w in range(n_words, size):
            block[j, w] = 0.0


@compile_loop(fastmath=ANY_ORDER)
def _update(packed: _Floats, topic_counts: _Floats, n: int, prior: float) -> tuple[float, float]:
    """Set each gamma to its topic's count plus the prior; return their sum, and the change."""
    total = change = 0.0
    for j in range(n):
        updated = topic_counts[j] + prior
        change += abs(packed[j] - updated)
        packed[j] = updated
        total += updated
    return total, change


@compile_loop()
def _drop_negligible(scratch: _Floats, order: _Ints, n: int, gamma: _Floats) -> int:
    """Keep the topics that can matter, in order; return how many.

    The others' numbers go to order[2], and what they have to `gamma`.
    """
    weight, packed = scratch[0], scratch[1]
    topics, rows, dropped = order[0], order[1], order[2]
    n_active = 0
    for j in range(n):
        if weight[j] > _NEGLIGIBLE:
            weight[n_active], packed[n_active] = weight[j], packed[j]
            topics[n_active], rows[n_active] = topics[j], rows[j]
            n_active += 1
        else:
            dropped[j - n_active] = topics[j]
            gamma[topics[j]] = packed[j]
    return n_active


@compile_loop()
def _fit_document(
    words: _Ints, counts: _Floats, padded: _Floats, size: int, word_weights: _Floats,
    prior: float, gamma: _Floats, block: _Floats, ratios: _Floats, scratch: _Floats, order: _Ints,
) -> int:  # fmt: skip
    """Iterate one document's `gamma` to its fixed point; return how many topics still matter.

    Their weights exp(E[log theta]) are then in scratch[0], their numbers in order[0], and the rows
    of `block` with their words in order[1].
    """
    n_topics = len(gamma)
    weight, packed, topic_counts = scratch[0], scratch[1], scratch[2]
    topics, rows, dropped = order[0], order[1], order[2]
    total = 0.0
    for k in range(n_topics):
        topics[k] = rows[k] = k
        packed[k] = gamma[k]
        total += gamma[k]
    _exp_digamma(packed, n_topics, _digamma(total), weight)
    n, n_active, lost, can_drop = n_topics, n_topics, 0.0, False
    for turn in range(_MAX_ROUNDS):
        if turn == 0:
            _first_counts(weight, words, counts, word_weights, topic_counts)
        else:
            _word_ratios(weight, rows, n, block, padded, ratios, size)
            _topic_counts(weight, rows, n, block, ratios, topic_counts, size)
        total, change = _update(packed, topic_counts, n, prior)
        total += prior * (n_topics - n)
        for j in range(n, (n + 7) // 8 * 8):
            packed[j] = 1.0
        _exp_digamma(packed, (n + 7) // 8 * 8, _digamma(total), weight)
        converged = (change + lost) / n_topics < _TOLERANCE
        if turn == 0:  # from here on `total` stays: the number of words and all priors
            can_drop = math.exp(_digamma(prior) - _digamma(total)) <= 2.0 * _NEGLIGIBLE
        if can_drop:
            n_active = _drop_negligible(scratch, order, n, gamma)
        for j in range(n_active, (n_active + 3) // 4 * 4):  # the loops take four at a time
            weight[j], rows[j] = 0.0, 0
        if turn == 0:
            for j in range(n_active):
                rows[j] = j
            _copy_block(words, topics, n_active, word_weights, block, size)
        if converged or turn == _MAX_ROUNDS - 1:
            break
        # What is dropped ends at the prior: its gamma falls there in the next round, for good.
        lost = 0.0
        for j in range(n - n_active):
            lost += gamma[dropped[j]] - prior
            gamma[dropped[j]] = prior
        n = n_active
    for j in range(n_active):
        gamma[topics[j]] = packed[j]
    return n_active


@compile_loop()
def expectation(
    starts: _Ints, words: _Ints, counts: _Floats, texts: _Ints, word_weights: _Floats,
    prior: float, gamma: _Floats, collected: _Floats,
) -> None:  # fmt: skip
    """Run the E-step: each document's variational Dirichlet.

    `starts`, `words` and `counts` are the distinct documents in CSR form, `texts` each document's
    row there, `word_weights` exp(E[log beta]), `prior` alpha. `gamma` is the start, overwritten by
    the result; sufficient statistics, before their product with `word_weights`, are added to
    `collected` (words x topics), unless it has no rows.
    """
    n_topics = word_weights.shape[1]
    wide = (n_topics + 15) // 8 * 8
    longest = (np.max(starts[1:] - starts[:-1]) + _LANES - 1) // _LANES * _LANES
    block = _aligned(n_topics * longest).reshape((n_topics, longest))
    ratios, padded = _aligned(longest), _aligned(longest)
    scratch, order = _aligned(3 * wide).reshape((3, wide)), np.empty((3, wide), np.int64)
    weight, topics, rows = scratch[0], order[0], order[1]
    for d in range(len(texts)):
        first, last = starts[texts[d]], starts[texts[d] + 1]
        n_words = last - first
        size = (n_words + _LANES - 1) // _LANES * _LANES
        for w in range(size):
            padded[w] = counts[first + w] if w < n_words else 0.0
        text_words, document = words[first:last], counts[first:last]
        n = _fit_document(
            text_words, document, padded, size, word_weights, prior, gamma[d], block, ratios,
            scratch, order,
        )  # fmt: skip
        if len(collected) > 0:
            _word_ratios(weight, rows, n, block, padded, ratios, size)
            for w in range(n_words):
                for j in range(n):
                    collected[text_words[w], topics[j]] += weight[j] * ratios[w]


@compile_loop()
def exp_expected_log(dirichlets: _Floats) -> _Floats:
    """Return exp(E[log beta]) of one Dirichlet per column (words x topics in and out)."""
    n_words, n_topics = dirichlets.shape
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += dirichlets[w, k]
    for k in range(n_topics):
        totals[k] = _digamma(totals[k])
    out = np.empty((n_words, n_topics))
    if np.min(totals) < _FEW_WORDS:
        for w in range(n_words):
            for k in range(n_topics):
                out[w, k] = math.exp(_digamma(dirichlets[w, k]) - totals[k])
        return out
    for k in range(n_topics):
        totals[k] = math.exp(-totals[k])
    for w in range(n_words):
        _exp_digamma(dirichlets[w], n_topics, 0.0, out[w])
        for k in range(n_topics):
            out[w, k] *= totals[k]
    return out
