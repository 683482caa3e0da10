"""Cut a reply into tokens: phrases, signs, line breaks, words; in `letter_lexer` options, too.

Kinds of tokens have names (`kinds.KIND`). Besides those of phrases:

    letter  letters of options            text     the whole text of an option
    prose   a letter in running prose     word     another word; capital: Chinese, Japanese, too
    stop    end of a sentence             dot      a dot that ends none ('C. difficile')
    line    a new line                    blank    an empty line
    bullet, number  head of a list's item    tick, cross, boxed ('final answer'), and signs

Quotes and stars leave no token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xling_tasks.readers.kinds import KIND, named
from xling_tasks.readers.lexicon import SIGNS, WORDS, Lexicon, plain
from xling_tasks.readers.options import TELLING

_CLOTHES = set('*_`#"“”„«»「」『』{}¿¡<>〈〉《》')


class Tokens(NamedTuple):
    """A reply's tokens: the row of kinds and, at the same places, what each stands for."""

    kinds: str
    values: list[frozenset[str]]
    words: list[str]

    def __str__(self) -> str:
        return named(self.kinds)

    def part(self, start: int, end: int) -> Tokens:
        """The tokens from one place to another."""
        return Tokens(self.kinds[start:end], self.values[start:end], self.words[start:end])


class Lexer:
    """Cuts a reply by a dictionary of phrases; what a word is otherwise, a subclass may say."""

    signs: Mapping[str, str] = {sign: KIND[kind] for sign, kind in SIGNS.items()}
    blank = KIND["blank"]

    def __init__(self, text: str, phrases: Lexicon) -> None:
        self.phrases = phrases
        self.raw: list[str] = []
        self.gap: list[bool] = []  # whether a space or clothes stand before
        self.dressed: list[bool] = []
        gap = dressed = False
        for word in WORDS.findall(text):
            if word in _CLOTHES and word not in TELLING:
                dressed = True
            elif word == "\n" or not word.isspace():
                self.raw.append(word)
                self.gap.append(gap)
                self.dressed.append(dressed)
                gap = dressed = False
            else:
                gap = True
        self.dressed.append(dressed)
        self.low = [plain(word) for word in self.raw]
        self.kinds: list[str] = []
        self.values: list[frozenset[str]] = []
        self.spans: list[tuple[int, int]] = []

    def tokens(self) -> Tokens | None:
        """The tokens; None where the reply cannot be read."""
        at, size = 0, len(self.raw)
        while at < size:
            at = self.next(at)
            if at < 0:
                return None
        self.mend()
        words = [" ".join(self.low[start:end]) for start, end in self.spans]
        return Tokens("".join(self.kinds), self.values, words)

    def next(self, at: int) -> int:
        """Add the token at a word; the place of the word after it, -1 where none can be read."""
        if self.raw[at] == "\n":
            return self.line(at)
        return self.phrase(at) or self.sign(at) or self.word(at)

    def mend(self) -> None:
        """Mend what only the tokens around show."""

    def add(self, kind: str, start: int, end: int, value: frozenset[str] = frozenset()) -> int:
        """Add a token; where it ends."""
        self.kinds.append(kind)
        self.values.append(value)
        self.spans.append((start, end))
        return end

    def line(self, at: int) -> int:
        """Add a line break; where it ends."""
        end = at + 1
        while end < len(self.raw) and self.raw[end] == "\n":
            end += 1
        return self.add(KIND["line"] if end - at == 1 else self.blank, at, end)

    def phrase(self, at: int) -> int:
        """Add the longest phrase; where it ends, 0 where there is none."""
        phrase = self.phrases.longest(self.low, at)
        return self.add(KIND[phrase[1]], at, at + phrase[0]) if phrase else 0

    def sign(self, at: int) -> int:
        """Add a sign."""
        kind = self.signs.get(self.raw[at])
        return self.add(kind, at, at + 1) if kind else 0

    def word(self, at: int) -> int:
        """Add another word: of one that a script without capitals writes, a run is one token."""
        word = self.raw[at]
        if not word[0].isalnum():
            return at + 1
        return (
            self.run(KIND["foreign"], at)
            if word[0] >= "\u0900"
            else self.add(KIND["word"], at, at + 1)
        )

    def run(self, kind: str, at: int) -> int:
        """Add a word, to the token before it if that is of its kind."""
        if self.kinds and self.kinds[-1] == kind and self.spans[-1][1] == at:
            self.spans[-1] = (self.spans[-1][0], at + 1)
            return at + 1
        return self.add(kind, at, at + 1)

    def glued(self, at: int) -> bool:
        """Whether a token touches the one before it, and one of them is a word."""
        if not 0 < at < len(self.raw) or self.gap[at] or self.dressed[at]:
            return False
        return self.raw[at][0].isalnum() or self.raw[at - 1][0].isalnum()
