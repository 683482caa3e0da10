"""The scoring of rationales against nltk, rouge and rouge-score called pair by pair: a table.

    python tests/benchmarks/rationale.py [--pairs 1136]

A whole task: BLEU-1 to BLEU-4 and BLEU, both kinds of ROUGE, over six languages in equal parts. With
XLING_REALDATA set, the texts are LiveQA's answers (en, es, zh) and questions with options in MMedBench's
schema (fr, ru, ja); otherwise generated words. Half of the candidates are the reference with a third of
its words left out, half are another text.

`scores` is the time of the metrics given the tokens, on both sides; `cut` that of cutting the texts: ours
once for all metrics, the reference by NLTK, jieba and Janome themselves once for BLEU, and for Chinese and
Japanese once more for ROUGE, as the published code does (but with Janome's tokenizer built once, not for
every pair). Loading of dictionaries and imports are outside all times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import common
from common import REAL, Seconds, timed
from rationale_texts import generated, pairs, real
from references import rouge_package, rouge_score
from xling_metrics.bleu import sentence_bleu
from xling_metrics.rationale_tokens import RATIONALE_LANGUAGES, tokenize_rationale
from xling_metrics.rouge import rouge, rouge_standard

WEIGHTS = [(1,), (0, 1), (0, 0, 1), (0, 0, 0, 1), (0.25, 0.25, 0.25, 0.25)]


def scores(c: Any, r: Any) -> list[float]:
    """Ours of one pair."""
    bleu = sentence_bleu(c.tokens, r.tokens)
    standard = rouge_standard(c.standard_tokens, r.standard_tokens)
    return list(chain(bleu or (), rouge(c.rouge_text, r.rouge_text) or (), standard or ()))


def reference_scores() -> Callable[[Any, Any], list[float]]:
    """The same by nltk (all weights in one call), rouge and rouge-score."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth, sets, counts = SmoothingFunction().method1, rouge_package(), rouge_score()
    sys.setrecursionlimit(10_000)  # as the published code does; else long texts end it

    def score(c: Any, r: Any) -> list[float]:
        bleu = sentence_bleu([r.tokens], c.tokens, WEIGHTS, smooth)
        own = sets(c.rouge_text, r.rouge_text)
        return [*bleu, *own, *counts(c.standard_tokens, r.standard_tokens)]

    return score


def reference_tokens(language: str) -> Callable[[str], list[str]]:
    """What the published code calls; NLTK's sentences without its downloaded model, as ours."""
    if language == "zh":
        import jieba

        return lambda text: list(jieba.cut(text))
    if language == "ja":
        from janome.tokenizer import Tokenizer

        janome = Tokenizer(wakati=True)
        return lambda text: list(janome.tokenize(text))
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer

    punkt, words = PunktSentenceTokenizer(), NLTKWordTokenizer()
    return lambda text: [w for part in punkt.tokenize(text) for w in words.tokenize(part)]


def bench(language: str, drawn: Sequence[tuple[str, str]]) -> list[tuple[Seconds, Seconds]]:
    """Print the rows of a language; the reference's and our time of scoring and of cutting."""
    flat, tokens, score = [*chain(*drawn)], reference_tokens(language), reference_scores()
    tokenize_rationale("a", language), tokens("a")
    cut_s, cut = timed(lambda: [tokenize_rationale(text, language) for text in flat])
    scores_s, ours = timed(lambda: [*map(scores, cut[::2], cut[1::2])])
    their_cut, expected = timed(lambda: [*map(tokens, flat)])  # for BLEU
    if language in ("zh", "ja"):
        their_cut += timed(lambda: [*map(tokens, flat)])[0]  # for ROUGE
    their_scores, theirs = timed(lambda: [*map(score, cut[::2], cut[1::2])])
    both = zip(chain(*ours), chain(*theirs), strict=True)
    apart, alike = max(abs(a - b) for a, b in both), expected == [text.tokens for text in cut]
    common.compare(f"{language}: scores", their_scores, scores_s, f"max {apart:.1e}")
    common.compare(f"{language}: cut", their_cut, cut_s, f"tokens equal {alike}")
    return [(their_scores, scores_s), (their_cut, cut_s)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1136)
    share = -(-parser.parse_args().pairs // len(RATIONALE_LANGUAGES))
    common.show(*common.COMPARED, head=True)
    sums = [[Seconds(0.0, 0.0)] * 2, [Seconds(0.0, 0.0)] * 2]
    for language in RATIONALE_LANGUAGES:
        texts = real(Path(REAL), language) if REAL else generated(language)
        found = bench(language, pairs(texts, share))
        sums = [[a + b for a, b in zip(*both)] for both in zip(sums, found)]
    common.compare("all, given tokens", *sums[0])
    common.compare("all, with cutting", *(a + b for a, b in zip(*sums)))


if __name__ == "__main__":
    main()
