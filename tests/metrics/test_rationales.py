"""Rationale tokens, BLEU and both kinds of ROUGE: literals by hand, and parity with their packages."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from math import exp
from typing import Any

import pytest
import references
from rationale_texts import generated, pairs, real
from xling_metrics import rationale_tokens as module
from xling_metrics.base import library_version
from xling_metrics.bleu import corpus_bleu, ngram_matches, sentence_bleu
from xling_metrics.rationale_tokens import (
    RATIONALE_LANGUAGES,
    rationale_token_names,
    rationale_tokens,
    tokenize_rationale,
)
from xling_metrics.rouge import rouge, rouge_standard

from xling_tasks.tasks.rationales import RationaleScorer

pytestmark = pytest.mark.core

WEIGHTS = [(1,), (0, 1), (0, 0, 1), (0, 0, 0, 1), (0.25, 0.25, 0.25, 0.25)]


@pytest.fixture(scope="module")
def nltk_bleu() -> Callable[[list[str], list[str]], list[float]]:
    nltk: Any = pytest.importorskip("nltk.translate.bleu_score")
    smooth = nltk.SmoothingFunction().method1
    # One call per weights: what a release does with a list of weights has changed before.
    return lambda candidate, reference: [
        float(nltk.sentence_bleu([reference], candidate, own, smooth)) for own in WEIGHTS
    ]


def test_sentence_bleu_by_hand():
    # 4 tokens against 5: BP = exp(1 - 5/4) = exp(-1/4).
    # 1-grams: 'the' counts once, cat, sat        -> 3/4
    # 2-grams: the the -, the cat +, cat sat +    -> 2/3
    # 3-grams: the the cat -, the cat sat +       -> 1/2
    # 4-grams: none of 1                          -> 0.1/1
    score = sentence_bleu(["the", "the", "cat", "sat"], ["the", "cat", "sat", "down", "here"])
    bp = exp(-0.25)
    combined = bp * (3 / 4 * 2 / 3 * 1 / 2 * 0.1) ** 0.25
    assert score == pytest.approx((bp * 3 / 4, bp * 2 / 3, bp / 2, bp * 0.1, combined), abs=1e-15)
    # 6 tokens against 5: no penalty; 5/6, 4/5, 3/4, 2/3 of the n-grams are right.
    longer = sentence_bleu("abcdex", "abcde")[:4]
    assert longer == pytest.approx((5 / 6, 4 / 5, 3 / 4, 2 / 3), abs=1e-15)
    # One token, right: no 2-gram, so 0 matches of max(1, 0): 0.1/1, and so for 3 and 4.
    one = (1, 0.1, 0.1, 0.1, 0.001**0.25)
    assert sentence_bleu(["a"], ["a"]) == pytest.approx(one, abs=1e-15)
    assert sentence_bleu(["no"], "abcde") == sentence_bleu([], ["a"]) == (0, 0, 0, 0, 0)
    assert sentence_bleu(["a"], []) is sentence_bleu([], []) is None
    # 'a b' twice against once; 'b a' once against once
    found = [ngram_matches(*pair) for pair in (("abab", "aba", 2), ("ab", "ab", 3), ("", "ab", 1))]
    assert found == [2, 0, 0]


def test_edges_as_in_nltk(nltk_bleu):
    for candidate in ("", "a", "b", "ab", "abc", "abcd", "abcde", "aaaa", "xbcd", "ba"):
        for reference in ("a", "ab", "abcd", "abcdefgh", "zzzz"):
            ours = sentence_bleu(list(candidate), list(reference))
            assert ours == pytest.approx(nltk_bleu(list(candidate), list(reference)), abs=1e-12)
    # The one deviation: NLTK gives 0 where there is no reference.
    assert nltk_bleu(["a"], []) == [0, 0, 0, 0, 0]


@pytest.fixture(params=["generated", pytest.param("real", marks=pytest.mark.realdata)])
def texts_of(request):
    """From a language to texts in it."""
    if request.param == "generated":
        return generated
    folder = request.getfixturevalue("realdata")
    return lambda language: real(folder, language)[:25]


@pytest.fixture(params=RATIONALE_LANGUAGES)
def rationales(request, texts_of):
    """A language, and pairs of texts in it."""
    if request.param == "ja":
        pytest.importorskip("janome", reason="the extra ja is not installed")
    texts = texts_of(request.param)
    return request.param, pairs(texts, len(texts))


def test_parity_with_nltk(rationales, nltk_bleu):
    language, drawn = rationales
    n_some = 0
    for both in drawn:
        tokens = [rationale_tokens(text, language) for text in both]
        ours = sentence_bleu(*tokens)
        assert (ours is None) == (not tokens[1])
        assert ours is None or ours == pytest.approx(nltk_bleu(*tokens), abs=1e-9)
        n_some += ours is not None and ours.bleu4 > 0
    assert n_some > len(drawn) / 4


@pytest.mark.parametrize(("language", "tok"), [("fr", "13a"), ("zh-CN", "zh")])
def test_corpus_bleu_and_its_signature(language, tok):
    text = "take one 药 pill a day ."
    result = corpus_bleu([text, "no"], [text, " "], language)
    version = library_version("sacrebleu")
    signature = f"nrefs:1|case:mixed|eff:no|tok:{tok}|smooth:exp|version:{version}"
    assert result == (pytest.approx(100, abs=1e-9), signature)
    assert corpus_bleu([], [], language) == (None, signature)
    assert corpus_bleu([""], ["x"], language).score_percent == 0.0


def test_corpus_bleu_by_hand():
    # Both pairs together: 4 + 5 tokens, as long as the references: no penalty. Matches: 1-grams
    # 8/9, 2-grams 3/3 + 3/4 = 6/7, 3-grams 2/2 + 2/3 = 4/5, 4-grams 1/1 + 1/2 = 2/3.
    result = corpus_bleu(["a b c d", "e f g h x"], ["a b c d", "e f g h i"], "en")
    assert result.score_percent == pytest.approx(100 * (8 / 9 * 6 / 7 * 4 / 5 * 2 / 3) ** 0.25)


def test_corpus_bleu_in_japanese_names_its_tokenizer():
    signature = corpus_bleu(["薬を飲む。"], ["薬を飲む。"], "ja").signature
    has_mecab = find_spec("MeCab") and find_spec("ipadic")
    assert signature.split("|")[3].startswith("tok:ja-mecab-" if has_mecab else "tok:char")


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        # A full stop ends each sentence and is a token; inside a number or 'mmol/L' nothing is cut.
        ("It is 3.5 mmol/L. Stop.", "en", ["It", "is", "3.5", "mmol/L", ".", "Stop", "."]),
        ('She can\'t say "no"', "en", ["She", "ca", "n't", "say", "``", "no", "''"]),
        ("L'adrénaline, non. Oui", "fr", ["L'adrénaline", ",", "non", ".", "Oui"]),
        ("¿Sí? («No»)", "es", ["¿Sí", "?", "(", "«", "No", "»", ")"]),
        ("Боль. Жар!", "ru", ["Боль", ".", "Жар", "!"]),
        # The stated deviation: after an abbreviation of the downloaded model ('Dr.') that keeps its
        # full stop there, the sentence ends here.
        ("Ask Dr. Who", "en", ["Ask", "Dr", ".", "Who"]),
        ("患者发热。 A", "zh", ["患者", "发热", "。", " ", "A"]),
        ("", "en", []),
        (" \n", "zh", []),
    ],
)
def test_tokens(text, language, tokens):
    assert rationale_tokens(text, language) == tokens


def test_japanese_tokens_equal_the_published_tokenizer():
    tokenizer: Any = pytest.importorskip("janome.tokenizer", reason="the extra ja is missing")
    published = tokenizer.Tokenizer()
    for text in ("すもももももももものうち", "  風邪 です\nはい。", "", "答えはA, Bです。" * 200):
        ours = rationale_tokens(text, "ja")
        assert ours == [token.surface for token in published.tokenize(text)]
    # The well-known sentence: plums and peaches are both peaches.
    plums = ["すもも", "も", "もも", "も", "もも", "の", "うち"]
    assert rationale_tokens("すもももももももものうち", "ja") == plums
    # One reply that was cut within an emoji must not end a run.
    assert rationale_tokens("もも\ud83d", "ja") == rationale_tokens("もも\ufffd", "ja")


def test_chinese_tokens_equal_jieba():
    import jieba

    text = "荧光强度与荧光物质的浓度成正比，选项A, C是正确的。" * 3
    assert rationale_tokens(text, "zh") == list(jieba.cut(text))


def test_three_forms():
    cut = tokenize_rationale("The COVID-19 test's 3.5.", "en")
    assert cut.tokens == ["The", "COVID-19", "test", "'s", "3.5", "."]
    assert cut.rouge_text == "The COVID-19 test's 3.5."
    assert cut.standard_tokens == ["the", "covid", "19", "test", "s", "3", "5"]
    chinese = tokenize_rationale("患者发热。", "zh-CN")
    assert chinese == (["患者", "发热", "。"], "患者 发热 。", ["患者", "发热"])


def test_tokenizer_names_and_an_unknown_language():
    with pytest.raises(ValueError, match="'de'; choose from: en, zh, ja, fr, ru, es"):
        rationale_tokens("Ja", "de")
    bleu = f"nltk-word+punkt-untrained:{library_version('nltk')}"
    assert rationale_token_names("fr") == (bleu, "white_space", "lower_letters_digits_marks")
    jieba = f"jieba:{library_version('jieba')}"
    in_tokens = (f"white_space_of_{jieba}", f"lower_letters_digits_marks_of_{jieba}")
    assert rationale_token_names("zh-CN") == (jieba, *in_tokens)
    assert rationale_token_names("ja").bleu == f"janome:{library_version('janome')}"


def test_no_data_is_read_or_fetched(monkeypatch):
    data: Any = pytest.importorskip("nltk.data")
    module._load_nltk.cache_clear()
    for name in ("find", "load"):
        monkeypatch.setattr(data, name, None)
    assert rationale_tokens("One. Two", "en") == ["One", ".", "Two"]


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
    for _ in range(600):
        texts = [
            "a" + "".join(rng.choices(["a ", "b ", "c ", " d", ". ", ".", "  ", "\n"], k=k))
            for k in rng.choices(range(25), k=2)
        ]
        assert rouge(*texts) == pytest.approx(package(*texts), abs=1e-12), texts


def test_parity_of_rouge(rationales, package):
    language, drawn = rationales
    google = references.rouge_score()
    for both in drawn:
        candidate, reference = (tokenize_rationale(text, language) for text in both)
        ours = rouge(candidate.rouge_text, reference.rouge_text)
        assert ours == pytest.approx(package(candidate.rouge_text, reference.rouge_text), abs=1e-12)
        tokens = candidate.standard_tokens, reference.standard_tokens
        standard = rouge_standard(*tokens)
        assert (standard is None) == (not tokens[1])
        assert standard is None or standard == pytest.approx(google(*tokens), abs=1e-12)


def test_ascii_tokens_are_those_of_rouge_score():
    tokenize = pytest.importorskip("rouge_score.tokenize").tokenize
    text = "The COVID-19 test's 3.5 mmol/L_x; (don't) e.g. \"A\", B's\tYES--no!"
    assert tokenize_rationale(text, "en").standard_tokens == tokenize(text, None)
    # Stated: beyond ASCII it cuts words at the letters that it does not know.
    assert tokenize("naïve", None) == ["na", "ve"] and tokenize("Жар", None) == []
    assert tokenize_rationale("naïve Жар", "fr").standard_tokens == ["naïve", "жар"]


def test_very_long_text():
    words = " ".join(str(i % 3001) for i in range(20_000))
    assert rouge(words, words) == pytest.approx((1, 1, 1), abs=1e-8)


@pytest.mark.parametrize(
    ("language", "answer", "reference"),
    [("fr", "Une tumeur bénigne, déjà traitée", "Une tumeur déjà traitée"),
     ("ru", "Опухоль йодная, ещё одна", "Йодная опухоль ещё")],
)  # fmt: skip
def test_letters_and_accents_as_two_signs_are_the_same_text(language, answer, reference):
    scorer = RationaleScorer(language, None, cut=True)
    apart = unicodedata.normalize("NFD", answer)
    assert apart != answer
    assert scorer.score([apart], [reference]) == scorer.score([answer], [reference])
