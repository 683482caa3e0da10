r"""Tokens of a rationale, per language, as the published code of MMedBench cuts them.

Source: `metrics/rationale_similarity.py` beside arXiv 2402.13963. There BLEU compares the tokens of
NLTK's `word_tokenize` for en, fr, ru and es, of `jieba.cut` for zh, and of Janome for ja. ROUGE
compares the *plain text* in en, fr, ru and es, and the tokens joined by spaces in zh and ja. Case
and punctuation stay, and so do the spaces and line ends that jieba and Janome give as tokens.

Deviation: `word_tokenize` first cuts the text into sentences by an English punkt model that has to
be downloaded (for all four languages). Here punkt runs without learnt parameters: after the model's
abbreviations (`dr.`, `mr.`, `u.s.`; but not `e.g.` or `etc.`) the sentence ends, and the full stop
is a token. Tokens are equal for 1,096 of 1,100 answers of LiveQA and questions of MMedBench's
sources (en, es, fr, ru); BLEU-1 of a pair moves by 0.00004 on average, by 0.0075 at most.
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


class TokenNames(NamedTuple):
    """What BLEU, the published ROUGE and the standard ROUGE compare, for signatures."""

    bleu: str
    rouge: str
    standard: str


def rationale_tokens(text: str, language: str) -> list[str]:
    """Return the tokens of a rationale, in order; none for empty or blank text.

    As in the published code, NLTK writes straight double quotes as two back-quotes or two
    apostrophes, and tokens in zh and ja may be white space (a blank text has such tokens by jieba,
    none here).

    Raises:
        ValueError: For a language that is not one of `RATIONALE_LANGUAGES`.
        ExtraMissing: If Janome is not installed; the message names the extra.
    """
    tokenize = _tokenizer(_require_language(language))
    return tokenize(text) if text.strip() else []


def tokenize_rationale(text: str, language: str) -> TokenizedRationale:
    """Return all that BLEU and both kinds of ROUGE need of a rationale, segmented once.

    Raises:
        ValueError: For a language that is not one of `RATIONALE_LANGUAGES`.
        ExtraMissing: If Janome is not installed; the message names the extra.
    """
    tokens = rationale_tokens(text, language)
    rouge_text = " ".join(tokens) if language_code(language) in _SEGMENTED else text
    runs = [run.lower() for run in _RUN.findall(rouge_text)]
    return TokenizedRationale(tokens, rouge_text, runs)


def rationale_token_names(language: str) -> TokenNames:
    """Name what each metric compares, with versions.

    BLEU's are `nltk-word+punkt-untrained:3.9.1`, `jieba:0.42.1` or `janome:0.5.0`.
    """
    code = _require_language(language)
    if code not in _SEGMENTED:
        nltk = f"nltk-word+punkt-untrained:{library_version('nltk')}"
        return TokenNames(nltk, "white_space", "lower_letters_digits_marks")
    segmented = f"{_SEGMENTED[code]}:{library_version(_SEGMENTED[code])}"
    return TokenNames(
        segmented, f"white_space_of_{segmented}", f"lower_letters_digits_marks_of_{segmented}"
    )


def _require_language(language: str) -> str:
    code = language_code(language)
    if code not in RATIONALE_LANGUAGES:
        supported = ", ".join(RATIONALE_LANGUAGES)
        raise ValueError(f"no rationale tokens for language {language!r}; choose from: {supported}")
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
