"""Both kinds of ROUGE: literals by hand, parity with `rouge` and `rouge-score`."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator

import pytest
import references
from xling_metrics.rationale_tokens import cut_rationale
from xling_metrics.rouge import rouge, rouge_standard


@pytest.fixture
def package() -> Iterator[Callable[[str, str], list[float]]]:
    """The package `rouge`, whose recursion is given the room that the published code gives."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield references.rouge_package()
    sys.setrecursionlimit(limit)


def test_rouge_by_hand():
    # Sentences: candidate 'a b c' and 'a d', reference 'a c b' and 'd a'.
    # ROUGE-1: both {a, b, c, d}: P = R = 1.
    # ROUGE-2, over sentence ends: {ab, bc, ca, ad} against {ac, cb, bd, da}: nothing.
    # ROUGE-L: 'a c b' with 'a b c' has two subsequences of length 2, 'a b' and 'a c'. From the end,
    #   b and c differ; leaving out b leaves 2, leaving out c leaves 2, not more; so c goes: 'a b'.
    #   'a c b' with 'a d': 'a'. 'd a' with 'a b c': 'a'. 'd a' with 'a d': a and d differ, both
    #   leave 1; the candidate's d goes: 'a'. The union {a, b} of 4: P = R = 1/2.
    small = 1e-8
    score = rouge("a b c. a d", "a c b. d a")
    assert score == pytest.approx((2 / (2 + small), 0.0, 2 * 0.25 / (1 + small)), abs=1e-15)


def test_rouge_counts_sets():
    # {a, b} against {a}: P = 1/2, R = 1; {ab, ba} against {}: 0.
    score = rouge("a b a b", "a")
    assert score == pytest.approx((1 / (1.5 + 1e-8), 0.0, 1 / (1.5 + 1e-8)), abs=1e-15)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        # 1-grams: b twice, c once: 3 of 4 and 4. 2-grams: bc: 1 of 3 and 3.
        # Longest common subsequence 'b b' or 'b c': 2 of 4 and 4.
        ("abbc", "bcbd", (3 / 4, 1 / 3, 1 / 2)),
        # 2 of 2, 2 of 4: F = 2 * 1 * 0.5 / 1.5; 2-grams 1 of 1, 1 of 3: 2 * 1/3 / (4/3)
        ("ab", "abcd", (2 / 3, 1 / 2, 2 / 3)),
        ("a", "a", (1.0, 0.0, 1.0)), ("a", "b", (0.0,) * 3), ("", "a", (0.0,) * 3),
        ("a", "", None), ("", "", None),
    ],
)  # fmt: skip
def test_rouge_standard_by_hand(candidate, reference, expected):
    found = rouge_standard(list(candidate), list(reference))
    assert found == (expected and pytest.approx(expected))


@pytest.mark.parametrize("blank", ["", " ", ".", "...", " . \n. "])
def test_empty(blank):
    assert rouge(blank, "a b") == (0.0, 0.0, 0.0)
    assert rouge("a b", blank) is None
    assert rouge(blank, blank) is None


def test_package_on_many_small_texts(package):
    # Few words and many full stops: subsequences with ties, sentences that are blank or repeated.
    rng = random.Random(3)
    for _ in range(1500):
        texts = [
            "a" + "".join(rng.choices(["a ", "b ", "c ", " d", ". ", ".", "  ", "\n"], k=k))
            for k in rng.choices(range(25), k=2)
        ]
        assert rouge(*texts) == pytest.approx(package(*texts), abs=1e-12), texts


def test_parity(rationales, package):
    language, drawn = rationales
    google = references.rouge_score()
    for both in drawn:
        candidate, reference = (cut_rationale(text, language) for text in both)
        ours = rouge(candidate.rouge_text, reference.rouge_text)
        assert ours == pytest.approx(package(candidate.rouge_text, reference.rouge_text), abs=1e-12)
        tokens = candidate.standard_tokens, reference.standard_tokens
        standard = rouge_standard(*tokens)
        if standard is None:
            assert not tokens[1]
        else:
            assert standard == pytest.approx(google(*tokens), abs=1e-12)


def test_ascii_tokens_are_those_of_rouge_score():
    tokenize = pytest.importorskip("rouge_score.tokenize").tokenize
    text = "The COVID-19 test's 3.5 mmol/L_x; (don't) e.g. \"A\", B's\tYES--no!"
    assert cut_rationale(text, "en").standard_tokens == tokenize(text, None)
    # Stated: beyond ASCII it cuts words at the letters that it does not know.
    assert tokenize("naïve", None) == ["na", "ve"]
    assert cut_rationale("naïve", "fr").standard_tokens == ["naïve"]
    assert tokenize("Жар", None) == []
    assert cut_rationale("Жар", "ru").standard_tokens == ["жар"]


def test_long_text_that_breaks_the_package(package):
    rng = random.Random(5)
    words = [str(rng.randrange(300)) for _ in range(1400)]
    candidate, reference = " ".join(words[:700]), " ".join(words[700:])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own
    try:
        with pytest.raises(RecursionError):
            package(candidate, reference)
        ours = rouge(candidate, reference)
    finally:
        sys.setrecursionlimit(limit)
    assert ours == pytest.approx(package(candidate, reference), abs=1e-12)


def test_very_long_text():
    words = [str(i % 3001) for i in range(20_000)]
    assert rouge(" ".join(words), " ".join(words)) == pytest.approx((1, 1, 1), abs=1e-8)
    assert rouge_standard(words, words) == (1.0, 1.0, 1.0)
