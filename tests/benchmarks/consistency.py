"""The consistency metrics against their references, in one run: a table.

    python tests/benchmarks/consistency.py [--only text topics encoder] [--questions N]
    python tests/benchmarks/consistency.py --stability [--language hi] [--words]

Answers are made of real LiveQA text where XLING_REALDATA is set, else of generated words. Times are
seconds per 1,000 questions with K = 10; references run on fewer questions where they take minutes,
and are scaled. Loading and compiling are not timed. `taskset -c 0` in front shows one core.
`--stability` says how alike two seeds of a topic model order the questions, by the published words
or the language's own. Libraries that only serve as reference: bert_score, sentence-transformers.
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


# Words and languages


def of_text(n: int) -> Iterator[Row]:
    """N-grams against scikit-learn pair by pair; languages against langid sentence by sentence."""
    import langid
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score
    from xling_metrics.language import identify_language, language_consistency_corpus, sentences
    from xling_metrics.ngrams import ngram_consistency_corpus

    def pair(a: str, b: str, n: int) -> float:
        counts = CountVectorizer(ngram_range=(n, n), binary=True).fit_transform([a, b]).toarray()
        return float(jaccard_score(counts[0], counts[1]))

    def by_pairs(answers: list[str]) -> list[Any]:
        return [np.mean([pair(*both, n) for both in combinations(answers, 2)]) for n in (1, 2)]

    asked = distinct_answers(common.texts("en"), 5 * n)
    own, ours = timed(lambda: ngram_consistency_corpus(asked))
    some = range(0, len(asked), max(1, len(asked) // 20))
    theirs, expected = timed(lambda: [by_pairs(asked[i]) for i in some])
    apart = np.abs(np.array([ours[i] for i in some]) - expected).max()
    yield per_1000("sim_1gram, sim_2gram", theirs, len(some), own, len(asked), f"max {apart:.1e}")
    for language in ("en", "es", "zh", "hi") if REAL else ("en",):
        asked = distinct_answers(common.texts(language), n)
        identify_language(["load the model"]), langid.classify("load the model")
        flat = [answer for answers in asked for answer in answers]
        own, ours = timed(lambda flat=flat, code=language: language_consistency_corpus(flat, code))
        some = range(0, n, max(1, n // 8))
        chosen = [answer for i in some for answer in asked[i]]

        def labels(chosen=chosen, code=language) -> list[list[str]]:
            parts = ([s for s in sentences(a, code) if any(map(str.isalpha, s))] for a in chosen)
            return [[langid.classify(part)[0] for part in own] for own in parts]

        theirs, expected = timed(labels)
        shares = [own.count(language) / len(own) if own else None for own in expected]
        alike = shares == [share for i in some for share in ours[i * K : (i + 1) * K]]
        name = f"language_consistency ({language})"
        yield per_1000(name, theirs, len(some), own, n, f"equal {alike}")


def distinct_answers(texts: Sequence[str], n: int) -> Questions:
    """Nothing is gained from repeated answers: a text with every third word from any text.

    In texts with few spaces (Chinese) a letter takes the place of a word.
    """
    draw = random.Random(0)
    space = " " if sum(text.count(" ") for text in texts) > sum(map(len, texts)) / 20 else ""
    split = [text.split(space) if space else list(text) for text in texts]
    others = [part for parts in split for part in parts]

    def answer(parts: list[str]) -> str:
        return space.join(p if draw.random() < 2 / 3 else draw.choice(others) for p in parts)

    return [[answer(split[i % len(split)]) for _ in range(K)] for i in range(n)]


def per_1000(part: str, reference: Seconds, n_reference: int, ours: Seconds, n: int, check: str = "") -> Row:  # fmt: skip
    """A row that is scaled."""
    return Row(part, reference.times(1000 / n_reference), ours.times(1000 / n), check)


# Topics


FIVE = "lda20 and lda100, 5 seeds (reference: 1)"


def of_topics(n: int) -> Iterator[Row]:
    """Topic models against scikit-learn (one process, n_jobs=1)."""
    from xling_metrics.topics import topic_consistencies, topic_corpus

    asked = of_sentences("en", n)
    topic_consistencies(topic_corpus(asked[:2]), models=(2,), seeds=(0,))  # compiles

    def ours(*models: Any, seeds: int) -> tuple[Seconds, Any]:
        corpus = partial(topic_corpus, asked)
        return timed(lambda: topic_consistencies(corpus(), models=models, seeds=range(seeds)))

    row, size, total = per_1000, len(asked), Seconds(0.0, 0.0)
    for k in (20, 100):
        theirs, expected = timed(lambda k=k: topic_similarity(asked, k, 0))
        total += theirs
        own, results = ours(k, seeds=1)
        apart = float(np.abs(np.array(results[k].per_question) - expected).max())
        yield row(f"lda{k}", theirs, size, own, size, f"max {apart:.1e}")
    own, results = ours(20, 100, seeds=5)
    spread = " and ".join(f"{result.seed_sd:.4f}" for result in results.values())
    yield row(FIVE, total, size, own, size, f"seed_sd {spread}")


def stability(language: str, n: int, *, words: bool) -> None:
    """Print the mean Spearman correlation of the similarity per question between two seeds."""
    from scipy.stats import spearmanr
    from xling_metrics.tokenization import lower_words, published_words
    from xling_metrics.topics import topic_consistencies, topic_corpus

    asked = of_sentences(language, n)
    cut = partial(lower_words, language=language) if words else published_words
    corpus = topic_corpus(asked, tokenize=cut)

    def ours(model: Any) -> list[Any]:
        fits = (topic_consistencies(corpus, models=(model,), seeds=(s,)) for s in range(4))
        return [fit[model].per_question for fit in fits]

    fits = {"lda20": ours(20), "lda100": ours(100)}
    common.show("model", "spearman", "value", "sd of value", head=True)
    for name, values in fits.items():
        pairs = combinations(np.array(values, dtype=float), 2)
        alike = np.mean([spearmanr(a, b).statistic for a, b in pairs])
        spread = np.std(np.mean(values, axis=1), ddof=1)
        common.show(name, f"{alike:.3g}", f"{np.mean(values):.3g}", f"{spread:.3g}")


def of_sentences(language: str, n: int) -> Questions:
    """Answers of about 100 words: sentences of a text, and one of three from another text."""
    draw, glue = random.Random(0), "" if language == "zh" else " "
    pools = [re.split(r"(?<=[.!?])\s+|(?<=[。！？।])\s*", text) for text in common.texts(language)[:n]]  # fmt: skip
    pools = [kept for pool in pools if (kept := [s for s in pool if s.strip()])]
    every = [sentence for pool in pools for sentence in pool]

    def answer(pool: list[str]) -> str:
        said, length, wanted = [], 0.0, 100 * draw.uniform(0.6, 1.4)
        while length < wanted:
            said.append(draw.choice(every if draw.random() < 0.3 else pool))
            length += len(said[-1].split()) if glue else len(said[-1]) / 1.7
        return glue.join(said)

    return [[answer(pool) for _ in range(K)] for pool in pools]


# Encoder


def of_encoder(_: int, n: int = 6) -> Iterator[Row]:
    """Against bert_score and sentence-transformers: a model of bert-base's size, random weights.

    Answers have about 130 tokens. `max` is over every pair and all four values, BERTScore rescaled.
    A GPU is used if there is one.
    """
    import torch
    from xling_metrics import bertscore
    from xling_metrics.encoder import Encoder, known_name

    device = "cuda" if torch.cuda.is_available() else "cpu"
    draw = random.Random(0)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randrange(2, 9))) for _ in range(5000)]

    def question(distinct: int) -> list[str]:
        own = [" ".join(draw.choices(words, k=draw.randrange(60, 141))) for _ in range(distinct)]
        return own + own[:1] * (K - distinct)

    def ours(encoder: Encoder, asked: Questions) -> Any:
        results = bertscore.score_pairs(asked, encoder)
        return torch.tensor([pair for result in results for pair in result.pairs])

    parts = (("temperature 1, all distinct", K), ("temperature 0, 2 distinct of 10", 2))
    with TemporaryDirectory() as folder:
        # About 1.3 pieces a word, as in medical prose.
        save_bert(folder, words, 6000)
        baselines = bertscore.PUBLISHED_BASELINES
        baselines[known_name(folder), 9] = baselines["bert-base-uncased", 9]
        reference = reference_encoder(folder, device)
        for part, asked in [(part, [question(d) for _ in range(n)]) for part, d in parts]:
            reference([asked[0][:2]])
            theirs, expected = timed(lambda asked=asked: reference(asked))
            for dtype in ("float32", "bfloat16"):
                encoder = Encoder.load(folder, layer=9, device=device, dtype=dtype)  # type: ignore[arg-type]
                ours(encoder, [asked[0][:2]])
                own, scores = timed(lambda encoder=encoder, asked=asked: ours(encoder, asked))
                apart = float((scores - expected).abs().max())
                yield per_1000(f"{part}, {dtype}", theirs, n, own, n, f"max {apart:.1e}")


def reference_encoder(folder: str, device: str) -> Callable[[Questions], Any]:
    """P, R, F1 by bert_score and the cosine by sentence-transformers, a row per pair."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    scorer = bert_scorer(folder, device)
    sentences = SentenceTransformer(folder, device=device)

    def score(asked: Questions) -> Any:
        berts = bert_pairs(scorer.score, asked)
        vectors = sentences.encode([a for q in asked for a in q], convert_to_tensor=True)
        cosines = []
        for start, end in pairwise(np.cumsum([0, *map(len, asked)])):
            own = cos_sim(vectors[start:end], vectors[start:end]).cpu()
            cosines.append(own[tuple(torch.triu_indices(len(own), len(own), offset=1))])
        return torch.cat([berts, torch.cat(cosines)[:, None]], dim=1)

    return score


# The table


PARTS = {"text": of_text, "topics": of_topics, "encoder": of_encoder}
_SURFACE = ("sim_1gram, sim_2gram", "language_consistency (en)")
SUITES = {
    "default suite without encoder (reference: one seed)": (*_SURFACE, FIVE),
    "the same, one seed": (*_SURFACE, "lda20", "lda100"),
}
"""What the published suite in English consists of, without the encoder: the parts' times added."""


def main() -> None:
    """Run the parts asked for and print them as they come."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--stability", action="store_true", help="of topic models; times nothing")
    parser.add_argument("--language", default="en", help="of --stability")
    parser.add_argument("--words", action="store_true", help="the language's own, for --stability")
    options = parser.parse_args()
    if options.stability:
        return stability(options.language, options.questions, words=options.words)
    rows: dict[str, Row] = {}
    common.show(*common.COMPARED, head=True)
    for row in (row for part in options.only for row in PARTS[part](options.questions)):
        rows[row.part] = row
        common.compare(*row)
    for name, parts in SUITES.items():
        if rows.keys() >= {*parts}:
            sides = zip(*(rows[part][1:3] for part in parts), strict=True)
            common.compare(name, *(reduce(Seconds.__add__, side) for side in sides))


if __name__ == "__main__":
    main()
