"""Topic distributions of texts by a hierarchical Dirichlet process, fitted by gensim."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from xling_metrics.base import import_optional
from xling_metrics.lda import SparseCounts

LEAST_PROBABILITY = 0.01  # gensim's `eps`: `HdpModel[text]` leaves out topics below it
_NEED = "sim_hdp: topics of a hierarchical Dirichlet process"


def hdp_words(text: str) -> list[str]:
    """Split a text into the words of the published HDP: gensim's `simple_preprocess`.

    Lower-cased runs of 2 to 15 letters (digits and marks end a run).

    Raises:
        ExtraMissing: Without gensim.
    """
    words: list[str] = import_optional("gensim.utils", _NEED, "topics").simple_preprocess(text)
    return words


def require_hdp() -> None:
    """Import gensim, or raise `ExtraMissing`."""
    import_optional("gensim.models", _NEED, "topics")


def hdp_distributions(
    counts: SparseCounts, copies: NDArray[np.int64], *, seed: int
) -> NDArray[np.float64]:
    """Fit one model on all copies of some texts and return each text's topic distribution.

    The model is that of Teh et al. (2006), fitted by online variational Bayes (Wang, Paisley &
    Blei 2011) as gensim's `HdpModel(corpus, dictionary, random_state=seed)` does with its defaults:
    one pass, at most 150 topics and 15 in a text. A probability below 0.01 becomes 0, as in
    `HdpModel[text]`.

    Args:
        counts: Distinct texts x words, in the order in which the texts come first; words in
            alphabetical order, indices sorted.
        copies: For each document, in order, its row of `counts`.
        seed: `random_state`.

    Returns:
        Distinct texts x topics; rows sum to at most one, to 0 for a text without words.

    Raises:
        ExtraMissing: Without gensim.
    """
    model_class = import_optional("gensim.models", _NEED, "topics").HdpModel
    # gensim's Dictionary numbers words as they come, those of one text by the alphabet.
    table = counts[:, list(dict.fromkeys(counts.indices.tolist()))].sorted_indices()
    bounds = pairwise(table.indptr.tolist())
    words, numbers = table.indices.tolist(), table.data.tolist()
    texts = [list(zip(words[a:b], numbers[a:b], strict=True)) for a, b in bounds]
    model = model_class([texts[row] for row in copies], range(table.shape[1]), random_state=seed)
    topics: NDArray[np.float64] = model.inference(texts)
    topics /= np.maximum(topics.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    topics[topics < LEAST_PROBABILITY] = 0.0
    return topics
