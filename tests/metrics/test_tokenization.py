"""Words per language: literals cut by hand, the published pattern against scikit-learn."""

from __future__ import annotations

import random
import re
import sys
import tempfile

import pytest
import yaml
from conftest import DATA
from sklearn.feature_extraction.text import CountVectorizer
from xling_metrics import tokenization as words_module
from xling_metrics.languages import language_code
from xling_metrics.tokenization import (
    TokenCache,
    has_words,
    length_words,
    lower_words,
    published_words,
    segmenter_name,
    words,
)

pytestmark = pytest.mark.core

CASES = yaml.safe_load((DATA / "languages.yaml").read_text(encoding="utf-8"))


def test_a_cache_segments_once(monkeypatch):
    cache, text = TokenCache("zh"), "\u212b 头疼，膝盖疼。"
    expected = lower_words(text, "zh")
    assert cache.words(text) == expected
    monkeypatch.setattr(words_module, "lower_words", None)
    assert cache.words(text) == expected and cache.length(text) == len(expected)


def test_has_words():
    text = "Take 3.5 mg, don't chew."
    assert words(text, "en") == ["Take", "3.5", "mg", "don't", "chew"]
    assert [has_words(text, n) for n in (0, 1, 5, 6)] == [True, True, True, False]


@pytest.mark.parametrize(("language", "text", "expected"), CASES["words"])
def test_words(language: str, text: str, expected: list[str]):
    for package in {"ja": ("fugashi", "unidic_lite"), "th": ("pythainlp",)}.get(language, ()):
        pytest.importorskip(package)
    assert words(text, language) == expected
    assert length_words(text, language) == len(expected)


@pytest.mark.parametrize(("language", "module"), [("ja", "unidic_lite"), ("th", "pythainlp.tokenize")])  # fmt: skip
def test_absent_segmenter_names_the_extra(language, module, monkeypatch):
    words_module.segmenter.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"xling-tasks\[{language}\]"):
        words("あ", language)
    words_module.segmenter.cache_clear()


def test_jieba_is_silent_and_leaves_no_cache(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    words_module.segmenter.cache_clear()
    assert words("高血压", "zh") == ["高血压"]
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_lower_words_joins_the_two_spellings_of_a_letter():
    # U+0958 is one code point for ka + nukta (U+0915 U+093C); NFC of both is the pair.
    assert lower_words("\u0958लम", "hi") == lower_words("\u0915\u093cलम", "hi")
    assert lower_words("Cafe\u0301", "fr") == ["caf\u00e9"]
    # published_words leaves the two different
    assert published_words("Cafe\u0301") != published_words("Caf\u00e9")


def test_segmenter_names():
    names = {"zh-CN": r"jieba:0\.", "hi": "regex:20", "ja": r"fugashi:.*\+unidic-lite:"}
    assert all(re.match(name, segmenter_name(code)) for code, name in names.items())


def test_language_codes_and_a_language_without_a_segmenter():
    assert [language_code(c) for c in ("iw", "zh_Hant", "pt-BR", "EN")] == ["he", "zh", "pt", "en"]
    with pytest.raises(ValueError, match="without spaces"):
        words("ភាសាខ្មែរ", "km")


def test_published_words():
    # One-character words go, the apostrophe cuts: don't -> don (t goes); digits and _ are \w.
    assert published_words("I don't take A 1 or 20 mg_x.") == ["don", "take", "or", "20", "mg_x"]
    # Vowel signs of Devanagari are not \w, so हिन्दी falls apart into single letters.
    assert published_words("हिन्दी") == []
    assert published_words("") == []
    analyze = CountVectorizer().build_analyzer()
    rng = random.Random(7)
    alphabet = "aZéßİΣσ09_ '-.\n\t好病ाहि्\u200dقو\u0301"
    for _ in range(300):
        text = "".join(rng.choices(alphabet, k=rng.randrange(40)))
        assert published_words(text) == analyze(text)
