"""Words of a text, per language: for lengths, and for n-grams in the source language.

Two notions, never mixed in one score:

* `published_words` is scikit-learn's default pattern, which the XLingEval numbers were made with
  (on answers translated to English). It cuts Hindi words at every vowel sign and sees a Chinese
  clause as one word, so it is meant for English text only.
* `words` is ours, for any language: jieba for Chinese, fugashi with unidic-lite for Japanese,
  pythainlp for Thai, and a Unicode pattern for languages that put spaces between words.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

import regex
from xling_metrics.base import import_optional, library_version, replace_lone_surrogates
from xling_metrics.languages import known, language_code

LETTER = regex.compile(r"\p{L}")
"""A letter of any script; marks, digits and signs are none."""

_PUBLISHED = re.compile(r"(?u)\b\w\w+\b")

# A word starts with a letter or a digit. Marks continue it (vowel signs, nukta, virama), and so do
# ZWNJ and ZWJ, which are spelling in Persian and in Indic scripts. The inner signs join only
# between two such parts, so quotes around a word and a full stop after a number stay outside.
_WORD = regex.compile(
    r"""
    [\p{L}\p{N}] [\p{L}\p{N}\p{M}\u200c\u200d]*
    (?:
        (?: ['’＇·\-\u2010\u2011]                     # don't, l'eau, paral·lel, follow-up, COVID-19
          | (?<=\p{N}) [.,\u066b\u066c] (?=\p{N})      # 3.5, 1,000, and the Arabic separators
          | (?<=\p{Hebrew}) ["\u05f3\u05f4] (?=\p{Hebrew})  # Hebrew abbreviations
        )
        [\p{L}\p{N}] [\p{L}\p{N}\p{M}\u200c\u200d]*
    )*
    """,
    regex.VERBOSE,
)


def _libraries(language: str) -> tuple[str, ...] | None:
    """The distributions of a language's segmenter; None where spaces part words."""
    row = known(language)
    return None if row is None else row.segmenter


def published_words(text: str) -> list[str]:
    r"""Lower-cased runs of two or more word characters: `(?u)\b\w\w+\b`.

    Source: the default `token_pattern` of scikit-learn's CountVectorizer, as the code of XLingEval
    (arXiv 2310.13132) used it. Empty text gives an empty list.
    """
    return _PUBLISHED.findall(text.lower())


def words(text: str, language: str) -> list[str]:
    """The words of a text, in order, without punctuation, symbols and space; case is kept.

    Apostrophes and single hyphens inside a word keep it one word (`don't`, `l'eau`, `COVID-19`), as
    do separators inside a number (`3.5`); a slash, an underscore or a full stop between letters
    splits (`mg/dL` is two words, `www.who.int` three). Chinese, Japanese and Thai are cut by their
    segmenter first, and its tokens are then cleaned by the same pattern. Empty text gives an empty
    list.

    Args:
        text: Any text.
        language: A language code such as `en`, `zh-CN`.

    Raises:
        ImportError: If the language's segmenter is not installed; the message names the extra.
        ValueError: For Khmer, Lao and Burmese, which need a segmenter that is not here.
    """
    code, libraries = language_code(language), _libraries(language)
    if libraries is None:
        return list(_WORD.findall(text))
    if not libraries:  # a count of space-separated runs would be wrong
        raise ValueError(f"{code} is written without spaces and has no word segmenter here")
    return [word for token in segmenter(code)(text) for word in _WORD.findall(token)]


def has_words(text: str, at_least: int) -> bool:
    """Whether a text of a language with spaces has so many `words`; it is read no further."""
    return sum(1 for _ in islice(_WORD.finditer(text), at_least)) == at_least


def can_segment(language: str) -> bool:
    """Whether `words` knows this language: not those without spaces that need a segmenter."""
    return _libraries(language) != ()


def load_segmenter(language: str) -> None:
    """Load what cuts a language's words, so that what is missing is said before it is needed.

    Raises:
        ImportError: As of `words`.
    """
    if _libraries(language):
        segmenter(language_code(language))


def lower_words(text: str, language: str) -> list[str]:
    """`words`, lower-cased and in Unicode form NFC: what n-grams of the source language compare.

    NFC, because models write one Hindi or Vietnamese letter sometimes as one code point, sometimes
    as a letter and a mark. Segmented before lower-casing, which segmenters are not made for.
    """
    return [word.lower() for word in words(unicodedata.normalize("NFC", text), language)]


class TokenCache:
    """`lower_words` and `length_words` of texts of one language, each text segmented once.

    Keeps the words of every text that it was asked for, equal words as one object.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._kept: dict[str, tuple[list[str], int]] = {}
        self._same: dict[str, str] = {}

    def lower(self, text: str) -> list[str]:
        """`lower_words` of a text, not to be changed."""
        return self._cut(text)[0]

    def length(self, text: str) -> int:
        """`length_words` of a text."""
        return self._cut(text)[1]

    def _cut(self, text: str) -> tuple[list[str], int]:
        if text not in self._kept:
            lower = lower_words(text, self._language)
            composed = unicodedata.is_normalized("NFC", text)
            length = len(lower) if composed else length_words(text, self._language)
            self._kept[text] = [self._same.setdefault(word, word) for word in lower], length
        return self._kept[text]


def length_words(text: str, language: str) -> int:
    """The number of `words`: 0 or more; 0 for empty text.

    The XLingEval paper counts words without punctuation and space; its published code counts NLTK
    tokens, punctuation among them, and its table of the data sets counts pieces between spaces.
    """
    return len(words(text, language))


def segmenter_name(language: str) -> str:
    """What cuts this language into words, with versions, for signatures: `jieba:0.42.1`."""
    libraries = _libraries(language) or ("regex",)
    return "+".join(f"{name}:{library_version(name)}" for name in libraries)


_NEED = "words of language '{}'"


@cache
def segmenter(code: str) -> Callable[[str], Iterable[str]]:
    """The word segmenter of Chinese, Japanese or Thai, loaded once.

    Raises:
        ImportError: Naming the extra that brings it.
    """
    return {"zh": _load_jieba, "ja": _load_fugashi, "th": _load_pythainlp}[code]()


def _load_jieba() -> Callable[[str], Iterable[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # import-time warnings about its own old code
        import jieba

    # Its own loader would log to stderr and trust a pickle-like cache in the shared temp folder;
    # the dictionary read directly costs a second once, and leaves and reads nothing there.
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut


def _load_fugashi() -> Callable[[str], Iterable[str]]:
    folder = import_optional("unidic_lite", _NEED.format("ja"), "ja").DICDIR
    # The folder is given so that a full UniDic elsewhere on the machine does not change the words.
    tagger = import_optional("fugashi", _NEED.format("ja"), "ja").Tagger(
        f'-d "{folder}" -r "{folder}/mecabrc"'
    )
    return lambda text: [node.surface for node in tagger(replace_lone_surrogates(text))]


def _load_pythainlp() -> Callable[[str], Iterable[str]]:
    tokenize = import_optional("pythainlp.tokenize", _NEED.format("th"), "th").word_tokenize
    return lambda text: tokenize(text, engine="newmm") if text else []
