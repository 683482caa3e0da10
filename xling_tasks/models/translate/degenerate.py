"""Which translations are none: what a translation model returns when it fails without saying so.

The tests are one-sided: they find the failures that ruin a score (loops, untranslated text, the
wrong language, text lost or made up), and must let real translations of medical prose pass, since
what they hold back leaves its whole answer unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import regex
from xling_metrics.language import identify_language
from xling_metrics.languages import Language, known, letters_of
from xling_metrics.tokenization import LETTER

from xling_tasks.readers.refusals import is_refusal

VERSION = 2
"""Counts up when a rule changes, so that cached outcomes are not mixed."""

_UNITS = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’\-]*"
)
_NO_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
# Web and mail addresses belong to no language.
_ADDRESS = regex.compile(
    r"\S*(?:://|www\.|@)\S*|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu)\b\S*"
)

# A phrase at least this often in a row, by its length in characters; and, in texts long enough to
# tell, at most this share of 4-grams that occurred before.
_IN_A_ROW = regex.compile(r"(.{2,9}?)\1{4,}|(.{10,200}?)\2{2,}|(\p{L}\p{M}*)\3{9,}", regex.DOTALL)
_REPEATED_SHARE = 0.5
_REPEATED_UNITS = 24

_CANNOT_TRANSLATE = regex.compile(
    r"(?:\b(?:I|we)(?:['’]m| am| are)? (?:\w+ ){0,2}?"
    r"(?:cannot|can['’]t|can not|unable to|not able to|won['’]t) (?:\w+ ){0,2}?"
    r"|\A(?:sorry\W+(?:but )?)?(?:cannot|can['’]t|unable to) )translate\b"
    r"(?! (?:\w+ ){0,3}?(?:findings?|results?|data|evidence|knowledge|research|studies|practice"
    r"|humans?)\b)"
    r"|\A(?:sorry\W+(?:but )?)?(?:the|this|your) (?:\w+ )?(?:text|sentence|passage|request|input) "
    r"(?:cannot|can['’]t|can not|could not) be translated\b",
    regex.I,
)
_SAYS_TRANSLATE = regex.compile(
    r"tra(?:ns|d)|übers|vertal|tłumacz|překl|přelož|çevir|terjemah|dịch|перев|μετ|ترجم|תרג|अनुवाद"
    r"|ਅਨੁਵਾਦ|અનુવાદ|অনুবাদ|மொழிபெயர்|అనువ|ಅನುವಾದ|വിവർത്ത|แปล|번역|翻|訳|译",
    regex.I,
)

_LIST_MARK = regex.compile(r"\s*[,;/，、；،]\s*")

_COPY_WORDS = 4
_COPY_SHARE = 0.9
_FOREIGN_WORDS = 3

# Letters from which langid is trusted. Of correct sentences it then calls fewer than 1 in 200 wrong
# (XLingHealth's LiveQA in en, es, zh and hi), its confusions of near languages left aside.
_LETTERS = 60
_LETTERS_DENSE = 20

# A language of this density and less says in 20 letters what others say in 60.
_DENSE = 0.5

# How far a translation's length may be from the expected one; wide, because densities are rough.
_TIMES = 3.0
_SLACK = 20


def reasons(
    pairs: Sequence[tuple[str, str]], source_language: str, target_language: str
) -> list[str | None]:
    """Why each translation is none, in the order of the tests; None for one that passes.

    * `empty`: no letter or digit.
    * `lines`: several lines for a source of one.
    * `repeated`: a phrase of 10 characters and more three times in a row, a shorter one five
      times, a letter ten times, or more than half of the 4-grams (of 24 words and more) seen
      before in the text; unless the source repeats itself by the same rule.
    * `copy`: at least 90% of the words are the source's, and four of these are lower-case words
      (names and abbreviations are copied rightly); unless langid calls the source a text in the
      target language.
      So is a text with the whole source in it, of four such words in the source's own script
      (eight in Latin script; eight letters in scripts without spaces).
    * `declined`: it declines (`readers.refusals`) and its source, in one of six languages, has no
      word of denial or limits; or, whatever the source's language, it says of itself that it
      cannot translate.
    * `script`: at least three words, and most of them, in another script than the target's. In
      scripts with case, only lower-case words count. Words of scripts without spaces are letters.
    * `language`: 60 letters and more (20 in zh, ja, ko) that langid assigns to another language,
      whatever the case, languages it confuses with the target left aside.
    * `length`: more than 3 times the expected characters plus 20, or fewer than a third less 20.

    Pairs are (source, translation) of single sentences, languages two-letter codes (Hebrew `he`).
    """
    faults = [_reason(source, text, source_language, target_language) for source, text in pairs]
    copies = [i for i, reason in enumerate(faults) if reason == "copy"]
    for i, label in zip(
        copies, identify_language([pairs[i][0].lower() for i in copies]), strict=True
    ):
        if label == target_language:  # so that a copy is right
            faults[i] = None
    _add_wrong_languages(faults, pairs, target_language)
    return [
        reason or ("length" if _wild_length(*pair, source_language, target_language) else None)
        for reason, pair in zip(faults, pairs, strict=True)
    ]


def _reason(source: str, text: str, source_language: str, target_language: str) -> str | None:
    if not any(c.isalnum() for c in text):
        return "empty"
    if len(text.split("\n")) > len(source.split("\n")):
        return "lines"
    if repeats(text) and not repeats(source):
        return "repeated"
    another = source_language != target_language and not _is_list_of_names(source, source_language)
    if another and (_is_made_of(source, text) or _holds(source, text, source_language)):
        return "copy"
    if _is_refusal(source, text, source_language):
        return "declined"
    return "script" if _is_foreign_script(text, target_language) else None


def repeats(text: str) -> bool:
    """Whether a text repeats itself as a looping model does; see `reasons`."""
    # Punctuation goes, so that a phrase at the text's end equals those before it.
    plain = _NO_WORD.sub(" ", f" {text.lower()} ")
    if any(any(c.isalpha() for c in match.group()) for match in _IN_A_ROW.finditer(plain)):
        return True
    units = _UNITS.findall(plain)
    if len(units) < _REPEATED_UNITS:
        return False
    grams = list(zip(units, units[1:], units[2:], units[3:], strict=False))
    return 1 - len(set(grams)) / len(grams) > _REPEATED_SHARE


def _is_refusal(source: str, text: str, source_language: str) -> bool:
    if _CANNOT_TRANSLATE.search(text) and not _SAYS_TRANSLATE.search(source):
        return True
    may_decline = _may_decline(source_language)
    return may_decline is not None and is_refusal(text) and not may_decline.search(source)


def _is_list_of_names(source: str, source_language: str) -> bool:
    """Whether a source without a word of its language's own script lists single words."""
    letters = _own_script(source_language)
    items = _LIST_MARK.split(source.strip(" .。।"))
    return (
        not letters.search(source)
        and len(items) > 1
        and all(len(each.split()) < 2 for each in items)
    )


def _holds(source: str, text: str, source_language: str) -> bool:
    """Whether the whole source stands in a text beside more."""
    if source.strip(" .。!?।！？") not in text:
        return False
    # Words of another script are drugs' names and the like, which a translation keeps.
    letters = _own_script(source_language)
    words = (word for word in _UNITS.findall(_ADDRESS.sub(" ", source)) if letters.search(word))
    plain = {word for word in words if word == word.lower() and not any(map(str.isdigit, word))}
    # In Latin script a list of terms may be spelled as in English: `oral, rectal, nasal`.
    alike = letters.search("a") or max(map(len, plain), default=0) == 1
    return len(plain) >= (2 * _COPY_WORDS if alike else _COPY_WORDS)


def _is_made_of(source: str, text: str) -> bool:
    words = _UNITS.findall(_ADDRESS.sub(" ", text))
    shared = Counter(word.lower() for word in words) & Counter(
        word.lower() for word in _UNITS.findall(source)
    )
    if not words or sum(shared.values()) < _COPY_SHARE * len(words):
        return False
    plain = {word for word in words if word == word.lower() and not any(map(str.isdigit, word))}
    return len(plain & set(shared)) >= _COPY_WORDS


def _is_foreign_script(text: str, language: str) -> bool:
    words = _UNITS.findall(_ADDRESS.sub(" ", text))
    letters = _own_script(language)
    foreign = [word for word in words if LETTER.search(word) and not letters.search(word)]
    counted = [word for word in foreign if word == word.lower()]
    return len(counted) >= _FOREIGN_WORDS and len(foreign) > len(words) / 2


def _add_wrong_languages(
    faults: list[str | None], pairs: Sequence[tuple[str, str]], target_language: str
) -> None:
    least = _LETTERS_DENSE if _row(target_language).density <= _DENSE else _LETTERS
    right = {target_language, *_row(target_language).near}
    open_ = {
        i: _ADDRESS.sub(" ", text)
        for i, (_, text) in enumerate(pairs)
        if faults[i] is None and len(LETTER.findall(_ADDRESS.sub(" ", text))) >= least
    }
    as_is = identify_language(list(open_.values()))
    # langid takes capitals for other languages.
    lower = identify_language([text.lower() for text in open_.values()])
    for i, *labels in zip(open_, as_is, lower, strict=True):
        if not right & set(labels):
            faults[i] = "language"


def _wild_length(source: str, text: str, source_language: str, target_language: str) -> bool:
    expected = len(source) * _row(target_language).density / _row(source_language).density
    return not expected / _TIMES - _SLACK <= len(text) <= expected * _TIMES + _SLACK


def _row(language: str) -> Language:
    """What is known of a language, which may be nothing."""
    return known(language) or Language(language, language, "")


@cache
def _own_script(language: str) -> regex.Pattern[str]:
    """The letters of a language; any where it is not known."""
    scripts = _row(language).unicode_scripts
    return letters_of(scripts) if scripts else LETTER


@cache
def _may_decline(language: str) -> regex.Pattern[str] | None:
    """What whoever declines in a language says; None where that was not written down."""
    pattern = _row(language).declines
    return regex.compile(pattern, regex.I) if pattern else None
