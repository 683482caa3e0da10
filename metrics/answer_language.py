"""Is an answer in the user's language, in another one, or too short to tell?

Script first: letters of another script decide alone, and so do letters of a script that no other
language here has. Within a script langid's model decides, but not by its label, which of three to
six words is wrong in every fourth case: by the odds of the language asked for against English, into
which models fall back, and against all others. Only odds that leave little doubt count.

    p(language | text)  ~  prior(language) * exp(score / TEMPERATURE)

`score` is langid's log-probability. Its n-grams overlap, so it is too sure; `TEMPERATURE` is what
makes the bundled texts, cut to 1 to 12 words, most likely. The language asked for and English have
the prior 1, and each other one `OTHERS`: models answer in English or in the user's language,
and what langid takes for Galician is Spanish. `python tests/benchmarks/answer_language.py` measures
it; its table is in docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray
from xling_metrics import langid_batches
from xling_metrics.language import ADDRESS, deciding_scripts, is_english, match_rule
from xling_metrics.languages import (
    KNOWN,
    SCRIPTS,
    in_script,
    known,
    language_code,
    letters_of,
)
from xling_metrics.words import LETTER

TEMPERATURE = 2.0
OTHERS = 0.0005
DECISIVE = 0.95
"""The probability from which a language is told, and below whose complement it is ruled out."""


# In another language only from so many words on; in another script only words that are neither
# names, abbreviations nor units count.
_LEAST_WORDS = 3
# In a language that langid does not know: from so many words on it would show that it is English.
_ENGLISH_WORDS = 8
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
                      r"|\p{L}[\p{L}\p{M}\p{N}'’\-]*")  # fmt: skip

ENGLISH = "en"


class Told(str, Enum):
    """What can be said of an answer's language."""

    USERS = "user's language"
    ANOTHER = "another language"
    UNTOLD = "too short to tell"


class AnswerLanguage(NamedTuple):
    """What is told of one answer.

    Attributes:
        told: One of the three.
        language: Of an answer in another language its code, where that is beyond doubt too; `en`
            for the fallback to English. None otherwise.
    """

    told: Told
    language: str | None = None


_UNTOLD = AnswerLanguage(Told.UNTOLD)
_USERS = AnswerLanguage(Told.USERS)


def tell(texts: Sequence[str], language: str) -> list[AnswerLanguage]:
    """What can be told of the language of each answer.

    How to use it: give all answers of a language at once. `Told.UNTOLD` is *not measured*: count it
    beside, never as another language and never as the user's. An empty answer and one without
    letters ('120/80') are untold too; whoever counts them as unanswered does so before.

    Fewer than three words are never another language. Where letters of other scripts are most of
    the text, it is one if three words are neither names, abbreviations nor units (romanized Hindi
    is not Hindi as its users write it). An answer in two languages counts as the one that most of
    it is in. A language that langid does not know, or that has another script than the usual one by
    its tag, is told from English by the commonest words of English, from eight words on, and from
    nothing else: a third language in the same script passes as the user's.

    Args:
        texts: The answers as the model gave them.
        language: The code or tag of the user's language.

    Returns:
        One per text.
    """
    code = language_code(language)
    is_modelled, own = _modelled(language)
    told: dict[str, AnswerLanguage] = {}
    within: list[str] = []
    for text in dict.fromkeys(texts):
        verdict = _by_script(_readable(text), own)
        if verdict in (None, _USERS) and not in_script(text, language):
            verdict = AnswerLanguage(Told.ANOTHER)
        if verdict is not None:
            told[text] = verdict
        elif not is_modelled or not letters_of(SCRIPTS[KNOWN[code].script]).search(text):
            told[text] = _by_common_words(_readable(text), code)
        else:
            within.append(text)
    told |= zip(within, _within_script(within, code, own), strict=True)
    return [told[text] for text in texts]


def not_checked(language: str) -> str:
    """What stays unseen of answers in a language, in words; empty where langid knows it.

    Args:
        language: Its code or tag.
    """
    code = language_code(language)
    is_modelled, own = _modelled(language)
    if is_modelled or (own and own != _LATIN and len(_sharing(own)) < 2):
        return ""
    if _near_english(code):
        return "whether answers are in the language or in English is not checked"
    return "whether answers are in a third language is not checked, only whether in English"


def _modelled(language: str) -> tuple[bool, tuple[str, ...]]:
    """Whether langid's model decides within the language's scripts, and these."""
    row, has_label = known(language), language_code(language) in langid_batches.known_labels()
    scripts = row.unicode_scripts if row else ()
    return has_label and not deciding_scripts(language), scripts


def _near_english(code: str) -> bool:
    """Whether the commonest words of a language are English's."""
    return code in KNOWN and ENGLISH in KNOWN[code].near


def rule(language: str) -> str:
    """How it is told, for signatures."""
    odds = f"langid_odds_within_script_{TEMPERATURE:g}_{OTHERS:g}_{DECISIVE:g}"
    return match_rule(language) or f"|by:{odds}"


def in_users_language(told: AnswerLanguage) -> float | None:
    """1 for the user's language, 0 for another one; None where it was not measured."""
    return None if told.told is Told.UNTOLD else float(told.told is Told.USERS)


def _readable(text: str) -> str:
    """A text without addresses; all capitals, which langid takes for other languages, lowered."""
    plain = ADDRESS.sub(" ", text)
    upper, lower = sum(map(str.isupper, plain)), sum(map(str.islower, plain))
    return plain.lower() if upper > lower else plain


def _by_script(text: str, own: tuple[str, ...]) -> AnswerLanguage | None:
    """What the letters say; None if they leave it to the words."""
    letters = len(LETTER.findall(text))
    if not letters:
        return _UNTOLD
    if not own:
        return None
    if 2 * len(letters_of(own).findall(text)) >= letters:
        return None if len(_sharing(own)) > 1 or own == _LATIN else _USERS
    foreign = [word for word in _WORD.findall(text) if not letters_of(own).search(word)]
    plain = sum(word == word.lower() and not _is_unit(word) for word in foreign)
    if plain < _LEAST_WORDS:
        return _UNTOLD
    return AnswerLanguage(Told.ANOTHER, _language_of(text))


_LATIN = ("Latin",)


def _is_unit(word: str) -> bool:
    """Whether a word may be a unit or a symbol: `mg`, `mmol`; in scripts without case none is."""
    return word.upper() != word and (len(word) <= 2 or word in ("mmol", "kcal", "mcg"))


@cache
def _sharing(scripts: tuple[str, ...]) -> tuple[str, ...]:
    """The languages of langid that are written in one of some scripts."""
    labels = langid_batches.known_labels()
    return tuple(code for code in labels if set(KNOWN[code].unicode_scripts) & set(scripts))


def _language_of(text: str) -> str | None:
    """The language of a text in whatever script, if it is beyond doubt; English before others."""
    shares = {each: len(letters_of(each).findall(text)) for each in _all_scripts()}
    here = max(shares, key=lambda each: shares[each])
    rivals = _sharing(here)
    (chances,) = _chances([text], rivals, ENGLISH)
    return _named(rivals, chances)


def _named(rivals: tuple[str, ...], chances: NDArray[np.float64]) -> str | None:
    """The likeliest language, if it is beyond doubt by more than that it is another one."""
    best = int(np.argmax(chances))
    return rivals[best] if 1 - chances[best] <= (1 - DECISIVE) ** 2 else None


@cache
def _all_scripts() -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(KNOWN[c].unicode_scripts for c in langid_batches.known_labels()))


def _within_script(texts: Sequence[str], code: str, own: tuple[str, ...]) -> list[AnswerLanguage]:
    """What langid's odds say of texts that may be in the language by their script."""
    if not texts:
        return []
    rivals = _sharing(own)
    asked = rivals.index(code)
    near = np.isin(rivals, [code, *KNOWN[code].near, *KNOWN[code].members])
    plain = [_readable(text) for text in texts]
    verdicts = []
    for text, chances in zip(plain, _chances(plain, rivals, code), strict=True):
        verdict = _UNTOLD
        if chances[asked] >= DECISIVE:
            verdict = _USERS
        elif chances[near].sum() <= 1 - DECISIVE and _is_enough(text):
            verdict = AnswerLanguage(Told.ANOTHER, _named(rivals, chances))
        verdicts.append(verdict)
    return verdicts


def _is_enough(text: str) -> bool:
    """Whether a text has the least number of words; two letters without spaces are one."""
    words = _WORD.findall(text)
    return sum(1 if len(word) > 1 else 0.5 for word in words) >= _LEAST_WORDS


def _chances(texts: Sequence[str], rivals: tuple[str, ...], asked: str) -> NDArray[np.float64]:
    """The probability of each rival for each text: texts x rivals."""
    labels = langid_batches.known_labels()
    columns = [labels.index(code) for code in rivals]
    likely = [code in (asked, ENGLISH) for code in rivals]
    prior = np.log(np.where(likely, 1.0, OTHERS))
    scores = langid_batches.scores_of([t.encode("utf-8", "surrogatepass") for t in texts])
    odds = scores[:, columns] / TEMPERATURE + prior
    odds = np.exp(odds - odds.max(axis=1, keepdims=True))
    chances: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
    return chances


def _by_common_words(text: str, code: str) -> AnswerLanguage:
    """What can be told where langid does not know the language."""
    if len(_WORD.findall(text)) < _ENGLISH_WORDS:
        return _UNTOLD
    if _near_english(code):
        return _UNTOLD
    return AnswerLanguage(Told.ANOTHER, ENGLISH) if is_english(text) else _USERS
