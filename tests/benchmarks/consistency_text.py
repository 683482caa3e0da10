"""Times n-gram agreement and language consistency against the reference implementations.

Run: `python tests/benchmarks/consistency_text.py [--questions 1000]`. With XLING_REALDATA set, the
answers are made from LiveQA's expert answers, otherwise from generated words. Figures are scaled to
1,000 questions; the reference runs on `reference_questions` of them only, evenly spaced, in the same
process, right after ours. Every answer is distinct, so nothing is gained from repeated answers.

As a script it holds BLAS to one thread, which is best for langid's small products: with more threads
on busy cores langid was seen to take up to 40 times longer, which would flatter us.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

from clock import Seconds, compared, timed

Row = dict[str, Any]


def bench_ngrams(
    n_questions: int = 1000,
    k: int = 10,
    texts: Sequence[str] | None = None,
    *,
    reference_questions: int = 20,
) -> Row:
    """`ngram_consistency_corpus` against CountVectorizer and jaccard_score pair by pair."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score
    from xling_metrics.ngrams import ngram_consistency_corpus

    def pair(a: str, b: str, n: int) -> float:
        counts = CountVectorizer(ngram_range=(n, n), binary=True).fit_transform([a, b]).toarray()
        return float(jaccard_score(counts[0], counts[1]))

    questions = _questions(n_questions, k, texts or _generated_texts())
    ours_s, ours = timed(lambda: ngram_consistency_corpus(questions))

    def reference() -> float:
        difference = 0.0
        for answers, result in ((questions[i], ours[i]) for i in chosen):
            for n, value in ((1, result.sim_1gram), (2, result.sim_2gram)):
                values = [pair(a, b, n) for a, b in combinations(answers, 2)]
                assert value is not None
                difference = max(difference, abs(value - sum(values) / len(values)))
        return difference

    chosen = _spaced(n_questions, reference_questions)
    reference_s, difference = timed(reference)
    return _row(
        "sim_1gram, sim_2gram", ours_s, reference_s, n_questions, len(chosen),
        max_abs_difference=difference,
    )  # fmt: skip


def bench_language(
    n_questions: int = 200,
    k: int = 10,
    texts: Sequence[str] | None = None,
    *,
    language: str = "en",
    reference_questions: int = 8,
) -> Row:
    """`language_consistency_corpus` against langid.classify on each sentence; both by sentencex."""
    import langid
    from xling_metrics.language import identify, language_consistency_corpus, sentences

    questions = _questions(n_questions, k, texts or _generated_texts())
    answers = [answer for question in questions for answer in question]
    if find_spec("numba"):  # as in a run that fits topic models; loading is not timed
        importlib.import_module("numba")
    identify(["load the model"])
    langid.classify("load the model")
    ours_s, scores = timed(lambda: language_consistency_corpus(answers, language))

    chosen = _spaced(n_questions, reference_questions)
    subset = [answer for i in chosen for answer in questions[i]]
    ours = [score for i in chosen for score in scores[i * k : (i + 1) * k]]
    labels: list[str] = []
    shares: list[float | None] = []

    def reference() -> None:
        for answer in subset:
            own = [
                langid.classify(s)[0]
                for s in sentences(answer, language)
                if any(map(str.isalpha, s))
            ]
            shares.append(sum(label == language for label in own) / len(own) if own else None)
            labels.extend(own)

    reference_s, _ = timed(reference)
    parts = [s for a in subset for s in sentences(a, language) if any(map(str.isalpha, s))]
    return _row(
        f"language_consistency ({language})", ours_s, reference_s, n_questions, len(chosen),
        labels_equal=identify(parts) == labels and ours == shares,
        n_labels=len(labels),
    )  # fmt: skip


def _row(
    part: str, ours: Seconds, reference: Seconds, n: int, n_reference: int, **rest: Any
) -> Row:
    times = (reference.times(1000 / n_reference), ours.times(1000 / n))
    return compared(part, *times, n_questions=n, reference_questions=n_reference, **rest)


def _spaced(n: int, wanted: int) -> list[int]:
    return [i * n // min(n, wanted) for i in range(min(n, wanted))]


def _questions(n: int, k: int, texts: Sequence[str]) -> list[list[str]]:
    """K answers per question: one text with every third word, at random, from any text.

    In texts with few spaces (Chinese) a letter takes the place of a word.
    """
    rng = random.Random(0)
    space = " " if sum(text.count(" ") for text in texts) > sum(map(len, texts)) / 20 else ""
    split = [text.split(space) if space else list(text) for text in texts]
    others = [part for parts in split for part in parts]
    return [
        [
            space.join(
                p if rng.random() < 2 / 3 else rng.choice(others) for p in split[i % len(split)]
            )
            for _ in range(k)
        ]
        for i in range(n)
    ]


def _generated_texts(n: int = 200, n_words: int = 100) -> list[str]:
    """Texts of about `n_words` made-up words with a frequency that falls with the rank."""
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 9))) for _ in range(5000)]
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    ends = [" ", " ", " ", " ", " ", " ", " ", " ", " ", " ", " ", ". The "]
    return [
        "".join(word + rng.choice(ends) for word in rng.choices(vocabulary, weights, k=n_words))
        + "end."
        for _ in range(n)
    ]


def _liveqa(folder: str, language: str) -> list[str]:
    """The distinct expert answers of LiveQA in one language."""
    from openpyxl import load_workbook

    book = load_workbook(Path(folder, "xlinghealth", "LiveQA.xlsx"), read_only=True)
    rows = book.active.iter_rows(values_only=True)
    column = next(rows).index(f"answer_{language}")
    return list(dict.fromkeys(str(row[column]) for row in rows if row[column]))


def main() -> None:
    """Print one line per part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    n = parser.parse_args().questions
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is first imported
    folder = os.environ.get("XLING_REALDATA")
    texts = {
        code: _liveqa(folder, name) if folder else None
        for code, name in (("en", "English"), ("es", "Spanish"), ("zh", "Chinese"), ("hi", "Hindi"))
    }
    rows = [bench_ngrams(n, texts=texts["en"])]
    rows += [
        bench_language(max(1, n // 5), texts=t, language=c)
        for c, t in texts.items()
        if t or c == "en"
    ]
    print(f"per 1,000 questions, K = 10, {'LiveQA' if folder else 'generated'} texts")
    for row in rows:
        check = {
            key: row[key]
            for key in ("max_abs_difference", "labels_equal", "n_labels")
            if key in row
        }
        print(
            f"{row['part']:28} reference {row['reference_s']:9.1f} s (from {row['reference_questions']})"
            f"  ours {row['ours_s']:7.3f} s  {row['ratio']:6.0f}x  {check}"
        )


if __name__ == "__main__":
    main()
