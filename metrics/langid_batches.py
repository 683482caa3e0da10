"""langid's labels for many texts at once: langid 1.1.6, its default model of 97 languages.

Run from its own automaton and weights; the labels equal `langid.classify(text)[0]` exactly, ties
included: the weights are float32 numbers between 2**-1 and 2**5 in magnitude, so multiples of
2**-24, and float64 adds such numbers without any rounding, in any order, up to a sum of 2**29
(texts of some 10 MB). So the number of visits to a state, times its weights, is as exact as their
sum; and texts in Hindi or Chinese visit few states often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xling_metrics.acceleration import Arrays, load_kernel, load_or_build
from xling_metrics.base import library_version, usable_cores

_BATCH_BYTES = 1 << 20  # bytes identified in one go, which bounds memory
_NUMBA_FROM_BYTES = 2 << 20  # work that is worth half a second of loading numba


class _Model(NamedTuple):
    """The automaton of langid over bytes, and what a visit to a state adds to each label."""

    step: NDArray[np.uint16]  # next state at [state * 256 + byte]
    row_of: NDArray[np.int16]  # a state's row of `weights`; -1: it adds nothing
    weights: NDArray[np.float64]  # rows x labels
    prior: NDArray[np.float64]
    labels: tuple[str, ...]


def known_labels() -> tuple[str, ...]:
    """Return the labels of langid's model."""
    return _model().labels


def labels_of(texts: Sequence[bytes]) -> list[str]:
    """Return langid's label of each UTF-8 text; on all cores with numba."""
    model = _model()
    size = sum(map(len, texts))
    kernel = load_kernel("_langid_kernel", worthwhile=size >= _NUMBA_FROM_BYTES)
    if kernel is None:
        numbers = np.argmax(scores_of(texts), axis=1)
    else:  # Only the compiled loops let another thread run meanwhile.
        with ThreadPoolExecutor(usable_cores()) as pool:
            batches = pool.map(lambda part: kernel.best_labels(*part, *model[:4]), _batches(texts))
            numbers = np.concatenate([np.empty(0, np.int64), *batches])
    return [model.labels[number] for number in numbers]


def scores_of(texts: Sequence[bytes]) -> NDArray[np.float64]:
    """Return what langid compares, texts x labels: log-probabilities but for a text's constant."""
    scores = [_scores(*batch) for batch in _batches(texts)]
    return np.concatenate([np.empty((0, len(_model().labels))), *scores])


def _batches(texts: Sequence[bytes]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Yield texts of about _BATCH_BYTES, joined, and where each text begins and the last ends."""
    batch, bounds = bytearray(), [0]
    for number, text in enumerate(texts, 1):
        batch += text
        bounds.append(len(batch))
        if len(batch) >= _BATCH_BYTES or number == len(texts):
            yield np.frombuffer(bytes(batch), np.uint8), np.array(bounds)
            batch, bounds = bytearray(), [0]


def _scores(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    from scipy.sparse import csr_matrix

    step, row_of, weights, prior, _ = _model()
    rows = row_of[_run(step, data, bounds[:-1])]
    # Most states stand for no n-gram and add nothing; the others weigh in once for every visit:
    # one row per text, whose repeated entries add up in the product.
    scoring = rows >= 0
    bounds = np.concatenate(([0], np.cumsum(scoring)))[bounds]
    rows = rows[scoring]
    visits = csr_matrix((np.ones(len(rows)), rows, bounds), shape=(len(bounds) - 1, len(weights)))
    scores: NDArray[np.float64] = visits @ weights + prior
    return scores


def _run(
    step: NDArray[np.uint16], data: NDArray[np.uint8], starts: NDArray[Any]
) -> NDArray[np.uint16]:
    """Return the automaton's state after each byte, where each text starts afresh in state 0.

    All positions advance together: after k rounds, each holds the state that the last k bytes lead
    to from state 0. langid's n-grams have at most four bytes, so a fifth round changes nothing; and
    when a round changes nothing, every state follows from the one before it, which is the very
    sequence that reading byte by byte gives.
    """
    states = np.zeros(len(data), np.uint16)
    index = np.empty(len(data), np.intp)
    while True:
        index[1:] = states[:-1]
        index[starts[starts < len(data)]] = 0  # an empty text may begin where the data ends
        index *= 256
        index += data
        following = step[index]
        if np.array_equal(following, states):
            return states
        states = following


@cache
def _model() -> _Model:
    arrays = load_or_build(f"langid-{library_version('langid')}", _read_langid)
    return _Model(**{**arrays, "labels": tuple(map(str, arrays["labels"]))})  # type: ignore[arg-type]


def _read_langid() -> Arrays:
    # An identifier of our own: langid's global one may have been narrowed by set_languages.
    from langid.langid import LanguageIdentifier, model

    identifier = LanguageIdentifier.from_modelstring(model)  # unpacks 30 MB
    step = np.array(identifier.tk_nextmove, dtype=np.uint16)
    feature_weights = identifier.nb_ptc.astype(np.float64)
    row_of = np.full(len(step) // 256, -1, np.int16)
    rows: list[NDArray[np.float64]] = []
    for state, features in identifier.tk_output.items():
        weights = feature_weights[list(features)].sum(axis=0)
        if weights.any():
            row_of[state] = len(rows)
            rows.append(weights)
    prior = identifier.nb_pc.astype(np.float64)
    return {"step": step, "row_of": row_of, "weights": np.array(rows), "prior": prior,
            "labels": np.array(identifier.nb_classes)}  # fmt: skip
