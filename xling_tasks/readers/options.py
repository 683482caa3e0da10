"""The options of a question, as they are found again in replies."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import regex

from xling_tasks.readers.lexicon import CHARACTER, WORDS, lexicon, plain
from xling_tasks.readers.plain import one_form, undressed

TELLING = set("+%-<>=≥≤±/°↑↓")
"""What may be part of an option's text and tells it from another one."""

LOOK_ALIKE = str.maketrans("АВСЕавсе", "ABCEabce")
"""Cyrillic letters that look like letters of options."""


# Endings of Russian nouns and adjectives.
_ENDING = regex.compile(r"(?<=[а-я]{4})(?:[аеиоуыэюяйь]|(?<=[аеиоуыюя])(?:го|му|ми|[мхв]))+$")


@functools.lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word in lower case without its Russian ending: 'при перикардите' names 'Перикардит'."""
    return _ENDING.sub("", word) if "а" <= word[0] <= "я" else word


_NO = {*["нет", "no", "non", "否", "いいえ", "false"]}
_YES_NO = {*["да", "yes", "oui", "sí", "是", "はい", "true"]} | _NO
_TWO_NAMES = regex.compile(r" *(\p{L}[\p{L} -]{3,}?) *\((\p{L}[\p{L}-]{4,}(?: [\p{L}-]+)?)\) *")
_HYPHEN = regex.compile(r"(?<=\p{L})-(?=\p{L})")


class Options:
    """The options of a question, ready to be found in replies."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.keys = sorted(options)
        self.texts = {key: words_of(undressed(one_form(options[key]))) for key in self.keys}
        alone = {key: words[0] for key, words in self.texts.items() if len(words) == 1}
        # Whether they are a Yes and a No, with which a sentence may go on after a comma.
        self.yes_or_no = len(self.keys) == len(alone) == 2 and {*alone.values()} <= _YES_NO
        self.denial = next((key for key in alone if self.yes_or_no and alone[key] in _NO), "")
        self.sentences = any(text.rstrip().endswith("。") for text in options.values())
        raw = {key: words_of(one_form(options[key])) for key in self.keys}
        self.longest_text = max(map(len, self.texts.values()), default=0)
        bare = {key: _bare(words) for key, words in self.texts.items()}
        self._table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        # Texts that could be rows of letters ('AB'): a text only after its own letter.
        self.rows: dict[str, str] = {}
        seen: dict[tuple[str, ...], set[str]] = {}
        for forms in (raw, self.texts):
            for key, words in forms.items():
                seen.setdefault(words, set()).add(key)
        names: dict[tuple[str, ...], set[str]] = {}
        for key in self.keys:
            for words in _names(undressed(one_form(options[key]))):
                names.setdefault(words, set()).add(key)
        for key, words in _without_article(self.texts).items():
            names.setdefault(words, set()).add(key)
        seen |= {words: keys for words, keys in names.items() if words not in seen}
        for words in bare.values():
            if words not in seen:
                same = {other for other, those in bare.items() if those == words}
                seen[words] = same
        for words, keys in seen.items():
            if len(keys) != 1 or not words:
                continue
            if self._letters_alone(words):
                self.rows["".join(words).upper()] = next(iter(keys))
            else:
                self._table.setdefault(words[0], []).append((words, next(iter(keys))))
        for entries in self._table.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self.first_words = frozenset(self._table)
        self.short_for = {
            "".join(word[0] for word in words if word[0].isalpha()).upper()
            for words in self.texts.values()
        }
        self.words_in_texts = {word.upper() for words in self.texts.values() for word in words}
        # 'E. coli' of 'Escherichia coli', unless that is option E
        self.abbreviated = {
            (words[0][0], words[1])
            for key, words in raw.items()
            if len(words) == 2 and words[0][0].upper() != key
        }
        # A letter that is another option's whole text means neither.
        self.ambiguous = {
            key
            for key in self.keys
            for other, words in self.texts.items()
            if other != key and words == (key.casefold(),)
        }
        self.numeric = any(len(words) == 1 and words[0].isdigit() for words in self.texts.values())

    def _letters_alone(self, words: tuple[str, ...]) -> bool:
        """Whether a text could be a row of letters ('A', 'AB')."""
        row = "".join(words).upper().translate(LOOK_ALIKE)
        return list(row) == sorted(set(row)) and set(row) <= set(self.keys)

    def longest(self, words: Sequence[str], at: int) -> tuple[int, str] | None:
        """The number of words and the letter of the longest option text at a place."""
        for text, key in self._table.get(words[at], ()):
            if tuple(words[at : at + len(text)]) == text:
                return len(text), key
        return None

    def begins(self, words: Sequence[str]) -> bool:
        """Whether words are how the text of an option begins, the last one perhaps cut."""
        if not words:
            return False
        *whole, last = words
        return any(
            len(text) >= len(words)
            and list(text[: len(whole)]) == whole
            and text[len(whole)].startswith(last)
            for text in self.texts.values()
        )


@functools.lru_cache(maxsize=4096)
def _options(items: tuple[tuple[str, str], ...]) -> Options:
    return Options(dict(items))


def options_of(options: Mapping[str, str]) -> Options:
    """The options of a question; the same object for the same options."""
    return _options(tuple(sorted(options.items())))


def words_of(text: str) -> tuple[str, ...]:
    """The words and telling signs of a text, in lower case."""
    words = WORDS.findall(_HYPHEN.sub(" ", text))
    return tuple(stem(plain(word)) for word in words if tells(word))


def tells(word: str) -> bool:
    """Whether a word, or a sign, tells an option's text from another one."""
    return word[0].isalnum() or word in TELLING or CHARACTER.match(word) is not None


def _names(text: str) -> Iterator[tuple[str, ...]]:
    """The two names that a text gives: 'Epinephrine (adrenaline)' is both."""
    match = _TWO_NAMES.fullmatch(text)
    if match:
        yield from (words_of(match[1]), words_of(match[2]))


def _without_article(texts: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The texts that begin with an article, without it: 'a cystoscopy' is 'the cystoscopy', too."""
    first = Counter(words[0] for words in texts.values() if len(words) > 1)
    articles = {
        word for word, n in first.items() if n > 1 and lexicon(names="article").longest([word], 0)
    }
    return {key: words[1:] for key, words in texts.items() if words and words[0] in articles}


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without signs at the ends."""
    start, end = 0, len(words)
    while start < end and words[start] in TELLING:
        start += 1
    while end > start and words[end - 1] in TELLING:
        end -= 1
    return words[start:end]
