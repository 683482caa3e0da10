"""Agreement of repeated answers in their topics: `sim_lda20`, `sim_lda100`, `sim_hdp`.

Source: Consistency of XLingEval (arXiv 2310.13132): one topic model per (data set, language,
temperature), fitted on all answers to all questions. A topic model depends on its random start:
between two seeds the similarity of one question's answers differs by 0.09 to 0.11 on average (LDA
with 20 topics, on answers made of LiveQA's sentences in four languages).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import stdev
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from xling_metrics import hdp, lda
from xling_metrics.base import PROGRESS_AFTER, mean, signature, usable_cores
from xling_metrics.lda import SparseCounts
from xling_metrics.tokenization import published_words

TopicModel = int | Literal["hdp"]
"""LDA with so many topics, or a hierarchical Dirichlet process."""

_QUESTION_BATCH = 256  # whose products are held at once: 256 x K x K floats


@dataclass(frozen=True)
class TopicCorpus:
    """Word counts of a corpus of answers, for all topic models.

    Attributes:
        counts: Distinct answers x words, as scikit-learn's CountVectorizer counts; None if no
            answer has a word.
        documents: The row of `counts` of each answer to each question, in order.
        rows: For each question, the rows of its answers that have words.
        tokenizer: The tokenizer's name, for signatures.
    """

    counts: SparseCounts | None
    documents: NDArray[np.int64]
    rows: list[NDArray[np.int64]]
    tokenizer: str


@dataclass(frozen=True)
class TopicResult:
    """Topic similarity of repeated answers, in 0..1; higher is more consistent.

    Attributes:
        per_question: The mean over seeds; None where fewer than two answers have words.
        per_question_by_seed: The value for each seed; None where `per_question` is.
        seed_sd: The sample standard deviation over seeds of the mean over scored questions; None
            for one seed.
        signature: How the numbers were made.
    """

    per_question: list[float | None]
    per_question_by_seed: list[list[float] | None]
    seed_sd: float | None
    signature: str


def topic_corpus(
    answers_by_question: Sequence[Sequence[str | None]],
    *,
    tokenize: Callable[[str], Sequence[str]] = published_words,
    tokenizer: str = "published_words",
) -> TopicCorpus:
    """Count the words of all answers, each distinct answer once.

    Args:
        answers_by_question: The answers to each question; None for one that is missing, such as a
            failed translation, which is not a document of the models.
        tokenize: Words of a text. The default is the published code's, for English and answers
            translated to it; it cuts Hindi words to pieces and sees a Chinese clause as one word.
        tokenizer: Its name for signatures.
    """
    row_by_answer: dict[str, int] = {}
    groups = [
        np.array(
            [row_by_answer.setdefault(a, len(row_by_answer)) for a in answers if a is not None],
            np.int64,
        )
        for answers in answers_by_question
    ]
    words = [tokenize(answer) for answer in row_by_answer]
    has_words = np.array(list(map(bool, words)), dtype=bool)
    documents = np.concatenate([*groups, np.empty(0, np.int64)])
    rows = [group[has_words[group]] for group in groups]
    return TopicCorpus(_count_words(words) if any(words) else None, documents, rows, tokenizer)


def topic_consistencies(
    corpus: TopicCorpus, *, models: Sequence[TopicModel], seeds: Sequence[int] = (0,)
) -> dict[TopicModel, TopicResult]:
    """Return `sim_lda<n>` and `sim_hdp`: how alike the topics of a question's answers are.

    Formula: for each seed, the cosine of the topic distributions of two answers, averaged over all
    unordered pairs of one question's answers that have words; then the mean over seeds, and over
    questions. Range 0..1, higher is more consistent; identical answers give exactly 1.

    Source: XLingEval (arXiv 2310.13132), section 3.3 and its code. With one seed, `sim_lda20` and
    `sim_lda100` are scikit-learn's `LatentDirichletAllocation(20 or 100, random_state=seed,
    n_jobs=1)` on CountVectorizer's counts, to 1e-9 (without numba it is scikit-learn that runs).
    `sim_hdp` is gensim's `HdpModel(corpus, dictionary, random_state=seed)` with its defaults, on a
    corpus of `hdp.hdp_words`; topics below 0.01 count as 0. The published code's default seed is
    42. More seeds are ours, and so is that only answers without words go unscored (the published
    code leaves out every question with an answer that is empty or has stop words alone).

    Read a difference between languages only if it is large against `seed_sd`, and never compare
    values of different models, tokenizers or numbers of answers.

    Args:
        corpus: What `topic_corpus` returned; None for all questions if none has two answers with
            words.
        models: Numbers of LDA topics, 1 to 100,000, and `hdp`.
        seeds: Distinct seeds; one model of each kind is fitted for each, in parallel.

    Raises:
        ValueError: For no seed, a seed given twice, or a number of topics out of range.
        ExtraMissing: For `hdp` without gensim.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be distinct, and at least one: {list(seeds)}")
    for model in models:
        if model != "hdp" and not 1 <= model <= lda.MAX_TOPICS:
            raise ValueError(f"n_topics must be 1 to {lda.MAX_TOPICS}: {model}")
    has_pairs = any(len(rows) > 1 for rows in corpus.rows)
    by_seed = _fit_all(corpus, models, seeds) if has_pairs else {}
    unscored: list[list[float | None]] = [[None] * len(corpus.rows)]
    signs = {model: topic_signature(model, seeds, corpus.tokenizer) for model in models}
    return {model: _summarize(by_seed.get(model, unscored), signs[model]) for model in models}


def topic_metric(model: TopicModel) -> str:
    """Name a model's metric: `sim_lda20`, `sim_hdp`."""
    return "sim_hdp" if model == "hdp" else f"sim_lda{model}"


def topic_signature(model: TopicModel, seeds: Sequence[int], tokenizer: str) -> str:
    """Return how a model's metric is made: model, tokenizer, seeds, library."""
    kind, library = ("hdp-vb", "gensim") if model == "hdp" else ("batch-vb-10", "scikit-learn")
    fields = {"model": kind, "tokenizer": tokenizer, "seeds": tuple(seeds)}
    return signature(topic_metric(model), libraries=(library,), **fields)


def _count_words(texts: Sequence[Sequence[str]]) -> SparseCounts:
    """Count as scikit-learn's CountVectorizer: texts x words, words in alphabetical order."""
    from scipy.sparse import csr_matrix

    vocabulary = sorted({word for words in texts for word in words})
    column = {word: index for index, word in enumerate(vocabulary)}
    columns = [column[word] for words in texts for word in words]
    bounds = np.cumsum([0, *map(len, texts)])
    unit_counts = np.ones(len(columns), np.int64)
    counts = csr_matrix((unit_counts, columns, bounds), shape=(len(texts), len(column)))
    counts.sum_duplicates()
    return counts


def _fit_all(
    corpus: TopicCorpus, models: Sequence[TopicModel], seeds: Sequence[int]
) -> dict[TopicModel, list[list[float | None]]]:
    """Return each question's value per model and seed; all fits share the cores."""
    from tqdm import tqdm

    def fit(job: tuple[TopicModel, int]) -> list[float | None]:
        (model, seed), texts = job, (corpus.counts, corpus.documents)
        if model == "hdp":
            topics = hdp.hdp_distributions(*texts, seed=seed)
        else:
            topics = lda.lda_distributions(*texts, n_topics=model, seed=seed)
        lengths = np.linalg.norm(topics, axis=1, keepdims=True)
        np.divide(topics, lengths, out=topics, where=lengths > 0)
        return _mean_cosines(topics, corpus.rows)

    # The longest first, so that no core is left with one of them at the end.
    ordered = sorted(models, key=lambda model: 0 if model == "hdp" else -model)
    jobs = [(model, seed) for model in ordered for seed in seeds]
    # Only the compiled loops let another thread run meanwhile.
    n_threads = usable_cores() if lda.is_compiled() else 1
    values: dict[TopicModel, list[list[float | None]]] = {model: [] for model in models}
    names = ", ".join(map(topic_metric, models))
    progress: Any = {"desc": names, "delay": PROGRESS_AFTER, "leave": False}
    with ThreadPoolExecutor(n_threads) as pool:
        fits = tqdm(pool.map(fit, jobs), total=len(jobs), unit="model", **progress)
        for (model, _), by_question in zip(jobs, fits, strict=True):
            values[model].append(by_question)
    return values


def _mean_cosines(
    units: NDArray[np.float64], questions: list[NDArray[np.int64]]
) -> list[float | None]:
    """Return the mean cosine over each question's pairs; one product for questions of one size."""
    means: list[float | None] = [None] * len(questions)
    by_size: dict[int, list[int]] = {}
    for number, rows in enumerate(questions):
        by_size.setdefault(len(rows), []).append(number)
    for size, numbers in by_size.items():
        first_answer, second_answer = np.triu_indices(size, 1)
        for first in range(0, len(numbers) if size > 1 else 0, _QUESTION_BATCH):
            batch = numbers[first : first + _QUESTION_BATCH]
            rows = np.stack([questions[number] for number in batch])
            vectors = units[rows]
            cosines = np.minimum(vectors @ vectors.transpose(0, 2, 1), 1.0)[
                :, first_answer, second_answer
            ]
            cosines[rows[:, first_answer] == rows[:, second_answer]] = (
                1.0  # Identical answers: no rounding.
            )
            for number, value in zip(batch, cosines.mean(axis=1), strict=True):
                means[number] = float(value)
    return means


def _summarize(by_seed: list[list[float | None]], sign: str) -> TopicResult:
    """Return mean and spread over seeds, by question and of the whole."""
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
