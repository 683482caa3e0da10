"""Topic consistency against scikit-learn (one process, n_jobs=1) and gensim, per 1,000 questions.

Run as a script: `python tests/benchmarks/consistency_topics.py [language] [--stability]`. With
XLING_REALDATA set, answers are made of LiveQA's sentences; otherwise they are generated words.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from clock import Seconds, compared, timed
from xling_metrics.topics import topic_consistencies, topic_corpus

ANSWERS = 10
WORDS = 100
FOREIGN = 0.3  # the share of an answer's sentences that come from another question's answer

FIVE_SEEDS = "lda20 and lda100, 5 seeds (reference: 1)"
HDP = "hdp (another estimator)"
HDP_FIVE_SEEDS = "hdp, 5 seeds (reference: 1)"

Row = dict[str, Any]


def bench_topics(language: str = "English", n_questions: int = 246, seed: int = 0) -> list[Row]:
    """Seconds per 1,000 questions of reference and ours, and how far the values are apart.

    Ours runs once before the clock starts, so compilation is not in the figures.
    """
    answers = benchmark_answers(language, n_questions)
    scale = 1000 / len(answers)
    topic_consistencies(topic_corpus(answers[:2]), models=(2,), seeds=(0,))
    five = range(seed, seed + 5)

    def ours(*models: Any, seeds: Sequence[int]) -> tuple[Seconds, Any]:
        return timed(lambda: topic_consistencies(topic_corpus(answers), models=models, seeds=seeds))

    def row(part: str, reference: Seconds, own: Seconds, apart: float | None = None) -> Row:
        times = (reference.times(scale), own.times(scale))
        return compared(part, *times, max_abs_difference=apart)

    rows: list[Row] = []
    total = Seconds(0.0, 0.0)
    for n_topics in (20, 100):
        reference, expected = timed(lambda n=n_topics: sklearn_similarity(answers, n, seed))
        total += reference
        own, results = ours(n_topics, seeds=(seed,))
        apart = float(np.abs(np.array(results[n_topics].per_question) - expected).max())
        rows.append(row(f"lda{n_topics}", reference, own, apart))
    own, results = ours(20, 100, seeds=five)
    spreads = " and ".join(f"{result.seed_sd:.4f}" for result in results.values())
    rows.append(row(FIVE_SEEDS, total, own) | {"seed_sd": spreads})
    if find_spec("tomotopy") and find_spec("gensim"):
        reference, _ = timed(lambda: gensim_similarity(answers, seed))
        rows.append(row(HDP, reference, ours("hdp", seeds=(seed,))[0]))
        rows.append(row(HDP_FIVE_SEEDS, reference, ours("hdp", seeds=five)[0]))
    return rows


def stability_topics(
    language: str = "English", n_questions: int = 246, n_seeds: int = 4, words: bool = False
) -> list[Row]:
    """Mean Spearman correlation of the per-question similarity between two seeds, per model.

    Args:
        language: As LiveQA's columns name it.
        n_questions: How many.
        n_seeds: Fits per model; gensim gets two.
        words: Cut by the language's own segmenter, not by the published pattern.
    """
    from xling_metrics.words import lower_words, published_words

    texts = benchmark_answers(language, n_questions)
    code = {"English": "en", "Spanish": "es", "Chinese": "zh", "Hindi": "hi"}[language]
    tokenize = partial(lower_words, language=code) if words else published_words
    corpus = topic_corpus(texts, tokenize=tokenize)

    def ours(n_topics: Any) -> list[list[Any]]:
        return [
            topic_consistencies(corpus, models=(n_topics,), seeds=(s,))[n_topics].per_question
            for s in range(n_seeds)
        ]

    fits = {"lda20": ours(20), "lda100": ours(100)}
    if find_spec("tomotopy"):
        fits["hdp"] = ours("hdp")
    if find_spec("gensim") and not words:
        fits["gensim hdp"] = [list(gensim_similarity(texts, s)) for s in range(2)]
    return [{"model": name, **_stability(values)} for name, values in fits.items()]


def sklearn_similarity(texts: Sequence[Sequence[str]], n_topics: int, seed: int) -> np.ndarray:
    """The published computation."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer().fit_transform([a for answers in texts for a in answers])
    model = LatentDirichletAllocation(n_components=n_topics, random_state=seed, n_jobs=1)
    return _cosines(model.fit(counts).transform(counts), texts)


def gensim_similarity(texts: Sequence[Sequence[str]], seed: int) -> np.ndarray:
    """gensim's HDP with its defaults; topics below 0.01 are dropped, as its `model[text]` does."""
    from gensim.corpora import Dictionary
    from gensim.models import HdpModel

    words = [re.findall(r"(?u)\b\w\w+\b", a.lower()) for answers in texts for a in answers]
    dictionary = Dictionary(words)
    corpus = [dictionary.doc2bow(text) for text in words]
    gamma = HdpModel(corpus, dictionary, random_state=seed).inference(corpus)
    topics = gamma / gamma.sum(axis=1, keepdims=True)
    return _cosines(np.where(topics < 0.01, 0.0, topics), texts)


def benchmark_answers(language: str, n_questions: int) -> list[list[str]]:
    """Ten answers of about 100 words to each question: sentences drawn from its real answer."""
    draw = random.Random(0)
    pools, glue = _liveqa_sentences(language), "" if language == "Chinese" else " "
    if not pools:
        pools, glue = _generated_sentences(draw, n_questions), " "
    pools = pools[:n_questions]
    everything = [sentence for pool in pools for sentence in pool]
    return [[_answer(draw, pool, everything, glue) for _ in range(ANSWERS)] for pool in pools]


def _answer(draw: random.Random, pool: list[str], everything: list[str], glue: str) -> str:
    sentences: list[str] = []
    length, wanted = 0.0, WORDS * draw.uniform(0.6, 1.4)
    while length < wanted:
        sentence = draw.choice(everything if draw.random() < FOREIGN else pool)
        sentences.append(sentence)
        length += len(sentence.split()) if glue else len(sentence) / 1.7
    return glue.join(sentences)


def _liveqa_sentences(language: str) -> list[list[str]]:
    folder = os.environ.get("XLING_REALDATA")
    if not folder:
        return []
    from openpyxl import load_workbook

    rows = load_workbook(Path(folder) / "xlinghealth" / "LiveQA.xlsx", read_only=True).active.rows
    head = [cell.value for cell in next(rows)]
    label, column = head.index("label"), head.index(f"answer_{language}")
    texts = [str(row[column].value or "") for row in rows if row[label].value == 1]
    split = [re.split(r"(?<=[.!?])\s+|(?<=[。！？।])\s*", text) for text in texts]
    return [kept for pool in split if (kept := [s for s in pool if s.strip()])]


def _generated_sentences(draw: random.Random, n_questions: int) -> list[list[str]]:
    """Words drawn by Zipf's law, a question's own order of them, twelve to a sentence."""
    words = [f"word{i}" for i in range(4000)]
    weights = [1 / (i + 3) for i in range(len(words))]
    pools = []
    for _ in range(n_questions):
        own = draw.sample(words, len(words))
        pools.append([" ".join(draw.choices(own, weights, k=12)) for _ in range(9)])
    return pools


def _cosines(topics: np.ndarray, texts: Sequence[Sequence[str]]) -> np.ndarray:
    from sklearn.metrics.pairwise import cosine_similarity

    bounds = np.cumsum([0, *map(len, texts)])
    return np.array(
        [
            cosine_similarity(topics[a:b])[np.triu_indices(b - a, 1)].mean()
            for a, b in pairwise(bounds)
        ]
    )


def _stability(values: list[list[Any]]) -> Row:
    from scipy.stats import spearmanr

    pairs = list(combinations(np.array(values, dtype=float), 2))
    return {
        "spearman": float(np.mean([spearmanr(a, b).statistic for a, b in pairs])),
        "mean_abs_difference": float(np.mean([np.abs(a - b).mean() for a, b in pairs])),
        "value": float(np.mean(values)),
        "sd_of_value": float(np.std(np.mean(values, axis=1), ddof=1)),
    }


def _table(rows: list[Row]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    for row in rows:
        cells = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")] or ["English"]
    for name in names:
        print(f"\n{name}, {'LiveQA' if os.environ.get('XLING_REALDATA') else 'generated words'}")
        if "--stability" in sys.argv:
            print(_table(stability_topics(name, words="--words" in sys.argv)))
        else:
            print(_table(bench_topics(name)))
