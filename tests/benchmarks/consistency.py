"""Compare the speed of the consistency metrics with that of their references, and print a table.

    python tests/benchmarks/consistency.py [--only text topics encoder peak] [--questions N]

Answers are made of real LiveQA text where XLING_REALDATA is set, else of generated words. Times are
seconds per 1,000 questions with K = 10; references run on fewer questions where they take minutes,
and are scaled. Loading and compiling are not timed. `taskset -c 0` shows one core. `peak` prints
which part of the machine's matrix product the encoder reaches. Libraries that only serve as
reference: bert_score, sentence-transformers.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from itertools import combinations, pairwise
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import common
import numpy as np
from common import REAL, Seconds, timed
from references import bert_pairs, bert_scorer, save_bert, topic_similarity

K = 10
Questions = list[list[str]]


class Row(NamedTuple):
    """Seconds per 1,000 questions."""

    part: str
    reference: Seconds
    ours: Seconds
    check: str = ""


def per_1000(part: str, reference: Seconds, n_reference: int, ours: Seconds, n: int, check: str) -> Row:  # fmt: skip
    """Scale a row to 1,000 questions."""
    return Row(part, reference.times(1000 / n_reference), ours.times(1000 / n), check)


# Words and languages


def of_text(n: int) -> Iterator[Row]:
    """N-grams against scikit-learn pair by pair; languages against langid sentence by sentence."""
    import langid
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score
    from xling_metrics.language import identify_language, language_consistency_corpus, sentences
    from xling_metrics.ngrams import ngram_consistency_corpus

    def score(a: str, b: str, n: int) -> float:
        counts = CountVectorizer(ngram_range=(n, n), binary=True).fit_transform([a, b]).toarray()
        return float(jaccard_score(counts[0], counts[1]))

    def by_pairs(answers: list[str]) -> list[Any]:
        return [np.mean([score(*pair, n) for pair in combinations(answers, 2)]) for n in (1, 2)]

    questions = distinct_answers(common.texts("en"), 5 * n)
    seconds, ours = timed(lambda: ngram_consistency_corpus(questions))
    some = range(0, len(questions), max(1, len(questions) // 20))
    reference, expected = timed(lambda: [by_pairs(questions[i]) for i in some])
    error = np.abs(np.array([ours[i] for i in some]) - expected).max()
    yield per_1000("sim_1gram, sim_2gram", reference, len(some), seconds, len(questions), f"max {error:.1e}")  # fmt: skip
    for language in ("en", "es", "zh", "hi") if REAL else ("en",):
        questions = distinct_answers(common.texts(language), n)
        identify_language(["load the model"]), langid.classify("load the model")
        flat = [answer for answers in questions for answer in answers]
        seconds, ours = timed(
            lambda flat=flat, code=language: language_consistency_corpus(flat, code)
        )
        some = range(0, n, max(1, n // 8))
        chosen = [answer for i in some for answer in questions[i]]

        def labels(chosen=chosen, code=language) -> list[list[str]]:
            parts = ([s for s in sentences(a, code) if any(map(str.isalpha, s))] for a in chosen)
            return [[langid.classify(part)[0] for part in group] for group in parts]

        reference, expected = timed(labels)
        shares = [group.count(language) / len(group) if group else None for group in expected]
        is_equal = shares == [share for i in some for share in ours[i * K : (i + 1) * K]]
        name = f"language_consistency ({language})"
        yield per_1000(name, reference, len(some), seconds, n, f"equal {is_equal}")


def distinct_answers(texts: Sequence[str], n: int) -> Questions:
    """Make answers that never repeat: a text with every third word from any text.

    In texts with few spaces (Chinese) a letter takes the place of a word.
    """
    draw = random.Random(0)
    space = " " if sum(text.count(" ") for text in texts) > sum(map(len, texts)) / 20 else ""
    split = [text.split(space) if space else list(text) for text in texts]
    others = [part for parts in split for part in parts]

    def answer(parts: list[str]) -> str:
        return space.join(p if draw.random() < 2 / 3 else draw.choice(others) for p in parts)

    return [[answer(split[i % len(split)]) for _ in range(K)] for i in range(n)]


# Topics


def of_topics(n: int) -> Iterator[Row]:
    """Topic models against scikit-learn (one process, n_jobs=1)."""
    from xling_metrics.topics import topic_consistencies, topic_corpus

    questions = of_sentences("en", n)
    topic_consistencies(topic_corpus(questions[:2]), models=(2,), seeds=(0,))  # compiles
    for k in (20, 100):
        ours = partial(lambda k: topic_consistencies(topic_corpus(questions), models=(k,))[k], k)
        reference, expected = timed(lambda k=k: topic_similarity(questions, k, 0))
        seconds, result = timed(ours)
        error = float(np.abs(np.array(result.per_question) - expected).max())
        n = len(questions)
        yield per_1000(f"lda{k}", reference, n, seconds, n, f"max {error:.1e}")


def of_sentences(language: str, n: int) -> Questions:
    """Make answers of about 100 words: sentences of a text, and one of three from another text."""
    draw = random.Random(0)
    pools = [re.split(r"(?<=[.!?])\s+", text) for text in common.texts(language)[:n]]
    pools = [sentences for pool in pools if (sentences := [s for s in pool if s.strip()])]
    every = [sentence for pool in pools for sentence in pool]

    def answer(pool: list[str]) -> str:
        chosen, length, wanted = [], 0, 100 * draw.uniform(0.6, 1.4)
        while length < wanted:
            chosen.append(draw.choice(every if draw.random() < 0.3 else pool))
            length += len(chosen[-1].split())
        return " ".join(chosen)

    return [[answer(pool) for _ in range(K)] for pool in pools]


# Encoder


def of_encoder(n: int) -> Iterator[Row]:
    """Against bert_score and sentence-transformers: a model of bert-base's size, random weights.

    At most six questions; answers have about 130 tokens. `max` is over every pair and all four values, BERTScore rescaled.
    A GPU is used if there is one.
    """
    import torch
    from xling_metrics import bertscore
    from xling_metrics.encoder import Encoder, known_name

    n, device = min(n, 6), "cuda" if torch.cuda.is_available() else "cpu"

    def ours(encoder: Encoder, questions: Questions) -> Any:
        results = bertscore.score_pairs(questions, encoder)
        return torch.tensor([pair for result in results for pair in result.pairs])

    parts = (("temperature 1, all distinct", K), ("temperature 0, 2 distinct of 10", 2))
    with TemporaryDirectory() as folder:
        question = random_questions(folder)
        baselines = bertscore.PUBLISHED_BASELINES
        baselines[known_name(folder), 9] = baselines["bert-base-uncased", 9]
        score = reference_encoder(folder, device)
        for part, questions in [(part, [question(d) for _ in range(n)]) for part, d in parts]:
            score([questions[0][:2]])
            reference, expected = timed(lambda questions=questions: score(questions))
            encoder = Encoder.load(folder, layer=9, device=device)
            ours(encoder, [questions[0][:2]])
            seconds, scores = timed(partial(ours, encoder, questions))
            error = float((scores - expected).abs().max())
            yield per_1000(part, reference, n, seconds, n, f"max {error:.1e}")


def random_questions(folder: str) -> Callable[[int], list[str]]:
    """Save a BERT for made-up words, and return what makes a question with so many answers."""
    draw = random.Random(0)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randrange(2, 9))) for _ in range(5000)]
    save_bert(folder, words, 6000)  # about 1.3 pieces a word, as in medical prose

    def question(n: int) -> list[str]:
        texts = [" ".join(draw.choices(words, k=draw.randrange(60, 141))) for _ in range(n)]
        return texts + texts[:1] * (K - n)

    return question


def reference_encoder(folder: str, device: str) -> Callable[[Questions], Any]:
    """Return P, R, F1 by bert_score and the cosine by sentence-transformers, a row per pair."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    scorer = bert_scorer(folder, device)
    sentences = SentenceTransformer(folder, device=device)

    def score(questions: Questions) -> Any:
        berts = bert_pairs(scorer.score, questions)
        vectors = sentences.encode([a for q in questions for a in q], convert_to_tensor=True)
        cosines = []
        for start, end in pairwise(np.cumsum([0, *map(len, questions)])):
            table = cos_sim(vectors[start:end], vectors[start:end]).cpu()
            cosines.append(table[tuple(torch.triu_indices(len(table), len(table), offset=1))])
        return torch.cat([berts, torch.cat(cosines)[:, None]], dim=1)

    return score


def print_peak(n: int = 1) -> None:
    """Print the encoder's floating-point rate as a part of the fastest matrix product measured.

    The product is of the encoder's own largest shape, by MKL and on oneDNN's packed weights, a
    thread per core; both are timed in turn, five times, and the best of each counts.
    """
    import torch
    from xling_metrics.encoder import Encoder, map_per_core, packed_product

    with TemporaryDirectory() as folder:
        question = random_questions(folder)
        encoder = Encoder.load(folder, layer=12, device="cpu")
        ids = encoder.tokenize([text for _ in range(n) for text in question(K)])
        lengths = [len(text) for text in set(ids) if text]
    d, layers = 768, 12
    work = sum(layers * (24 * d * d * m + 4 * d * m * m) for m in lengths)
    linear, x = torch.nn.Linear(d, 4 * d), torch.randn(256, d)
    rounds, rate, peak = 60 * torch.get_num_threads(), 0.0, 0.0
    with torch.inference_mode():
        products = [linear, packed_product(linear)]
        for _ in range(5):
            for product in products:
                run = partial(map_per_core, lambda _, p=product: [p(x)], [[]] * rounds)
                peak = max(peak, rounds * 8 * 256 * d * d / timed(lambda run=run: [*run()])[0].wall)
            rate = max(rate, work / timed(lambda: encoder.encode_tokens(ids))[0].wall)
    print(f"encoder {rate / 1e9:.0f} GFLOP/s, product {peak / 1e9:.0f}: {rate / peak:.2f}")


PARTS = {"text": of_text, "topics": of_topics, "encoder": of_encoder}
SUITE = ("sim_1gram, sim_2gram", "language_consistency (en)", "lda20", "lda100")
"""The published suite in English, one seed, without the encoder."""


def main() -> None:
    """Run the parts asked for and print them as they come."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[*PARTS, "peak"], choices=[*PARTS, "peak"])
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    rows: dict[str, Row] = {}
    common.show(*common.COMPARED, head=True)
    for row in (
        r for part in PARTS if part in options.only for r in PARTS[part](options.questions)
    ):
        rows[row.part] = row
        common.compare(*row)
    if rows.keys() >= {*SUITE}:
        sides = zip(*(rows[part][1:3] for part in SUITE), strict=True)
        common.compare("suite without encoder", *(reduce(Seconds.__add__, side) for side in sides))
    if "peak" in options.only:
        print_peak()


if __name__ == "__main__":
    main()
