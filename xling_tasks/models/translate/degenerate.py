"""Which translations are none: what a translation model returns when it fails without saying so.

The tests find the failures that ruin a score (loops, untranslated text, the wrong language, text
lost or made up), and must let real translations of medical prose pass, since what they reject
leaves its whole answer unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import regex
from xling_metrics.language import identify_language
from xling_metrics.languages import Language, find_language, letter_pattern
from xling_metrics.tokenization import LETTER

VERSION = 4
"""Counts up when a rule changes; in signatures."""

_WORDS = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’\-]*"
)
# Web and mail addresses belong to no language.
_ADDRESS = regex.compile(
    r"\S*(?:://|www\.|@)\S*|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu)\b\S*"
)

_LONGEST_PHRASE = 60  # words that a loop repeats
_LONG_PHRASE = 10  # characters: a phrase of so many is a loop the third time, a shorter one the 5th
_SAME_LETTER = regex.compile(r"(\p{L}\p{M}*)\1{9,}")
_REPEATED_RATE, _REPEATED_WORDS = 0.5, 24

_TEXT = r"(?:text|sentence|passage|request|input|content)"
_CANNOT_TRANSLATE = regex.compile(
    r"(?:cannot|can['’]t|can not|unable to|not able to|won['’]t) translate"
    rf"(?:[.!]| (?:\w+ )?{_TEXT})|{_TEXT} (?:cannot|can['’]t|could not) be translated\b",
    regex.I,
)

_COPIED_WORDS, _COPIED_RATE = 4, 0.9
_COPIED_LETTERS = 40  # of a source that stands as a whole beside its translation
_FOREIGN_WORDS = 3

# Letters from which langid is trusted. Of correct sentences it then calls fewer than 1 in 200 wrong
# (XLingHealth's LiveQA in en, es, zh and hi), its confusions of near languages left aside.
_LETTERS, _LETTERS_DENSE = 60, 20
_IDENTIFIED = 600  # characters that identify a text's language: more cost time and change nothing
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
      (names and abbreviations are copied rightly), or the whole source (of 40 letters, fewer in
      dense languages) stands in the text; unless langid calls the source a text in the target
      language.
    * `declined`: it says that it cannot translate.
    * `script`: a line of at least three words, most of them in another script than the target's. In
      scripts with case, only lower-case words count. Words of scripts without spaces are letters.
    * `language`: 60 letters and more (20 in zh, ja, ko) that langid assigns to another language,
      whatever the case, languages it confuses with the target left aside.
    * `length`: more than 3 times the expected characters plus 20, or fewer than a third less 20.

    Pairs are (source, translation), languages two-letter codes (Hebrew `he`).
    """
    faults = [_find_fault(*pair, source_language, target_language) for pair in pairs]
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
    stripped = source.strip(" .。!?।！？")
    is_whole = len(LETTER.findall(stripped)) >= _COPIED_LETTERS * _language(source_language).density
    if (is_whole and stripped in text) or _is_copied(source, text):
        return "copy"
    if _CANNOT_TRANSLATE.search(text) and not _CANNOT_TRANSLATE.search(source):
        return "declined"
    if any(_is_foreign_script(line, target_language) for line in text.splitlines()):
        return "script"
    return "length" if _is_wild_length(source, text, source_language, target_language) else None


def repeats(text: str) -> bool:
    """Return whether a text repeats itself as a looping model does; see `find_faults`."""
    words = _WORDS.findall(text.lower())
    if _SAME_LETTER.search(text.lower()) or _has_loop(words):
        return True
    if len(words) < _REPEATED_WORDS:
        return False
    grams = list(zip(words, words[1:], words[2:], words[3:], strict=False))
    return 1 - len(set(grams)) / len(grams) > _REPEATED_RATE


def _has_loop(words: list[str]) -> bool:
    """Return whether a phrase of some words comes three or five times in a row."""
    number = {word: n for n, word in enumerate(dict.fromkeys(words))}
    ids = np.array([number[word] for word in words])
    for length in range(1, min(_LONGEST_PHRASE, len(words) // 3) + 1):
        # A phrase of `length` words n times in a row: (n - 1) * length words equal those behind.
        same = np.flatnonzero(np.append(ids[:-length] != ids[length:], True))
        runs = np.diff(same, prepend=-1) - 1
        for end in np.flatnonzero(runs >= 2 * length):
            phrase = "".join(words[same[end] - length : same[end]])
            times = 2 if len(phrase) + length - 1 >= _LONG_PHRASE else 4
            letters = len(phrase) > 1 and any(c.isalpha() for c in phrase)
            if letters and runs[end] >= times * length:
                return True
    return False


def _is_copied(source: str, text: str) -> bool:
    words = _WORDS.findall(_ADDRESS.sub(" ", text))
    shared = Counter(map(str.lower, words)) & Counter(map(str.lower, _WORDS.findall(source)))
    # Words with capitals and digits are copied rightly.
    plain = {word for word in words if word == word.lower() and not any(map(str.isdigit, word))}
    rate = shared.total() / len(words) if words else 0.0
    return rate >= _COPIED_RATE and len(plain & set(shared)) >= _COPIED_WORDS


def _is_foreign_script(text: str, language: str) -> bool:
    words, letters = _WORDS.findall(_ADDRESS.sub(" ", text)), _letters_of(language)
    foreign = [word for word in words if LETTER.search(word) and not letters.search(word)]
    lower_words = [word for word in foreign if word == word.lower()]
    return len(lower_words) >= _FOREIGN_WORDS and len(foreign) > len(words) / 2


def _add_wrong_languages(
    faults: list[str | None], pairs: Sequence[tuple[str, str]], target_language: str
) -> None:
    """Set the fault `language` where langid finds another one, also in small letters."""
    target = _language(target_language)
    minimum = _LETTERS_DENSE if target.density <= _DENSE else _LETTERS
    texts = {i: _ADDRESS.sub(" ", text)[:_IDENTIFIED] for i, (_, text) in enumerate(pairs)
             if faults[i] is None}  # fmt: skip
    texts = {i: text for i, text in texts.items() if len(LETTER.findall(text)) >= minimum}
    for change in (str, str.lower):  # langid takes capitals for other languages
        labels = identify_language([change(text) for text in texts.values()])
        wrong = (label not in (target_language, *target.near) for label in labels)
        texts = {i: text for (i, text), is_wrong in zip(texts.items(), wrong, strict=True)
                 if is_wrong}  # fmt: skip
    for i in texts:
        faults[i] = "language"


def _is_wild_length(source: str, text: str, source_language: str, target_language: str) -> bool:
    densities = _language(target_language).density / _language(source_language).density
    expected = len(source) * densities
    return not expected / _TIMES - _SLACK <= len(text) <= expected * _TIMES + _SLACK


def _language(code: str) -> Language:
    """Return what is known of a language, which may be nothing."""
    return find_language(code) or Language(code, code, "")


@cache
def _letters_of(language: str) -> regex.Pattern[str]:
    """Return the letters of a language; any where it is not known."""
    scripts = _language(language).unicode_scripts
    return letter_pattern(scripts) if scripts else LETTER
