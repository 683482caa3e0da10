"""Times the scoring of rationales against nltk, rouge and rouge-score called pair by pair.

Run: `python tests/benchmarks/rationale.py [--pairs 1136]`. A whole task: BLEU-1 to BLEU-4 and BLEU,
both kinds of ROUGE, over six languages in equal parts. With XLING_REALDATA set, the texts are
LiveQA's answers (en, es, zh) and questions with options in MMedBench's schema (fr, ru, ja; Japanese
questions in pairs, as long as rationales); otherwise generated words. Half of the candidates are
the reference with a third of its words left out, half are another text.

Per language: `scores` is the time of the metrics given the tokens, on both sides; `cut` the time of
cutting the texts: ours once for all metrics, the reference by NLTK, jieba and Janome themselves once
for BLEU, and for Chinese and Japanese once more for ROUGE, as the published code does (with Janome's
tokenizer built once, where the published code builds it for every pair). `corpus` is sacrebleu's
corpus BLEU, the same call on both sides. All times are processor seconds over all threads, the wall
clock stands below. Loading of dictionaries and imports are outside all times.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from clock import Seconds, timed

LANGUAGES = {
    "en": "English", "zh": "Chinese", "ja": "Japanese",
    "fr": "French", "ru": "Russian", "es": "Spanish",
}  # fmt: skip
SEGMENTED = ("zh", "ja")


class Row(NamedTuple):
    """Seconds per part, whether all tokens are equal, and the largest difference of any score."""

    pairs: int
    tokens: int
    cut: Seconds
    scores: Seconds
    corpus: Seconds
    reference_cut: Seconds
    reference_scores: Seconds
    tokens_equal: bool
    difference: float


def bench(language: str, pairs: Sequence[tuple[str, str]]) -> Row:
    """Score all pairs of one language by ours, then by the reference packages."""
    from xling_metrics.bleu import corpus_bleu, sentence_bleu
    from xling_metrics.rationale_tokens import cut_rationale, rationale_tokens
    from xling_metrics.rouge import rouge, rouge_standard

    if find_spec("numba"):
        importlib.import_module("numba")
    rationale_tokens("a", language)
    corpus_bleu(["a"], ["a"], language)
    cut_s, cut = timed(
        lambda: [(cut_rationale(c, language), cut_rationale(r, language)) for c, r in pairs]
    )
    scores_s, ours = timed(
        lambda: [
            (
                sentence_bleu(c.tokens, r.tokens),
                rouge(c.rouge_text, r.rouge_text),
                rouge_standard(c.standard_tokens, r.standard_tokens),
            )
            for c, r in cut
        ]
    )
    corpus_s, _ = timed(lambda: corpus_bleu([c for c, _ in pairs], [r for _, r in pairs], language))

    tokenize = _reference_tokenizer(language)
    tokenize("a")
    flat = [text for pair in pairs for text in pair]
    reference_cut_s, expected = timed(lambda: [tokenize(text) for text in flat])  # for BLEU
    if language in SEGMENTED:
        reference_cut_s += timed(lambda: [tokenize(text) for text in flat])[0]  # for ROUGE
    tokens_equal = expected == [text.tokens for pair in cut for text in pair]

    score = _reference()
    reference_scores_s, theirs = timed(lambda: [score(c, r) for c, r in cut])
    difference = max(
        abs(a - b)
        for parts, values in zip(ours, theirs, strict=True)
        for a, b in zip((x for part in parts for x in part or ()), values, strict=True)
    )
    n_tokens = sum(len(text.tokens) for pair in cut for text in pair)
    return Row(
        len(pairs), n_tokens, cut_s, scores_s, corpus_s, reference_cut_s, reference_scores_s,
        tokens_equal, difference,
    )  # fmt: skip


def _reference_tokenizer(language: str) -> Callable[[str], list[str]]:
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


def _reference() -> Any:
    """One pair by nltk (all weights in one call), rouge and rouge-score."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from rouge import Rouge
    from rouge_score.rouge_scorer import RougeScorer

    class Split:
        def tokenize(self, text: str) -> list[str]:
            return text.split()

    weights = [(1,), (0, 1), (0, 0, 1), (0, 0, 0, 1), (0.25, 0.25, 0.25, 0.25)]
    smooth = SmoothingFunction().method1
    package = Rouge()
    names = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(names, tokenizer=Split())
    sys.setrecursionlimit(10_000)  # as the published code does; else long texts end it

    def score(c: Any, r: Any) -> list[float]:
        bleu = sentence_bleu([r.tokens], c.tokens, weights, smooth)
        sets = package.get_scores(c.rouge_text, r.rouge_text)[0]
        counts = scorer.score(" ".join(r.standard_tokens), " ".join(c.standard_tokens))
        return [
            *bleu,
            *(sets[name]["f"] for name in ("rouge-1", "rouge-2", "rouge-l")),
            *(counts[name].fmeasure for name in names),
        ]

    return score


def make_pairs(texts: Sequence[str], language: str, n: int) -> list[tuple[str, str]]:
    """`n` pairs of candidate and reference."""
    rng = random.Random(0)
    joint = "" if language in SEGMENTED else " "
    pairs = []
    for i in range(n):
        reference, candidate = texts[i % len(texts)], texts[(i + 1) % len(texts)]
        if i % 2 == 0:
            units = list(reference) if language in SEGMENTED else reference.split()
            candidate = joint.join(unit for unit in units if rng.random() < 0.67)
        pairs.append((candidate, reference))
    return pairs


def real_texts(folder: Path, language: str) -> list[str]:
    """Distinct real texts about as long as rationales."""
    name = LANGUAGES[language]
    if language in ("fr", "ru", "ja"):
        path = folder / "mmedbench" / "Test" / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        texts = [" ".join([row["question"], *row["options"].values()]) for row in rows]
        if language == "ja":
            texts = [a + b for a, b in pairwise(texts)]
    else:
        from openpyxl import load_workbook

        book = load_workbook(folder / "xlinghealth" / "LiveQA.xlsx", read_only=True)
        table = book.active.iter_rows(values_only=True)
        column = next(table).index(f"answer_{name}")
        texts = [str(row[column]) for row in table if row[column]]
    return list(dict.fromkeys(texts))


def generated_texts(language: str, n: int = 200) -> list[str]:
    """Texts of 40 to 200 words drawn from a few hundred, with a full stop after some."""
    rng = random.Random(language)
    letters = {
        "zh": "患者发热血压升高应用药物治疗心脏肝肾检查诊断",
        "ja": "患者は発熱し血圧が上昇した薬を投与する検査の結果",
        "ru": "абвгдежзиклмнопрстуф",
    }.get(language, "abcdefghilmnoprstu")
    size = (1, 3) if language in SEGMENTED else (2, 10)
    words = ["".join(rng.choices(letters, k=rng.randrange(*size))) for _ in range(400)]
    stop, joint = ("。", "") if language in SEGMENTED else (". ", " ")
    texts = []
    for _ in range(n):
        chosen = rng.choices(words, k=rng.randrange(40, 200))
        texts.append(joint.join(w + stop if rng.random() < 0.08 else w for w in chosen).strip())
    return texts


def main() -> None:
    """Print one line per language, the sum, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1136)
    n = parser.parse_args().pairs
    folder = os.environ.get("XLING_REALDATA")
    rows = {}
    for i, language in enumerate(LANGUAGES):
        texts = real_texts(Path(folder), language) if folder else generated_texts(language)
        share = n // len(LANGUAGES) + (i < n % len(LANGUAGES))
        rows[language] = bench(language, make_pairs(texts, language, share))
    columns = list(zip(*rows.values(), strict=True))
    sums = [*map(sum, columns[:2]), *(reduce(Seconds.__add__, column) for column in columns[2:7])]
    rows["all"] = Row(*sums, all(columns[7]), max(columns[8]))

    print(f"{n} pairs of {'real' if folder else 'generated'} texts; processor seconds")
    print("     pairs  tokens/text   scores: ours   reference  ratio      cut: ours   reference  ratio"
          "   corpus   max difference  tokens equal")  # fmt: skip
    for name, r in rows.items():
        print(
            f"{name:4} {r.pairs:5} {r.tokens / r.pairs / 2:12.0f}"
            f" {r.scores.cpu:14.3f} {r.reference_scores.cpu:11.3f}"
            f" {r.reference_scores.cpu / r.scores.cpu:5.1f}x"
            f" {r.cut.cpu:14.3f} {r.reference_cut.cpu:11.3f}"
            f" {r.reference_cut.cpu / r.cut.cpu:5.1f}x"
            f" {r.corpus.cpu:8.3f} {r.difference:16.1e}  {r.tokens_equal}"
        )
    total = rows["all"]
    ours, reference = total.cut + total.scores, total.reference_cut + total.reference_scores
    for name, index in (("processor", 1), ("wall clock", 0)):
        given = total.reference_scores[index] / total.scores[index]
        print(
            f"{name}: metrics given tokens {given:.1f}x; with cutting {reference[index]:.2f} s /"
            f" {ours[index]:.2f} s = {reference[index] / ours[index]:.1f}x"
        )


if __name__ == "__main__":
    main()
