r"""Tokens of a rationale, per language, as the published code of MMedBench cuts them.

Source: `metrics/rationale_similarity.py` beside arXiv 2402.13963. There BLEU compares the tokens of
NLTK's `word_tokenize` for en, fr, ru and es, of `jieba.cut` for zh, and of Janome for ja. ROUGE
compares the *plain text* in en, fr, ru and es, and the tokens joined by spaces in zh and ja. Case
and punctuation stay, and so do the spaces and line ends that jieba and Janome give as tokens.

Deviation: `word_tokenize` cuts the text into sentences first, by an English punkt model that has to
be downloaded (the published code uses it for all four languages). Here punkt runs with no learnt
parameters, which NLTK holds in its code, so nothing is downloaded and no file on the machine can
change a score. They differ only after the model's abbreviations, a list learnt from the Wall Street
Journal (`dr.`, `mr.`, `u.s.`; but not `e.g.` or `etc.`): here the sentence ends there, and the full
stop is a token of its own. Against the model's abbreviations, sentence starters and collocations,
on real text: equal tokens for 241 of 244 English and 243 of 244 Spanish answers of LiveQA and for
all 312 French and 300 Russian questions of MMedBench's sources; BLEU-1 of a pair moved by 0.00001
to 0.00004 on average, by 0.0075 at most. Without sentences (`preserve_line=True`) only 335 of those
1,100 texts have equal tokens, and BLEU-1 moves by 0.002 to 0.019 on average.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import regex
from xling_metrics.base import import_optional, library_version, replace_lone_surrogates
from xling_metrics.languages import language_code
from xling_metrics.tokenization import segmenter

RATIONALE_LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")

# Written without spaces: the published code joins their tokens by spaces before ROUGE.
_SEGMENTED = {"zh": "jieba", "ja": "janome"}

_RUN = regex.compile(r"[\p{L}\p{N}\p{M}]+")


class TokenizedRationale(NamedTuple):
    """A rationale in the three forms that the metrics compare.

    Attributes:
        tokens: `rationale_tokens`, for BLEU.
        rouge_text: The text as the published code hands it to ROUGE: unchanged in en, fr, ru and
            es; the tokens joined by spaces in zh and ja.
        standard_tokens: For the standard ROUGE: lower-cased runs of letters, digits and marks, in
            zh and ja of each token. For text in ASCII these are the tokens of `rouge-score`, which
            knows only a-z and 0-9, and so finds nothing in Chinese, Japanese or Russian.
    """

    tokens: list[str]
    rouge_text: str
    standard_tokens: list[str]


def rationale_tokens(text: str, language: str) -> list[str]:
    """The tokens of a rationale, in order; none for empty or blank text.

    Case and punctuation stay. As in the published code, NLTK writes straight double quotes as two
    back-quotes or two apostrophes, and tokens in zh and ja may be white space (a blank text has
    such tokens by jieba, none here).

    Args:
        text: Any text.
        language: One of `RATIONALE_LANGUAGES`, or a longer code such as `zh-CN`.

    Raises:
        ValueError: For another language.
        ImportError: If Janome is not installed; the message names the extra.
    """
    tokenize = _tokenizer(_checked(language))
    return tokenize(text) if text.strip() else []


def tokenize_rationale(text: str, language: str) -> TokenizedRationale:
    """All that BLEU and both kinds of ROUGE need of a rationale, segmented once.

    Raises:
        ValueError: For a language that is not one of `RATIONALE_LANGUAGES`.
        ImportError: If Janome is not installed; the message names the extra.
    """
    tokens = rationale_tokens(text, language)
    rouge_text = " ".join(tokens) if language_code(language) in _SEGMENTED else text
    runs = [run.lower() for run in _RUN.findall(rouge_text)]
    return TokenizedRationale(tokens, rouge_text, runs)


def rationale_tokenizer_name(language: str) -> str:
    """What `rationale_tokens` uses, with its version, for signatures.

    `nltk-word+punkt-untrained:3.9.1`, `jieba:0.42.1` or `janome:0.5.0`.
    """
    code = _checked(language)
    if code in _SEGMENTED:
        return f"{_SEGMENTED[code]}:{library_version(_SEGMENTED[code])}"
    return f"nltk-word+punkt-untrained:{library_version('nltk')}"


def _checked(language: str) -> str:
    code = language_code(language)
    if code not in RATIONALE_LANGUAGES:
        listed = ", ".join(RATIONALE_LANGUAGES)
        raise ValueError(f"no rationale tokens for language {language!r}; choose from: {listed}")
    return code


def _tokenizer(code: str) -> Callable[[str], list[str]]:
    if code == "zh":
        cut = segmenter("zh")  # the dictionary that `words` reads too, loaded once for both
        return lambda text: list(cut(text))
    return _load_janome() if code == "ja" else _load_nltk()


@cache
def _load_nltk() -> Callable[[str], list[str]]:
    tokenize: Any = import_module("nltk.tokenize")  # slow to import, so only where it is used
    sentences = tokenize.PunktSentenceTokenizer().tokenize
    cut = tokenize.NLTKWordTokenizer().tokenize
    return lambda text: [token for sentence in sentences(text) for token in cut(sentence)]


@cache
def _load_janome() -> Callable[[str], list[str]]:
    janome = import_optional("janome.tokenizer", "rationales in Japanese", "ja")
    # The surfaces of the published code's tokenizer, without loading readings and base forms.
    tokenize = janome.Tokenizer(wakati=True).tokenize
    return lambda text: list(tokenize(replace_lone_surrogates(text)))  # it refuses half a letter
