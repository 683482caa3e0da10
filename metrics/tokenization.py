"""Words of a text, by language: for lengths, and for n-grams in the source language.

* `published_words` is scikit-learn's default pattern, with which XLingEval's numbers were made (on
  answers translated to English). It cuts Hindi words at every vowel sign and sees a Chinese clause
  as one word, so use it for English only.
* `words` is ours, for any language: jieba for Chinese, fugashi with unidic-lite for Japanese,
  pythainlp for Thai, and a Unicode pattern for languages with spaces between words.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

import numpy as np
import regex
from xling_metrics.acceleration import Arrays, load_or_build
from xling_metrics.base import import_optional, library_version, normalize_text
from xling_metrics.languages import find_language, language_code

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


def published_words(text: str) -> list[str]:
    r"""Return lower-cased runs of two or more word characters: `(?u)\b\w\w+\b`.

    Source: the default `token_pattern` of scikit-learn's CountVectorizer, as the code of XLingEval
    (arXiv 2310.13132) used it. Empty text gives an empty list.
    """
    return _PUBLISHED.findall(text.lower())


def words(text: str, language: str) -> list[str]:
    """Return the words of a text, in order, without punctuation, symbols and space; case stays.

    Apostrophes and single hyphens inside a word keep it one word (`don't`, `l'eau`, `COVID-19`), as
    do separators inside a number (`3.5`); a slash, an underscore or a full stop between letters
    splits (`mg/dL` is two words, `www.who.int` three). A segmenter cuts Chinese, Japanese and Thai
    first; the same pattern then cleans its tokens. The text is read in Unicode form NFC, because
    models write a Hindi or Vietnamese letter sometimes as one code point, sometimes as a letter and
    a mark.

    Raises:
        ExtraMissing: If the language's segmenter is not installed; the message names the extra.
        ValueError: For Khmer, Lao and Burmese, which need a segmenter that is not here.
    """
    code, libraries, text = language_code(language), _libraries(language), normalize_text(text)
    if libraries is None:
        return list(_WORD.findall(text))
    if not libraries:  # a count of space-separated runs would be wrong
        raise ValueError(f"{code} is written without spaces and has no word segmenter here")
    return [word for token in segmenter(code)(text) for word in _WORD.findall(token)]


def lower_words(text: str, language: str) -> list[str]:
    """Return `words`, lower-cased after segmentation: what n-grams of a source language compare."""
    return [word.lower() for word in words(text, language)]


def length_words(text: str, language: str) -> int:
    """Return the number of `words`: 0 or more; 0 for empty text.

    The XLingEval paper counts words without punctuation and space; its published code counts NLTK
    tokens, punctuation among them, and its table of the data sets counts pieces between spaces.
    """
    return len(words(text, language))


class TokenCache:
    """`lower_words` of texts in a language: each text segmented once, equal words one object."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._words_of: dict[str, list[str]] = {}
        self._interned: dict[str, str] = {}

    def words(self, text: str) -> list[str]:
        """Return `lower_words` of a text, not to be changed."""
        if text not in self._words_of:
            words = lower_words(text, self._language)
            self._words_of[text] = [self._interned.setdefault(word, word) for word in words]
        return self._words_of[text]

    def length(self, text: str) -> int:
        """Return `length_words` of a text."""
        return len(self.words(text))


def has_words(text: str, minimum: int) -> bool:
    """Return whether a text of a language with spaces has `minimum` words, reading no further."""
    return sum(1 for _ in islice(_WORD.finditer(text), minimum)) == minimum


def can_segment(language: str) -> bool:
    """Return whether `words` cuts this language; it does not cut Khmer, Lao and Burmese."""
    return _libraries(language) != ()


def load_segmenter(language: str) -> None:
    """Load the segmenter of a language, so that a missing package is reported before a run.

    Raises:
        ExtraMissing: If it is not installed; the message names the extra.
    """
    if _libraries(language):
        segmenter(language_code(language))


def segmenter_name(language: str) -> str:
    """Name the segmenter of a language with versions, for signatures: `jieba:0.42.1`."""
    libraries = _libraries(language) or ("regex",)
    return "+".join(f"{name}:{library_version(name)}" for name in libraries)


def _libraries(language: str) -> tuple[str, ...] | None:
    """Return the distributions of a language's segmenter; None where spaces separate words."""
    row = find_language(language)
    return None if row is None else row.segmenter


@cache
def segmenter(code: str) -> Callable[[str], Iterable[str]]:
    """Load the segmenter of Chinese, Cantonese, Japanese or Thai, once, or raise `ExtraMissing`."""
    loaders = {"zh": _load_jieba, "yue": _load_jieba, "ja": _load_fugashi, "th": _load_pythainlp}
    return loaders[code]()


def _load_jieba() -> Callable[[str], Iterable[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # import-time warnings about its own old code
        import jieba

    # Its own loader would log to stderr and trust a pickle-like cache in the shared temp folder.
    tokenizer = jieba.Tokenizer()

    def read_dictionary() -> Arrays:
        frequencies, total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        text = np.frombuffer("\n".join(frequencies).encode(), np.uint8)
        return {"words": text, "frequencies": np.array([*frequencies.values(), total])}

    arrays = load_or_build(f"jieba-{library_version('jieba')}", read_dictionary)
    *frequencies, tokenizer.total = arrays["frequencies"].tolist()
    entries = arrays["words"].tobytes().decode().split("\n")
    tokenizer.FREQ = dict(zip(entries, frequencies, strict=True))
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut


def _load_fugashi() -> Callable[[str], Iterable[str]]:
    folder = import_optional("unidic_lite", "words of language 'ja'", "ja").DICDIR
    # The folder is given so that a full UniDic elsewhere on the machine does not change the words.
    fugashi = import_optional("fugashi", "words of language 'ja'", "ja")
    tagger = fugashi.Tagger(f'-d "{folder}" -r "{folder}/mecabrc"')
    return lambda text: [node.surface for node in tagger(text)]


def _load_pythainlp() -> Callable[[str], Iterable[str]]:
    tokenize = import_optional("pythainlp.tokenize", "words of language 'th'", "th").word_tokenize
    return lambda text: tokenize(text, engine="newmm") if text else []
