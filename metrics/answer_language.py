"""Decide whether an answer is in the user's language, in another one, or too short to tell.

Script first: letters of another script decide alone, and so do letters of a script that no other
language of langid has. Within a script langid's model decides. Its label is wrong for one in four
answers of three to six words, so its odds decide: of the user's language against English, which
models fall back to, and against all others, where they leave little doubt.

    p(language | text)  ~  prior(language) * exp(score / TEMPERATURE)

`score` is langid's log-probability. Its n-grams overlap, so it is too sure; `TEMPERATURE` maximizes
the likelihood of the bundled texts, cut to 1 to 12 words. The user's language and English have the
prior 1, all others `OTHER_PRIOR`: models answer in English or in the user's language, and what
langid takes for Galician is Spanish. `python tests/benchmarks/answer_language.py` measures it; its
table is in docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray
from xling_metrics import langid_batches
from xling_metrics.language import ADDRESS, deciding_scripts, in_language_rule, is_english
from xling_metrics.languages import (
    ALL_LANGUAGES,
    SCRIPTS,
    find_language,
    in_script,
    language_code,
    letter_pattern,
)
from xling_metrics.tokenization import LETTER

TEMPERATURE = 2.0
OTHER_PRIOR = 0.0005
DECISIVE = 0.95  # probability from which a language counts; below its complement it is ruled out

# Another language takes so many words; in another script only words that are neither names,
# abbreviations nor units count.
_MIN_WORDS = 3
_MIN_WORDS_WITHOUT_LANGID = 8  # by which English would show its commonest words
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
                      r"|\p{L}[\p{L}\p{M}\p{N}'’\-]*")  # fmt: skip
_LATIN = ("Latin",)
_ENGLISH = "en"


class AnswerLanguage(NamedTuple):
    """The language of one answer.

    Attributes:
        in_language: Whether it is the user's; None where the answer is too short to tell.
        language: The code of another language, where that is beyond doubt too; else None.
    """

    in_language: bool | None
    language: str | None = None


_UNKNOWN = AnswerLanguage(None)
_USERS = AnswerLanguage(True)


def classify_answer_language(texts: Sequence[str], language: str) -> list[AnswerLanguage]:
    """Decide for each answer whether it is in the user's language.

    `in_language` is None, and the answer unscored, if it is too short to tell, empty or without
    letters ('120/80'). Fewer than three words are never another language. Text mostly in letters of
    other scripts is another language if three words are neither names, abbreviations nor units
    (romanized Hindi is not Hindi as its users write it). An answer in two languages counts as the
    one that most of it is in. Where langid does not know the language, or the tag names another
    script than the usual one, English is recognized by its commonest words, from eight words on; a
    third language in the same script passes as the user's.

    Args:
        texts: The answers as the model gave them.
        language: The code or tag of the user's language.
    """
    code = language_code(language)
    has_model, usual_scripts = _resolve(language)
    results: dict[str, AnswerLanguage] = {}
    within: list[str] = []
    for text in dict.fromkeys(texts):
        by_script = _classify_by_script(_readable(text), usual_scripts)
        if by_script in (None, _USERS) and not in_script(text, language):
            by_script = AnswerLanguage(False)
        if by_script is not None:
            results[text] = by_script
        elif not has_model or not letter_pattern(SCRIPTS[ALL_LANGUAGES[code].script]).search(text):
            plain = _readable(text)
            is_long = len(_WORD.findall(plain)) >= _MIN_WORDS_WITHOUT_LANGID
            decided = AnswerLanguage(False, _ENGLISH) if is_english(plain) else _USERS
            results[text] = decided if is_long and not _is_near_english(code) else _UNKNOWN
        else:
            within.append(text)
    results |= zip(within, _classify_by_odds(within, code, usual_scripts), strict=True)
    return [results[text] for text in texts]


def describe_unchecked(language: str) -> str:
    """Describe what goes unchecked in a language; empty where langid knows it."""
    code = language_code(language)
    has_model, usual_scripts = _resolve(language)
    distinct_script = usual_scripts and usual_scripts != _LATIN and len(_sharing(usual_scripts)) < 2
    if has_model or distinct_script:
        return ""
    if _is_near_english(code):
        return "whether answers are in the language or in English is not checked"
    return "whether answers are in a third language is not checked, only whether in English"


def answer_language_rule(language: str) -> str:
    """Return the field of a signature that states how answers are classified."""
    odds = f"langid_odds_within_script_{TEMPERATURE:g}_{OTHER_PRIOR:g}_{DECISIVE:g}"
    return in_language_rule(language) or f"|by:{odds}"


def _resolve(language: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether langid's model decides within the language's scripts, and these."""
    row = find_language(language)
    has_label = language_code(language) in langid_batches.known_labels()
    return has_label and not deciding_scripts(language), row.unicode_scripts if row else ()


def _is_near_english(code: str) -> bool:
    return code in ALL_LANGUAGES and _ENGLISH in ALL_LANGUAGES[code].near


def _readable(text: str) -> str:
    """Remove addresses, and lower all capitals, which langid takes for other languages."""
    plain = ADDRESS.sub(" ", text)
    upper, lower = sum(map(str.isupper, plain)), sum(map(str.islower, plain))
    return plain.lower() if upper > lower else plain


def _classify_by_script(text: str, scripts: tuple[str, ...]) -> AnswerLanguage | None:
    """Return what letters alone say; None if they leave it to the words."""
    letters = len(LETTER.findall(text))
    if not letters:
        return _UNKNOWN
    if not scripts:
        return None
    if 2 * len(letter_pattern(scripts).findall(text)) >= letters:
        return None if len(_sharing(scripts)) > 1 or scripts == _LATIN else _USERS
    foreign = [word for word in _WORD.findall(text) if not letter_pattern(scripts).search(word)]
    plain = sum(word == word.lower() and not _is_unit(word) for word in foreign)
    return _UNKNOWN if plain < _MIN_WORDS else AnswerLanguage(False, _language_of(text))


def _is_unit(word: str) -> bool:
    """Return whether a word may be a unit or symbol: `mg`, `mmol`; none without case is."""
    return word.upper() != word and (len(word) <= 2 or word in ("mmol", "kcal", "mcg"))


@cache
def _sharing(scripts: tuple[str, ...]) -> tuple[str, ...]:
    """Return langid's languages that are written in one of some scripts."""
    labels = langid_batches.known_labels()
    return tuple(code for code in labels if set(ALL_LANGUAGES[code].unicode_scripts) & set(scripts))


def _language_of(text: str) -> str | None:
    """Return the language of a text in whatever script, if beyond doubt; English before others."""
    scripts = dict.fromkeys(ALL_LANGUAGES[c].unicode_scripts for c in langid_batches.known_labels())
    rivals = _sharing(max(scripts, key=lambda script: len(letter_pattern(script).findall(text))))
    return _beyond_doubt(rivals, _probabilities([text], rivals, _ENGLISH)[0])


def _beyond_doubt(rivals: tuple[str, ...], probabilities: NDArray[np.float64]) -> str | None:
    """Return the likeliest language; None unless it is surer than that it is another one."""
    best = int(np.argmax(probabilities))
    return rivals[best] if 1 - probabilities[best] <= (1 - DECISIVE) ** 2 else None


def _classify_by_odds(
    texts: Sequence[str], code: str, scripts: tuple[str, ...]
) -> list[AnswerLanguage]:
    """Return what langid's odds say of texts whose script is the language's."""
    if not texts:
        return []
    rivals = _sharing(scripts)
    users = rivals.index(code)
    near = np.isin(rivals, [code, *ALL_LANGUAGES[code].near, *ALL_LANGUAGES[code].members])
    plain = [_readable(text) for text in texts]
    results = []
    for text, probabilities in zip(plain, _probabilities(plain, rivals, code), strict=True):
        result = _UNKNOWN
        if probabilities[users] >= DECISIVE:
            result = _USERS
        elif probabilities[near].sum() <= 1 - DECISIVE:
            # Without spaces two letters are a word.
            n_words = sum(1 if len(word) > 1 else 0.5 for word in _WORD.findall(text))
            if n_words >= _MIN_WORDS:
                result = AnswerLanguage(False, _beyond_doubt(rivals, probabilities))
        results.append(result)
    return results


def _probabilities(
    texts: Sequence[str], rivals: tuple[str, ...], users: str
) -> NDArray[np.float64]:
    """Return the probability of each rival for each text: texts x rivals."""
    labels = langid_batches.known_labels()
    columns = [labels.index(code) for code in rivals]
    prior = np.log([1.0 if code in (users, _ENGLISH) else OTHER_PRIOR for code in rivals])
    scores = langid_batches.scores_of([t.encode("utf-8", "surrogatepass") for t in texts])
    odds = scores[:, columns] / TEMPERATURE + prior
    odds = np.exp(odds - odds.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
    return probabilities
