"""Agreement of repeated answers in their words: Jaccard of n-gram sets, lengths, distinct answers.

Source: Consistency of XLingEval (arXiv 2310.13132). Published numbers compare answers translated
to English; n-grams of the source language are ours: pass another `tokenize`, and name it in the
signature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import NamedTuple

from xling_metrics.tokenization import length_words, published_words


class NgramConsistency(NamedTuple):
    """Mean pairwise Jaccard of one question's answers, in 0..1; higher is more consistent.

    None where no pair could be scored.
    """

    sim_1gram: float | None
    sim_2gram: float | None


class AnswerLengths(NamedTuple):
    """Words per answer: mean and population standard deviation over `n` answers."""

    mean: float | None
    std: float | None
    n: int


def ngram_consistency_corpus(
    questions: Iterable[Sequence[str]], *, tokenize: Callable[[str], list[str]] = published_words
) -> list[NgramConsistency]:
    """Return `sim_1gram` and `sim_2gram` of the answers to each question.

    Formula: the mean over all unordered pairs of |A & B| / |A | B|, with A and B the *sets* of
    1-grams (of 2-grams, without the 1-grams) of the two answers. With the default `tokenize` a
    pair's value equals scikit-learn's `CountVectorizer(ngram_range=(n, n), binary=True)` fitted on
    the pair, then `jaccard_score`.

    Edges: one answer without n-grams against one with: 0.0, as there. Two answers without: there an
    error (empty vocabulary) that dropped the question; here the pair is unscored. Fewer than two
    answers: None. Deviation: the published code drops a whole question if one answer has no letter,
    and first deletes MedAlpaca's prompt headers (`### Response:`); callers may do both.
    """
    results = []
    for answers in questions:
        copies = Counter(answers)
        tokens = [tokenize(answer) for answer in copies]
        weights = list(copies.values())
        one = _mean_jaccard([frozenset(t) for t in tokens], weights)
        two = _mean_jaccard([frozenset(pairwise(t)) for t in tokens], weights)
        results.append(NgramConsistency(one, two))
    return results


def distinct_answers(answers: Sequence[str]) -> int:
    """Return how many different strings there are among the answers; 0 for none."""
    return len(set(answers))


def answer_lengths(
    answers: Sequence[str], language: str, *, length: Callable[[str], int] | None = None
) -> AnswerLengths:
    """Return mean and standard deviation of `length_words` over the answers to one question.

    The deviation is the population's (divisor n), as in the published code; None for one answer,
    where numpy says 0.0. An empty answer has length 0 and counts.

    Args:
        answers: The answers.
        language: Their language.
        length: Another count of words than `length_words`.
    """
    count = length or (lambda text: length_words(text, language))
    lengths = [count(answer) for answer in answers]
    if not lengths:
        return AnswerLengths(None, None, 0)
    return AnswerLengths(fmean(lengths), pstdev(lengths) if lengths[1:] else None, len(lengths))


def _mean_jaccard(sets: Sequence[frozenset[Hashable]], copies: Sequence[int]) -> float | None:
    """Return the mean Jaccard over the pairs of a multiset of sets that are not both empty."""
    total, scored = 0.0, 0
    for i, (a, n_a) in enumerate(zip(sets, copies, strict=True)):
        if a:
            n_equal_pairs = n_a * (n_a - 1) // 2  # pairs of one answer with its own copies
            total, scored = total + n_equal_pairs, scored + n_equal_pairs
        for b, n_b in zip(sets[:i], copies, strict=False):
            if a or b:
                common = len(a & b)
                total += n_a * n_b * (common / (len(a) + len(b) - common))
                scored += n_a * n_b
    return total / scored if scored else None
