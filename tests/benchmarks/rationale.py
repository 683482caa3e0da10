"""Times the scoring of rationales against nltk, rouge and rouge-score called pair by pair.

Run: `python tests/benchmarks/rationale.py [--pairs 1136]`. A whole task: BLEU-1 to BLEU-4 and BLEU,
both kinds of ROUGE, over six languages in equal parts. With XLING_REALDATA set, the texts are
LiveQA's answers (en, es, zh) and questions with options in MMedBench's schema (fr, ru, ja; Japanese
questions in pairs, as long as rationales); otherwise generated words. Half of the candidates are
the reference with a third of its words left out, half are another text.

Per language: `scores` is the time of the metrics given the tokens, on both sides; `cut` the time of
cutting the texts, which both sides do by the same libraries: ours once for all metrics, the
reference once for BLEU and once for ROUGE, as the published code does (with Janome's tokenizer
built once, where the published code builds it for every pair). `corpus` is sacrebleu's corpus BLEU,
the same call on both sides. Loading of dictionaries and imports are outside all times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

LANGUAGES = {
    "en": "English", "zh": "Chinese", "ja": "Japanese",
    "fr": "French", "ru": "Russian", "es": "Spanish",
}  # fmt: skip
SEGMENTED = ("zh", "ja")


class Row(NamedTuple):
    """Seconds per part, and the largest difference of any score."""

    pairs: int
    tokens: int
    cut_s: float
    scores_s: float
    corpus_s: float
    reference_cut_s: float
    reference_scores_s: float
    difference: float


def bench(language: str, pairs: Sequence[tuple[str, str]]) -> Row:
    """Score all pairs of one language by ours, then by the reference packages."""
    from xling_metrics.bleu import corpus_bleu, sentence_bleu
    from xling_metrics.rationale_tokens import cut_rationale, rationale_tokens
    from xling_metrics.rouge import rouge, rouge_standard

    rationale_tokens("a", language)
    corpus_bleu(["a"], ["a"], language)
    start = time.perf_counter()
    cut = [(cut_rationale(c, language), cut_rationale(r, language)) for c, r in pairs]
    cut_s = time.perf_counter() - start

    start = time.perf_counter()
    ours = [
        (
            sentence_bleu(c.tokens, r.tokens),
            rouge(c.rouge_text, r.rouge_text),
            rouge_standard(c.standard_tokens, r.standard_tokens),
        )
        for c, r in cut
    ]
    scores_s = time.perf_counter() - start

    start = time.perf_counter()
    corpus_bleu([c for c, _ in pairs], [r for _, r in pairs], language)
    corpus_s = time.perf_counter() - start

    start = time.perf_counter()
    for pair in pairs:
        for text in pair:
            rationale_tokens(text, language)  # for BLEU
            if language in SEGMENTED:
                rationale_tokens(text, language)  # for ROUGE
    reference_cut_s = time.perf_counter() - start

    score = _reference()
    start = time.perf_counter()
    theirs = [score(c, r) for c, r in cut]
    reference_scores_s = time.perf_counter() - start

    difference = max(
        abs(a - b)
        for parts, values in zip(ours, theirs, strict=True)
        for a, b in zip((x for part in parts for x in part or ()), values, strict=True)
    )
    n_tokens = sum(len(text.tokens) for pair in cut for text in pair)
    return Row(
        len(pairs), n_tokens, cut_s, scores_s, corpus_s, reference_cut_s, reference_scores_s,
        difference,
    )  # fmt: skip


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
    rows["all"] = Row(*(sum(column) for column in columns[:-1]), max(columns[-1]))

    print(f"{n} pairs of {'real' if folder else 'generated'} texts; seconds")
    print("     pairs  tokens/text   scores: ours   reference  ratio      cut: ours   reference"
          "   corpus   max difference")  # fmt: skip
    for name, r in rows.items():
        print(
            f"{name:4} {r.pairs:5} {r.tokens / r.pairs / 2:12.0f}"
            f" {r.scores_s:14.3f} {r.reference_scores_s:11.3f}"
            f" {r.reference_scores_s / r.scores_s:5.1f}x"
            f" {r.cut_s:14.3f} {r.reference_cut_s:11.3f} {r.corpus_s:8.3f} {r.difference:16.1e}"
        )
    total = rows["all"]
    ours = total.cut_s + total.scores_s
    reference = total.reference_cut_s + total.reference_scores_s
    print(f"metrics given tokens: {total.reference_scores_s / total.scores_s:.1f}x")
    print(f"with cutting: {reference:.2f} s / {ours:.2f} s = {reference / ours:.1f}x")


if __name__ == "__main__":
    main()
