"""Which translations are none: what a translation model returns when it fails without saying so.

The tests are one-sided: they find the failures that ruin a score (loops, untranslated text, the
wrong language, text lost or made up), and must let real translations of medical prose pass, since
what they reject leaves its whole answer unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import regex
from xling_metrics.language import identify_language
from xling_metrics.languages import Language, known, letters_of
from xling_metrics.tokenization import LETTER

from xling_tasks.readers.refusals import is_refusal

VERSION = 3
"""Counts up when a rule changes, so that cached results are not mixed."""

_UNITS = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’\-]*"
)
# Web and mail addresses belong to no language.
_ADDRESS = regex.compile(
    r"\S*(?:://|www\.|@)\S*|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu)\b\S*"
)

_LONGEST_PHRASE = 60  # words that a loop repeats
_LONG_PHRASE = (
    10  # characters: a phrase of so many is a loop the third time, a shorter one the fifth
)
_SAME_LETTER = regex.compile(r"(\p{L}\p{M}*)\1{9,}")
_REPEATED_SHARE, _REPEATED_UNITS = 0.5, 24

_TEXT = r"(?:text|sentence|passage|request|input|content)"
_CANNOT_TRANSLATE = regex.compile(
    r"(?:cannot|can['’]t|can not|unable to|not able to|won['’]t) translate"
    rf"(?:[.!]| (?:\w+ )?{_TEXT})|{_TEXT} (?:cannot|can['’]t|could not) be translated\b",
    regex.I,
)

_COPY_WORDS, _COPY_SHARE = 4, 0.9
_FOREIGN_WORDS = 3

# Letters from which langid is trusted. Of correct sentences it then calls fewer than 1 in 200 wrong
# (XLingHealth's LiveQA in en, es, zh and hi), its confusions of near languages left aside.
_LETTERS, _LETTERS_DENSE = 60, 20
_IDENTIFIED = 600  # characters by which a text's language is told: more cost time and tell no more
_DENSE = 0.5  # a language of this density and less says in 20 letters what others say in 60

# How far a translation's length may be from the expected one; wide, because densities are rough.
_TIMES, _SLACK = 3.0, 20


def find_faults(
    pairs: Sequence[tuple[str, str]], source_language: str, target_language: str
) -> list[str | None]:
    """Return why each translation is none, by the first rule that applies; None for one that is.

    * `empty`: no letter or digit.
    * `repeated`: a phrase of 10 characters and more three times in a row, a shorter one five
      times, a letter ten times, or more than half of the 4-grams (of 24 words and more) seen
      before in the text; unless the source repeats itself by the same rule.
    * `copy`: at least 90% of the words are the source's, and four of these are lower-case words
      (names and abbreviations are copied rightly); unless langid calls the source a text in the
      target language. So is a text with the whole source in it, of four such words in the source's
      own script (eight in Latin script; eight letters in scripts without spaces).
    * `declined`: it says that it cannot translate; or it declines (`readers.refusals`) and its
      source, in one of six languages, has no word of denial or limits.
    * `script`: a line of at least three words, most of them in another script than the target's. In
      scripts with case, only lower-case words count. Words of scripts without spaces are letters.
    * `language`: 60 letters and more (20 in zh, ja, ko) that langid assigns to another language,
      whatever the case, languages it confuses with the target left aside.
    * `length`: more than 3 times the expected characters plus 20, or fewer than a third less 20.

    Pairs are (source, translation), languages two-letter codes (Hebrew `he`).
    """
    faults = [
        _find_fault(source, text, source_language, target_language)
        or ("length" if _is_wild_length(source, text, source_language, target_language) else None)
        for source, text in pairs
    ]
    # Models answer in English whatever the question's language: then a copy is right, and as long.
    doubted = [i for i, fault in enumerate(faults) if fault in ("copy", "length")]
    labels = identify_language([pairs[i][0][:_IDENTIFIED].lower() for i in doubted])
    for i, label in zip(doubted, labels, strict=True):
        if label == target_language and not _is_wild_length(*pairs[i], label, label):
            faults[i] = None
    _add_wrong_languages(faults, pairs, target_language)
    return faults


def _find_fault(source: str, text: str, source_language: str, target_language: str) -> str | None:
    if not any(c.isalnum() for c in text):
        return "empty"
    if repeats(text) and not repeats(source):
        return "repeated"
    if _is_made_of(source, text) or _holds(source, text, source_language):
        return "copy"
    if _is_declined(source, text, source_language):
        return "declined"
    foreign = any(_is_foreign_script(line, target_language) for line in text.splitlines())
    return "script" if foreign else None


def repeats(text: str) -> bool:
    """Return whether a text repeats itself as a looping model does; see `find_faults`."""
    units = _UNITS.findall(text.lower())
    if _SAME_LETTER.search(text.lower()) or _has_loop(units):
        return True
    if len(units) < _REPEATED_UNITS:
        return False
    grams = list(zip(units, units[1:], units[2:], units[3:], strict=False))
    return 1 - len(set(grams)) / len(grams) > _REPEATED_SHARE


def _has_loop(units: list[str]) -> bool:
    """Return whether a phrase of some units comes three or five times in a row."""
    number = {unit: n for n, unit in enumerate(dict.fromkeys(units))}
    ids = np.array([number[unit] for unit in units])
    for length in range(1, min(_LONGEST_PHRASE, len(units) // 3) + 1):
        # A phrase of `length` units n times in a row: (n - 1) * length units equal those behind.
        same = np.flatnonzero(np.append(ids[:-length] != ids[length:], True))
        runs = np.diff(same, prepend=-1) - 1
        for end, run in zip(same, runs, strict=True):
            if run >= 2 * length:
                phrase = "".join(units[end - length : end])
                long = len(phrase) + length - 1 >= _LONG_PHRASE
                letters = any(c.isalpha() for c in phrase)
                if letters and len(phrase) > 1 and run >= (2 if long else 4) * length:
                    return True
    return False


def _is_declined(source: str, text: str, source_language: str) -> bool:
    denial = _row(source_language).declines  # what whoever declines in the language says
    declines = denial and is_refusal(text) and not regex.search(denial, source, regex.I)
    return bool(declines or _CANNOT_TRANSLATE.search(text))


def _holds(source: str, text: str, source_language: str) -> bool:
    """Return whether the whole source stands in a text beside more."""
    if source.strip(" .。!?।！？") not in text:
        return False
    # Words of another script are drugs' names and the like, which a translation keeps.
    letters = _own_script(source_language)
    plain = {word for word in _plain_words(source) if letters.search(word)}
    # In Latin script a list of terms may be spelled as in English: `oral, rectal, nasal`.
    alike = letters.search("a") or max(map(len, plain), default=0) == 1
    return len(plain) >= (2 * _COPY_WORDS if alike else _COPY_WORDS)


def _is_made_of(source: str, text: str) -> bool:
    words = [word.lower() for word in _UNITS.findall(_ADDRESS.sub(" ", text))]
    shared = Counter(words) & Counter(word.lower() for word in _UNITS.findall(source))
    if not words or shared.total() < _COPY_SHARE * len(words):
        return False
    return len(_plain_words(text) & set(shared)) >= _COPY_WORDS


def _plain_words(text: str) -> set[str]:
    """Return the words without capitals and digits; the others are copied rightly."""
    words = _UNITS.findall(_ADDRESS.sub(" ", text))
    return {word for word in words if word == word.lower() and not any(map(str.isdigit, word))}


def _is_foreign_script(text: str, language: str) -> bool:
    words = _UNITS.findall(_ADDRESS.sub(" ", text))
    letters = _own_script(language)
    foreign = [word for word in words if LETTER.search(word) and not letters.search(word)]
    counted = [word for word in foreign if word == word.lower()]
    return len(counted) >= _FOREIGN_WORDS and len(foreign) > len(words) / 2


def _add_wrong_languages(
    faults: list[str | None], pairs: Sequence[tuple[str, str]], target_language: str
) -> None:
    """Set the fault `language` where langid finds another one, also in small letters."""
    least = _LETTERS_DENSE if _row(target_language).density <= _DENSE else _LETTERS
    right = {target_language, *_row(target_language).near}
    texts = {i: _ADDRESS.sub(" ", text)[:_IDENTIFIED] for i, (_, text) in enumerate(pairs)
             if faults[i] is None}  # fmt: skip
    texts = {i: text for i, text in texts.items() if len(LETTER.findall(text)) >= least}
    for change in (str, str.lower):  # langid takes capitals for other languages
        labels = identify_language([change(text) for text in texts.values()])
        wrong = (label not in right for label in labels)
        texts = {
            i: text for (i, text), is_wrong in zip(texts.items(), wrong, strict=True) if is_wrong
        }
    for i in texts:
        faults[i] = "language"


def _is_wild_length(source: str, text: str, source_language: str, target_language: str) -> bool:
    expected = len(source) * _row(target_language).density / _row(source_language).density
    return not expected / _TIMES - _SLACK <= len(text) <= expected * _TIMES + _SLACK


def _row(language: str) -> Language:
    """Return what is known of a language, which may be nothing."""
    return known(language) or Language(language, language, "")


@cache
def _own_script(language: str) -> regex.Pattern[str]:
    """Return the letters of a language; any where it is not known."""
    scripts = _row(language).unicode_scripts
    return letters_of(scripts) if scripts else LETTER
