"""Japanese tokens as Janome gives them (`Tokenizer(wakati=True)`), several times faster with numba.

Janome reads its compressed dictionary anew at every letter of a text and weighs all pairs of
neighbouring words in Python. Here what was read of the dictionary stays unpacked, letter by letter,
and the pairs are weighed in compiled loops. Dictionary, costs, unknown words, ties and the cutting
of long texts are Janome's own, whose objects are read. Without numba, for short texts, and where
Janome is of another version than those in `KNOWN_VERSIONS`, Janome itself runs: the tokens are the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np
from xling_metrics.base import library_version
from xling_metrics.compiled import loops

KNOWN_VERSIONS = ("0.5.0",)
"""The versions of Janome whose objects can be read here."""

# After so many letters it has paid to load numba.
_LOAD_AFTER_LETTERS = 20_000

_WORD_LETTERS = 50  # Janome looks for no longer word in its dictionary
_FINAL, _LAST = 1, 2  # flags of an arc of the dictionary: a word ends here; the state's last arc
_STOPS = frozenset("、。,.？?！!")

_State = tuple[bytes, int, bytes]  # a part of the dictionary, an address in it, the output so far


class _Prefix:
    """Where the dictionary is after some letters: the words that these are, and what may follow."""

    __slots__ = ("after", "states", "words")

    def __init__(self, states: list[_State], words: list[int]) -> None:
        self.states, self.words = states, words
        self.after: dict[str, _Prefix] = {}


def load() -> Callable[[str], list[str]]:
    """The tokenizer, with Janome's dictionary loaded.

    Raises:
        ImportError: If Janome is not installed.
    """
    janome: Any = import_module("janome.tokenizer")
    # The same surfaces as the published code's tokenizer, without loading readings and base forms.
    tokenizer = janome.Tokenizer(wakati=True)
    if library_version("janome") not in KNOWN_VERSIONS:
        return lambda text: list(tokenizer.tokenize(text))
    return _Switch(tokenizer).tokenize


class _Switch:
    """Janome itself, until compiled loops pay."""

    def __init__(self, tokenizer: Any) -> None:
        self._janome = tokenizer
        self._lattice: Lattice | None = None
        self._letters = 0

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text."""
        if self._lattice is None:
            self._letters += len(text)
            kernel = _kernel(self._letters)
            if kernel is None:
                return list(self._janome.tokenize(text))
            self._lattice = Lattice(self._janome, kernel)
        return self._lattice.tokenize(text)


def _kernel(n_letters: int) -> ModuleType | None:
    return loops("_lattice_kernel", pays=n_letters >= _LOAD_AFTER_LETTERS)


class Lattice:
    """Janome's search for the cheapest path of words through a text.

    Args:
        tokenizer: Janome's.
        kernel: The compiled loops.
    """

    def __init__(self, tokenizer: Any, kernel: ModuleType) -> None:
        self._dictionary, self._matcher, self._kernel = (
            tokenizer.sys_dic,
            tokenizer.matcher,
            kernel,
        )
        self._longest_unknown: int = tokenizer.max_unknown_length
        self._cut_from: int = tokenizer.CHUNK_SIZE
        self._cut_at: int = tokenizer.MAX_CHUNK_SIZE
        self._costs = np.array(self._dictionary.connections, np.int32)
        # A row per word: left, right, cost, number. The first is the text's beginning.
        self._table = np.zeros((4096, 4), np.int32)
        self._table[0, 3] = -1
        self._n_words = 1
        self._no_prefix = _Prefix([], [])
        self._root = _Prefix([(data, 0, b"") for data in self._matcher.dict_data], [])
        self._kinds: dict[str, list[tuple[str, bool, int, list[int]]]] = {}
        self._unknowns: dict[str, list[int]] = {}
        self._goes_on: dict[tuple[str, str], bool] = {}

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text; none of a blank one."""
        text = text.strip()
        tokens: list[str] = []
        done = 0
        while done < len(text):
            done = self._path(text, done, tokens)
        return tokens

    def _path(self, text: str, begin: int, tokens: list[str]) -> int:
        """Add the tokens from `begin` to where Janome cuts the text; returns where that is."""
        size = min(len(text) - begin, self._cut_at)
        starts, words, lengths = [0], [0], [0]
        reached = bytearray(size + 1)
        position = 0
        while True:
            own, own_lengths = self._words_at(text, begin + position, begin + size)
            words += own
            lengths += own_lengths
            starts += [position] * len(own)
            for length in own_lengths:
                reached[position + length] = 1
            position = reached.index(1, position + 1)
            if self._is_cut(text, begin, position):
                break
        columns = (np.array(column, np.int32) for column in (starts, words, lengths))
        path = self._kernel.cheapest_path(*columns, position, self._table, self._costs)
        for place in path.tolist():
            first = begin + starts[place]
            tokens.append(text[first : first + lengths[place]])
        return begin + position

    def _is_cut(self, text: str, begin: int, position: int) -> bool:
        """Whether the path ends: with the text, or in a long one at a stop or a blank line."""
        if begin + position >= len(text) or position >= self._cut_at:
            return True
        if position < self._cut_from:
            return False
        before = text[begin + position - 4 : begin + position]
        return before[-1] in _STOPS or before.endswith("\n\n") or before == "\r\n\r\n"

    def _words_at(self, text: str, at: int, end: int) -> tuple[list[int], list[int]]:
        """The rows and lengths of the dictionary's words at a letter, then of unknown ones."""
        words: list[int] = []
        lengths: list[int] = []
        prefix = self._root
        for length, letter in enumerate(text[at : min(at + _WORD_LETTERS, end)], 1):
            prefix = prefix.after.get(letter) or self._read(prefix, text[at : at + length])
            if prefix is self._no_prefix:
                break
            if prefix.words:
                words += prefix.words
                lengths += [length] * len(prefix.words)
        known = bool(words)
        for kind, always, longest, rows in self._kinds_of(text[at]):
            if always or not known:
                last, stop = at + 1, min(end, at + longest + 1)
                while last < stop and self._is_of(text[last], kind):
                    last += 1
                words += rows
                lengths += [last - at] * len(rows)
        return words, lengths

    def _kinds_of(self, letter: str) -> list[tuple[str, bool, int, list[int]]]:
        """A letter's categories: name, whether it makes words beside known ones, length, rows."""
        if letter not in self._kinds:
            about = self._dictionary
            self._kinds[letter] = [
                (
                    kind,
                    about.unknown_invoked_always(kind),
                    self._longest_unknown
                    if about.unknown_grouping(kind)
                    else about.unknown_length(kind),
                    self._unknown_rows(kind),
                )
                for kind in about.get_char_categories(letter)
            ]
        return self._kinds[letter]

    def _unknown_rows(self, kind: str) -> list[int]:
        if kind not in self._unknowns:
            entries = self._dictionary.unknowns[kind]
            self._unknowns[kind] = [
                self._row(left, right, cost, -1) for left, right, cost, _ in entries
            ]
        return self._unknowns[kind]

    def _is_of(self, letter: str, kind: str) -> bool:
        """Whether a letter may go on an unknown word of a category."""
        goes_on = self._goes_on.get((letter, kind))
        if goes_on is None:
            kinds = self._dictionary.get_char_categories(letter)
            goes_on = kind in kinds or any(kind in others for others in kinds.values())
            self._goes_on[letter, kind] = goes_on
        return goes_on

    def _row(self, left: int, right: int, cost: int, number: int) -> int:
        """A new row of the table."""
        if self._n_words == len(self._table):
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
        self._table[self._n_words] = left, right, cost, number
        self._n_words += 1
        return self._n_words - 1

    def _read(self, prefix: _Prefix, letters: str) -> _Prefix:
        """Unpack what the dictionary has for `letters`, one more than those of a prefix."""
        states = [
            state
            for data, address, output in prefix.states
            if (state := self._follow(data, address, output, letters[-1].encode())) is not None
        ]
        following = self._no_prefix
        if states:
            numbers = chain.from_iterable(self._outputs(*state) for state in states)
            following = _Prefix(states, self._rows_of(set(numbers), letters))
        prefix.after[letters[-1]] = following
        return following

    def _rows_of(self, numbers: set[int], surface: str) -> list[int]:
        """Rows of the words with these numbers; of those with the same neighbours the cheapest."""
        cheapest: dict[tuple[int, int], tuple[int, int]] = {}
        for number in sorted(numbers):
            written, left, right, cost = self._dictionary._find_entry(number)
            if written != surface:
                raise AssertionError(f"janome's dictionary: {written!r} stands under {surface!r}")
            known = cheapest.get((left, right))
            if known is None or cost < known[0]:
                cheapest[left, right] = cost, number
        return [self._row(*sides, cost, number) for sides, (cost, number) in cheapest.items()]

    def _follow(self, data: bytes, address: int, output: bytes, letter: bytes) -> _State | None:
        """The state that a letter's bytes lead to, or None."""
        for byte in letter:
            while True:
                if address >= len(data):
                    return None
                flag, label, more, _, target, size = self._matcher.next_arc(data, address)
                if not flag & _FINAL and label == byte:
                    address, output = address + target, output + more
                    break
                if flag & _LAST:
                    return None
                address += size
        return data, address, output

    def _outputs(self, data: bytes, address: int, output: bytes) -> Iterator[int]:
        """The numbers of the words that end in a state."""
        if address < len(data):
            flag, _, _, final, _, _ = self._matcher.next_arc(data, address)
            if flag & _FINAL:
                for more in final:
                    yield int.from_bytes(output + more, "little")
