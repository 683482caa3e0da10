"""ROUGE of rationales, of two kinds that must not be compared with each other.

* `rouge`: ROUGE-1, ROUGE-2 and ROUGE-L as the package `rouge` 1.0.1 computes them, which MMedBench
  (arXiv 2402.13963) reports. It compares *sets* of words, splits sentences at every full stop
  (`3.5` is two), and its ROUGE-L counts the distinct words in the union of the sentences' longest
  common subsequences.
* `rouge_standard`: ROUGE as in Lin 2004 and in the package `rouge-score` without stemming: counts
  with repetition, and the longest common subsequence of the whole texts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from rapidfuzz.distance import LCSseq
from xling_metrics.bleu import ngram_matches

_SMALL = 1e-8  # keeps the package's F from dividing by zero; moves it by less than 1e-8


class Rouge(NamedTuple):
    """F of one pair as the package `rouge` 1.0.1 gives it, in 0..1; higher is closer."""

    rouge1: float
    rouge2: float
    rougeL: float


class StandardRouge(NamedTuple):
    """F of one pair as `rouge-score` gives it, in 0..1; higher is closer."""

    rouge1_standard: float
    rouge2_standard: float
    rougeL_standard: float


def rouge(candidate: str, reference: str) -> Rouge | None:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L of one pair: F of `rouge.Rouge().get_scores(...)`.

    Text is cut at full stops into sentences and at white space into words; case and punctuation
    stay. Precision and recall of ROUGE-n are |A & B| / |A| and |A & B| / |B|, with A and B the
    *sets* of n-grams of candidate and reference (2-grams cross sentence ends). Those of ROUGE-L are
    |U| / |A| and |U| / |B|, with A and B the sets of words, and U the set of words in one longest
    common subsequence of each pair of sentences, all pairs together: where several are longest, the
    one that the package walks back. F = 2PR / (P + R + 1e-8), so identical texts get 0.999999995.
    As in the package, a blank between two full stops is a sentence with one empty word.

    Edges: no word in the reference: None. No word in the candidate: 0.0 in all.
    Deviations: in both cases the package raises ValueError, or compares the empty word. It also
    exceeds Python's recursion limit at two sentences of some 500 words each, which Chinese and
    Japanese texts reach, having no full stop. Here there is no recursion; a pair of sentences of n
    and m words takes n * m bits of memory.

    Args:
        candidate: The model's rationale (`TokenizedRationale.rouge_text`): in Chinese and
            Japanese with spaces between tokens.
        reference: The expert's rationale, likewise.
    """
    sentences_c, sentences_r = _sentences(candidate), _sentences(reference)
    if not any(map(any, sentences_r)):
        return None
    if not any(map(any, sentences_c)):
        return Rouge(0.0, 0.0, 0.0)
    words_c, words_r = list(chain(*sentences_c)), list(chain(*sentences_r))
    set_c, set_r = set(words_c), set(words_r)
    pairs_c, pairs_r = set(pairwise(words_c)), set(pairwise(words_r))
    return Rouge(
        _f_published(len(set_c & set_r), len(set_c), len(set_r)),
        _f_published(len(pairs_c & pairs_r), len(pairs_c), len(pairs_r)),
        _f_published(len(_lcs_union(sentences_c, sentences_r)), len(set_c), len(set_r)),
    )


def rouge_standard(candidate: Sequence[str], reference: Sequence[str]) -> StandardRouge | None:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L of one pair of token lists, equal to `rouge-score`'s F.

    Precision and recall are M / n-grams of the candidate and M / n-grams of the reference, with M
    the number of common n-grams, repetitions included; for ROUGE-L, M is the length of the longest
    common subsequence of the whole lists, over their lengths. F = 2PR / (P + R).

    Edges: no token in the reference: None (`rouge-score`: 0.0). No token in the candidate: 0.0 in
    all. A text of one token has no 2-gram: `rouge2_standard` is 0.0, as there.
    """
    if not reference:
        return None
    n, m = len(candidate), len(reference)
    return StandardRouge(
        _f_standard(ngram_matches(candidate, reference, 1), n, m),
        _f_standard(ngram_matches(candidate, reference, 2), n - 1, m - 1),
        _f_standard(_lcs_length(candidate, reference), n, m),
    )


def _f_published(common: int, n: int, m: int) -> float:
    precision, recall = (common / n if n else 0.0), (common / m if m else 0.0)
    return 2.0 * (precision * recall / (precision + recall + _SMALL))


def _f_standard(common: int, n: int, m: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / n, common / m
    return 2 * precision * recall / (precision + recall)


def _sentences(text: str) -> list[list[str]]:
    """Split at full stops, as the package: a blank sentence has one empty word."""
    return [part.split() or [""] for part in text.split(".") if part]


def _lcs_union(candidate: list[list[str]], reference: list[list[str]]) -> set[str]:
    """Return the words in a longest common subsequence of any two sentences."""
    union: set[str] = set()
    columns = [(sentence, set(sentence)) for sentence in candidate]
    for rows in reference:
        in_rows = set(rows)
        for words, in_words in columns:
            # A subsequence can only add words that both sentences have.
            if not (in_rows & in_words) <= union:
                union |= _lcs_words(rows, [word for word in words if word in in_rows])
    return union


def _lcs_words(rows: Sequence[str], columns: Sequence[str]) -> set[str]:
    """Return the words of one longest common subsequence, chosen as the package chooses.

    With L[i, j] the length for the first i rows and j columns, the package walks back from the end:
    if row i equals column j, that word is taken; else if L[i - 1, j] > L[i, j - 1], to row i - 1;
    else to column j - 1. Where row and column differ, L[i, j] is the larger of these two, and so
    the condition says the same as L[i, j] > L[i, j - 1]: that L rises at column j of row i. Those
    rises are all that is needed of L, one bit each, and bit-parallel (Crochemore et al. 2001) a row
    of them takes a few operations on one integer. Columns equal to no row never rise, so leaving
    them out changes nothing; rows equal to no column do turn the walk aside, and stay.
    """
    columns_by_word: dict[str, int] = {}
    for j, word in enumerate(columns):
        columns_by_word[word] = columns_by_word.get(word, 0) | 1 << j
    every = (1 << len(columns)) - 1
    flat = every  # the columns at which L does not rise
    steps: list[tuple[str, int, int]] = []
    for word in rows:
        equal = columns_by_word.get(word, 0)
        if common := flat & equal:
            flat = ((flat + common) | (flat - common)) & every
        steps.append((word, equal, equal | (flat ^ every)))
    common_words: set[str] = set()
    open_columns = every  # the columns up to j
    for word, equal, stops in reversed(steps):
        # In this row the walk goes left to the last column that is equal or rises.
        if not stops & open_columns:
            break
        column = 1 << ((stops & open_columns).bit_length() - 1)
        open_columns = 2 * column - 1
        if equal & column:
            common_words.add(word)
            open_columns = column - 1
    return common_words


def _lcs_length(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    # Numbered first: rapidfuzz compares hashes, and small integers are their own.
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(token, len(numbers)) for token in a]
    second = [numbers.setdefault(token, len(numbers)) for token in b]
    return LCSseq.similarity(first, second)
