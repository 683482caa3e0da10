"""N-gram agreement: literals by hand, parity with CountVectorizer and jaccard_score."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import jaccard_score
from xling_metrics.ngrams import answer_lengths, distinct_answers, ngram_consistency_corpus
from xling_metrics.tokenization import lower_words

pytestmark = pytest.mark.core


def ngram_consistency(answers: list[str], **options: Any) -> Any:
    (result,) = ngram_consistency_corpus([answers], **options)
    return result


def _reference(a: str, b: str, n: int) -> float | None:
    """One pair by scikit-learn; None where it raises because neither text has an n-gram."""
    try:
        counts = CountVectorizer(ngram_range=(n, n), binary=True).fit_transform([a, b]).toarray()
    except ValueError as error:
        assert "empty vocabulary" in str(error)
        return None
    return float(jaccard_score(counts[0], counts[1]))


def _reference_mean(answers: list[str], n: int) -> float | None:
    values = [_reference(a, b, n) for a, b in combinations(answers, 2)]
    scored = [value for value in values if value is not None]
    return sum(scored) / len(scored) if scored else None


@pytest.mark.parametrize(
    ("answers", "one", "two"),
    [
        # 1-grams: A {take, the, pill}, B {take, the, tablet}, C {rest}
        #   AB 2/4, AC 0/4, BC 0/4                                    -> mean 1/6
        # 2-grams: A {take the, the pill}, B {take the, the tablet}, C {}
        #   AB 1/3; AC and BC one empty, the other not: 0, scored     -> mean 1/9
        (["Take the pill.", "take the TABLET", "Rest!"], 1 / 6, 1 / 9),
        # {ha} against {ha}: 1; 2-grams {ha ha} against {}: 0
        (["ha ha ha", "ha"], 1.0, 0.0),
        # '' and '?' have no words, so their pair is unscored in both orders; with 'yes' they give 0
        # in 1-grams. In 2-grams no answer has one: nothing is scored.
        (["", "?", "yes"], 0.0, None),
        (["", ""], None, None), ([], None, None), (["only one answer"], None, None),
        # Six pairs: three of "aa bb" with its copies give 1, three with "cc" give 0
        (["aa bb", "aa bb", "cc", "aa bb"], 0.5, 0.5),
    ],
)  # fmt: skip
def test_by_hand(answers, one, two):
    assert ngram_consistency(answers) == (pytest.approx(one), pytest.approx(two))


def test_source_language_words_and_distinct_answers():
    # Hindi, three words each, two shared: 2/4; bigrams {दवा रोज़, रोज़ लें} and {दवा रोज़, रोज़ खाएँ}: 1/3.
    # The published pattern would find nothing in these words but single letters.
    answers = ["दवा रोज़ लें।", "दवा रोज़ खाएँ।"]
    result = ngram_consistency(answers, tokenize=lambda text: lower_words(text, "hi"))
    assert result == (0.5, pytest.approx(1 / 3))
    assert (distinct_answers([*answers, answers[0]]), distinct_answers([])) == (2, 0)


def test_parity_with_scikit_learn_on_random_answers():
    rng = random.Random(11)
    vocabulary = ["", "I", "Take", "take", "2", "pills", "don't", "मधुमेह", "糖尿病", "É", "été", "İ"]
    for _ in range(25):
        answers = [" ".join(rng.choices(vocabulary, k=rng.randrange(6))) for _ in range(5)]
        for n, ours in enumerate(ngram_consistency(answers), start=1):
            reference = _reference_mean(answers, n)
            assert ours == (None if reference is None else pytest.approx(reference, abs=1e-12))


def test_answer_lengths():
    # 2 and 4 words: mean 3, deviations -1 and 1, population variance 2/2 = 1 (a sample's would be 2)
    assert answer_lengths(["one two", "a b c d!"], "en") == (3.0, 1.0, 2)
    assert answer_lengths(["", "one two"], "en") == (1.0, 1.0, 2)
    assert answer_lengths(["one two"], "en") == (2.0, None, 1)
    assert answer_lengths([], "en") == (None, None, 0)
