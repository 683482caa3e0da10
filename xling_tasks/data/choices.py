"""What translation did to a question of multiple choice, told from its texts alone.

Translators write two terms by one word, leave a text as it is, or lose a number. If a wrong option
then reads like a right one, who chooses it is right and counts as wrong: the damage is the
translation's, not the model's. `flaw` finds what cannot be scored; `signs` what should be looked
at, by comparison with the English question.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from html import unescape
from itertools import product
from typing import Any, NamedTuple

import regex
from xling_metrics.languages import KNOWN

MISSING, EQUAL = "option text missing", "wrong option equals a right one"
"""Why a question cannot be scored fairly."""

SIGNS = {
    "coincide": "two options read alike",
    "empty": "a text is empty",
    "untranslated": "an English sentence stands in it",
    "numbers": "a number of the English is missing, or is another",
    "units": "a number has lost its unit, or has another",
    "negations": "the English has a negation, and it has none",
}
"""What should be looked at -> what it means."""

_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")


@functools.lru_cache(maxsize=100_000)
def plain(text: str) -> str:
    """An option without what does not tell it from another: case, spaces, width, unseen signs.

    Superscripts, other letters and punctuation stay: 10² is not 102, and Rh+ is not Rh-.
    """
    narrow = "".join(
        unicodedata.normalize("NFKC", char)
        if unicodedata.decomposition(char).startswith(("<wide>", "<narrow>"))
        else char
        for char in text
    )
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", narrow)).casefold().split())


def flaw(options: Mapping[str, str], right: Collection[str]) -> str:
    """Why options (letter -> text) cannot be scored fairly; empty if they can."""
    texts = {letter: plain(text) for letter, text in options.items()}
    if not all(texts.values()):
        return MISSING
    good = {text for letter, text in texts.items() if letter in right}
    return EQUAL if any(texts[letter] in good for letter in texts.keys() - set(right)) else ""


def flaws(found: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Question -> why it is left out, of (question, language's name, flaw or nothing)."""
    names: dict[str, dict[str, list[str]]] = {}
    for key, name, why in found:
        if why:
            names.setdefault(key, {}).setdefault(why, []).append(name)
    return {
        key: "; ".join(f"{why} in {', '.join(where)}" for why, where in reasons.items())
        for key, reasons in names.items()
    }


# Beside the English question


class Asked(NamedTuple):
    """A question of multiple choice: its text, and letter -> text of its options."""

    question: str
    options: Mapping[str, str]

    @property
    def texts(self) -> dict[str, str]:
        """Every text by what it is."""
        return {"": self.question, **self.options}


def asked_of(doc: Mapping[str, Any]) -> Asked | None:
    """The question of a document: `question`, and options by letter or in a list; None of others.

    Lists are called `options` or `choices`, as most tasks of the harness call them; a mapping with
    a list called `text` in it is one too (ARC). Of a task that is not ours `asked` says what of its
    document is what, and a question without options is one too.
    """
    found = doc.get("asked")
    if isinstance(found, Mapping):
        texts = {key: unescape(text) for key, text in found["options"].items()}
        return Asked(unescape(found["question"]), texts)
    question, options = doc.get("question"), doc.get("options", doc.get("choices"))
    if isinstance(options, Mapping) and isinstance(options.get("text"), list):
        options = options["text"]
    if isinstance(options, list):
        options = {str(at): text for at, text in enumerate(options)}
    if not isinstance(question, str) or not isinstance(options, Mapping) or not options:
        return None
    texts = {str(key): unescape(str(text or "")) for key, text in options.items()}
    return Asked(unescape(question), texts)


def signs(english: Asked, other: Asked, language: str) -> frozenset[str]:
    """What of a translated question should be looked at: keys of `SIGNS`.

    None is a proof: a number may be spelt out, and a negation be in a verb. What is odd in the
    English, too, is not the translation's. The language is that of `other`: of a back-translation
    `en`, which may equal the English text, and is searched for negations like any language that
    `KNOWN` has them of.
    """
    pairs = [(text, other.texts.get(key, "")) for key, text in english.texts.items()]
    both = [(one, text) for one, text in pairs if plain(one) and plain(text)]
    found = {
        "coincide": coincide(other) and not coincide(english),
        "empty": any(plain(one) and not plain(text) for one, text in pairs),
        "untranslated": language != "en"
        and any(plain(one) == plain(text) and _SENTENCE.search(one) for one, text in both),
        "numbers": any(_lost_number(one, text) for one, text in both),
        "units": any(_lost_unit(one, text) for one, text in both),
        "negations": any(_lost_negation(one, text, language) for one, text in both),
    }
    return frozenset(sign for sign, there in found.items() if there)


def coincide(asked: Asked) -> bool:
    """Whether two options read alike."""
    return len(set(map(plain, asked.options.values()))) < len(asked.options)


def knows_negations(language: str) -> bool:
    """Whether negations of a language can be told here."""
    return language in KNOWN and bool(KNOWN[language].negates)


_SENTENCE = re.compile(
    r"\b(?:the|of|and|or|is|are|was|were|to|for|with|from|by|that|which|this|their|has|have)\b",
    re.I,
)
"""Words that make a text English and not a name, which every language may write so."""


def _lost_negation(english: str, text: str, language: str) -> bool:
    if not knows_negations(language) or not _NEGATION.search(english):
        return False
    return not _negates(language).search(text)


_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|without|except|cannot|nobody|nothing)\b|n['\u2019]t\b", re.I
)
"""What surely negates; what a translation may say instead stands with its language."""


@functools.cache
def _negates(language: str) -> regex.Pattern[str]:
    return regex.compile(KNOWN[language].negates, regex.I)


# Numbers and their units

_DECIMAL = r"(?:[.,\u066b]\d+)?"
_NUMBER = re.compile(rf"\d+(?:[.,\u066c'\u2019]\d{{3}}(?!\d))*{_DECIMAL}")
_SPACED = re.compile(rf"\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}}(?!\d))+{_DECIMAL}")
"""Thousands with spaces between: two numbers as well."""
_SPELT = 12
"""Whole numbers up to this are often written as words, in English and elsewhere."""


class _Number(NamedTuple):
    """A number in a text: what it may be worth, and the text before and behind it."""

    values: frozenset[float]
    before: str
    after: str


def _lost_number(english: str, text: str) -> bool:
    """Whether a number is missing; of those that may be spelt out, whether another stands there."""
    asked = _numbers(english)
    if not asked:
        return False
    said = _numbers(text)
    there = {value for each in (*said, *_numbers(text, _SPACED)) for value in each.values}
    lost = [each.values for each in asked if not each.values & there]
    known = {value for each in (*asked, *_numbers(english, _SPACED)) for value in each.values}
    others = any(not each.values & known for each in said)
    spelt = (all(value <= _SPELT and value.is_integer() for value in values) for values in lost)
    return any(others or not may_be for may_be in spelt)


def _lost_unit(english: str, text: str) -> bool:
    """Whether a number with a unit stands there without any word, or with another unit."""
    for values, before, after in _numbers(english):
        unit = "" if before[-1:].isalpha() else _unit(after)
        same = [each for each in _numbers(text) if unit and each.values & values]
        if same and not any(_keeps(unit, each) for each in same):
            return True
    return False


def _keeps(unit: str, number: _Number) -> bool:
    """Whether a number has a unit beside it, or a word that may be one in its language."""
    told = _unit(number.after)
    if told:
        return told == unit
    return bool(_WORD_AFTER.match(number.after) or _WORD_BEFORE.search(number.before))


@functools.lru_cache(maxsize=4096)
def _numbers(text: str, pattern: re.Pattern[str] = _NUMBER) -> tuple[_Number, ...]:
    """Every number, in any digits."""
    return tuple(
        _Number(_values(match[0]), text[: match.start()], text[match.end() :])
        for match in pattern.finditer(text)
    )


def _values(digits: str) -> frozenset[float]:
    """What a number may be: 1.000 is one, or a thousand where points part thousands."""
    bare = re.sub(r"[^\d.,]", "", digits.replace("\u066b", ".").replace("\u066c", ","))
    marks = [char for char in bare if char in ".,"]
    if not marks:
        return frozenset({float(bare)})
    whole, _, part = bare.rpartition(marks[-1])
    decimal = float(f"{re.sub('[.,]', '', whole)}.{part}")
    thousands = float(re.sub("[.,]", "", bare))
    if len(set(marks)) == 2 or len(part) != 3:
        return frozenset({decimal})
    return frozenset({thousands} if len(marks) > 1 else {thousands, decimal})


_SIGN = r"[^\W\d_]|[%‰°\u066a\uff05]"
_RANGE = r"[\s\-\u2013/]*"
_WORD_AFTER = re.compile(rf"(?:\s*[\-\u2013]\s*\d+{_DECIMAL})?{_RANGE}(?:{_SIGN})")
_WORD_BEFORE = re.compile(rf"(?:{_SIGN}){_RANGE}(?:\d+{_DECIMAL}\s*[\-\u2013]\s*)?$")
_BEHIND = re.compile(r"[\s\-]{0,2}(°\s?[cf]\b|[%‰\u066a\uff05]|[^\W\d_]+)", re.I)
_PREFIXES = {
    **{"": "", "k": "kilo", "d": "deci", "c": "centi", "m": "milli"},
    **{"µ": "micro", "n": "nano", "p": "pico"},
}
_BASES = {
    **{"g": "gram", "l": "litre", "m": "metre", "mol": "mole", "pa": "pascal", "j": "joule"},
    **{"cal": "calorie", "eq": "equivalent", "osm": "osmole", "hz": "hertz"},
}
_OTHERS = {
    **{"%": "%", "\u066a": "%", "\uff05": "%", "percent": "%", "‰": "‰", "°c": "°c", "°f": "°f"},
    **{"mmhg": "mmhg", "iu": "iu", "mcg": "µg", "ug": "µg", "gm": "g", "h": "h", "hr": "h"},
    **{"min": "min", "minute": "min", "hour": "h"},
}


@functools.cache
def _symbols() -> dict[str, str]:
    """A unit as it may be written -> its symbol."""
    known = dict(_OTHERS)
    for (sign, prefix), (base, name) in product(_PREFIXES.items(), _BASES.items()):
        spellings = {sign + base, prefix + name, prefix + name.replace("tre", "ter")}
        known |= dict.fromkeys(spellings, sign + base)
    return known


def _unit(after: str) -> str:
    """The symbol of the unit that a text begins with; empty without one."""
    match = _BEHIND.match(after)
    if not match:
        return ""
    word = match[1].casefold().replace("μ", "µ").replace(" ", "")
    known = _symbols()
    return known.get(word) or known.get(word.removesuffix("s"), "")
