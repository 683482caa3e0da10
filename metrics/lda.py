"""Latent Dirichlet allocation by batch variational Bayes, as scikit-learn's defaults fit it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xling_metrics.acceleration import load_kernel

SparseCounts = Any
"""A `scipy.sparse.csr_matrix` of integers; scipy comes without types."""

_ITERATIONS = 10  # scikit-learn's default number of EM steps; the last is never checked to converge
_BLOCK = 8192  # documents whose random starts are held at once
MAX_TOPICS = 100_000  # keeps the priors, 1 / topics, where the digamma series holds


def lda_distributions(
    counts: SparseCounts, copies: NDArray[np.int64], *, n_topics: int, seed: int
) -> NDArray[np.float64]:
    """Fit one model on all copies of some texts and return each text's topic distribution.

    The model is that of Blei, Ng & Jordan (2003) with a prior on the topics, fitted by batch
    variational Bayes (Hoffman, Blei & Bach 2010): with b = exp(E[log beta]) for the topics and
    e = exp(E[log theta]) for a document, repeat gamma_k = alpha + e_k sum_w n_w b_kw / (e . b_w)
    until gamma moves by less than 0.001 on average; then lambda = eta + the sum over documents of
    n_w e_k b_kw / (e . b_w). Ten such steps; alpha = eta = 1 / n_topics; starts are drawn from
    Gamma(100, 0.01). Equals scikit-learn's `LatentDirichletAllocation(n_topics,
    random_state=seed, n_jobs=1)` fitted on `counts[copies]` and applied to `counts`, to rounding
    (1e-9 in the tests). Without numba it is scikit-learn itself that runs.

    Args:
        counts: Distinct texts x words, at least one of each.
        copies: The row of `counts` of each document, in order. Copies are not interchangeable
            with weights: each draws a start of its own.
        n_topics: 1 to 100,000.
        seed: Seed of the legacy generator `numpy.random.RandomState`.

    Returns:
        Distinct texts x topics; rows sum to one. A text without words gets the uniform
        distribution, as in scikit-learn.
    """
    kernel = load_kernel("_lda_kernel")
    if kernel is None:
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(n_components=n_topics, random_state=seed, n_jobs=1)
        reference: NDArray[np.float64] = model.fit(counts[copies]).transform(counts)
        return reference
    table = (
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int64),
        counts.data.astype(np.float64),
    )
    n_texts, n_words = counts.shape
    prior = 1.0 / n_topics
    random = np.random.RandomState(seed)
    topics = np.ascontiguousarray(random.gamma(100.0, 0.01, (n_topics, n_words)).T)
    weights = kernel.exp_expected_log(topics)
    for _ in range(_ITERATIONS):
        collected = np.zeros_like(weights)
        for start in range(0, len(copies), _BLOCK):
            rows = copies[start : start + _BLOCK]
            gamma = random.gamma(100.0, 0.01, (len(rows), n_topics))
            kernel.expectation(*table, rows, weights, prior, gamma, collected)
        collected *= weights
        collected += prior
        weights = kernel.exp_expected_log(collected)
    gamma = np.ones((n_texts, n_topics))
    nothing = np.empty((0, n_topics))
    kernel.expectation(*table, np.arange(n_texts), weights, prior, gamma, nothing)
    distributions: NDArray[np.float64] = gamma / gamma.sum(axis=1, keepdims=True)
    return distributions


def is_compiled() -> bool:
    """Return whether numba runs the loops; if not, scikit-learn gives the same values."""
    return load_kernel("_lda_kernel") is not None
