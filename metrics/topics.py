"""Agreement of repeated answers in their topics: `sim_lda20`, `sim_lda100`.

Source: Consistency of XLingEval (arXiv 2310.13132): one topic model per (data set, language,
temperature), fitted on all answers to all questions. A topic model depends on its random start:
between two seeds the similarity of one question's answers differs by 0.09 to 0.11 on average, and
questions change ranks (Spearman 0.70 to 0.81, LDA with 20 topics, on answers made of LiveQA's
sentences in four languages; 0.43 to 0.54 has been seen). So several models are fitted here, their
values averaged and the spread over seeds reported: two sets of five seeds agree at 0.92 to 0.94 in
English and Spanish, with 0.04 to 0.05 on average between their values of one question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xling_metrics import lda
from xling_metrics.base import PROGRESS_AFTER, mean, signature, usable_cores
from xling_metrics.lda import SparseCounts
from xling_metrics.words import published_words

Topics = int

_QUESTIONS_AT_ONCE = 256  # whose products are held at once


@dataclass(frozen=True)
class TopicCorpus:
    """Word counts of a corpus of answers, made once and used by every topic model.

    Attributes:
        counts: Distinct answers x words, as scikit-learn's CountVectorizer counts; None if no
            answer has a word.
        rows: For every answer of every question, in order, its row of `counts`.
        sizes: The number of answers to each question.
        tokenizer: What cut the answers into words, for signatures.
    """

    counts: SparseCounts | None
    rows: NDArray[np.int64]
    sizes: tuple[int, ...]
    tokenizer: str


@dataclass(frozen=True)
class TopicResult:
    """Topic similarity of repeated answers, in 0..1; higher is more consistent.

    Attributes:
        per_question: The mean over seeds; None where fewer than two answers have words.
        per_question_by_seed: The value for each seed, in the order of the seeds; None where
            `per_question` is.
        seed_sd: The sample standard deviation over seeds of the mean over scored questions; None
            for one seed.
        signature: How the numbers were made.
    """

    per_question: list[float | None]
    per_question_by_seed: list[list[float] | None]
    seed_sd: float | None
    signature: str


def topic_corpus(
    answers_by_question: Sequence[Sequence[str]],
    *,
    tokenize: Callable[[str], Sequence[str]] = published_words,
    tokenizer: str = "published_words",
) -> TopicCorpus:
    """Count the words of all answers, each distinct answer once.

    Args:
        answers_by_question: For each question, its answers. A missing answer is an empty one.
        tokenize: Words of a text. The default is that of the published code, meant for English
            (also for answers translated to English); it cuts Hindi words to pieces and sees a
            Chinese clause as one word.
        tokenizer: Its name for signatures.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    index: dict[str, int] = {}
    every = chain.from_iterable(answers_by_question)
    rows = [index.setdefault(answer, len(index)) for answer in every]
    words = [tokenize(answer) for answer in index]
    return TopicCorpus(
        counts=CountVectorizer(analyzer=list).fit_transform(words) if any(words) else None,
        rows=np.array(rows, dtype=np.int64),
        sizes=tuple(len(answers) for answers in answers_by_question),
        tokenizer=tokenizer,
    )


def topic_consistencies(
    corpus: TopicCorpus, *, models: Sequence[Topics], seeds: Sequence[int] = (0, 1, 2, 3, 4)
) -> dict[Topics, TopicResult]:
    """`sim_lda<n>`: do the answers to a question speak of the same topics?

    Formula: for each seed, the cosine of the topic distributions of two answers, averaged over all
    unordered pairs of one question's answers that have words; then the mean over seeds, and over
    questions. Identical answers give exactly 1. Source: XLingEval (arXiv 2310.13132); with one
    seed, `sim_lda20` and `sim_lda100` are its computation, scikit-learn's
    `LatentDirichletAllocation(20 or 100, random_state=seed, n_jobs=1)` on CountVectorizer's
    counts, to 1e-9. More seeds, and leaving out empty answers (the published code gave them the
    uniform distribution), are ours.

    Read a difference between languages only if it is large against `seed_sd`, and never compare
    values of different `n_topics`, tokenizers or numbers of answers.

    Edges: no questions, no two answers with words in any question: all None. Without numba
    scikit-learn does the same, slower.

    Args:
        corpus: What `topic_corpus` returned.
        models: Numbers of topics, 1 to 100,000.
        seeds: Distinct seeds; one model of each kind is fitted for each, side by side.

    Raises:
        ValueError: For no seed, a seed given twice, or a number of topics out of range.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be distinct, and at least one: {list(seeds)}")
    for model in models:
        if not 1 <= model <= lda.MAX_TOPICS:
            raise ValueError(f"n_topics must be 1 to {lda.MAX_TOPICS}: {model}")
    questions = _rows_with_words(corpus)
    there = any(len(rows) > 1 for rows in questions)
    fitted = list(models) if there else []
    by_seed = _values_by_seed(corpus, questions, fitted, seeds)
    return {
        model: _summary(
            by_seed.get(model, [[None] * len(questions)]),
            topic_signature(model, seeds, corpus.tokenizer),
        )
        for model in models
    }


def _rows_with_words(corpus: TopicCorpus) -> list[NDArray[np.int64]]:
    """For each question, the rows of its answers that have words."""
    bounds = np.cumsum((0, *corpus.sizes))
    groups = [corpus.rows[first:last] for first, last in pairwise(bounds)]
    if corpus.counts is None:
        return [group[:0] for group in groups]
    has_words = np.diff(corpus.counts.indptr) > 0
    return [group[has_words[group]] for group in groups]


def _values_by_seed(
    corpus: TopicCorpus,
    questions: list[NDArray[np.int64]],
    models: Sequence[Topics],
    seeds: Sequence[int],
) -> dict[Topics, list[list[float | None]]]:
    """Per model and seed, each question's value; all fits share the cores."""
    from tqdm import tqdm

    def fit(job: tuple[Topics, int]) -> list[float | None]:
        return _pair_means(_units(corpus, *job), questions)

    # The longest first, so that no core is left with one of them at the end.
    ordered = sorted(models, reverse=True)
    jobs = [(model, seed) for model in ordered for seed in seeds]
    # Only the compiled loops let another thread run meanwhile.
    at_once = usable_cores() if lda.is_compiled() else 1
    values: dict[Topics, list[list[float | None]]] = {model: [] for model in models}
    shown: Any = {"desc": ", ".join(map(_name, models)), "delay": PROGRESS_AFTER, "leave": False}
    with ThreadPoolExecutor(at_once) as pool:
        fits = tqdm(pool.map(fit, jobs), total=len(jobs), unit="model", **shown)
        for (model, _), by_question in zip(jobs, fits, strict=True):
            values[model].append(by_question)
    return values


def _units(corpus: TopicCorpus, n_topics: Topics, seed: int) -> NDArray[np.float64]:
    """The topic distributions of the distinct answers, at Euclidean length one."""
    topics = lda.lda_distributions(corpus.counts, corpus.rows, n_topics=n_topics, seed=seed)
    lengths = np.linalg.norm(topics, axis=1, keepdims=True)
    np.divide(topics, lengths, out=topics, where=lengths > 0)
    return topics


def _pair_means(
    units: NDArray[np.float64], questions: list[NDArray[np.int64]]
) -> list[float | None]:
    """The mean cosine over each question's pairs; questions of one size in one product."""
    means: list[float | None] = [None] * len(questions)
    of_size: dict[int, list[int]] = {}
    for number, rows in enumerate(questions):
        of_size.setdefault(len(rows), []).append(number)
    for size, numbers in of_size.items():
        left, right = np.triu_indices(size, 1)
        for first in range(0, len(numbers) if size > 1 else 0, _QUESTIONS_AT_ONCE):
            chosen = numbers[first : first + _QUESTIONS_AT_ONCE]
            rows = np.stack([questions[number] for number in chosen])
            own = units[rows]
            cosines = np.minimum(own @ own.transpose(0, 2, 1), 1.0)[:, left, right]
            cosines[rows[:, left] == rows[:, right]] = 1.0  # Identical answers: no rounding.
            for number, value in zip(chosen, cosines.mean(axis=1), strict=True):
                means[number] = float(value)
    return means


def _summary(by_seed: list[list[float | None]], sign: str) -> TopicResult:
    """Mean and spread over seeds, by question and of the whole."""
    scored = [[value for value in values if value is not None] for values in by_seed]
    questions = zip(*by_seed, strict=True)
    by_question = [[value for value in values if value is not None] for values in questions]
    means = [sum(values) / len(values) for values in scored if values]
    return TopicResult(
        per_question=[mean(values) for values in by_question],
        per_question_by_seed=[values or None for values in by_question],
        seed_sd=stdev(means) if len(means) > 1 else None,
        signature=sign,
    )


def _name(n_topics: Topics) -> str:
    return f"sim_lda{n_topics}"


def topic_signature(n_topics: Topics, seeds: Sequence[int], tokenizer: str) -> str:
    """How `sim_lda<n>` is made: model, tokenizer, seeds, library."""
    return signature(
        _name(n_topics),
        libraries=("scikit-learn",),
        model="batch-vb-10",
        tokenizer=tokenizer,
        seeds=tuple(seeds),
    )
