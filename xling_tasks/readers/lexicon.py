"""The phrases of all languages as one dictionary: the words of a phrase, and the kind it has.

A language is a file in `phrases/`: lists of phrases by kind. All files make one dictionary, since
a model may answer in another language than it was asked in. A phrase is a sequence of words; a
Chinese or Japanese character is a word of its own. A word that ends in `*` stands for all that
begin so.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import regex

from xling_tasks.readers.kinds import PHRASES
from xling_tasks.readers.phrase_files import of_part, phrases
from xling_tasks.readers.plain import BULLET, FINAL, one_form

_SIGNS = {
    "stop": ".。!।…", "query": "?", "comma": ",、،", "semicolon": ";", "colon": ":|",
    "open": "(〔", "close": ")〕", "open_square": "[【", "close_square": "]】",
    "dash": "-–—―~〜～−", "slash": "/\\", "and": "&+・·", "so": "=→⇒➜∴",
    "tick": "✓√✅✔☑○◯⭕🟢👍←⬅", "cross": "✗❌✘×✖☒❎☐🔴👎", "bullet": BULLET, "boxed": FINAL,
}  # fmt: skip
SIGNS = {sign: kind for kind, signs in _SIGNS.items() for sign in signs}
"""Sign -> its kind."""
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}ー々〆"
WORDS = regex.compile(
    rf"[{_NO_SPACES}]|[[\p{{L}}\p{{M}}\p{{N}}]--[{_NO_SPACES}]]+|\n|[^\S\n]+|.", regex.V1
)
CHARACTER = regex.compile(rf"[{_NO_SPACES}]")
_SHORTEST_STEM = 2
_ADJECTIVES, _NOUN = ("right", "wrong"), regex.compile(r"(?:[cs]ion|dad|tud|[td]ez|ite|ude|ость)$")
_TWICE = regex.compile(r"(\p{L})\1+")
_LONG = 5  # characters; shorter words differ by accents alone ('ou', 'où')


@functools.lru_cache(maxsize=100_000)
def plain(word: str) -> str:
    """A word in lower case; a long one without accents or double letters ('reponse', 'corect')."""
    word = word.casefold().replace("ё", "е")
    if len(word) < _LONG:
        return word
    if len(word) > _LONG and word[0] < "\u0900":
        word = _TWICE.sub(r"\1", word)
    if word.isascii() or not "a" <= word[0] <= "\u024f":
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


class Entry(NamedTuple):
    """What follows a first word, whether any of it is a stem, and the kind of the whole."""

    rest: list[str]
    stems: bool
    kind: str


class Lexicon:
    """Phrases by their first word, longest first."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._exact: dict[str, list[Entry]] = {}
        self._stems: dict[str, list[Entry]] = {}
        for kind, texts in phrases.items():
            for text in texts:
                first, *rest = _words_of(text)
                table = self._stems if first.endswith("*") else self._exact
                table.setdefault(first.rstrip("*"), []).append(
                    Entry(rest, any(word.endswith("*") for word in rest), kind)
                )
        self.first_words = frozenset(self._exact)
        self.starting = functools.lru_cache(maxsize=100_000)(self._starting)

    def _starting(self, word: str) -> tuple[Entry, ...]:
        """All phrases that a word can begin; an exact word before a stem, a long stem first."""
        entries = list(self._exact.get(word, ()))
        noun = _NOUN.search(word)  # 'exact*' is 'exacta', and not 'exactitud'
        for length in range(len(word), _SHORTEST_STEM - 1, -1):
            stems = self._stems.get(word[:length], ())
            entries += [entry for entry in stems if not (noun and entry.kind in _ADJECTIVES)]
        return tuple(sorted(entries, key=lambda entry: -len(entry.rest)))

    def longest(self, words: list[str], at: int) -> tuple[int, str] | None:
        """The number of words and the kind of the longest phrase that stands at a place."""
        entries = self.starting(words[at])
        second = words[at + 1] if entries and at + 1 < len(words) else None
        for rest, stems, kind in entries:
            if not rest:
                return 1, kind
            if not stems and rest[0] != second:
                continue
            following = words[at + 1 : at + 1 + len(rest)]
            if following == rest or (stems and _fit(following, rest)):
                return 1 + len(rest), kind
        return None


def _fit(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(words) == len(wanted) and all(
        word.startswith(want[:-1]) if want.endswith("*") else word == want
        for word, want in zip(words, wanted, strict=True)
    )


def _words_of(phrase: str) -> list[str]:
    """The words of a phrase as it is written in a file; `*` stays with the word before it."""
    words: list[str] = []
    for word in map(plain, WORDS.findall(one_form(phrase))):
        if word == "*" and words:
            words[-1] += "*"
        elif not word.isspace():
            words.append(word)
    return words


@functools.cache
def lexicon(part: str = "", names: str = "") -> Lexicon:
    """The dictionary for letters, or of a part (`verdict`); of all kinds that mark, or of some."""
    kinds = names.split() or PHRASES
    merged: dict[str, dict[str, None]] = {}
    for language in phrases().values():
        for kind, texts in of_part(language, part).items():
            if kind in kinds:
                merged.setdefault(kind, {}).update(dict.fromkeys(texts))
    return Lexicon(merged)
