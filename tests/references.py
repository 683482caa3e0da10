"""The packages that metrics are compared with, called as their users do: for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Questions = Sequence[Sequence[str]]


def rouge_package() -> Callable[[str, str], list[float]]:
    """F of ROUGE-1, ROUGE-2 and ROUGE-L by the package `rouge`; long texts need recursion."""
    package = pytest.importorskip("rouge", reason="the package rouge is not installed").Rouge()

    def score(candidate: str, text: str) -> list[float]:
        scores = package.get_scores(candidate, text)[0]
        return [scores[name]["f"] for name in ("rouge-1", "rouge-2", "rouge-l")]

    return score


def rouge_score() -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """The same by `rouge-score`, given tokens."""
    package: Any = pytest.importorskip("rouge_score.rouge_scorer")

    class Split:
        def tokenize(self, text: str) -> list[str]:
            return text.split("\n") if text else []

    names = ["rouge1", "rouge2", "rougeL"]
    scorer = package.RougeScorer(names, tokenizer=Split())

    def score(candidate: Sequence[str], text: Sequence[str]) -> list[float]:
        scores = scorer.score("\n".join(text), "\n".join(candidate))
        return [float(scores[name].fmeasure) for name in names]

    return score


def lda(counts: Any, n_topics: int, seed: int) -> Any:
    """scikit-learn's own fit."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(n_components=n_topics, random_state=seed, n_jobs=1)
    return model.fit(counts)


def topic_similarity(answers: Questions, n_topics: int, seed: int) -> np.ndarray:
    """The published computation, with nothing of ours: every text fitted and transformed."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer().fit_transform([a for question in answers for a in question])
    return mean_cosines(lda(counts, n_topics, seed).transform(counts), answers)


def hdp_similarity(answers: Questions, seed: int) -> np.ndarray:
    """The published computation by gensim, text by text."""
    from gensim.corpora import Dictionary
    from gensim.models import HdpModel
    from gensim.utils import simple_preprocess

    texts = [simple_preprocess(answer) for question in answers for answer in question]
    dictionary = Dictionary(texts)
    corpus = [dictionary.doc2bow(text) for text in texts]
    model = HdpModel(corpus, dictionary, random_state=seed)
    topics = np.zeros((len(corpus), model.get_topics().shape[0]))
    for row, text in zip(topics, corpus):
        for topic, probability in model[text]:
            row[topic] = probability
    return mean_cosines(topics, answers)


def mean_cosines(topics: np.ndarray, answers: Questions) -> np.ndarray:
    """The mean over the pairs of each question, whose answers' topics stand one after the other."""
    from sklearn.metrics.pairwise import cosine_similarity

    sides = pairwise(np.cumsum([0, *map(len, answers)]))
    own = (cosine_similarity(topics[a:b])[np.triu_indices(b - a, 1)] for a, b in sides)
    return np.array([values.mean() for values in own])


def save_bert(folder: str, texts: Sequence[str], pieces: int, **shape: Any) -> str:
    """A random BERT, by default of bert-base's size, whose WordPiece knows the words of some texts."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    trained = BertWordPieceTokenizer()
    trained.train_from_iterator(texts, vocab_size=pieces, min_frequency=1, show_progress=False)
    trained.save_model(folder)  # vocab.txt
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=512)
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def bert_scorer(model: str, device: str) -> Any:
    """bert_score at layer 9, rescaled by the published baseline of bert-base-uncased."""
    package: Any = pytest.importorskip("bert_score")
    baseline = Path(package.__file__).with_name("rescale_baseline") / "en/bert-base-uncased.tsv"
    return package.BERTScorer(
        model_type=model, num_layers=9, lang="en", rescale_with_baseline=True,
        baseline_path=str(baseline), device=device,
    )  # fmt: skip


def bert_pairs(score: Callable[..., Any], questions: Questions, **options: Any) -> Any:
    """P, R and F1 by bert_score, a row for every pair of one question's answers."""
    import torch

    pairs = [pair for answers in questions for pair in combinations(answers, 2)]
    first, second = (list(side) for side in zip(*pairs, strict=True))
    return torch.stack(score(first, second, **options), dim=1)
