"""BLEU of rationales: the paper's BLEU-1 to BLEU-4 per sentence, and sacrebleu's corpus BLEU.

Sources: MMedBench (arXiv 2402.13963), which calls NLTK's `sentence_bleu` with smoothing method 1
(Chen and Cherry 2014) and takes the mean over rationales; Papineni et al. 2002 for BLEU.

The paper's BLEU-n puts *all* weight on n-grams of that order, so it is the brevity penalty times
one modified precision: not the geometric mean of orders 1 to n that the name usually means. The
usual one is `bleu` here (orders 1 to 4, equal weights). Corpus BLEU sums over the corpus and has
its own tokenizer and smoothing: its numbers are not to be compared with the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import exp, log
from typing import NamedTuple

from xling_metrics.base import same_length
from xling_metrics.languages import language_code

_ORDERS = 4
_EPSILON = 0.1  # NLTK's smoothing method 1: matches counted where there are none


class SentenceBleu(NamedTuple):
    """BLEU of one candidate against one reference, each in 0..1; higher is closer."""

    bleu1: float
    bleu2: float
    bleu3: float
    bleu4: float
    bleu: float


class CorpusBleu(NamedTuple):
    """sacrebleu's BLEU in *percent*, 0..100, None without a pair to score, and its signature."""

    score_percent: float | None
    signature: str


def sentence_bleu(candidate: Sequence[str], reference: Sequence[str]) -> SentenceBleu | None:
    """Return BLEU-1 to BLEU-4 and BLEU of one pair, as NLTK's `sentence_bleu`, `method1`.

    Formula: BLEU-n = BP * p_n, and `bleu` = BP * (p_1 p_2 p_3 p_4)^(1/4), with
    p_n = (matches of order n, each n-gram counted at most as often as in the reference) /
    max(1, n-grams of the candidate), or 0.1 / max(1, n-grams of the candidate) without a match,
    and BP = 1 if the candidate is longer than the reference, else exp(1 - length of the reference /
    length of the candidate).

    Edges, as in NLTK: no common token, or an empty candidate: 0.0 in all. A candidate shorter than
    n that shares a token has no n-gram and gets p_n = 0.1 / 1: one right word has a BLEU-4 of
    0.1 * BP. Deviation: an empty reference gives None (nothing to compare with); NLTK says 0.
    """
    if not reference:
        return None
    precisions = []
    any_match = True
    for order in range(1, _ORDERS + 1):
        # An n-gram can match only where a shorter one did.
        matches = ngram_matches(candidate, reference, order) if any_match else 0
        any_match = matches > 0
        if order == 1 and not any_match:
            return SentenceBleu(0.0, 0.0, 0.0, 0.0, 0.0)
        precisions.append((matches or _EPSILON) / max(1, len(candidate) - order + 1))
    longer = len(candidate) > len(reference)
    penalty = 1.0 if longer else exp(1 - len(reference) / len(candidate))
    one, two, three, four = (penalty * precision for precision in precisions)
    combined = penalty * exp(sum(log(precision) for precision in precisions) / _ORDERS)
    return SentenceBleu(one, two, three, four, combined)


def corpus_bleu(candidates: Sequence[str], references: Sequence[str], language: str) -> CorpusBleu:
    """Return corpus BLEU of plain texts by sacrebleu, in percent, with its signature.

    Formula: BP * (p_1 p_2 p_3 p_4)^(1/4) with matches, n-grams and lengths summed over the corpus,
    and smoothing `exp` for an order without a match. Empty candidates count as such.
    sacrebleu's tokenizer for the language: `zh` for Chinese; for Japanese `ja-mecab`, or `char`
    if MeCab with its IPA dictionary (`sacrebleu[ja]`) is not installed; `13a` for all others. The
    signature says which. Pairs with a blank reference are left out.
    """
    same_length(candidates=candidates, references=references)
    pairs = [(c, r) for c, r in zip(candidates, references, strict=True) if r.strip()]
    from sacrebleu.metrics import BLEU

    code = language_code(language)
    try:
        metric = BLEU(tokenize={"zh": "zh", "ja": "ja-mecab"}.get(code, "13a"))
    except RuntimeError:  # its message says that MeCab is missing
        metric = BLEU(tokenize="char")
    # The signature names the number of references only after a text was scored.
    hypotheses, their_references = zip(*(pairs or [("x", "x")]), strict=True)
    score = float(metric.corpus_score(list(hypotheses), [list(their_references)]).score)
    return CorpusBleu(score if pairs else None, str(metric.get_signature()))


def ngram_matches(a: Sequence[Hashable], b: Sequence[Hashable], order: int) -> int:
    """Count the n-grams of an order that two sequences share, repetitions included."""
    count_a, count_b = Counter(_ngrams(a, order)), Counter(_ngrams(b, order))
    return sum(min(count_a[gram], count_b[gram]) for gram in count_a.keys() & count_b.keys())


def _ngrams(tokens: Sequence[Hashable], order: int) -> Iterable[Hashable]:
    return tokens if order == 1 else zip(*(tokens[i:] for i in range(order)), strict=False)
