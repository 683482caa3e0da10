"""Hierarchical Dirichlet process, by Gibbs sampling in tomotopy: kept for comparison only.

Its values depend on where the sampler starts. On answers made of LiveQA's sentences (246 questions,
K = 10, English) 30 sweeps from 50 topics end with 58 to 66 topics and a mean similarity of 0.68,
from 2 topics with 14 to 16 and 0.88: far too few to forget the start (200 sweeps from 50 still end
with 60 to 75). So the number of topics it "finds" and the level of `sim_hdp` are choices made here.
What speaks for this start is stability, the Spearman correlation between two seeds of the
similarity per question (tests/benchmarks/consistency.py --stability):

| words, language     | here, from 50 | gensim | LDA, 20 topics |
|---------------------|---------------|--------|----------------|
| published, English  | 0.73          | 0.41   | 0.70           |
| published, Spanish  | 0.77          | 0.48   | 0.76           |
| published, Hindi    | 0.73          | 0.54   | 0.75           |
| published, Chinese  | 0.62          | 0.81   | 0.81           |

From 2 topics it is 0.31 in English. gensim's HdpModel with its defaults (kappa 1, tau 64, chunks of
256 documents, one pass) mostly shows its random start, of which 64 / (64 + n) is left after n
chunks: 86% after LiveQA's 2,460 answers.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from xling_metrics.lda import SparseCounts

SWEEPS = 30  # Between 10 and 200 stability stays the same; values drift by 0.05.
START_TOPICS = 50


def hdp_distributions(
    counts: SparseCounts, copies: NDArray[np.int64], *, seed: int
) -> NDArray[np.float64]:
    """Topic distributions of texts under one model fitted on all their copies.

    The model is that of Teh, Jordan, Beal & Blei (2006) with concentrations that start at 1 and
    are resampled, and a Dirichlet(0.01) prior on words, as gensim has it. A distribution is the
    last sweep's estimate, averaged over the copies of a text, so that identical texts have
    identical ones.

    Args:
        counts: Distinct texts x words, at least one of each.
        copies: For each document, in order, its row of `counts`.
        seed: tomotopy's; one worker, so a seed gives the same result again.

    Returns:
        Distinct texts x topics; rows sum to one. A text without words gets zeros.

    Raises:
        ImportError: Without tomotopy.
    """
    tomotopy = import_module("tomotopy")
    model = tomotopy.HDPModel(initial_k=START_TOPICS, alpha=1.0, gamma=1.0, eta=0.01, seed=seed)
    names = np.repeat(counts.indices, counts.data).astype(str).tolist()
    ends = np.concatenate(([0], np.cumsum(counts.data)))[counts.indptr]
    words = [names[first:last] for first, last in pairwise(ends)]
    fitted = [copy for copy in copies if words[copy]]
    for copy in fitted:
        model.add_doc(words[copy])
    model.train(SWEEPS, workers=1, show_progress=False)
    drawn = np.array([document.get_topic_dist() for document in model.docs], dtype=np.float64)
    sums = np.zeros((counts.shape[0], drawn.shape[1]))
    np.add.at(sums, fitted, drawn)
    totals = sums.sum(axis=1, keepdims=True)
    np.divide(sums, totals, out=sums, where=totals > 0)
    return sums


def missing() -> str | None:
    """Why the model cannot be fitted, or None if it can."""
    try:
        import_module("tomotopy")
    except ImportError:
        return 'needs the package tomotopy: pip install "xling-tasks[topics]"'
    return None
